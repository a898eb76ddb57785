use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use steadfast_model::{
    Answer, Change, Event, EventKind, Facts, Gate, GateScope, GateState, Host, Millis, Mode, PolicyName, PolicyOpinion,
    Record, SessionId, Verdict,
};
use steadfast_store::ledger::{HistoryFilter, Ledger};
use steadfast_store::{SessionFiles, close_gate, log_line, open_gate, rotated_log, seal, sealed};

use crate::sandbox::{Sandbox, check_session};

const DAY: i64 = 24 * 60 * 60 * 1_000;

fn now() -> i64 {
    i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}

/// One event of a session, so many days ago, that a policy had something to say to.
fn event_of(sandbox: &Sandbox, session: &str, days: i64) -> SessionFiles {
    event_with(sandbox, session, days, Change::StopRefused)
}

fn event_with(sandbox: &Sandbox, session: &str, days: i64, change: Change) -> SessionFiles {
    let at = Millis(now() - days * DAY);
    let event = Event::plain(
        SessionId::new(session),
        Host::Claude,
        sandbox.root().display().to_string(),
        at,
        EventKind::Interrupt,
    );
    let opinion = PolicyOpinion {
        policy: PolicyName::Completion,
        mode: Mode::Enforce,
        verdict: Verdict::Continue { reason: "2 of 3 tasks are open".into() },
    };
    sandbox.invent(Record {
        event,
        facts: Facts::default(),
        opinions: vec![opinion],
        answer: Answer::default(),
        changes: vec![change],
        effects: Vec::new(),
    })
}

fn sessions(sandbox: &Sandbox) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(sandbox.place().state.join("sessions"))
        .into_iter()
        .flatten()
        .map(|folder| folder.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// What the ledger knows: its sessions, and of which there is history.
fn known(sandbox: &Sandbox) -> (Vec<String>, Vec<String>) {
    let ledger = Ledger::open(&sandbox.place().state).unwrap();
    let mut sessions: Vec<_> = ledger.sessions().unwrap().into_iter().map(|row| row.id.to_string()).collect();
    let all = HistoryFilter { limit: 10_000, ..HistoryFilter::default() };
    let mut history: Vec<_> = ledger.history(&all).unwrap().into_iter().map(|line| line.session.to_string()).collect();
    sessions.sort();
    history.sort();
    history.dedup();
    (sessions, history)
}

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

#[test]
fn what_is_old_goes_and_what_is_young_stays() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    event_of(&sandbox, "old", 31);
    event_of(&sandbox, "young", 29);
    let shown = sandbox.ok(&["clean", "--dry-run"]);
    assert!(
        shown.starts_with("would remove 1 session (1 line of history), 0 stale claims, 0 rotated logs: "),
        "{shown}"
    );
    assert_eq!(sessions(&sandbox), ["old", "young"]);
    let said = sandbox.ok(&["clean"]);
    assert!(said.starts_with("removed 1 session (1 line of history), 0 stale claims, 0 rotated logs: "), "{said}");
    assert_eq!(sessions(&sandbox), ["young"]);
    assert_eq!(known(&sandbox), (names(["young"]), names(["young"])));
    assert!(sandbox.ok(&["task", "list"]).contains("One"));
    assert!(!sandbox.place().state.join("removed").exists());
    assert_eq!(sandbox.ok(&["clean"]), "nothing to remove: no session is older than 30 days\n");
}

#[test]
fn the_age_is_what_is_asked_for_else_what_is_configured_and_never_less_than_a_day() {
    let sandbox = Sandbox::new();
    event_of(&sandbox, "eight", 8);
    event_of(&sandbox, "today", 0);
    assert_eq!(sandbox.ok(&["clean", "--older-than", "2w"]), "nothing to remove: no session is older than 14 days\n");
    sandbox.ok(&["config", "set", "privacy.retain_days", "7"]);
    sandbox.ok(&["clean"]);
    assert_eq!(sessions(&sandbox), ["today"]);
    assert_eq!(sandbox.ok(&["clean", "--older-than", "0d"]), "nothing to remove: no session is older than 1 day\n");
    let (code, said) = sandbox.fails(&["clean", "--older-than", "1h"]);
    assert_eq!(code, 64);
    assert!(said.contains("expected whole days, such as `30d`, `6w` or `48h`"), "{said}");
}

#[test]
fn an_agent_may_not_clean() {
    let sandbox = Sandbox::new();
    event_of(&sandbox, "old", 31);
    let output = sandbox.as_agent("s-1", &["clean"]);
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @r"
    error: only a human can run `steadfast clean`, and this is an agent's call

    hint: a human runs `steadfast clean` in a separate terminal
    ");
    assert_eq!(sessions(&sandbox), ["old"]);
}

#[test]
fn a_session_whose_lock_is_held_is_living() {
    let sandbox = Sandbox::new();
    let files = event_of(&sandbox, "old", 31);
    let lock = fs::File::options().append(true).open(files.dir().join("lock")).unwrap();
    lock.lock().unwrap();
    assert!(sandbox.ok(&["clean"]).starts_with("nothing to remove"));
    drop(lock);
    assert!(sandbox.ok(&["clean"]).starts_with("removed 1 session"));
}

