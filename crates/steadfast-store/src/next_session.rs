//! What a human said before a session exists: `goal forbid push`, `off`. The next session that starts or continues in this
//! checkout takes it, and no other one does.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use steadfast_model::{EventKind, fnv};
use steadfast_system::FileLock;

use crate::file::replace_in_folder;
use crate::place::Place;

/// The most commands that wait.
const MOST: usize = 64;

/// A session's start waits this long for another one.
const WAIT: Duration = Duration::from_millis(200);

/// The commands that wait for the next session, in order. An unreadable file has none.
pub fn waiting_commands(place: &Place) -> Vec<EventKind> {
    let text = fs::read_to_string(file(place)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Adds a command for the next session.
pub fn add_waiting(place: &Place, command: EventKind) -> io::Result<()> {
    change(place, |commands| commands.push(command))
}

/// Removes the commands that `is_meant`, and returns how many there were.
pub fn remove_waiting(place: &Place, is_meant: impl Fn(&EventKind) -> bool) -> io::Result<usize> {
    if !file(place).exists() {
        return Ok(0);
    }
    let mut removed = 0;
    change(place, |commands| removed = commands.extract_if(.., |command| is_meant(command)).count())?;
    Ok(removed)
}

/// Gives the waiting commands to a session, once: `apply` records each in its journal. They are removed afterwards, so a
/// process that dies meanwhile loses none.
pub fn take_waiting(place: &Place, mut apply: impl FnMut(EventKind)) -> io::Result<()> {
    // The usual case: nothing waits. One look at the disk, without the lock.
    if !file(place).exists() {
        return Ok(());
    }
    let Some(_lock) = lock(place)? else { return Ok(()) };
    for command in waiting_commands(place) {
        apply(command);
    }
    match fs::remove_file(file(place)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn change(place: &Place, change: impl FnOnce(&mut Vec<EventKind>)) -> io::Result<()> {
    let Some(_lock) = lock(place)? else {
        return Err(io::Error::new(io::ErrorKind::TimedOut, "another process changes what waits for the next session"));
    };
    let mut commands = waiting_commands(place);
    change(&mut commands);
    if commands.len() > MOST {
        return Err(io::Error::other(format!("{MOST} commands wait for the next session already")));
    }
    if commands.is_empty() {
        return fs::remove_file(file(place));
    }
    let lines: Result<Vec<String>, _> = commands.iter().map(serde_json::to_string).collect();
    replace_in_folder(&file(place), lines?.join("\n").as_bytes())
}

fn lock(place: &Place) -> io::Result<Option<FileLock>> {
    FileLock::with_folder(&file(place).with_extension("lock"), WAIT)
}

/// Worktrees share the state, but each has its own next session.
fn file(place: &Place) -> PathBuf {
    let name = fnv([place.root.as_os_str().as_encoded_bytes()]);
    place.state.join("next").join(format!("{name:016x}"))
}

#[cfg(test)]
mod tests {
    use steadfast_model::{GoalWord, Millis};

    use super::*;

    fn place() -> (tempfile::TempDir, Place) {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().join("state"), root: dir.path().to_owned() };
        (dir, place)
    }

    fn taken(place: &Place) -> Vec<EventKind> {
        let mut taken = Vec::new();
        take_waiting(place, |command| taken.push(command)).unwrap();
        taken
    }

    #[test]
    fn what_waits_is_taken_once_in_order_and_by_its_own_checkout() {
        let (_dir, place) = place();
        let other = Place { root: place.root.join("other"), ..place.clone() };
        let (clear, off) = (EventKind::Goal(GoalWord::Clear), EventKind::Paused { until: Some(Millis(i64::MAX)) });
        assert_eq!(taken(&place), []);
        add_waiting(&place, clear.clone()).unwrap();
        add_waiting(&place, off.clone()).unwrap();
        assert_eq!(taken(&other), []);
        assert_eq!(taken(&place), [clear, off]);
        assert_eq!(taken(&place), []);
    }

    #[test]
    fn of_many_sessions_that_start_at_once_one_takes_it() {
        let (_dir, place) = place();
        add_waiting(&place, EventKind::Goal(GoalWord::Clear)).unwrap();
        let takers: Vec<usize> = std::thread::scope(|scope| {
            let started: Vec<_> = (0..8).map(|_| scope.spawn(|| taken(&place).len())).collect();
            started.into_iter().map(|taker| taker.join().unwrap()).collect()
        });
        assert_eq!(takers.iter().sum::<usize>(), 1, "{takers:?}");
    }

    #[test]
    fn it_can_be_removed_in_part_and_has_a_bound() {
        let (_dir, place) = place();
        let off = EventKind::Paused { until: Some(Millis(i64::MAX)) };
        assert_eq!(remove_waiting(&place, |_| true).unwrap(), 0);
        add_waiting(&place, off).unwrap();
        add_waiting(&place, EventKind::Goal(GoalWord::Clear)).unwrap();
        assert_eq!(remove_waiting(&place, |command| matches!(command, EventKind::Paused { .. })).unwrap(), 1);
        assert_eq!(waiting_commands(&place), [EventKind::Goal(GoalWord::Clear)]);
        assert_eq!(remove_waiting(&place, |_| true).unwrap(), 1);
        for _ in 0..MOST {
            add_waiting(&place, EventKind::Goal(GoalWord::Clear)).unwrap();
        }
        assert!(add_waiting(&place, EventKind::Goal(GoalWord::Clear)).is_err());
    }
}
