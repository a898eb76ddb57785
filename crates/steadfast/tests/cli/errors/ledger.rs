//! A ledger that cannot be used, and what cannot be done with what is in it.

use std::fs;
use std::os::unix::fs::symlink;

use rusqlite::Connection;

use super::{fails, failure};
use crate::sandbox::Sandbox;

fn with_a_task() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    sandbox
}

fn database(sandbox: &Sandbox) -> Connection {
    Connection::open(sandbox.place().state.join("state.db")).unwrap()
}

/// Where nothing in the repository can be written.
const READ_ONLY: &str = "mount --bind .git .git && mount -o remount,bind,ro .git && exec \"$0\" \"$@\"";

#[test]
fn a_ledger_that_another_holds() {
    let sandbox = with_a_task();
    let held = database(&sandbox);
    held.execute_batch("BEGIN EXCLUSIVE").unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["task", "add", "Two"]), @r"
    exit 1
    error: the ledger `/repo/.git/steadfast/state.db` is locked by another process

    hint: another `steadfast` process is writing; try again in a moment
    ");
}

#[test]
fn a_ledger_on_a_full_disk() {
    let sandbox = with_a_task();
    let full = "cp -a .git/steadfast \"$HOME/copy\" && mount -t tmpfs -o size=512k tmpfs .git/steadfast && \
                cp -a \"$HOME/copy/.\" .git/steadfast && ! cat /dev/zero >.git/steadfast/ballast 2>/dev/null && \
                exec \"$0\" \"$@\"";
    let Some(output) = sandbox.elsewhere(full, &["task", "add", "Two"]) else { return };
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: the disk is full, the ledger `/repo/.git/steadfast/state.db` cannot grow

    hint: free some disk space and try again; nothing was lost
    ");
}

#[test]
fn a_ledger_that_is_read_only() {
    let sandbox = with_a_task();
    let Some(output) = sandbox.elsewhere(READ_ONLY, &["task", "add", "Two"]) else { return };
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: the ledger `/repo/.git/steadfast/state.db` cannot be written: read-only

    hint: if a sandbox makes `.git` read-only, use the tools of the MCP server `steadfast` (`task_done`, …)
    ");
}

#[test]
fn a_ledger_that_is_older_where_it_cannot_be_migrated() {
    let sandbox = with_a_task();
    database(&sandbox).pragma_update(None, "user_version", 1).unwrap();
    let Some(output) = sandbox.elsewhere(READ_ONLY, &["task", "list"]) else { return };
    let known = steadfast_store::ledger::Ledger::open(&Sandbox::new().place().state).map(|ledger| {
        let version = Connection::open(ledger.path()).unwrap();
        version.query_row("PRAGMA user_version", (), |row| row.get::<_, i64>(0)).unwrap()
    });
    let known = format!("migrated to version {}", known.unwrap());
    insta::assert_snapshot!(failure(&sandbox, &output).replace(&known, "migrated to version <known>"), @r"
    exit 1
    error: the ledger `/repo/.git/steadfast/state.db` has version 1 and must be migrated to version <known> by a command that writes

    hint: run `steadfast status` where the repository is writable
    ");
}

#[test]
fn a_ledger_that_cannot_be_opened() {
    let sandbox = with_a_task();
    let path = sandbox.place().state.join("state.db");
    fs::remove_file(&path).unwrap();
    symlink("state.db", &path).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["task", "list"]), @r"
    exit 1
    error: the ledger `/repo/.git/steadfast/state.db` cannot be opened: unable to open database file: /repo/.git/steadfast/state.db: Error code 14: unable to open database file

    hint: check the path, its permissions and the disk; `steadfast doctor` reports details
    ");
}

#[test]
fn a_ledger_with_a_word_that_is_none_of_ours() {
    let sandbox = with_a_task();
    let database = database(&sandbox);
    database.execute_batch("PRAGMA ignore_check_constraints = ON; UPDATE task SET status = 'bright'").unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["task", "list"]), @r"
    exit 1
    error: the ledger `/repo/.git/steadfast/state.db` is damaged: Conversion error from type Text at index: 0, unknown value `bright`

    hint: move `/repo/.git/steadfast/state.db` away and run `steadfast status`, which creates a new ledger; sessions and journals stay, tasks must be added again
    ");
}

#[test]
fn what_a_task_cannot_be() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(fails(&sandbox, &["task", "done", "1"]), @r"
    exit 1
    error: there are no tasks in this worktree

    hint: `steadfast task add TITLE` adds one
    ");
    insta::assert_snapshot!(fails(&sandbox, &["task", "add", ""]), @r"
    exit 64
    error: the title of the task is empty

    hint: `steadfast task add TITLE`, with the task in one line
    ");
    sandbox.ok(&["task", "add", "One"]);
    let without_plan = |said: String| {
        let (before, after) = said.split_once("plan `").unwrap();
        format!("{before}plan `<plan>`{}", after.split_once('`').unwrap().1)
    };
    insta::assert_snapshot!(without_plan(fails(&sandbox, &["task", "add", "Two", "--id", "1"])), @r"
    exit 1
    error: plan `<plan>` already has a task `1`

    hint: without `--id` a task gets the next free number
    ");
    insta::assert_snapshot!(without_plan(fails(&sandbox, &["task", "add", "Two", "--after", "11"])), @r"
    exit 1
    error: a task cannot depend on `11`: there is no such task in plan `<plan>`; similar ids: `1`

    hint: `steadfast task list` shows all tasks
    ");
    insta::assert_snapshot!(fails(&sandbox, &["task", "block", "1", "--why", " "]), @r"
    exit 64
    error: `--why` is empty; a blocked task needs a reason

    hint: `steadfast task block ID --why REASON`, with what a human must do
    ");
    insta::assert_snapshot!(fails(&sandbox, &["task", "unblock", "1"]), @r"
    exit 1
    error: task `1` is pending, not blocked

    hint: `steadfast task list` shows the status of every task
    ");
    sandbox.ok(&["task", "done", "1"]);
    insta::assert_snapshot!(fails(&sandbox, &["task", "block", "1", "--why", "late"]), @r"
    exit 1
    error: task `1` cannot change from done to blocked

    hint: `steadfast task list` shows the status of every task
    ");
    let many: Vec<String> = (0..1_001).flat_map(|n| ["--file".to_owned(), n.to_string()]).collect();
    let many: Vec<&str> = ["task", "add", "Two"].into_iter().chain(many.iter().map(String::as_str)).collect();
    insta::assert_snapshot!(fails(&sandbox, &many), @r"
    exit 64
    error: a task names 1001 files; the limit is 1000

    hint: put the whole text into a file and name the file; for a task: `--file PATH`
    ");
}
