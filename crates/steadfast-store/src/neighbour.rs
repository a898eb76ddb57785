//! Files that often change in the same commit: a text table with one line per file, rebuilt at most once an hour.

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;

use steadfast_model::Millis;
use steadfast_system::FileLock;

use crate::file::{replace_in_folder, written_at};
use crate::place::Place;

const FILE: &str = "neighbours";

/// The maximum number of bytes to read.
const LONGEST: u64 = 1 << 20;

/// The age after which the table is rebuilt.
const HOUR_MS: i64 = 60 * 60 * 1_000;

fn path(place: &Place) -> PathBuf {
    place.state.join(FILE)
}

/// Returns true if the table is missing or an hour old.
pub fn neighbours_are_due(place: &Place, now: Millis) -> bool {
    let made = fs::metadata(path(place)).ok().and_then(|file| written_at(&file));
    // Also when the time is in the future, because the clock was set back.
    made.is_none_or(|made| now.0.abs_diff(made.0) >= HOUR_MS.unsigned_abs())
}

/// Writes the table that `make` returns, unless another process is writing one.
pub fn make_neighbours(place: &Place, make: impl FnOnce() -> String) -> io::Result<()> {
    match FileLock::at(&place.state.join("neighbours.lock"), Duration::ZERO)? {
        Some(_lock) => replace_in_folder(&path(place), make().as_bytes()),
        None => Ok(()),
    }
}

/// Returns the neighbours of each of these files (paths from the root of the checkout). Without a table there are none.
///
/// Only a file's own line counts, not the other lines that name it. An index file changes together with everything, and
/// would otherwise connect everything to the work.
pub fn neighbours_of(place: &Place, files: &[String]) -> Vec<(String, Vec<String>)> {
    let mut text = String::new();
    let read = fs::File::open(path(place)).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    if read.is_err() {
        return Vec::new();
    }
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    let wanted = lines.filter(|(first, _)| files.iter().any(|file| file == first));
    wanted.map(|(first, rest)| (first.to_owned(), rest.split('\t').map(str::to_owned).collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, Place) {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().join("state"), root: dir.path().to_owned() };
        place.create().unwrap();
        (dir, place)
    }

    fn of(place: &Place, file: &str) -> Vec<(String, Vec<String>)> {
        neighbours_of(place, &[file.to_owned()])
    }

    #[test]
    fn a_file_goes_with_those_of_its_own_line() {
        let (_dir, place) = place();
        make_neighbours(&place, || "# 1f\na.rs\tb.rs\tc.rs\nd.rs\tb.rs\ne.rs\tb.rs\n".to_owned()).unwrap();
        assert_eq!(of(&place, "a.rs"), [("a.rs".to_owned(), vec!["b.rs".to_owned(), "c.rs".to_owned()])]);
        assert_eq!(of(&place, "b.rs"), []);
    }

    #[test]
    fn without_a_table_nothing_goes_with_anything_and_one_is_due() {
        let (_dir, place) = place();
        assert_eq!(of(&place, "a.rs"), []);
        assert!(neighbours_are_due(&place, Millis(0)));
        make_neighbours(&place, || "# 1f\n".to_owned()).unwrap();
        let made = written_at(&fs::metadata(path(&place)).unwrap()).unwrap();
        let due = |after| neighbours_are_due(&place, Millis(made.0 + after));
        assert_eq!([due(0), due(HOUR_MS - 1), due(HOUR_MS), due(-HOUR_MS)], [false, false, true, true]);
    }

    #[test]
    fn of_two_that_make_it_one_does() {
        let (_dir, place) = place();
        make_neighbours(&place, || {
            make_neighbours(&place, || panic!("another is at it")).unwrap();
            "# first\n".to_owned()
        })
        .unwrap();
        assert_eq!(fs::read_to_string(path(&place)).unwrap(), "# first\n");
    }

    #[test]
    fn nobody_else_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let (_dir, place) = place();
        make_neighbours(&place, || "# 1f\n".to_owned()).unwrap();
        assert_eq!(fs::metadata(path(&place)).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
