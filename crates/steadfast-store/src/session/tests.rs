use std::io::Write;

use steadfast_model::{Answer, Change, Event, EventKind, Facts, Host, Millis};
use steadfast_testkit::{PATIENCE, wait_for};

use super::*;

fn place() -> (tempfile::TempDir, Place) {
    let dir = tempfile::tempdir().unwrap();
    let place = Place { state: dir.path().join("steadfast"), root: dir.path().to_owned() };
    place.create().unwrap();
    (dir, place)
}

fn files(place: &Place) -> SessionFiles {
    SessionFiles::of(place, &SessionId::new("s-1"))
}

fn fresh() -> State {
    State::new(SessionId::new("s-1"), Host::Sim, Millis(5))
}

fn record(changes: Vec<Change>) -> Record {
    let event = Event::plain(SessionId::new("s-1"), Host::Sim, "/repo", Millis(5), EventKind::Interrupt);
    Record {
        event,
        facts: Facts::default(),
        opinions: Vec::new(),
        answer: Answer::default(),
        changes,
        effects: Vec::new(),
    }
}

const WAIT: Duration = Duration::from_millis(200);

/// One refusal, as the stop gate would count it.
fn refuse(files: &SessionFiles) -> State {
    files.update(WAIT, None, fresh, |_| (record(vec![Change::StopRefused]), ())).unwrap().0
}

fn refusals(files: &SessionFiles) -> u32 {
    files.load(WAIT).unwrap().unwrap().stop.refused
}

fn journal(files: &SessionFiles) -> PathBuf {
    files.dir().join(journal::FILE)
}

#[test]
fn every_step_is_one_journal_line_without_a_gap() {
    let (_dir, place) = place();
    let files = files(&place);
    for _ in 0..5 {
        refuse(&files);
    }
    let (first, lines) = read_lines(files.dir(), 0).unwrap();
    let sequences: Vec<_> = lines.iter().map(|line| line.sequence).collect();
    assert_eq!((first, sequences), (1, vec![1, 2, 3, 4, 5]));
    assert_eq!(lines.last().unwrap().end, fs::metadata(journal(&files)).unwrap().len());
}

#[test]
fn a_lost_cache_is_rebuilt_from_the_journal() {
    let (_dir, place) = place();
    let files = files(&place);
    refuse(&files);
    let before = refuse(&files);
    fs::remove_file(files.dir().join("state")).unwrap();
    assert_eq!(files.load(WAIT).unwrap(), Some(before));
}

#[test]
fn a_cache_that_is_behind_catches_up() {
    let (_dir, place) = place();
    let files = files(&place);
    refuse(&files);
    let old = fs::read(files.dir().join("state")).unwrap();
    let newest = refuse(&files);
    fs::write(files.dir().join("state"), old).unwrap();
    assert_eq!(files.load(WAIT).unwrap(), Some(newest));
}

#[test]
fn a_cache_of_another_journal_is_not_believed() {
    let (_dir, place) = place();
    let files = files(&place);
    for _ in 0..3 {
        refuse(&files);
    }
    let newest = fs::read(files.dir().join("state")).unwrap();
    fs::remove_dir_all(files.dir()).unwrap();
    refuse(&files);
    fs::write(files.dir().join("state"), newest).unwrap();
    assert_eq!(refusals(&files), 1);
}

#[test]
fn a_cache_that_was_torn_is_not_believed() {
    let (_dir, place) = place();
    let files = files(&place);
    refuse(&files);
    let older = fs::read(files.dir().join("state")).unwrap();
    let newest = refuse(&files);
    let newer = fs::read(files.dir().join("state")).unwrap();
    for at in 1..newer.len() {
        let torn = [&newer[..at], older.get(at..).unwrap_or_default()].concat();
        fs::write(files.dir().join("state"), torn).unwrap();
        assert_eq!(files.load(WAIT).unwrap().as_ref(), Some(&newest), "torn at {at}");
    }
}

/// An older version writes no checksum, and reads what has one as what it knows.
#[test]
fn an_older_version_writes_and_reads_it_as_json() {
    let (_dir, place) = place();
    let files = files(&place);
    let state = refuse(&files);
    let ours: serde_json::Value = serde_json::from_slice(&fs::read(files.dir().join("state")).unwrap()).unwrap();
    assert_eq!(ours["journal_offset"], files.journal_bytes());
    let theirs = serde_json::json!({"journal_offset": ours["journal_offset"], "state": ours["state"]});
    fs::write(files.dir().join("state"), theirs.to_string()).unwrap();
    assert_eq!(files.peek(), Some(state));
}

#[test]
fn a_state_that_became_shorter_has_nothing_of_the_longer_one() {
    let (_dir, place) = place();
    let files = files(&place);
    refuse(&files);
    let state = files.peek().unwrap();
    let long = State { ended: Some("x".repeat(10_000)), ..state.clone() };
    for state in [&long, &long, &state, &long, &state, &state] {
        Cache { offset: files.journal_bytes(), state: state.clone() }.write(files.dir()).unwrap();
        assert_eq!(files.peek().as_ref(), Some(state));
    }
}

