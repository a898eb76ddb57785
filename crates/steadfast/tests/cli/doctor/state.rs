//! What is wrong with the state and the sessions in it.

use super::*;

#[test]
fn state_that_others_may_read_is_closed_by_fix() {
    let sandbox = Sandbox::new();
    has_session(&sandbox);
    let state = sandbox.place().state;
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    let journal = sandbox.session("s-1").dir().join("journal");
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o644)).unwrap();
    insta::assert_snapshot!(found(&sandbox, "state-permissions"), @r"
    warning: other users may enter `/repo/.git/steadfast` and read 1 file in it
    hint: `steadfast doctor --fix` makes it accessible only to you: it has prompts and commands of sessions
    ");
    let output = sandbox.run(&["doctor", "--fix", "--json"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("state-permissions"));
    let said = sandbox.without_paths(&output.stderr);
    assert_eq!(said, "fixed state-permissions: only you can access 2 files in `/repo/.git/steadfast` now\n");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&state), mode(&journal)), (0o700, 0o600));
}

#[test]
fn a_file_behind_a_closed_folder_is_nobodys_business() {
    let sandbox = Sandbox::bare();
    sandbox.ok(&["init", "--host", "claude", "--yes", "--mode", "observe"]);
    assert!(!codes(&sandbox).contains(&"state-permissions".to_owned()));
}

#[test]
fn a_ledger_that_is_damaged() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    let path = sandbox.place().state.join("state.db");
    let mut bytes = fs::read(&path).unwrap();
    // The first page stays, so that it opens.
    bytes[4096..].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    let said = found(&sandbox, "ledger-damaged");
    assert!(said.starts_with("error: the ledger `/repo/.git/steadfast/state.db` is damaged: "), "{said}");
    assert!(said.contains("\nhint: move `/repo/.git/steadfast/state.db` away and run `steadfast status`"), "{said}");
    fs::write(&path, "not a database at all, whatever its name says").unwrap();
    assert!(found(&sandbox, "ledger-damaged").contains("is damaged: "));
}

#[test]
fn a_slice_that_could_not_be_written_is_logged_and_found_and_written_by_fix() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    let plans = sandbox.place().state.join("plans");
    let lock = fs::File::open(plans.join("lock")).unwrap();
    lock.lock().unwrap();
    sandbox.ok(&["task", "add", "Two"]);
    let log = sandbox.without_paths(&fs::read(sandbox.place().state.join("hook.log")).unwrap());
    assert!(log.contains(" cannot replace the slice `/repo/.git/steadfast/plans`: "), "{log}");
    let name = |said: String| {
        let from = said.find("list-").unwrap();
        said.replace(&said[from..from + 13], "list-<hash>")
    };
    insta::assert_snapshot!(name(found(&sandbox, "slice-stale")), @r"
    warning: 1 slice of a plan differs from the ledger: `/repo/.git/steadfast/plans/list-<hash>.slice`
    hint: the stop gate reads slices when it cannot read the ledger; `steadfast doctor --fix` writes them again
    ");
    let output = sandbox.run(&["doctor", "--fix", "--json"]);
    let said = sandbox.without_paths(&output.stderr);
    assert!(
        said.starts_with("not fixed slice-stale: cannot replace the slice `/repo/.git/steadfast/plans`: "),
        "{said}"
    );
    drop(lock);
    let output = sandbox.run(&["doctor", "--fix", "--json"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "fixed slice-stale: every plan has a current slice\n");
    assert!(!codes(&sandbox).contains(&"slice-stale".to_owned()));
    fs::copy(sandbox.place().state.join("hook.log"), plans.join("gone.slice")).unwrap();
    fs::write(plans.join("gone-too.slice"), "").unwrap();
    assert!(found(&sandbox, "slice-stale").starts_with("warning: 2 slices of a plan differ from the ledger"));
}

#[test]
fn a_slice_from_before_an_upgrade_is_not_behind() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One", "--verify", "true"]);
    let plans = sandbox.place().state.join("plans");
    let slice = fs::read_dir(&plans)
        .unwrap()
        .map(|file| file.unwrap().path())
        .find(|path| path.is_file() && path.extension().is_some())
        .unwrap();
    let mut view: Value = serde_json::from_slice(&fs::read(&slice).unwrap()).unwrap();
    // An older one knew nothing of what an agent has to know again.
    assert!(view.as_object_mut().unwrap().remove("brief").is_some());
    fs::write(&slice, view.to_string()).unwrap();
    assert!(!codes(&sandbox).contains(&"slice-stale".to_owned()));
    view["counts"]["pending"] = 2.into();
    fs::write(&slice, view.to_string()).unwrap();
    assert!(codes(&sandbox).contains(&"slice-stale".to_owned()));
}

