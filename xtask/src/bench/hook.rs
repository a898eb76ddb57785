use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Asked, in_turn, print, print_beside};
use crate::{Result, process};

/// The number of earlier events in the short and the long session.
const SHORT: u32 = 10;
const LONG: u32 = 10_000;

const TASKS: u32 = 1_000;

/// The limits, as multiples of an empty process: a tool event, a stop, a stop with 1,000 done tasks.
const TOOL_EVENT: f64 = 1.6;
const STOP: f64 = 6.0;
const STOP_AFTER_WORK: f64 = 8.0;

/// The limits for the installed command lines that Claude Code runs: a link, or a shell line in a shared file.
const LINK: f64 = 1.8;
const SHELL_LINE: f64 = 2.6;

/// A tool event at a closed gate, which reads the process table.
const CLOSED_GATE: f64 = 4.0;

/// The number of files in the checkout in which a stop compares the files of its done tasks.
const FILES: u32 = 100_000;

/// `cargo xtask bench hook`
pub(crate) fn hook(arguments: &[&str]) -> Result<()> {
    let Asked { runs, binary, beside } = Asked::parse(arguments, 300)?;
    let scene = Scene::set(&binary)?;
    if let Some(beside) = beside {
        return scene.measure_beside(&Scene::set(&beside)?, runs);
    }
    let mut over = scene.measure(runs, 0)?;
    if !over.is_empty() {
        // Another process may have disturbed the first measurement. A hook that is really too slow is too slow again.
        println!("\nover the limit, measuring once more: {}\n", over.join(", "));
        let again = scene.measure(runs, runs)?;
        over.retain(|row| again.contains(row));
    }
    if over.is_empty() {
        return Ok(());
    }
    Err(format!("over the limit in two measurements: {}", over.join(", ")).into())
}

/// One repository with a short session, a long one and a list of tasks, and one with done tasks.
struct Scene {
    repository: tempfile::TempDir,
    done: tempfile::TempDir,
    binary: PathBuf,
    /// The folder of the binary. It is removed with the scene.
    _bin: tempfile::TempDir,
}

impl Scene {
    fn set(binary: &Path) -> Result<Self> {
        // Copied as `init` installs it. A linker's output has small pieces in the page cache, and each start takes 0.2
        // ms longer.
        let bin = tempfile::tempdir()?;
        let installed = bin.path().join("steadfast");
        fs::copy(binary, &installed)?;
        let scene = Self { repository: tempfile::tempdir()?, done: tempfile::tempdir()?, binary: installed, _bin: bin };
        let root = scene.repository.path();
        process::run(Command::new("git").args(["init", "--quiet"]).arg(root))?;
        fs::create_dir(root.join(".git/steadfast"))?;
        // A refusal takes longest, so every stop is refused.
        fs::write(root.join("steadfast.toml"), "[stop]\nmax_cycles = 1000000\nmax_idle = 1000000\n")?;
        eprintln!("preparing sessions of {SHORT} and {LONG} events and {TASKS} tasks");
        for (session, events) in [("short", SHORT), ("long", LONG), ("stop", SHORT)] {
            for n in 0..events {
                let mut row = scene.hook("prepare", "PostToolUse", session, "Edit");
                row.run(n + 1_000_000)?;
            }
        }
        for n in 1..=TASKS {
            let mut add = scene.steadfast(&["task", "add", &format!("Do the thing number {n}")]);
            process::run(add.stdout(Stdio::null()))?;
        }
        let mut start = scene.steadfast(&["task", "start", "1"]);
        process::run(start.stdout(Stdio::null()).env("STEADFAST_SIM", "1").env("STEADFAST_SESSION_ID", "stop"))?;
        let mut lock = scene.steadfast(&["plan", "lock"]);
        process::run(lock.stdout(Stdio::null()).env("STEADFAST_SIM", "1").env("STEADFAST_SESSION_ID", "gated"))?;
        for (name, text) in [("hook.py", include_str!("hook.py")), ("hook.sh", include_str!("hook.sh"))] {
            fs::write(root.join(name), text)?;
        }
        std::os::unix::fs::symlink(&scene.binary, scene.link())?;
        scene.close_tasks()?;
        Ok(scene)
    }