#[test]
fn half_a_line_is_cut_and_its_sequence_used_again() {
    let (_dir, place) = place();
    let files = files(&place);
    refuse(&files);
    let whole = fs::read(journal(&files)).unwrap();
    for kept in 1..whole.len() {
        let mut file = fs::OpenOptions::new().append(true).open(journal(&files)).unwrap();
        file.write_all(&whole[..kept]).unwrap();
        refuse(&files);
        let (_, lines) = read_lines(files.dir(), 0).unwrap();
        assert_eq!(lines.last().unwrap().sequence, 1 + kept as u64);
    }
    assert!(!files.dir().join("journal.damaged").exists());
}

#[test]
fn damage_in_the_middle_is_kept_for_a_human() {
    let (_dir, place) = place();
    let files = files(&place);
    for _ in 0..4 {
        refuse(&files);
    }
    let mut bytes = fs::read(journal(&files)).unwrap();
    let second = read_lines(files.dir(), 0).unwrap().1[0].end as usize;
    bytes[second + 60] ^= 1;
    fs::write(journal(&files), &bytes).unwrap();
    fs::remove_file(files.dir().join("state")).unwrap();
    assert_eq!(refusals(&files), 1);
    assert_eq!(fs::read(files.dir().join("journal.damaged")).unwrap(), &bytes[second..]);
}

#[test]
fn a_held_lock_ends_the_waiting_in_time() {
    let (_dir, place) = place();
    let files = files(&place);
    refuse(&files);
    std::thread::scope(|threads| {
        // Held until there is an answer.
        let _held = lock::take(files.dir(), files.session(), WAIT).unwrap();
        let update = threads.spawn(|| files.update(WAIT, None, fresh, |_| (record(Vec::new()), ())));
        wait_for("the end of the waiting", || if update.is_finished() { Ok(()) } else { Err("a wait".to_owned()) });
        assert!(matches!(update.join().unwrap(), Err(SessionError::Locked(_))));
    });
    assert_eq!(refuse(&files).sequence, 2);
}

#[test]
fn a_rotated_journal_goes_on_where_it_was() {
    let (_dir, place) = place();
    let files = files(&place);
    let filler = "x".repeat(50_000);
    for _ in 0..25 {
        let big = record(vec![Change::StopRefused, Change::Ended { reason: filler.clone() }]);
        files.update(WAIT, None, fresh, |_| (big, ())).unwrap();
    }
    assert!(!files.rotate(24, WAIT).unwrap(), "one line is not drained");
    assert!(files.rotate(25, WAIT).unwrap());
    assert!(fs::metadata(journal(&files)).unwrap().len() < 100_000);
    refuse(&files);
    for lost_cache in [false, true] {
        if lost_cache {
            fs::remove_file(files.dir().join("state")).unwrap();
        }
        assert_eq!(refusals(&files), 26);
    }
    let (first, lines) = read_lines(files.dir(), 0).unwrap();
    assert_eq!((first, lines.len(), lines[1].sequence), (25, 2, 26));
}

#[test]
fn a_state_of_a_newer_version_is_refused_by_name() {
    let (_dir, place) = place();
    let files = files(&place);
    refuse(&files);
    let newer = State { version: 9, ..files.peek().unwrap() };
    Cache { offset: files.journal_bytes(), state: newer }.write(files.dir()).unwrap();
    let said = files.load(WAIT).unwrap_err().to_string();
    assert_eq!(said, "session s-1 was written by a newer version of steadfast (state 9, known 4)");
}

#[test]
fn a_whole_line_of_an_unknown_kind_is_refused_and_not_cut() {
    let (_dir, place) = place();
    let files = files(&place);
    refuse(&files);
    let body = r#"{"epilogue":{}}"#;
    let sum = journal::checksum(2, body.as_bytes());
    let mut file = fs::OpenOptions::new().append(true).open(journal(&files)).unwrap();
    writeln!(file, "{:08x} {:016x} {sum:08x} {body}", body.len(), 2).unwrap();
    let before = fs::read(journal(&files)).unwrap();
    let said = files.update(WAIT, None, fresh, |_| (record(Vec::new()), ())).unwrap_err().to_string();
    assert!(said.ends_with("this version does not know the kind of line 2: update steadfast"), "{said}");
    assert_eq!(fs::read(journal(&files)).unwrap(), before);
}

