use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use steadfast_model::Millis;

use crate::place::Place;
use steadfast_redact::redact;
use steadfast_system::private_options;
use steadfast_text::truncate_bytes;

/// The log of failures in hooks, one line each, for `doctor` and for people.
const FILE: &str = "hook.log";

const ROTATED: &str = "hook.log.1";

const BOUND: u64 = 1 << 20;

/// The maximum length of a line in bytes.
const LINE: usize = 2_048;

/// Appends one line. Ignores write errors: a log must not disturb the agent.
pub fn log_line(place: &Place, at: Millis, text: &str) {
    append(&place.state, at, text);
}

/// Logs a problem that the ledger detects by itself, so that no caller has to report it.
#[expect(clippy::disallowed_methods, reason = "this is about no event, and nothing is decided by its time")]
pub(crate) fn log_now(state: &Path, text: &str) {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    append(state, Millis(i64::try_from(now.as_millis()).unwrap_or(i64::MAX)), text);
}

fn append(state: &Path, at: Millis, text: &str) {
    let path = state.join(FILE);
    if fs::metadata(&path).is_ok_and(|file| file.len() > BOUND) {
        let _ = fs::rename(&path, state.join(ROTATED));
    }
    // Cut after redacting: a secret at the end of the line may be recognised only by the text after it.
    let text = truncate_bytes(text, 4 * LINE);
    let line = format!("{at} {}\n", truncate_bytes(&redact(&text), LINE).replace(['\n', '\r'], " "));
    if let Ok(mut file) = private_options().append(true).create(true).open(path) {
        let _ = file.write_all(line.as_bytes());
    }
}

/// Returns the path of the rotated log, which may not exist.
pub fn rotated_log(place: &Place) -> PathBuf {
    place.state.join(ROTATED)
}

/// Reads the lines of both log files, oldest first.
pub fn read_log(place: &Place) -> Vec<String> {
    let mut lines = Vec::new();
    for path in [rotated_log(place), place.state.join(FILE)] {
        if let Ok(bytes) = fs::read(path) {
            lines.extend(String::from_utf8_lossy(&bytes).lines().map(str::to_owned));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_a_bound_however_much_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().to_owned(), root: dir.path().to_owned() };
        let long = "a\nb".repeat(100_000);
        for at in 0..2_000 {
            log_line(&place, Millis(at), &long);
        }
        let sizes = [dir.path().join(FILE), rotated_log(&place)].map(|path| fs::metadata(path).unwrap().len());
        assert!(sizes.iter().all(|size| *size <= BOUND + LINE as u64 + 64), "{sizes:?}");
        let text = fs::read_to_string(dir.path().join(FILE)).unwrap();
        assert!(text.lines().all(|line| line.len() <= LINE + 64 && line.starts_with("1970-01-01T00:00:0")));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