    /// Closes tasks of three files each in a large checkout. A page and its review are two tasks.
    fn close_tasks(&self) -> Result<()> {
        eprintln!("preparing {TASKS} done tasks in a tree of {FILES} files");
        let root = self.done.path();
        process::run(Command::new("git").args(["init", "--quiet"]).arg(root))?;
        fs::create_dir(root.join(".git/steadfast"))?;
        let pages = TASKS / 2;
        let named = |n: u32| ["a", "b", "c"].map(|part| format!("page-{n}/{part}.md"));
        let tasks: Vec<serde_json::Value> = (1..=pages)
            .map(|n| serde_json::json!({"id": format!("1.{n}"), "task": format!("Page {n}"), "type": "docs", "files": named(n)}))
            .collect();
        let spec = serde_json::json!({"feature": "Pages", "phases": [{"id": "1", "name": "Pages", "tasks": tasks}]});
        fs::write(root.join("SPEC.json"), spec.to_string())?;
        let steadfast = |arguments: &[&str]| -> Result<()> {
            let mut command = Command::new(&self.binary);
            command.args(arguments).current_dir(root).stdout(Stdio::null()).stderr(Stdio::null());
            process::run(&mut command)
        };
        steadfast(&["plan", "load", "SPEC.json"])?;
        steadfast(&["decide", "Markdown", "--why", "it is read as it is"])?;
        steadfast(&["task", "done", "1.0"])?;
        for n in 1..=FILES {
            let path = match n.checked_sub(3 * pages) {
                None | Some(0) => root.join(&named(1 + (n - 1) / 3)[(n as usize - 1) % 3]),
                Some(rest) => root.join(format!("other-{}/{rest}.md", rest % 100)),
            };
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, format!("{n}\n"))?;
        }
        let mut bind = Command::new(&self.binary);
        bind.args(["task", "start", "1.1"]).current_dir(root).stdout(Stdio::null());
        process::run(bind.env("STEADFAST_SIM", "1").env("STEADFAST_SESSION_ID", "done"))?;
        for n in 1..=3 {
            fs::write(root.join(&named(1)[n - 1]), "begun\n")?;
        }
        std::thread::sleep(Duration::from_millis(200));
        for n in 1..=pages {
            steadfast(&["task", "done", &format!("1.{n}")])?;
            steadfast(&["task", "done", &format!("1.{n}a")])?;
        }
        Ok(())
    }

    /// Measures and prints every row, and returns those over their limit. The rounds are numbered from `first`, because
    /// a repeated call is answered without a decision.
    fn measure(&self, runs: u32, first: u32) -> Result<Vec<&'static str>> {
        let mut rows = self.rows()?;
        in_turn(rows.len(), runs, |row, round| rows[row].run(first + round))?;
        let ratios = print(rows.iter_mut().map(|row| (row.name.to_owned(), &mut row.times)), runs);
        let over = |(row, ratio): (&Row, f64)| row.limit.is_some_and(|limit| ratio > limit).then_some(row.name);
        Ok(rows.iter().zip(ratios).filter_map(over).collect())
    }

    /// Runs every row of this build and of another one in turn. The other build has its own scene, since a build may
    /// not read the files of an older one.
    fn measure_beside(&self, other: &Self, runs: u32) -> Result<()> {
        let mut rows = self.rows()?;
        let of_this = rows.len();
        rows.extend(other.rows()?);
        in_turn(rows.len(), runs, |row, round| rows[row].run(round))?;
        let others = rows.split_off(of_this);
        let pairs = rows.into_iter().zip(others);
        print_beside(pairs.map(|(this, other)| (this.name.to_owned(), [this.times, other.times])), runs);
        Ok(())
    }

    /// Returns the link. Its name contains the hook's arguments.
    fn link(&self) -> PathBuf {
        self.repository.path().join(".git/steadfast-hook-claude-local-PreToolUse")
    }

    /// Returns the line of a shared file, which the plugin also uses.
    fn shell_line() -> Result<String> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugin/hooks/hooks.json");
        let plugin: serde_json::Value = serde_json::from_slice(&fs::read(file)?)?;
        let command = plugin["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str();
        Ok(command.ok_or("the plugin has no hook before a tool")?.to_owned())
    }

    fn steadfast(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).current_dir(self.repository.path());
        command
    }

    fn rows(&self) -> Result<Vec<Row>> {
        let script = |name: &'static str, program: &str, file: &str| {
            let mut row = Row { limit: None, ..self.hook(name, "PreToolUse", "script", "Edit") };
            row.program = program.into();
            row.arguments = vec![self.repository.path().join(file).display().to_string()];
            row
        };
        let mut rows = vec![Row::bare(self.repository.path())];
        for (session, names) in [
            ("short", ["Pre Edit, after 10", "Post Edit, after 10", "Pre Read, after 10", "Post Read, after 10"]),
            (
                "long",
                [
                    "Pre Edit, after 10,000",
                    "Post Edit, after 10,000",
                    "Pre Read, after 10,000",
                    "Post Read, after 10,000",
                ],
            ),
        ] {
            let events =
                [("PreToolUse", "Edit"), ("PostToolUse", "Edit"), ("PreToolUse", "Read"), ("PostToolUse", "Read")];
            rows.extend(
                names.into_iter().zip(events).map(|(name, (event, tool))| self.hook(name, event, session, tool)),
            );
        }
        rows.push(self.hook("Pre Bash, after 10", "PreToolUse", "short", "Bash"));
        rows.push(self.hook("Post Bash, after 10", "PostToolUse", "short", "Bash"));
        let edit = |name| self.hook(name, "PreToolUse", "short", "Edit");
        rows.push(Row {
            limit: Some(LINK),
            program: self.link(),
            arguments: Vec::new(),
            ..edit("Pre Edit, by its link")
        });
        rows.push(Row {
            limit: Some(SHELL_LINE),
            program: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), Self::shell_line()?],
            path: self.binary.parent().map(Path::to_owned),
            ..edit("Pre Edit, by a shared line")
        });
        for (name, event) in [("Pre Bash, gate closed", "PreToolUse"), ("Post Bash, gate closed", "PostToolUse")] {
            rows.push(Row { limit: Some(CLOSED_GATE), ..self.hook(name, event, "gated", "Bash") });
        }
        rows.push(self.hook("Stop, 1,000 tasks", "Stop", "stop", ""));
        let root = self.done.path();
        rows.push(Row {
            limit: Some(STOP_AFTER_WORK),
            payload: payload(root, "Stop", "done", ""),
            cwd: root.to_owned(),
            refuses: false,
            ..self.hook("Stop, 1,000 done tasks", "Stop", "done", "")
        });
        rows.push(script("the same in bash and jq", "bash", "hook.sh"));
        // A version manager would take longer than Python itself.
        let python = if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" };
        rows.push(script("the same in Python", python, "hook.py"));
        Ok(rows)
    }

    fn hook(&self, name: &'static str, event: &'static str, session: &str, tool: &str) -> Row {
        Row {
            name,
            limit: Some(if event == "Stop" { STOP } else { TOOL_EVENT }),
            program: self.binary.clone(),
            arguments: ["hook", "--host", "claude", "--via", "local", event].map(str::to_owned).to_vec(),
            payload: payload(self.repository.path(), event, session, tool),
            cwd: self.repository.path().to_owned(),
            refuses: event == "Stop",
            path: None,
            times: Vec::new(),
        }
    }
}

