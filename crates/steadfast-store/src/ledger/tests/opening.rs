use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use steadfast_testkit::wait_for;

use super::*;
use crate::ledger::LedgerError;
use crate::ledger::database::migration::{KNOWN, MIGRATIONS};

fn database(dir: &TempDir) -> std::path::PathBuf {
    dir.path().join("state.db")
}

fn pragma(ledger: &Ledger, name: &str) -> String {
    ledger
        .connection
        .query_row(&format!("PRAGMA {name}"), (), |row| row.get(0))
        .map(|value: rusqlite::types::Value| match value {
            rusqlite::types::Value::Text(text) => text,
            rusqlite::types::Value::Integer(number) => number.to_string(),
            other => panic!("{other:?}"),
        })
        .unwrap()
}

#[test]
fn a_new_ledger_is_in_wal_mode_and_checks_references() {
    let dir = dir();
    let ledger = Ledger::open(&dir.path().join("made/on/the/way")).unwrap();
    let settings = ["journal_mode", "foreign_keys", "synchronous", "busy_timeout", "user_version"];
    let known = KNOWN.to_string();
    assert_eq!(settings.map(|name| pragma(&ledger, name)), ["wal", "1", "1", "250", known.as_str()]);
}

#[test]
fn nobody_else_may_read_its_files() {
    use std::os::unix::fs::PermissionsExt;

    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    list(&mut ledger);
    let mut modes = Vec::new();
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
        modes.push(fs::metadata(dir.path().join(file)).unwrap().permissions().mode() & 0o777);
    }
    for file in fs::read_dir(dir.path().join("plans")).unwrap() {
        modes.push(file.unwrap().metadata().unwrap().permissions().mode() & 0o777);
    }
    assert_eq!(modes, [0o600; 5]);
}

#[test]
fn what_was_written_is_there_after_opening_again() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    let task = ledger.add_task(&plan, named("1"), at(2)).unwrap();
    drop(ledger);
    for ledger in [Ledger::open(dir.path()).unwrap(), Ledger::open_read_only(dir.path()).unwrap().unwrap()] {
        assert_eq!(ledger.task(&plan, &id("1")).unwrap(), task);
    }
}

#[test]
fn reading_does_not_make_a_ledger() {
    let dir = dir();
    assert!(Ledger::open_read_only(dir.path()).unwrap().is_none());
    assert!(!database(&dir).exists());
}

#[test]
fn a_file_that_is_just_being_made_is_no_ledger_yet() {
    let dir = dir();
    fs::write(database(&dir), "").unwrap();
    assert!(Ledger::open_read_only(dir.path()).unwrap().is_none());
}

#[test]
fn a_read_only_ledger_refuses_to_write() {
    let dir = dir();
    drop(Ledger::open(dir.path()).unwrap());
    let mut ledger = Ledger::open_read_only(dir.path()).unwrap().unwrap();
    let error = ledger.list_plan(WORKTREE, "engine", AddedBy::Human, at(1)).unwrap_err();
    assert!(matches!(error, LedgerError::ReadOnly { .. }), "{error:?}");
}

#[test]
fn a_newer_ledger_is_refused_with_both_versions() {
    let dir = dir();
    let ledger = Ledger::open(dir.path()).unwrap();
    ledger.connection.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(ledger);
    for error in [Ledger::open(dir.path()).unwrap_err(), Ledger::open_read_only(dir.path()).unwrap_err()] {
        let path = database(&dir);
        let said = format!(
            "the ledger `{}` has version 99, and this steadfast supports versions up to {KNOWN}: update steadfast",
            path.display()
        );
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn every_older_version_is_migrated_and_keeps_its_plans() {
    for version in 1..MIGRATIONS.len() {
        let dir = dir();
        let old = Connection::open(database(&dir)).unwrap();
        for migration in &MIGRATIONS[..version] {
            old.execute_batch(migration).unwrap();
        }
        old.execute_batch(&format!(
            "PRAGMA user_version = {version};
             INSERT INTO plan (id, worktree, title, added_by, created_at) VALUES ('p', '{WORKTREE}', 'old', 'human', 1)"
        ))
        .unwrap();
        drop(old);

        let error = Ledger::open_read_only(dir.path()).unwrap_err();
        assert!(
            matches!(error, LedgerError::Older { found, known: KNOWN, .. } if found == version as i64),
            "{error:?}"
        );
        let mut ledger = Ledger::open(dir.path()).unwrap();
        assert_eq!(ledger.plan_view(WORKTREE).unwrap().unwrap().title, "old");
        ledger.drain(&session("s"), 0, journal(work::five())).unwrap();
        assert_eq!(ledger.steps_of(&session("s"), 10).unwrap().len(), 5);
    }
}

#[test]
fn a_session_that_was_half_drained_by_an_older_version_goes_on_with_its_steps() {
    let dir = dir();
    let old = Connection::open(database(&dir)).unwrap();
    for migration in &MIGRATIONS[..3] {
        old.execute_batch(migration).unwrap();
    }
    old.execute_batch(
        "PRAGMA user_version = 3;
         INSERT INTO session VALUES ('s', 'claude', NULL, 1, 3, NULL, NULL, 0, 3, 0);
         INSERT INTO drained VALUES ('s', 3, 0, 30)",
    )
    .unwrap();
    drop(old);
    let mut ledger = Ledger::open(dir.path()).unwrap();
    ledger.drain(&session("s"), 0, journal(work::five())).unwrap();
    let state = ledger.session_state(&session("s")).unwrap().unwrap();
    assert_eq!((state.tally().steps, ledger.steps_of(&session("s"), 10).unwrap().len()), (2, 2));
}

#[test]
fn random_bytes_are_a_damaged_ledger() {
    let dir = dir();
    let bytes: Vec<u8> = (0_u32..20_000).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(database(&dir), bytes).unwrap();
    for error in [Ledger::open(dir.path()).unwrap_err(), Ledger::open_read_only(dir.path()).unwrap_err()] {
        assert!(matches!(&error, LedgerError::Damaged { path, .. } if *path == database(&dir)), "{error:?}");
    }
}

#[test]
fn a_ledger_cut_short_is_damaged_wherever_it_is_cut() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    for number in 0..200 {
        ledger.add_task(&plan, named(&number.to_string()), at(1)).unwrap();
    }
    drop(ledger);
    let whole = fs::read(database(&dir)).unwrap();
    for length in [16, 100, 1000, 4095, 4096, 5000, whole.len() / 2, whole.len() - 4096, whole.len() - 1] {
        fs::write(database(&dir), &whole[..length]).unwrap();
        let seen = Ledger::open(dir.path()).and_then(|ledger| ledger.tasks(&plan));
        assert!(matches!(seen, Err(LedgerError::Damaged { .. })), "cut to {length}: {seen:?}");
    }
}

#[test]
fn a_word_that_is_none_of_ours_is_damage() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    ledger.add_task(&plan, named("1"), at(1)).unwrap();
    ledger.connection.execute_batch("UPDATE task SET status = 'finished'").unwrap();
    for seen in [ledger.tasks(&plan).err(), ledger.plan_view(WORKTREE).err()] {
        assert!(matches!(seen, Some(LedgerError::Damaged { .. })), "{seen:?}");
    }
}