#[test]
fn a_ledger_that_is_newer() {
    let sandbox = Sandbox::new();
    let path = sandbox.place().state.join("state.db");
    let mut bytes = fs::read(&path).unwrap();
    // `user_version` is a big-endian number at byte 60.
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(&path, &bytes).unwrap();
    let said = found(&sandbox, "ledger-newer");
    assert!(
        said.starts_with("error: the ledger `/repo/.git/steadfast/state.db` has version 99, and this steadfast "),
        "{said}"
    );
    assert!(said.ends_with("hint: commands refuse to work; the stop gate uses the last slice of the plan"), "{said}");
}

#[test]
fn a_ledger_that_cannot_be_read() {
    let sandbox = Sandbox::new();
    let path = sandbox.place().state.join("state.db");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    insta::assert_snapshot!(found(&sandbox, "ledger-unreadable"), @r"
    error: the ledger `/repo/.git/steadfast/state.db` failed: disk I/O error: Error code 266: disk I/O error
    hint: check the path, its permissions and the disk; if another `steadfast` is writing, try again
    ");
}

#[test]
fn a_journal_that_was_damaged() {
    let sandbox = Sandbox::new();
    has_session(&sandbox);
    fs::write(sandbox.session("s-1").dir().join("journal.damaged"), "?").unwrap();
    insta::assert_snapshot!(found(&sandbox, "journal-damaged"), @r"
    warning: a part of a journal could not be read and was moved to `/repo/.git/steadfast/sessions/s-1/journal.damaged`
    hint: another program wrote there, or the disk is damaged; look at the file, then delete it
    ");
}

#[test]
fn events_that_came_too_late_are_taken_in_by_fix() {
    let sandbox = Sandbox::new();
    has_session(&sandbox);
    let files = sandbox.session("s-1");
    files.leave_late(&event_at(&sandbox, "s-1", Millis(now().0 - 90_000))).unwrap();
    files.leave_late(&event_at(&sandbox, "s-1", now())).unwrap();
    insta::assert_snapshot!(found(&sandbox, "late-events"), @r"
    note: 1 event not in a journal yet, because the session was locked
    hint: the next event of that session adds them; `steadfast doctor --fix` does it now
    ");
    let output = sandbox.run(&["doctor", "--fix"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "fixed late-events: all journals are in the ledger\n");
    assert!(files.late().is_empty());
    assert!(!codes(&sandbox).contains(&"late-events".to_owned()));
}

#[test]
fn sessions_that_never_ended() {
    let sandbox = Sandbox::new();
    step_at(&sandbox, "s-old", Millis(now().0 - 8 * DAY_MS));
    step_at(&sandbox, "s-young", Millis(now().0 - 6 * DAY_MS));
    insta::assert_snapshot!(found(&sandbox, "leftover-sessions"), @r"
    note: 1 session did not end and had no event for more than 7 days
    hint: their hosts were probably killed; they block nothing. `steadfast status` lists them
    ");
    let output = sandbox.run(&["doctor", "--fix"]);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("fixed leftover-sessions: all journals are in the ledger")
    );
    assert!(sandbox.session("s-old").dir().is_dir(), "nothing is deleted");
}

#[test]
fn a_gate_of_a_session_that_ended() {
    let sandbox = Sandbox::new();
    has_session(&sandbox);
    let scope = GateScope::Session(SessionId::new("s-1"));
    close_gate(&sandbox.place(), &Gate::new(scope, "the plan is not approved", Millis(0))).unwrap();
    assert!(!codes(&sandbox).contains(&"gate-left".to_owned()), "it still runs");
    sandbox.hook("SessionEnd", "s-1", json!({"reason": "other"}));
    insta::assert_snapshot!(found(&sandbox, "gate-left"), @"
    warning: the gate of session s-1 is closed since 1970-01-01 00:00 UTC, but the session has ended
    hint: if the session will not be resumed, `steadfast plan unlock` opens the gate; `steadfast plan approve` approves a waiting plan
    ");
}

#[test]
fn claims_of_calls_that_are_over_are_removed_by_fix() {
    let sandbox = Sandbox::new();
    let claim = |call, age| Claim {
        call: ToolUseId::new(call),
        session: SessionId::new("s-1"),
        agent: None,
        host: Host::Claude,
        cwd: sandbox.root().display().to_string(),
        command: "steadfast task list".into(),
        at: Millis(now().0 - age),
    };
    leave_claim(&sandbox.place(), &claim("call-1", 0)).unwrap();
    leave_claim(&sandbox.place(), &claim("call-2", 16 * 60 * 1_000)).unwrap();
    let torn = fs::File::create(sandbox.place().state.join("claims/call-3.new")).unwrap();
    torn.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(16 * 60)).unwrap();
    insta::assert_snapshot!(found(&sandbox, "stale-claims"), @r"
    note: 2 claims left by calls that ended long ago
    hint: they are not used any more; `steadfast doctor --fix` removes them
    ");
    let output = sandbox.run(&["doctor", "--fix"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "fixed stale-claims: 2 claims removed\n");
    assert_eq!(fs::read_dir(sandbox.place().state.join("claims")).unwrap().count(), 1);
}

#[test]
fn a_clock_that_jumped() {
    let sandbox = Sandbox::new();
    step_at(&sandbox, "s-back", now());
    step_at(&sandbox, "s-back", Millis(now().0 - 10 * 60 * 1_000 - 500));
    step_at(&sandbox, "s-future", Millis(now().0 + 3 * 60 * 60 * 1_000 + 500));
    let said = found(&sandbox, "clock-jumped").replace("179 min", "180 min");
    insta::assert_snapshot!(said, @r"
    warning: the journal of session s-future has times 180 min in the future
    hint: check the clock of this machine; times of leases, silence and claims are wrong until it has caught up
    note: times in the journal of session s-back go back by 10 min
    hint: the clock was set back, or events waited for the session's lock; Steadfast goes by the order of the lines
    ");
}

#[test]
fn what_hooks_could_not_do() {
    let sandbox = Sandbox::new();
    let place = sandbox.place();
    log_line(&place, Millis(now().0 - 9 * DAY_MS), "claude local Stop: no answer within 950 ms");
    let quiet = codes(&sandbox);
    assert!(!quiet.contains(&"hook-timed-out".to_owned()), "{quiet:?}");
    log_line(&place, now(), "claude local Stop: no answer within 950 ms");
    log_line(&place, now(), "configuration: cannot read it");
    // Without the time.
    let said = |code| {
        let said = found(&sandbox, code);
        let (before, after) = said.split_once("the last: ").unwrap();
        format!("{before}the last: <time>{}", &after[20..])
    };
    insta::assert_snapshot!(said("hook-timed-out"), @r"
    warning: 1 hook in the last 7 days gave no answer in time; the last: <time> claude local Stop: no answer within 950 ms
    hint: the disk or the machine was very busy, or a file system hangs. Advice was lost; a closed gate stayed closed
    ");
    insta::assert_snapshot!(said("hook-failed"), @r"
    note: 1 line in the last 7 days about a failure in a hook; the last: <time> configuration: cannot read it
    hint: `/repo/.git/steadfast/hook.log` has all lines
    ");
}
