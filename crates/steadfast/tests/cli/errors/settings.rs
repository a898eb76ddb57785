//! A home and settings that cannot be used.

use std::fs;

use super::{fails, failure};
use crate::sandbox::Sandbox;

#[test]
fn nowhere_to_keep_anything() {
    let sandbox = Sandbox::bare();
    let mut command = sandbox.command();
    command.args(["init", "--host", "claude", "--yes"]).env_remove("HOME");
    insta::assert_snapshot!(failure(&sandbox, &command.output().unwrap()), @r"
    exit 1
    error: `HOME` is not set, so there is no folder for settings and state

    hint: set `HOME` to your home folder and try again
    ");
}

#[test]
fn settings_that_cannot_be_read_or_understood() {
    let sandbox = Sandbox::new();
    let file = sandbox.root().join("steadfast.toml");
    fs::create_dir(&file).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["config", "show"]), @r"
    exit 1
    error: cannot read /repo/steadfast.toml: Is a directory (os error 21)

    hint: make it a file that you can read, and try again
    ");
    fs::remove_dir(&file).unwrap();
    fs::write(&file, "[stop]\nmax_idel = 3\n").unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["config", "show"]), @r"
    exit 1
    error: /repo/steadfast.toml:2:1: unknown field `max_idel`, expected one of `enabled`, `check_ready_tasks`, `check_in_progress`, `max_cycles`, `max_idle`, `allow_exit_on`, `completion_promises`

    hint: fix it; `steadfast config schema` lists every key with its valid values
    ");
}

#[test]
fn a_mode_that_is_none() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(fails(&sandbox, &["init", "--mode", "loud"]), @r"
    exit 64
    error: invalid value 'loud' for '--mode <MODE>': unknown mode `loud`, expected `observe`, `advise` or `enforce`

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(fails(&sandbox, &["config", "set", "mode.completion", "loud"]), @r"
    exit 64
    error: invalid value `loud` for `mode.completion`

    hint: expected `observe` or `advise` or `enforce`
    ");
}

#[test]
fn a_repository_that_is_not_set_up() {
    let sandbox = Sandbox::bare();
    insta::assert_snapshot!(fails(&sandbox, &["task", "list"]), @r"
    exit 1
    error: steadfast is not set up for `/repo`

    hint: `steadfast init` sets it up; it shows what it changes first
    ");
}
