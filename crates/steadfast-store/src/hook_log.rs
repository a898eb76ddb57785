use std::fs;
use std::io::Write;

use steadfast_model::Millis;

use crate::file::{private_options, rename};
use crate::place::Place;

/// What could not be done in a hook, one line each, for `doctor` and for people.
const FILE: &str = "hook.log";

const BOUND: u64 = 1 << 20;

/// Appends one line. A log that cannot be written is no reason to trouble the agent.
pub fn log_line(place: &Place, at: Millis, text: &str) {
    let path = place.state.join(FILE);
    if fs::metadata(&path).is_ok_and(|file| file.len() > BOUND) {
        let _ = rename(&path, &path.with_extension("log.1"));
    }
    let line = format!("{at} {}\n", text.replace(['\n', '\r'], " "));
    if let Ok(mut file) = private_options().append(true).create(true).open(path) {
        let _ = file.write_all(line.as_bytes());
    }
}
