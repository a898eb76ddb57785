//! A run at a real terminal: what is redrawn is there once, and nothing is smeared.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use steadfast_testkit::{skip, wait_for};

use crate::run::{progress, with_spec};
use crate::sandbox::{Sandbox, write_program};

const NARROW: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (140, 40);

/// A shell in a terminal (tmux), whose screen is read as a human reads it.
struct Window {
    socket: PathBuf,
}

impl Window {
    /// `None` without `tmux`.
    fn open(sandbox: &Sandbox, (columns, rows): (u16, u16)) -> Option<Self> {
        let window = Self { socket: sandbox.home().join(format!("tmux-{columns}")) };
        let shell = sandbox.command_of("tmux".as_ref());
        let mut command = window.tmux();
        command.envs(shell.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("PS1", "$ ");
        command.args(["-u", "-f", "/dev/null", "new-session", "-d", "-x", &columns.to_string()]);
        command.args(["-y", &rows.to_string(), "-c"]).arg(sandbox.root()).args(["bash", "--norc", "--noprofile"]);
        match command.output() {
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => {
                skip("terminals", &format_args!("`tmux` cannot be started: {error}"));
                return None;
            }
        }
        window.until("the prompt", |seen| seen.ends_with('$').then_some(()));
        // The next output begins at the last row: each line of it scrolls the screen.
        window.enter(&format!("seq 1 {rows}"));
        window.until("a full screen", |seen| seen.ends_with("\n$").then_some(()));
        Some(window)
    }

    fn enter(&self, command: &str) {
        assert!(self.tmux().args(["send-keys", "-l", command]).status().unwrap().success());
        self.press("Enter");
    }

    fn press(&self, key: &str) {
        assert!(self.tmux().args(["send-keys", key]).status().unwrap().success());
    }

    /// All that is to be read from the last command on, also what has scrolled away.
    fn seen(&self) -> String {
        let output = self.tmux().args(["capture-pane", "-p", "-S", "-"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        text.rfind("$ steadfast").map_or(text.clone(), |at| text[at..].to_owned())
    }

    fn until<T>(&self, what: &str, is_there: impl Fn(&str) -> Option<T>) -> T {
        wait_for(what, || {
            let seen = self.seen();
            is_there(&seen).ok_or(seen)
        })
    }

    /// The screen alone.
    fn rows(&self) -> usize {
        let output = self.tmux().args(["capture-pane", "-p"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).lines().count()
    }

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(&self.socket).env_clear().env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
        tmux.env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
        tmux
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.tmux().arg("kill-server").output();
    }
}

/// Units that take long, with a title that no terminal has room for.
fn slow(units: usize) -> Vec<Value> {
    let title = "Rotate the signing token of the authentication service, 認証サービスの署名トークンを回転させる";
    let one = |number| {
        json!({"id": format!("1.{number}"), "task": format!("{title} [sim:takes 300]"),
            "files": [format!("{number}.txt")],
            "verification": {"type": "command", "command": format!("test -s {number}.txt")}})
    };
    (1..=units).map(one).collect()
}

/// How many lines have this text.
fn lines_with(seen: &str, text: &str) -> usize {
    seen.lines().filter(|line| line.contains(text)).count()
}

/// A run, which is killed when this is dropped.
struct Runner(Child);

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(sandbox: &Sandbox, host: &str) -> Runner {
    let mut command = sandbox.command();
    command.args(["run", "SPEC.json", "--host", host, "--parallel", "2"]).env("TZ", "XYZ-5");
    Runner(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

fn fake_claude(sandbox: &Sandbox, works: &str) {
    let version = "case $1 in --version) echo '2.1.325 (Claude Code)'; exit;; esac";
    write_program(&sandbox.binary().with_file_name("claude"), &format!("#!/bin/sh\n{version}\n{works}\n"));
}

/// The time in the row of a unit at work.
fn time_of(seen: &str, unit: &str) -> Option<u64> {
    let row = seen.lines().find(|line| line.contains(unit) && line.contains("running"))?;
    let (before, _) = row.split_once(" s ")?;
    before.rsplit(' ').next()?.parse().ok()
}

#[test]
fn a_run_that_is_followed_is_redrawn_in_place() {
    // More units than either terminal has rows.
    let sandbox = with_spec(&[("1", &[], slow(50))]);
    let mut runner = Some(start(&sandbox, "sim"));
    let begun = || match progress_of(&sandbox).filter(|units| lines_with(units, "\"running\"") == 2) {
        Some(_) => Ok(()),
        None => Err("no two units run".to_owned()),
    };
    wait_for("two units at work", begun);
    for size in [NARROW, WIDE] {
        let Some(window) = Window::open(&sandbox, size) else { return };
        window.enter("steadfast progress --follow");
        let first = window.until("a unit at work", |seen| time_of(seen, "1.1 "));
        let seen = window.until("the next frame", |seen| {
            // What it does, with the path as the plan has it.
            let is_next = time_of(seen, "1.1 ").is_some_and(|time| time > first) && seen.contains("  Write 1.txt\n");
            is_next.then(|| seen.to_owned())
        });
        assert!(seen.starts_with("$ steadfast progress --follow\n"), "{seen}");
        assert_eq!((lines_with(&seen, "UNIT "), lines_with(&seen, "[>]")), (1, 2), "{seen}");
        assert!(seen.lines().count() <= usize::from(size.1) && seen.contains("more units"), "{size:?}: {seen}");
        assert_eq!(window.rows(), usize::from(size.1));
        // Ctrl-C ends the command alone. When the run ends, the last frame is there as a whole.
        if size == NARROW {
            window.press("C-c");
        } else {
            assert_eq!(progress(&sandbox)["alive"], true);
            drop(runner.take());
        }
        let seen = window.until("the prompt", |seen| seen.ends_with("\n$").then(|| seen.to_owned()));
        let smeared = seen.lines().find(|line| line.contains("^C") && line.trim() != "^C");
        assert!(smeared.is_none() && lines_with(&seen, "UNIT ") == 1, "{seen}");
        if size == WIDE {
            assert_eq!((lines_with(&seen, "Rotate"), lines_with(&seen, "more units")), (50, 0), "{seen}");
            assert_eq!(lines_with(&seen, "its process is gone"), 1, "{seen}");
        }
    }
    sandbox.ok(&["resume", "--give-up"]);
}

fn progress_of(sandbox: &Sandbox) -> Option<String> {
    let progress: Value = serde_json::from_slice(&sandbox.run(&["progress", "--json"]).stdout).ok()?;
    serde_json::to_string_pretty(&progress["units"]).ok()
}

#[test]
fn the_end_of_a_rate_limit_is_told_in_the_time_of_the_reader() {
    let sandbox = with_spec(&[("1", &[], slow(1))]);
    let limit =
        json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1_893_456_000}});
    let end = json!({"type": "result", "subtype": "success", "is_error": true, "api_error_status": 429,
        "result": "limit reached", "session_id": "s"});
    fake_claude(&sandbox, &format!("printf '%s\\n' '{limit}' '{end}'"));
    let _runner = start(&sandbox, "claude");
    let note = wait_for("a unit that waits", || match progress_of(&sandbox) {
        Some(units) if units.contains("rate limit") => Ok(units),
        units => Err(format!("{units:?}")),
    });
    assert!(note.contains("rate limit until 2030-01-01 05:00\""), "{note}");
}

#[test]
fn ctrl_c_says_what_it_waits_for_and_a_second_one_ends_the_run_without_smearing() {
    // An agent that does not end when it is asked to.
    let sandbox = with_spec(&[("1", &[], slow(2))]);
    let agents = sandbox.home().join("agents");
    fs::create_dir(&agents).unwrap();
    let stubborn = format!("trap '' TERM INT\n: > {}/$$\nwhile :; do sleep 1; done", agents.display());
    fake_claude(&sandbox, &stubborn);
    for size in [NARROW, WIDE] {
        let Some(window) = Window::open(&sandbox, size) else { return };
        let command = if size == NARROW { "run SPEC.json --host claude" } else { "resume" };
        window.enter(&format!("steadfast {command} --parallel 2"));
        let both = |seen: &str| (rows(seen) == ["1.1", "1.2"]).then(|| seen.to_owned());
        let before = if size == NARROW { 0 } else { 2 };
        let at_work = |seen: &str| both(seen).filter(|_| fs::read_dir(&agents).unwrap().count() == before + 2);
        window.until("two agents", at_work);
        window.press("C-c");
        let words = |seen: &str| seen.split_whitespace().collect::<Vec<_>>().join(" ");
        let stopping = "stopping: waiting until units 1.1, 1.2 have ended; Ctrl-C again ends the run at once";
        let told = |seen: &str| both(seen).filter(|seen| words(seen).contains(stopping));
        let seen = window.until("what it waits for, above the live block", told);
        let stopping = seen.lines().find(|line| line.contains("stopping: ")).unwrap_or_default();
        assert!(!seen.contains("^C") && stopping.starts_with(|c: char| c.is_ascii_digit()), "smeared: {seen}");
        window.press("C-c");
        let seen = window.until("the prompt", |seen| seen.ends_with("\n$").then(|| seen.to_owned()));
        for line in seen.lines().filter(|line| line.contains("^C")) {
            assert_eq!(line.trim(), "^C", "smeared: {seen}");
        }
        assert_eq!(rows(&seen), ["1.1", "1.2"], "the last picture, once: {seen}");
        assert_eq!(seen.lines().filter(|line| line.starts_with("1 of 3 units landed")).count(), 1, "{seen}");
        window.enter("echo code $?");
        window.until("the code of an interrupt", |seen| seen.contains("\ncode 130\n").then_some(()));
    }
    sandbox.ok(&["resume", "--give-up"]);
}

/// The units of the live block.
fn rows(seen: &str) -> Vec<&str> {
    seen.lines().filter_map(|line| line.strip_prefix(">  ")?.split(' ').next()).collect()
}