#[test]
fn an_event_that_came_late_is_a_sign_of_life() {
    let sandbox = Sandbox::new();
    let files = event_of(&sandbox, "old", 31);
    let (_, lines) = steadfast_store::read_lines(files.dir(), 0).unwrap();
    let steadfast_model::Entry::Record(record) = &lines[0].entry else { panic!() };
    files.leave_late(&Event { at: Millis(now()), ..record.event.clone() }).unwrap();
    assert!(sandbox.ok(&["clean"]).starts_with("nothing to remove"));
}

#[test]
fn damaged_lines_are_kept_for_a_human_until_all_is_said() {
    let sandbox = Sandbox::new();
    let files = event_of(&sandbox, "old", 31);
    fs::write(files.dir().join("journal.damaged"), "what was this\n").unwrap();
    let output = sandbox.run(&["clean"]);
    let said = sandbox.without_paths(&output.stderr);
    insta::assert_snapshot!(said, @"note: kept 1 old session with damaged lines for inspection: `journal.damaged` in `/repo/.git/steadfast/sessions`; `--all` removes them, too");
    assert_eq!(known(&sandbox).0, ["old"]);
    sandbox.ok(&["clean", "--all"]);
    assert_eq!((sessions(&sandbox), known(&sandbox).0), (names([]), names([])));
}

#[test]
fn a_session_at_a_closed_gate_is_kept() {
    let sandbox = Sandbox::new();
    event_of(&sandbox, "old", 31);
    let scope = GateScope::Session(SessionId::new("old"));
    let gate = Gate::new(scope.clone(), "not approved", Millis(1));
    close_gate(&sandbox.place(), &gate).unwrap();
    let output = sandbox.run(&["clean"]);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "note: kept 1 old session at a closed gate\n");
    assert_eq!((sessions(&sandbox), known(&sandbox).0), (names(["old"]), names(["old"])));
    open_gate(&sandbox.place(), &scope).unwrap();
    sandbox.ok(&["clean"]);
    assert_eq!(sessions(&sandbox), names([]));
}

#[test]
fn a_session_that_remembers_its_gate_is_kept_and_so_is_its_seal() {
    let sandbox = Sandbox::new();
    let scope = GateScope::Session(SessionId::new("old"));
    let gate = Gate::new(scope.clone(), "not approved", Millis(1));
    event_with(&sandbox, "old", 31, Change::GateClosed(GateState::of(&gate)));
    seal(&sandbox.place(), &gate, Duration::ZERO).unwrap();
    let output = sandbox.run(&["clean"]);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "note: kept 1 old session at a closed gate\n");
    assert_eq!(sessions(&sandbox), names(["old"]));
    assert!(sealed(&sandbox.place(), &scope).is_some());
}

#[test]
fn stale_claims_and_rotated_logs_go_and_living_claims_stay() {
    let sandbox = Sandbox::new();
    let place = sandbox.place();
    let claim = |call: &str, at: i64| {
        let claim = json!({"call": call, "session": "s-1", "host": "claude", "cwd": "/", "command": "x", "at": at});
        steadfast_store::leave_claim(&place, &serde_json::from_value(claim).unwrap()).unwrap();
    };
    claim("stale", now() - DAY);
    claim("living", now());
    log_line(&place, Millis(now()), "now");
    fs::write(rotated_log(&place), "before\n").unwrap();
    let said = sandbox.ok(&["clean"]);
    assert!(said.starts_with("removed 0 sessions (0 lines of history), 1 stale claim, 1 rotated log: "), "{said}");
    let claims: Vec<_> =
        fs::read_dir(place.state.join("claims")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(claims, ["living"]);
    assert!(place.state.join("hook.log").exists() && !rotated_log(&place).exists());
}

#[test]
fn a_plan_whose_owner_was_removed_is_free() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    assert!(sandbox.as_agent("old", &["task", "start", "1"]).status.success());
    event_of(&sandbox, "old", 31);
    let status = || -> serde_json::Value { serde_json::from_str(&sandbox.ok(&["status", "--json"])).unwrap() };
    assert_eq!(status()["plan"]["owner"], "old");
    sandbox.ok(&["clean"]);
    assert!(status()["plan"]["owner"].is_null(), "{}", status());
    assert!(sandbox.ok(&["task", "list"]).contains("in progress"));
}

#[test]
fn a_folder_that_is_no_session_any_more_goes_by_its_last_write() {
    let sandbox = Sandbox::new();
    let folder = sandbox.place().state.join("sessions/what-was-it");
    fs::create_dir_all(folder.join("late")).unwrap();
    assert!(sandbox.ok(&["clean"]).starts_with("nothing to remove"));
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(40 * 86_400);
    let old = || {
        for _ in 0..2 {
            fs::File::open(&folder).unwrap().set_modified(long_ago).unwrap();
        }
    };
    old();
    sandbox.ok(&["clean"]);
    assert_eq!(sessions(&sandbox), names([]));
}

