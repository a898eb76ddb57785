//! The table of files that history changes together: text, one line per file, made now and then and read by the line.

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;

use steadfast_model::Millis;

use crate::file::{private_options, written_at};
use crate::place::Place;
use crate::put::put_private;

const FILE: &str = "neighbours";

/// More is not read.
const LONGEST: u64 = 1 << 20;

/// How long a table is good enough.
const HOUR_MS: i64 = 60 * 60 * 1_000;

fn path(place: &Place) -> PathBuf {
    place.state.join(FILE)
}

/// Whether it is time to make the table anew: there is none, or it is an hour old.
pub fn neighbours_are_due(place: &Place, now: Millis) -> bool {
    let made = fs::metadata(path(place)).ok().and_then(|file| written_at(&file));
    // Either way: a clock that was set back leaves one in the future.
    made.is_none_or(|made| now.0.abs_diff(made.0) >= HOUR_MS.unsigned_abs())
}

/// Puts the table in place with what `make` says, unless another process is at it.
pub fn make_neighbours(place: &Place, make: impl FnOnce() -> String) -> io::Result<()> {
    let lock = private_options().create(true).append(true).open(place.state.join("neighbours.lock"))?;
    match lock.try_lock() {
        Ok(()) => put_private(&path(place), make().as_bytes()),
        Err(fs::TryLockError::WouldBlock) => Ok(()),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

/// For each of the files, from the root of the checkout, what goes with it: what is in its line, and those files of the
/// work in whose line it is. Where there is no table, nothing goes with anything.
pub fn neighbours_of(place: &Place, files: &[String], work: &[String]) -> Vec<(String, Vec<String>)> {
    let mut text = String::new();
    let read = fs::File::open(path(place)).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    if read.is_err() {
        return Vec::new();
    }
    let mut found: Vec<(String, Vec<String>)> = files.iter().map(|file| (file.clone(), Vec::new())).collect();
    for line in text.lines().filter(|line| !line.starts_with("# ")) {
        let Some((first, rest)) = line.split_once('\t') else { continue };
        let of_work = work.iter().any(|file| file == first);
        for (file, with) in &mut found {
            if file == first {
                with.extend(rest.split('\t').map(str::to_owned));
            } else if of_work && rest.split('\t').any(|other| other == file) {
                with.push(first.to_owned());
            }
        }
    }
    found.retain(|(_, with)| !with.is_empty());
    found
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

    fn of(place: &Place, file: &str, work: &[&str]) -> Vec<(String, Vec<String>)> {
        neighbours_of(place, &[file.to_owned()], &work.iter().map(|file| (*file).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_file_has_those_of_its_line_and_those_of_the_work_that_have_it_in_theirs() {
        let (_dir, place) = place();
        make_neighbours(&place, || "# 1f\na.rs\tb.rs\tc.rs\nd.rs\tb.rs\ne.rs\tb.rs\n".to_owned()).unwrap();
        let with = |file: &str, with: &[&str]| vec![(file.to_owned(), with.iter().map(|f| (*f).to_owned()).collect())];
        assert_eq!(of(&place, "a.rs", &[]), with("a.rs", &["b.rs", "c.rs"]));
        assert_eq!(of(&place, "b.rs", &["d.rs"]), with("b.rs", &["d.rs"]));
        assert_eq!(of(&place, "x.rs", &["a.rs"]), []);
    }

    #[test]
    fn without_a_table_nothing_goes_with_anything_and_one_is_due() {
        let (_dir, place) = place();
        assert_eq!(of(&place, "a.rs", &["b.rs"]), []);
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

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let (_dir, place) = place();
        make_neighbours(&place, || "# 1f\n".to_owned()).unwrap();
        assert_eq!(fs::metadata(path(&place)).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
