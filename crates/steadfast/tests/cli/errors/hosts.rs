//! What `init` and `uninstall` find in the settings of hosts, and what keeps them from writing.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use steadfast_testkit::wait_for;

use super::{fails, failure};
use crate::sandbox::Sandbox;

const INIT: [&str; 4] = ["init", "--host", "claude", "--yes"];

fn settings(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.root().join(".claude");
    fs::create_dir_all(&folder).unwrap();
    folder.join("settings.local.json")
}

/// What `init` says to settings that hold this.
fn with_settings(text: impl AsRef<[u8]>) -> String {
    let sandbox = Sandbox::bare();
    fs::write(settings(&sandbox), &text).unwrap();
    let said = fails(&sandbox, &INIT);
    assert_eq!(fs::read(settings(&sandbox)).unwrap(), text.as_ref());
    said
}

#[test]
fn settings_that_are_not_what_they_should_be() {
    insta::assert_snapshot!(with_settings("{\n  \"hooks\": []\n}\n"), @r"
    exit 1
    error: /repo/.claude/settings.local.json:2:12: `hooks` is an array, expected an object

    hint: nothing was written; fix `/repo/.claude/settings.local.json` and try again
    ");
    insta::assert_snapshot!(with_settings("{\n  \"hooks\": {},\n  \"hooks\": {}\n}\n"), @r"
    exit 1
    error: /repo/.claude/settings.local.json:3:3: duplicate key `hooks`

    hint: nothing was written; fix `/repo/.claude/settings.local.json` and try again
    ");
    insta::assert_snapshot!(with_settings("{\n  \"model\": \"op"), @r"
    exit 1
    error: /repo/.claude/settings.local.json:2:12: a string without its closing quote

    hint: nothing was written; fix `/repo/.claude/settings.local.json` and try again
    ");
    insta::assert_snapshot!(with_settings(b"{\"model\": \"\xff\"}"), @r"
    exit 1
    error: /repo/.claude/settings.local.json: not valid UTF-8 at byte 11

    hint: nothing was written; fix `/repo/.claude/settings.local.json` and try again
    ");
}

#[test]
fn settings_that_are_no_json() {
    let mut all = String::new();
    for text in [
        "{",
        "{\"a\"}",
        "{\"a\": 1 \"b\"}",
        "{a: 1}",
        "{\"a\": [1 2]}",
        "{\"a\": nil}",
        "{} {}",
        "7",
        "{\"hooks\": true}",
        "{\"hooks\": {\"Stop\": 7}}",
    ] {
        let said = with_settings(text);
        let line = said.lines().nth(1).unwrap();
        all += &format!("{text}\n    {}\n", line.trim_start_matches("error: /repo/.claude/settings.local.json:"));
    }
    insta::assert_snapshot!(all, @r#"
    {
        1:2: the file ends, expected a key in double quotes
    {"a"}
        1:5: unexpected `}`, expected `:`
    {"a": 1 "b"}
        1:9: unexpected `\"`, expected `,` or `}`
    {a: 1}
        1:2: unexpected `a`, expected a key in double quotes
    {"a": [1 2]}
        1:10: unexpected `2`, expected `,` or `]`
    {"a": nil}
        1:7: unexpected `n`, expected a value
    {} {}
        1:4: unexpected `{`, expected the end of the file
    7
        1:1: `the file` is a number, expected an object
    {"hooks": true}
        1:11: `hooks` is a boolean, expected an object
    {"hooks": {"Stop": 7}}
        1:20: `hooks.Stop` is a number, expected an array
    "#);
}

#[test]
fn servers_that_are_no_tables() {
    for (text, at, found) in [
        ("mcp_servers = 7\n", "1:15", "a value"),
        ("mcp_servers = {}\n", "1:15", "an inline table"),
        ("[[mcp_servers]]\n", "1:1", "an array of tables"),
        ("mcp_servers.other.command = \"x\"\n", "1:1", "a table"),
    ] {
        let sandbox = Sandbox::bare();
        let config = sandbox.home().join(".codex/config.toml");
        fs::create_dir(config.parent().unwrap()).unwrap();
        fs::write(&config, text).unwrap();
        let said = fails(&sandbox, &["init", "--host", "codex", "--yes"]);
        let expected = format!(
            "exit 1\nerror: /home/.codex/config.toml:{at}: `mcp_servers` is {found}, expected tables like \
             `[mcp_servers.name]`\n\nhint: nothing was written; fix `/home/.codex/config.toml` and try again\n"
        );
        assert_eq!(said, expected);
    }
}

#[test]
fn a_server_of_our_name_that_is_not_ours() {
    let sandbox = Sandbox::bare();
    let config = sandbox.home().join(".codex/config.toml");
    fs::create_dir(config.parent().unwrap()).unwrap();
    fs::write(&config, "[mcp_servers.steadfast]\ncommand = \"other\"\n").unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["init", "--host", "codex", "--yes"]), @r"
    exit 1
    error: /home/.codex/config.toml:1:1: `mcp_servers.steadfast` belongs to another program

    hint: nothing was written; fix `/home/.codex/config.toml` and try again
    ");
}

#[test]
fn settings_that_are_no_file_or_cannot_be_read() {
    let sandbox = Sandbox::bare();
    fs::create_dir(settings(&sandbox)).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &INIT), @r"
    exit 1
    error: /repo/.claude/settings.local.json: not a file

    hint: nothing was written; fix `/repo/.claude/settings.local.json` and try again
    ");
    fs::remove_dir(settings(&sandbox)).unwrap();
    symlink("settings.local.json", settings(&sandbox)).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &INIT), @r"
    exit 1
    error: /repo/.claude/settings.local.json: cannot read: Too many levels of symbolic links (os error 40)

    hint: nothing was written; fix `/repo/.claude/settings.local.json` and try again
    ");
}

#[test]
fn settings_that_are_read_only() {
    let sandbox = Sandbox::bare();
    fs::write(settings(&sandbox), "{}").unwrap();
    fs::set_permissions(settings(&sandbox), fs::Permissions::from_mode(0o444)).unwrap();
    insta::assert_snapshot!(fails(&sandbox, &INIT), @r"
    exit 1
    error: /repo/.claude/settings.local.json: the file is read-only

    hint: nothing was written; make `/repo/.claude/settings.local.json` writable and try again
    ");
}

#[test]
fn settings_that_cannot_be_written() {
    let sandbox = Sandbox::bare();
    fs::write(sandbox.root().join(".claude"), "a file").unwrap();
    insta::assert_snapshot!(fails(&sandbox, &INIT), @r"
    exit 1
    error: /repo/.claude/settings.local.json: cannot write: File exists (os error 17); earlier changes were undone

    hint: make `/repo/.claude/settings.local.json` a file that you can write, and try again
    ");
    assert_eq!(fs::read_to_string(sandbox.root().join(".claude")).unwrap(), "a file");
}

#[test]
fn settings_that_a_host_holds() {
    let sandbox = Sandbox::bare();
    fs::write(sandbox.home().join(".claude.json"), "{}").unwrap();
    let lock = sandbox.home().join(".claude.json.lock");
    fs::create_dir(&lock).unwrap();
    // Held by one that says so until it is over.
    fs::File::open(&lock)
        .unwrap()
        .set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60))
        .unwrap();
    insta::assert_snapshot!(fails(&sandbox, &INIT), @r"
    exit 1
    error: /home/.claude.json.lock: locked by another program for more than 5 s; earlier changes were undone

    hint: close the host and try again
    ");
}

#[test]
fn settings_that_somebody_else_wrote_to_before_they_could_be_put_back() {
    let sandbox = Sandbox::bare();
    fs::write(sandbox.home().join(".claude.json"), "{}").unwrap();
    let lock = sandbox.home().join(".claude.json.lock");
    fs::create_dir(&lock).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    fs::File::open(&lock).unwrap().set_modified(later).unwrap();
    let init = sandbox.command().args(INIT).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // It waits for the lock with its hooks written.
    let path = settings(&sandbox);
    wait_for("its hooks", || if path.exists() { Ok(()) } else { Err("no settings".to_owned()) });
    fs::write(&path, "{\"model\": \"opus\"}").unwrap();
    insta::assert_snapshot!(failure(&sandbox, &init.wait_with_output().unwrap()), @r"
    exit 1
    error: /home/.claude.json.lock: locked by another program for more than 5 s; earlier changes that could not be undone: /repo/.claude/settings.local.json

    hint: close the host and try again
    ");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"model\": \"opus\"}");
}

#[test]
fn settings_behind_as_many_links_as_a_system_follows() {
    let sandbox = Sandbox::bare();
    let path = settings(&sandbox);
    let link = |number: u32| sandbox.home().join(format!("link-{number}"));
    fs::write(link(0), "{}").unwrap();
    (1..40).for_each(|number| symlink(link(number - 1), link(number)).unwrap());
    symlink(link(39), &path).unwrap();
    sandbox.ok(&INIT);
    assert!(fs::read_to_string(link(0)).unwrap().contains("hooks") && path.is_symlink());
}

#[test]
fn a_record_that_is_none() {
    let sandbox = Sandbox::new();
    let mut folders = vec![sandbox.home().join(".local/state/steadfast/install")];
    let mut records = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => records.push(path),
            }
        }
    }
    records.sort();
    let record = records.iter().find(|path| path.to_string_lossy().contains("settings.local.json")).unwrap();
    fs::write(record, "garbage").unwrap();
    let name = record.display().to_string().replace(sandbox.home().parent().unwrap().to_str().unwrap(), "");
    insta::assert_snapshot!(fails(&sandbox, &["uninstall"]).replace(&name, "<record>"), @r"
    exit 1
    error: <record>: invalid install record: expected value at line 1 column 1

    hint: nothing was written; move `<record>` away and try again: Steadfast recognizes its hooks without it
    ");
}

#[test]
fn a_program_that_settings_cannot_name() {
    let sandbox = Sandbox::bare();
    let called = |path: &Path| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("cp").arg(sandbox.binary()).arg(path).status().unwrap().success());
        let mut command = Command::new(path);
        command.args(INIT).current_dir(sandbox.root()).env_clear().env("HOME", sandbox.home());
        failure(&sandbox, &command.output().unwrap())
    };
    insta::assert_snapshot!(called(&sandbox.home().join("sf")), @r"
    exit 1
    error: /home/sf is not named `steadfast`, so Steadfast could not recognise its own hooks

    hint: run `cargo install --locked --path crates/steadfast` to install it, then `steadfast init`
    ");
    let odd = sandbox.home().join(OsStr::from_bytes(b"od\xff")).join("steadfast");
    insta::assert_snapshot!(called(&odd), @r"
    exit 1
    error: /home/od�/steadfast: the path is not valid UTF-8, so settings cannot contain it

    hint: nothing was written; move the program to a path that is valid UTF-8
    ");
}

#[test]
fn a_program_that_does_not_find_itself() {
    let sandbox = Sandbox::bare();
    let Some(output) = sandbox.elsewhere("mount -t tmpfs tmpfs /proc && exec \"$0\" \"$@\"", &INIT) else { return };
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: cannot find this program: no /proc/self/exe available. Is /proc mounted?

    hint: `steadfast init --shared` writes the name of the program without its path
    ");
    let output = sandbox.elsewhere("mount -t tmpfs tmpfs /proc && exec \"$0\" \"$@\"", &["sim"]).unwrap();
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: cannot find this program: no /proc/self/exe available. Is /proc mounted?

    hint: mount `/proc`: Steadfast reads the path of its program there
    ");
}

#[test]
fn no_host_to_wire() {
    let sandbox = Sandbox::bare();
    let bare = |arguments: &[&str]| {
        let path = sandbox.binary().parent().unwrap().to_owned();
        sandbox.command().args(arguments).env("PATH", path).output().unwrap()
    };
    insta::assert_snapshot!(failure(&sandbox, &bare(&["init", "--yes"])), @r"
    exit 1
    error: neither Claude Code nor Codex was found

    hint: `steadfast init --host claude` or `--host codex` sets up a host before it is installed
    ");
    insta::assert_snapshot!(failure(&sandbox, &bare(&["init", "--host", "sim"])), @r"
    exit 64
    error: invalid value 'sim' for '--host <HOST>': the simulated agent is for tests; expected `claude` or `codex`

    For more information, try '--help'.
    ");
}

#[test]
fn shared_wiring_that_names_what_is_not_on_the_path() {
    let sandbox = Sandbox::bare();
    let mut command = sandbox.command();
    command.args(["init", "--host", "claude", "--shared", "--dry-run"]).env("PATH", "/usr/bin:/bin");
    insta::assert_snapshot!(sandbox.without_paths(&command.output().unwrap().stderr), @r"
    note: `steadfast` is not on your PATH; shared hooks call it by name and do nothing until it is
    dry run: 14 files would change, nothing was written
    ");
}

const READ_ONLY: &str = "mount --bind .git .git && mount -o remount,bind,ro .git && exec \"$0\" \"$@\"";

#[test]
fn state_that_cannot_be_put_away() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    fs::write(sandbox.place().state.with_extension("kept"), "a file").unwrap();
    insta::assert_snapshot!(fails(&sandbox, &["uninstall"]), @r"
    exit 1
    error: cannot archive or remove `/repo/.git/steadfast`: Not a directory (os error 20)

    hint: the hosts no longer call Steadfast; make `/repo/.git/steadfast.kept` replaceable and try again
    ");
    assert!(sandbox.ok(&["task", "list"]).contains("One"));
}

#[test]
fn state_that_cannot_be_made_or_brought_back() {
    let sandbox = Sandbox::bare();
    let Some(output) = sandbox.elsewhere(READ_ONLY, &INIT) else { return };
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: cannot create `/repo/.git/steadfast`: Read-only file system (os error 30)

    hint: nothing was changed; make the folder of the file writable and try again
    ");
    sandbox.ok(&INIT);
    sandbox.ok(&["task", "add", "One"]);
    sandbox.ok(&["uninstall"]);
    let output = sandbox.elsewhere(READ_ONLY, &INIT).unwrap();
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: cannot restore `/repo/.git/steadfast.kept`: Read-only file system (os error 30)

    hint: nothing was changed; make the folder of the file writable and try again
    ");
}

#[test]
fn a_human_who_says_no() {
    let sandbox = Sandbox::bare();
    let (code, said) = sandbox.at_terminal("init --host claude", "permissions] ", "n\n");
    assert_eq!(code, 0, "{said}");
    assert!(said.ends_with("permissions] n\nNothing changed.\n"), "{said}");
    assert!(!sandbox.place().state.exists());
}

#[test]
fn a_program_in_a_build_folder() {
    let sandbox = Sandbox::bare();
    let built = sandbox.root().join("target/debug/steadfast");
    fs::create_dir_all(built.parent().unwrap()).unwrap();
    fs::write(sandbox.root().join("target/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55\n").unwrap();
    fs::hard_link(sandbox.binary(), &built).unwrap();
    let mut command = Command::new(&built);
    command.args(INIT).current_dir(sandbox.root()).env_clear().env("HOME", sandbox.home()).env("PATH", "/usr/bin:/bin");
    insta::assert_snapshot!(failure(&sandbox, &command.output().unwrap()), @r"
    exit 1
    error: /repo/target/debug/steadfast is inside the build folder /repo/target/debug, which the next build changes

    hint: run `cargo install --locked --path crates/steadfast` to install it, then `steadfast init`
    ");
}