#[test]
fn a_session_of_a_newer_version_is_kept_and_the_others_go() {
    let sandbox = Sandbox::new();
    event_of(&sandbox, "old", 31);
    event_of(&sandbox, "newer", 31);
    sandbox.set_version("newer", 99);
    let output = sandbox.run(&["clean"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("note: session newer is kept: session newer was written by a newer version"), "{said}");
    assert!(output.status.success());
    assert_eq!((sessions(&sandbox), known(&sandbox).0), (names(["newer"]), names(["newer"])));
}

#[test]
fn what_cannot_be_removed_is_named_and_the_sessions_are_gone() {
    let sandbox = Sandbox::new();
    event_of(&sandbox, "old", 31);
    fs::create_dir(rotated_log(&sandbox.place())).unwrap();
    let (code, said) = sandbox.fails(&["clean"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(said, @r"
    error: cannot remove `/repo/.git/steadfast/hook.log.1`: Is a directory (os error 21)

    hint: run `steadfast clean` again to remove the rest, or delete this one yourself
    ");
    assert_eq!((sessions(&sandbox), known(&sandbox).0), (names([]), names([])));
}

#[test]
fn what_cannot_be_swept_is_named_and_nothing_else_is_touched() {
    let sandbox = Sandbox::new();
    event_of(&sandbox, "old", 31);
    let removed = sandbox.place().state.join("removed");
    fs::create_dir(&removed).unwrap();
    fs::write(removed.join("no-folder"), "what was this\n").unwrap();
    let (code, said) = sandbox.fails(&["clean"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(said, @r"
    error: cannot delete /repo/.git/steadfast/removed/no-folder: Not a directory (os error 20)

    hint: run `steadfast clean` again to remove the rest, or delete this one yourself
    ");
    assert_eq!((sessions(&sandbox), known(&sandbox).0), (names(["old"]), names(["old"])));
    fs::remove_file(removed.join("no-folder")).unwrap();
    sandbox.ok(&["clean"]);
    assert_eq!((sessions(&sandbox), removed.exists()), (names([]), false));
}

/// Dies anywhere, and the next one finishes it.
#[test]
fn whoever_dies_while_cleaning_leaves_what_the_next_finishes() {
    let rounds = std::env::var("STEADFAST_SOAK").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(25);
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    for round in 0..rounds {
        for number in 0..8 {
            event_of(&sandbox, &format!("old-{number}"), 31);
        }
        event_of(&sandbox, "young", 1);
        let mut child = sandbox.command().arg("clean").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(500 + 700 * (round % 25)));
        let _ = child.kill();
        let _ = child.wait();
        sandbox.ok(&["clean"]);
        assert_eq!(sessions(&sandbox), ["young"], "round {round}");
        assert_eq!(known(&sandbox), (names(["young"]), names(["young"])), "round {round}");
        assert!(!sandbox.place().state.join("removed").exists(), "round {round}");
    }
    assert!(sandbox.ok(&["task", "list"]).contains("One"));
}

/// A session that was silent for long and speaks just now: nothing of what it says is lost, whoever comes first.
#[test]
fn a_hook_beside_a_clean_loses_nothing() {
    for round in 0..15 {
        let sandbox = Sandbox::new();
        event_of(&sandbox, "back", 31);
        let call = |id: String| {
            json!({
                "session_id": "back", "cwd": sandbox.root(), "tool_name": "Read", "tool_use_id": id,
                "tool_input": {"file_path": "/x"},
            })
        };
        let clean = |cleaning: &mut Vec<std::process::Child>| {
            cleaning.push(sandbox.command().arg("clean").stdout(Stdio::null()).spawn().unwrap());
        };
        let (mut hooks, mut cleaning) = (Vec::new(), Vec::new());
        for number in 0..6 {
            if number == round % 4 {
                clean(&mut cleaning);
            }
            hooks.push(sandbox.start_hook("PreToolUse", &call(format!("call-{number}"))));
        }
        for child in hooks.into_iter().chain(cleaning) {
            assert!(child.wait_with_output().unwrap().status.success());
        }
        sandbox.ok(&["status"]);
        let state = check_session(&sandbox.session("back"));
        assert_eq!(state.tool_calls, 6, "round {round}");
        let row = Ledger::open(&sandbox.place().state).unwrap().sessions().unwrap().into_iter().next().unwrap();
        assert_eq!(row.tool_calls, 6, "round {round}");
    }
}

#[test]
fn texts_that_are_too_long_are_refused_with_their_length() {
    let sandbox = Sandbox::new();
    let (code, said) = sandbox.fails(&["task", "add", &"ä".repeat(501)]);
    assert_eq!(code, 64);
    insta::assert_snapshot!(said, @r"
    error: the title of a task has 501 characters; the limit is 500

    hint: put the whole text into a file and name the file; for a task: `--file PATH`
    ");
    sandbox.ok(&["task", "add", &"ä".repeat(500)]);
    let (code, said) = sandbox.fails(&["task", "block", "1", "--why", &"w".repeat(1_001)]);
    assert_eq!(code, 64);
    assert!(said.starts_with("error: the reason for blocking a task has 1001 characters; the limit is 1000"), "{said}");
    sandbox.ok(&["task", "block", "1", "--why", &"w".repeat(1_000)]);
}
