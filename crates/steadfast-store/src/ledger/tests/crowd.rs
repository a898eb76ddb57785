use std::thread;

use super::*;
use crate::ledger::HistoryFilter;
use crate::ledger::database::migration::KNOWN;

#[test]
fn threads_that_migrate_at_once_all_find_it_done() {
    let dir = dir();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| drop(Ledger::open_within(dir.path(), PATIENT).unwrap()));
        }
    });
    let ledger = Ledger::open_read_only(dir.path()).unwrap().unwrap();
    let version: i64 = ledger.connection.query_row("PRAGMA user_version", (), |row| row.get(0)).unwrap();
    assert_eq!(version, KNOWN);
}

#[test]
fn processes_that_migrate_at_once_all_find_it_done() {
    let dir = dir();
    let children: Vec<_> = (0..4)
        .map(|_| process::play("open", dir.path()).stdout(std::process::Stdio::piped()).spawn().unwrap())
        .collect();
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    }
    assert!(Ledger::open_read_only(dir.path()).unwrap().is_some());
}

/// Each thread with its own connection: drains its own session, all drain one session in common, and all move tasks.
#[test]
fn a_crowd_loses_nothing() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 500;
    let dir = dir();
    let mut ledger = Ledger::open_within(dir.path(), PATIENT).unwrap();
    let plan = list(&mut ledger);
    for name in 0..THREADS {
        ledger.add_task(&plan, named(&name.to_string()), at(1)).unwrap();
    }
    let common = session("common");
    let shared = journal((1..).take(ROUNDS).map(|now| refused(&common, now)));
    let earned: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|name| {
                let (plan, common, shared, dir) = (&plan, &common, &shared, dir.path());
                scope.spawn(move || {
                    let mut ledger = Ledger::open_within(dir, PATIENT).unwrap();
                    let own = session(&format!("own {name}"));
                    let lines = journal((1..).take(ROUNDS).map(|now| called(&own, now)));
                    let mut earned = 0;
                    for round in 0..ROUNDS {
                        match round % 4 {
                            0 => drop(ledger.drain(&own, 0, lines[..=round].to_vec()).unwrap()),
                            1 => drop(ledger.drain(common, 0, shared[..=round].to_vec()).unwrap()),
                            _ => {
                                let status = [Status::Done, Status::Pending][round % 2];
                                let task = id(&((name + round / 4) % THREADS).to_string());
                                earned += usize::from(ledger.set_status(plan, &task, to(status)).unwrap().earned);
                            }
                        }
                    }
                    ledger.drain(&own, 0, lines).unwrap();
                    ledger.drain(common, 0, shared.clone()).unwrap();
                    earned
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });

    assert_eq!(earned, THREADS, "every task once");
    let sessions = ledger.sessions().unwrap();
    assert_eq!(sessions.len(), THREADS + 1);
    assert!(sessions.iter().all(|row| row.tool_calls + row.refusals == ROUNDS as u64), "{sessions:?}");
    let filter = HistoryFilter { limit: 10_000, ..HistoryFilter::default() };
    assert_eq!(ledger.history(&filter).unwrap().len(), ROUNDS);
    assert_eq!(read_slices(dir.path(), WORKTREE), ledger.plan_view(WORKTREE).unwrap());
}