struct Row {
    name: &'static str,
    limit: Option<f64>,
    program: PathBuf,
    arguments: Vec<String>,
    payload: String,
    cwd: PathBuf,
    /// The expected answer is a refusal.
    refuses: bool,
    /// A folder for the start of `PATH`.
    path: Option<PathBuf>,
    times: Vec<Duration>,
}

impl Row {
    fn bare(cwd: &Path) -> Self {
        Self {
            name: "/bin/true",
            limit: None,
            program: "/bin/true".into(),
            arguments: Vec::new(),
            payload: String::new(),
            cwd: cwd.to_owned(),
            refuses: false,
            path: None,
            times: Vec::new(),
        }
    }

    /// Runs one call, timed from start to end of the process. The payload is in the pipe before that: two kilobytes fit
    /// its buffer.
    fn run(&mut self, round: u32) -> Result<()> {
        let payload = self.payload.replace("@ROUND@", &format!("{}-{round}", self.name));
        let mut command = Command::new(&self.program);
        if let Some(first) = &self.path {
            command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", first.display()));
        }
        let started = Instant::now();
        let mut child = command
            .args(&self.arguments)
            .current_dir(&self.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // `/bin/true` does not read.
            let _ = stdin.write_all(payload.as_bytes());
        }
        let output = child.wait_with_output()?;
        self.times.push(started.elapsed());
        if !output.status.success() {
            return Err(format!("{} failed: {}", self.name, output.status).into());
        }
        let refused = String::from_utf8_lossy(&output.stdout).contains("\"decision\":\"block\"");
        if refused != self.refuses {
            return Err(format!("{} said {:?}", self.name, String::from_utf8_lossy(&output.stdout)).into());
        }
        Ok(())
    }
}

/// Returns a payload of two kilobytes, the usual size.
fn payload(root: &Path, event: &str, session: &str, tool: &str) -> String {
    let file = root.join("src/lib.rs");
    let input = match tool {
        "Bash" => {
            serde_json::json!({"command": "cargo test --workspace 2>&1 | head -n 40", "description": "Run the tests"})
        }
        "Edit" => {
            serde_json::json!({"file_path": file, "old_string": "a ".repeat(300), "new_string": "b ".repeat(300)})
        }
        _ => serde_json::json!({"file_path": file}),
    };
    let mut payload = serde_json::json!({
        "session_id": session,
        "transcript_path": "/home/dev/.claude/projects/-home-dev-shop/transcript.jsonl",
        "cwd": root,
        "prompt_id": "12f79667-6a6c-488c-a9ea-a78487127566",
        "permission_mode": "bypassPermissions",
        "effort": {"level": "medium"},
        "hook_event_name": event,
    });
    if event == "Stop" {
        payload["stop_hook_active"] = false.into();
        payload["last_assistant_message"] = "I've made good progress, let me know! ".repeat(40).into();
        payload["background_tasks"] = serde_json::json!([]);
        payload["session_crons"] = serde_json::json!([]);
    } else {
        payload["tool_name"] = tool.into();
        payload["tool_input"] = input;
        payload["tool_use_id"] = "toolu_@ROUND@".into();
        if event == "PostToolUse" {
            payload["tool_response"] = serde_json::json!({"stdout": "x".repeat(200), "interrupted": false});
            payload["duration_ms"] = 12.into();
        }
    }
    let missing = 2_000_usize.saturating_sub(payload.to_string().len() + 20);
    payload["padding"] = "p".repeat(missing).into();
    payload.to_string()
}
