//! The only place that reads the environment and the clock.

#![expect(clippy::disallowed_methods, reason = "only this module may read them")]

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use steadfast_hook::HookEnvironment;
use steadfast_hosts::ClaudeVersion;
use steadfast_hosts::install::Homes;
use steadfast_model::{Millis, SessionId};
use steadfast_text::Zone;
use steadfast_work::{Environment, RUN_SPENT};

use crate::{peer, terminal};

pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// The time zone of `TZ` or of this machine; UTC if neither is known.
pub(crate) fn zone() -> Zone {
    jiff::tz::TimeZone::try_system().map_or(Zone::UTC, Zone::new)
}

pub(crate) fn current() -> Environment {
    Environment {
        clock: now,
        zone: terminal::zone,
        variable: text,
        hook: of_hook,
        cwd: cwd(),
        home: home(),
        homes: homes(),
        path: path_variable(),
        user_state: user_state(),
        user_config: user_config(),
        session: session(),
        inside_agent: inside_agent(),
        check: text("STEADFAST_CHECK"),
        in_run: path(RUN_SPENT).is_some(),
    }
}

pub(crate) fn of_hook() -> HookEnvironment {
    HookEnvironment {
        now: now(),
        cwd: cwd(),
        project: path("CLAUDE_PROJECT_DIR"),
        session: session(),
        attended: text("CLAUDE_CODE_SESSION_ATTENDED").and_then(|said| match said.as_str() {
            "1" | "true" => Some(true),
            "0" | "false" => Some(false),
            _ => None,
        }),
        peer: peer::of_stdin(),
        other_host: other_host(),
        user_state: user_state(),
        user_config: user_config(),
        run_spent: path(RUN_SPENT),
        homes,
        programs,
        follow: |place, config| steadfast_work::tracker::in_hook(place, config, homes().as_ref(), now()),
        load: |place, approved| {
            steadfast_work::task_list::load_approved(place, current(), approved)
                .map_err(|error| steadfast_work::chain(&error))
        },
        claude_version: || text("AI_AGENT").and_then(|name| ClaudeVersion::of_agent(&name)),
        task_list: || text("CLAUDE_CODE_TASK_LIST_ID"),
    }
}

/// Another host that runs the hooks of `.claude/settings.json`, or imports them, recognized by its variable.
fn other_host() -> Option<&'static str> {
    let hosts =
        [("COPILOT_CLI", "Copilot CLI"), ("GEMINI_SESSION_ID", "Gemini CLI"), ("QWEN_CODE_SESSION_ID", "Qwen Code")];
    hosts.into_iter().find_map(|(variable, name)| text(variable).map(|_| name))
}

/// The paths of this program: as called, from the `PATH`, as the system reports it, and every symbolic link between.
fn programs() -> Vec<PathBuf> {
    let called = std::env::args_os().next().map(PathBuf::from).filter(|path| path.is_absolute());
    let folders = path_variable();
    let folders = folders.as_ref().into_iter().flat_map(std::env::split_paths);
    let on_path = folders.map(|folder| folder.join("steadfast")).find(|path| path.is_file());
    let mut found: Vec<PathBuf> = Vec::new();
    for start in [called, on_path, std::env::current_exe().ok()].into_iter().flatten() {
        let mut next = Some(start);
        // Linux follows at most 40 links, too.
        while let Some(path) = next.take().filter(|path| !found.contains(path) && found.len() < 40) {
            next = std::fs::read_link(&path).ok().and_then(|target| Some(path.parent()?.join(target)));
            found.push(path);
        }
    }
    found
}

/// The configuration folders of the user and the hosts.
pub(crate) fn homes() -> Option<Homes> {
    Some(Homes {
        home: home()?,
        claude_config_dir: path("CLAUDE_CONFIG_DIR"),
        codex_home: path("CODEX_HOME"),
        path: path_variable(),
    })
}

pub(crate) fn cwd() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

pub(crate) fn home() -> Option<PathBuf> {
    path("HOME").or_else(std::env::home_dir)
}

/// The folder for state that belongs to no repository.
pub(crate) fn user_state() -> Option<PathBuf> {
    let base = path("XDG_STATE_HOME").or_else(|| Some(path("HOME")?.join(".local/state")))?;
    Some(base.join("steadfast"))
}

pub(crate) fn user_config() -> Option<PathBuf> {
    let base = path("XDG_CONFIG_HOME").or_else(|| Some(path("HOME")?.join(".config")))?;
    Some(base.join("steadfast"))
}

/// The session that this process runs in, if the host sets a variable for it.
pub(crate) fn session() -> Option<SessionId> {
    ["CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "STEADFAST_SESSION_ID"].into_iter().find_map(text).map(SessionId::new)
}

/// True if a variable of a host shows that an agent started this process.
fn inside_agent() -> bool {
    ["CLAUDECODE", "CODEX_THREAD_ID", "CODEX_SANDBOX", "STEADFAST_SIM"].into_iter().any(|name| text(name).is_some())
}

pub(crate) fn path_variable() -> Option<OsString> {
    std::env::var_os("PATH")
}

pub(crate) fn path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

pub(crate) fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