#[test]
fn a_locked_ledger_is_given_up_after_the_busy_time() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    std::thread::scope(|scope| {
        // Locked until there is an answer.
        let other = Connection::open(database(&dir)).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let adding = scope.spawn(|| {
            let begun = Instant::now();
            let added = ledger.add_task(&plan, named("1"), at(1));
            (added, begun.elapsed(), ledger.tasks(&plan))
        });
        wait_for("the end of the busy time", || if adding.is_finished() { Ok(()) } else { Err("a wait".to_owned()) });
        let (added, waited, read) = adding.join().unwrap();
        assert!(matches!(added, Err(LedgerError::Locked { .. })), "{added:?}");
        assert!(waited >= Duration::from_millis(200), "{waited:?}");
        assert_eq!(read.unwrap(), [], "reading goes on");
    });
    ledger.add_task(&plan, named("1"), at(1)).unwrap();
}

#[test]
fn a_ledger_locked_before_its_migration_is_given_up_too() {
    let dir = dir();
    let other = Connection::open(database(&dir)).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let error = Ledger::open_within(dir.path(), Duration::from_millis(30)).unwrap_err();
    assert!(matches!(error, LedgerError::Locked { .. }), "{error:?}");
}

#[test]
fn a_migration_waits_for_who_is_writing() {
    let dir = dir();
    let other = Connection::open(database(&dir)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; CREATE TABLE passing (id TEXT)").unwrap();
    std::thread::scope(|scope| {
        let opened = scope.spawn(|| Ledger::open_within(dir.path(), PATIENT).map(drop));
        // Who comes later with less patience is refused, while the first still waits.
        let impatient = Ledger::open_within(dir.path(), Duration::from_millis(100)).map(drop);
        assert!(matches!(impatient, Err(LedgerError::Locked { .. })), "{impatient:?}");
        assert!(!opened.is_finished());
        other.execute_batch("ROLLBACK").unwrap();
        opened.join().unwrap().unwrap();
    });
}

#[test]
fn a_full_disk_is_named_and_loses_nothing_that_was_written() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    let pages = pragma(&ledger, "page_count").parse::<u32>().unwrap() + 8;
    ledger.connection.execute_batch(&format!("PRAGMA max_page_count = {pages}")).unwrap();

    let mut written = 0;
    let error = loop {
        match ledger.add_task(&plan, NewTask::new("x".repeat(500), AddedBy::Human), at(1)) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, LedgerError::Full { .. }), "{error:?}");
    assert!(written > 0);
    assert_eq!(ledger.tasks(&plan).unwrap().len(), written);
}

/// Root may write anywhere, so as root this is played by a process of nobody's.
#[test]
fn a_ledger_can_be_read_where_nothing_can_be_written() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    let dir = dir();
    let place = dir.path().join("state #1?");
    let mut ledger = Ledger::open(&place).unwrap();
    list(&mut ledger);
    drop(ledger);
    let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    allow(dir.path(), 0o755);
    allow(&place.join("state.db"), 0o444);
    allow(&place, 0o555);
    if fs::write(place.join("probe"), "").is_err() {
        read_where_nothing_can_be_written(&place);
    } else {
        fs::remove_file(place.join("probe")).unwrap();
        let program = dir.path().join("program");
        // Another process copies it: what this one has open for writing, a child that another test just forked has too,
        // and then it cannot be executed.
        process::copy(&std::env::current_exe().unwrap(), &program);
        allow(&program, 0o755);
        let mut nobody = process::as_program(&program, "read where nothing can be written", &place);
        nobody.uid(65534).gid(65534);
        assert!(process::quietly(nobody).success());
    }
    allow(&place, 0o755);
}

pub(super) fn read_where_nothing_can_be_written(place: &Path) {
    let ledger = Ledger::open_read_only(place).unwrap().unwrap();
    assert_eq!(ledger.plan_view(WORKTREE).unwrap().unwrap().title, "engine");
    let error = Ledger::open(place).unwrap_err();
    assert!(matches!(error, LedgerError::ReadOnly { .. }), "{error:?}");
}
