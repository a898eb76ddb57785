//! What is wrong with the machine: seen by the real binary, on one that is made so for its process alone.

use super::*;

/// What `doctor` says on a machine that `script` makes. None where nothing can be mounted.
fn found_elsewhere(sandbox: &Sandbox, script: &str, code: &str) -> Option<String> {
    let output = sandbox.elsewhere(script, &["doctor", "--json"])?;
    Some(of_code(&read(sandbox, &output), code))
}

#[test]
fn state_on_a_network() {
    let sandbox = Sandbox::new();
    // What the kernel says of its mounts; a server that answers is not to be had here.
    let mounts = format!("/dev/sda1 / ext4 rw 0 0\nserver:/srv {} nfs4 rw 0 0\n", sandbox.root().display());
    write(&sandbox.home().join("mounts"), &mounts);
    let script = "mount --bind \"$HOME/mounts\" /proc/$$/mounts && exec \"$0\" \"$@\"";
    let Some(said) = found_elsewhere(&sandbox, script, "state-on-network") else { return };
    insta::assert_snapshot!(said, @r"
    warning: `/repo/.git/steadfast` is on a file system of type `nfs4`, where file locks are not reliable
    hint: work on one machine at a time, or move the repository to a local disk
    ");
}

#[test]
fn a_hook_that_is_slow() {
    let sandbox = Sandbox::new();
    fake(&sandbox, "slow", "sleep 0.05");
    // As if something looked at every process that is started from there.
    let script = "exec 3<\"$0\"; mount --bind \"${0%/*}/slow\" \"$0\" && exec /proc/self/fd/3 \"$@\"";
    let Some(said) = found_elsewhere(&sandbox, script, "hook-slow") else { return };
    insta::assert_snapshot!(without_numbers(&said), @r"
    warning: a hook takes N ms here, N × an empty process (N ms)
    hint: a program that checks every process (a virus scanner), a slow temporary folder or a debug build can cause this
    ");
}

/// `0.7 ms` is `N ms`.
fn without_numbers(said: &str) -> String {
    let mut text = String::new();
    for c in said.chars() {
        match c {
            '0'..='9' if text.ends_with('N') => {}
            '.' if text.ends_with('N') => {}
            '0'..='9' => text.push('N'),
            c => text.push(c),
        }
    }
    text
}

#[test]
fn hooks_that_an_administrator_switched_off() {
    let sandbox = Sandbox::new();
    let managed = |settings: &str| {
        write(&sandbox.home().join("managed.json"), settings);
        let script = "mount -t tmpfs tmpfs /etc && mkdir /etc/claude-code && \
                      cp \"$HOME/managed.json\" /etc/claude-code/managed-settings.json && exec \"$0\" \"$@\"";
        found_elsewhere(&sandbox, script, "hooks-disabled")
    };
    let Some(said) = managed(r#"{"allowManagedHooksOnly": true}"#) else { return };
    insta::assert_snapshot!(said, @r"
    error: `allowManagedHooksOnly` is true in `/etc/claude-code/managed-settings.json`: Claude Code runs no hooks of users and projects
    hint: only the administrator of this machine can change it, or add the hooks there
    ");
    insta::assert_snapshot!(managed(r#"{"disableAllHooks": true}"#).unwrap(), @r"
    error: `disableAllHooks` is true in `/etc/claude-code/managed-settings.json`: Claude Code runs no hook
    hint: only the administrator of this machine can change it, or add the hooks there
    ");
}

/// Where the state cannot be written.
const READ_ONLY: &str = "mount --bind .git/steadfast .git/steadfast && \
                         mount -o remount,bind,ro .git/steadfast && exec \"$0\" \"$@\"";

#[test]
fn what_cannot_be_mended_is_said_with_the_reason() {
    let sandbox = Sandbox::new();
    has_session(&sandbox);
    fs::set_permissions(sandbox.place().state, fs::Permissions::from_mode(0o755)).unwrap();
    let Some(output) = sandbox.elsewhere(READ_ONLY, &["doctor", "--fix", "--json"]) else { return };
    insta::assert_snapshot!(sandbox.without_paths(&output.stderr), @"not fixed state-permissions: cannot change `/repo/.git/steadfast`: Read-only file system (os error 30)");
    assert!(of_code(&read(&sandbox, &output), "state-permissions").starts_with("warning: other users may enter"));
}

#[test]
fn a_claim_that_cannot_be_removed_is_named() {
    let sandbox = Sandbox::new();
    has_session(&sandbox);
    let folder = sandbox.place().state.join("claims/call-1.new");
    fs::create_dir_all(&folder).unwrap();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(16 * 60);
    fs::File::open(&folder).unwrap().set_modified(long_ago).unwrap();
    let output = sandbox.run(&["doctor", "--fix"]);
    insta::assert_snapshot!(sandbox.without_paths(&output.stderr), @"not fixed stale-claims: cannot remove `/repo/.git/steadfast/claims/call-1.new`: Is a directory (os error 21)");
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("stale-claims: 1 claim left by calls that ended long ago")
    );
}

#[test]
fn journals_that_cannot_be_drained_are_said_with_the_reason() {
    let sandbox = Sandbox::new();
    has_session(&sandbox);
    sandbox.session("s-1").leave_late(&event_at(&sandbox, "s-1", Millis(now().0 - 90_000))).unwrap();
    let ledger = sandbox.place().state.join("state.db");
    fs::write(ledger, "not a database at all, whatever its name says").unwrap();
    let output = sandbox.run(&["doctor", "--fix", "--json"]);
    insta::assert_snapshot!(sandbox.without_paths(&output.stderr), @r#"
    not fixed late-events: the ledger `/repo/.git/steadfast/state.db` is damaged: file is not a database: Error code 26: file is not a database
    {"error":{"hints":["each problem above names its fix"],"kind":"failure","message":"1 error found"}}
    "#);
}

#[test]
fn one_finding_is_one() {
    let sandbox = Sandbox::bare();
    let output = sandbox.run(&["doctor"]);
    insta::assert_snapshot!(sandbox.without_paths(&output.stdout), @r"
    1 finding: 1 error

    error not-set-up: Steadfast is not set up for `/repo`
        hint: `steadfast init` sets it up; it shows what it changes first
    ");
}

#[test]
fn findings_that_nobody_reads_are_no_failure_and_a_full_disk_is_one() {
    let sandbox = Sandbox::new();
    has_session(&sandbox);
    for command in [&["doctor"][..], &["doctor", "--json"], &["config", "show"], &["config", "schema"], &["clean"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = sandbox.command().args(command).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]), "{command:?}: {output:?}");
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = sandbox.command().args(command).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        let start =
            if command.contains(&"--json") { r#"{"error":{"# } else { "error: cannot write to standard output" };
        assert!(said.starts_with(start) && said.contains("output: No space left on device"), "{said}");
    }
}