#[test]
fn ids_that_are_no_file_names_get_folders_of_their_own() {
    let (_dir, place) = place();
    let ids = ["../../etc", "a/b", "a\\b", "", "ü", &"x".repeat(300)].map(SessionId::new);
    for id in &ids {
        let files = SessionFiles::of(&place, id);
        assert_eq!(files.dir().parent(), Some(place.state.join("sessions").as_path()), "{id}");
        files
            .update(WAIT, None, || State::new(id.clone(), Host::Sim, Millis(0)), |_| (record(Vec::new()), ()))
            .unwrap();
    }
    let mut expected = ids.to_vec();
    expected.sort();
    let found: Vec<_> = SessionFiles::all(&place).iter().map(|files| files.session().clone()).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_session_is_drained_when_all_of_its_journal_is_and_nothing_is_late() {
    let (_dir, place) = place();
    let files = files(&place);
    refuse(&files);
    let undrained = |bytes: u64| {
        let drained = BTreeMap::from([(files.session().clone(), bytes)]);
        SessionFiles::undrained(&place, &drained).len()
    };
    let whole = files.journal_bytes();
    assert_eq!(
        (SessionFiles::undrained(&place, &BTreeMap::new()).len(), undrained(whole - 1), undrained(whole)),
        (1, 1, 0)
    );
    files.leave_late(&record(Vec::new()).event).unwrap();
    assert_eq!(undrained(whole), 1);
}

#[test]
fn nobody_else_may_read_a_session() {
    use std::os::unix::fs::PermissionsExt;
    let (_dir, place) = place();
    let files = files(&place);
    refuse(&files);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(files.dir()), 0o700);
    for name in ["lock", "state", "journal"] {
        assert_eq!(mode(&files.dir().join(name)), 0o600, "{name}");
    }
}

#[test]
fn a_removed_session_is_gone_and_begins_anew() {
    let (_dir, place) = place();
    let files = files(&place);
    refuse(&files);
    refuse(&files);
    let keep = |heard_since| Keep { heard_since: Millis(heard_since), damaged: true };
    assert_eq!(files.remove(&place, keep(5)).unwrap(), Removal::Living);
    let Removal::Removed(bytes) = files.try_remove(keep(6)).unwrap() else { panic!() };
    assert_eq!(files.remove(&place, keep(6)).unwrap(), Removal::Removed(bytes));
    assert_eq!((files.dir().exists(), SessionFiles::all(&place).len()), (false, 0));
    assert_eq!(refuse(&files).sequence, 1);
    assert_eq!(sweep_removed(&place).unwrap(), 1);
    assert_eq!(refusals(&files), 1);
}

/// Waits until another thread of this process has the lock of the session open, too.
#[cfg(target_os = "linux")]
fn wait_for_another_at(lock: &Path) {
    wait_for("another at the lock", || {
        let open = fs::read_dir("/proc/self/fd").unwrap().flatten().filter_map(|file| fs::read_link(file.path()).ok());
        let open = open.filter(|file| file == lock).count();
        if open > 1 { Ok(()) } else { Err(format!("{open} with the lock open")) }
    });
}

/// It has the file open that is taken away under it, and another has begun the session anew meanwhile.
#[cfg(target_os = "linux")]
#[test]
fn who_waited_for_the_lock_of_a_removed_session_waits_for_that_of_the_new_one() {
    let (_dir, place) = place();
    let files = files(&place);
    refuse(&files);
    let old = lock::take(files.dir(), files.session(), WAIT).unwrap();
    let waiting = std::thread::spawn({
        let files = files.clone();
        move || {
            let step = |_: &State| (record(vec![Change::StopRefused]), ());
            files.update(PATIENCE, None, fresh, step).unwrap().0.sequence
        }
    });
    let lock = files.dir().join(lock::FILE);
    wait_for_another_at(&lock);
    let removed = place.state.join("removed");
    fs::create_dir(&removed).unwrap();
    fs::rename(files.dir(), removed.join("s-1")).unwrap();
    fs::remove_file(removed.join("s-1/lock")).unwrap();
    refuse(&files);
    let new = lock::take(files.dir(), files.session(), WAIT).unwrap();
    drop(old);
    wait_for_another_at(&lock);
    assert_eq!(read_lines(files.dir(), 0).unwrap().1.len(), 1, "it wrote without the lock");
    drop(new);
    assert_eq!(waiting.join().unwrap(), 2);
    assert_eq!(refusals(&files), 2);
}

#[test]
fn what_is_kept_of_damage_has_a_bound() {
    let (_dir, place) = place();
    let files = files(&place);
    refuse(&files);
    for _ in 0..3 {
        let mut damage = fs::File::options().append(true).open(journal(&files)).unwrap();
        damage.write_all(&b"no line\n".repeat(250_000)).unwrap();
        refuse(&files);
    }
    assert_eq!(fs::metadata(files.dir().join(journal::DAMAGED)).unwrap().len(), 4 << 20);
    assert_eq!(refusals(&files), 4);
}

#[test]
fn not_more_than_a_thousand_events_wait() {
    let (_dir, place) = place();
    let files = files(&place);
    let event = record(Vec::new()).event;
    for _ in 0..1_000 {
        files.leave_late(&event).unwrap();
    }
    assert_eq!(files.leave_late(&event).unwrap_err().to_string(), "1000 events are already waiting");
    assert_eq!(files.late().len(), 1_000);
}
