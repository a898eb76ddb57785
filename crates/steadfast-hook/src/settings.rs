//! Predicts the effect of a write to Claude Code's settings.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use steadfast_hosts::install::{is_claude_settings, keeps_hooks};
use steadfast_hosts::text_after_write;
use steadfast_model::{Action, Event, EventKind};

/// Returns whether the call of an event writes Claude Code's settings and leaves our hooks as they are. If that is
/// uncertain, returns `false`.
pub(crate) fn leaves_us(event: &Event, payload: &[u8]) -> bool {
    let EventKind::PreTool(call) = &event.kind else { return false };
    let Action::Write { paths } = &call.action else { return false };
    let [path] = paths.as_slice() else { return false };
    let path = Path::new(&event.cwd).join(path);
    if !is_claude_settings(&path) {
        return false;
    }
    let before = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(_) => return false,
    };
    text_after_write(payload, &before).is_some_and(|after| keeps_hooks(&before, &after))
}
