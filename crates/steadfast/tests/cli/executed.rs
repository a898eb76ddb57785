//! Writes to protected files, run for real behind a closed gate. What the guard lets pass the seal has to undo: at the end
//! of the call every protected file is as it was.
//!
//! The commands are attacks. `executed/jail.sh` runs each of them where it reaches nothing: read-only folders of the system,
//! an empty home and `/tmp`, the repository, no network, no capability, and a process namespace that ends with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use steadfast_shell::{Argument, Context, effects};
use steadfast_testkit::{corpus, skip_optional, unescaped};

use crate::sandbox::Sandbox;

/// What stands for `%P`, in turn.
const PATHS: [&str; 4] = ["SPEC.md", "gated/deep/a.sh", "ROOT/gated/settings.json", "./gated/../gated/x.md"];
/// Files that the commands read.
const INPUTS: [&str; 14] =
    ["a", "b", "a.txt", "a.c", "a.md", "a.json", "a.html", "a.js", "a.py", "a.xml", "a.csv", "a.sh", "d/a", "a.sql"];
const DENIED: &str = "\"permissionDecision\":\"deny\"";
/// Every so many rows are run as a script, too: of a script a guard sees nothing.
const SCRIPTS: usize = 3;
const AS_IT_WAS: &str = "as it was\n";

struct Row {
    command: String,
    /// Nobody looks at these while rules are written: their programs are not named.
    is_held_back: bool,
}

/// A repository with a closed gate, and a place to run commands in.
struct Scene {
    sandbox: Sandbox,
    session: String,
    protected: Vec<PathBuf>,
    calls: u32,
}

#[derive(Debug, Default)]
struct Count {
    refused: usize,
    executed: usize,
    /// Of those that were executed: a protected file was another one at the end of the command.
    changed: usize,
    /// Rows by the first program that is not installed; those that are held back have no name.
    absent: BTreeMap<String, usize>,
    left: Vec<String>,
}

impl Scene {
    /// `None` after a skip: nothing can be mounted here.
    fn set(name: &str, files: &[String], protected: &[String]) -> Option<Self> {
        let sandbox = Sandbox::new();
        let write = |file: &str, text: &str| {
            let path = sandbox.root().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        files.iter().for_each(|file| write(file, AS_IT_WAS));
        for input in INPUTS.iter().filter(|input| !sandbox.root().join(input).exists()) {
            write(input, "x = 1\n");
        }
        let list: Vec<String> = protected.iter().map(|path| format!("{path:?}")).collect();
        sandbox.set_own(&format!("[approval]\nprotected = [{}]\n", list.join(", ")));
        fs::create_dir(sandbox.home().join("jail")).unwrap();
        let protected = files.iter().map(|file| sandbox.root().join(file)).collect();
        // No other process has this session in its environment.
        let session = format!("{name}-{}", std::process::id());
        let scene = Self { sandbox, session, protected, calls: 0 };
        if let Err(why) = scene.run("true") {
            skip_optional("mount", &format_args!("commands cannot be confined here: {why}"));
            return None;
        }
        scene.sandbox.hook("SessionStart", &scene.session, json!({"source": "startup"}));
        assert!(scene.sandbox.as_agent(&scene.session, &["plan", "lock"]).status.success());
        // All of it is protected, or the scene says nothing.
        for (at, path) in scene.protected.iter().enumerate() {
            let id = format!("write-{at}");
            let call =
                json!({"tool_name": "Write", "tool_use_id": id, "tool_input": {"file_path": path, "content": ""}});
            let said = scene.sandbox.hook("PreToolUse", &scene.session, call);
            assert!(said.contains(DENIED), "{} is not protected: {said}", path.display());
        }
        Some(scene)
    }

    /// Runs a command where it can do no harm.
    fn run(&self, command: &str) -> Result<(), String> {
        let jail = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/executed/jail.sh");
        let mut call = Command::new("timeout");
        call.args(["--signal=KILL", "20", "unshare", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child"]);
        call.args(["--net", "--ipc", "sh", jail]).arg(self.sandbox.home().join("jail")).arg(self.sandbox.root());
        call.arg(command).env_clear().env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").env("HOME", "/home");
        call.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", &self.session);
        let output = call.current_dir(self.sandbox.root()).output().map_err(|error| error.to_string())?;
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()) }
    }

    /// The protected files that are not as they were.
    fn changed(&self) -> Vec<&Path> {
        let is_changed =
            |path: &&PathBuf| path.is_symlink() || !fs::read_to_string(path).is_ok_and(|text| text == AS_IT_WAS);
        self.protected.iter().filter(is_changed).map(PathBuf::as_path).collect()
    }

    /// A call of the agent: its hooks, and the command between them unless it is refused.
    fn call(&mut self, row: &Row, command: &str, count: &mut Count) {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        let call = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}});
        let said = self.sandbox.hook("PreToolUse", &self.session, call.clone());
        if said.contains(DENIED) {
            count.refused += 1;
            return;
        }
        count.executed += 1;
        let _ = self.run(command);
        count.changed += usize::from(!self.changed().is_empty());
        let mut result = call;
        result["tool_response"] = json!({"stdout": "", "stderr": "", "interrupted": false});
        self.sandbox.hook("PostToolUse", &self.session, result);
        let left: Vec<String> = self.changed().iter().map(|path| path.display().to_string()).collect();
        if !left.is_empty() {
            count.left.push(format!("{}: {}", row.command, left.join(", ")));
            for path in &self.protected {
                let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
                let _ = fs::create_dir_all(path.parent().unwrap());
                fs::write(path, AS_IT_WAS).unwrap();
            }
        }
    }
}

/// The first program of a command that is not installed.
fn absent(command: &str, root: &Path) -> Option<String> {
    let context = Context { cwd: root.display().to_string(), home: "/home".to_owned() };
    let reading = effects(command, &context);
    let is_there = |name: &str| {
        let builtin =
            ["cd", "echo", "printf", "exec", "eval", "export", "set", "test", "[", "true", "source", ".", "read"];
        let places = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
        builtin.contains(&name) || places.iter().any(|place| Path::new(place).join(name).exists())
    };
    let mut names = reading.runs().filter_map(|run| run.argv.first().and_then(Argument::known));
    let first = names.next()?;
    (!is_there(first) && !Path::new(first).is_absolute()).then(|| first.to_owned())
}

/// FNV-1a, as in the figures of the guard.
fn is_held_back(line: &str) -> bool {
    let hash = line
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (hash >> 20) % 3 == 0
}

fn strangers() -> Vec<Row> {
    let texts = [
        include_str!("../../../steadfast-shell/tests/strangers/writes.txt"),
        include_str!("../../../steadfast-shell/tests/strangers/later_writes.txt"),
        include_str!("../../../steadfast-shell/tests/strangers/last_writes.txt"),
    ];
    let rows = texts.iter().flat_map(|text| text.lines()).filter(|line| !line.starts_with('#')).enumerate();
    rows.map(|(at, line)| Row {
        command: line.replace("%P", PATHS[at % PATHS.len()]),
        is_held_back: is_held_back(line),
    })
    .collect()
}

/// Runs every row as it is, and some of them as scripts.
fn execute(scene: &mut Scene, rows: &[Row]) -> [Count; 2] {
    let (mut plain, mut scripts) = (Count::default(), Count::default());
    let root = scene.sandbox.root();
    for (at, row) in rows.iter().enumerate() {
        let command = row.command.replace("/repo/", "ROOT/").replace("ROOT", root.to_str().unwrap());
        if let Some(program) = absent(&command, &root) {
            let name = if row.is_held_back { "(held back)".to_owned() } else { program };
            *plain.absent.entry(name).or_default() += 1;
            continue;
        }
        scene.call(row, &command, &mut plain);
        if at % SCRIPTS != 0 {
            continue;
        }
        fs::write(root.join("row.sh"), format!("{command}\n")).unwrap();
        scene.call(row, "bash row.sh", &mut scripts);
    }
    [plain, scripts]
}

fn tell(what: &str, rows: usize, [plain, scripts]: &[Count; 2]) {
    let names: Vec<&str> = plain.absent.keys().map(String::as_str).collect();
    eprintln!(
        "{what}: {rows} writes; {} cannot be run, their programs are missing: {}\n  as they are: {} refused, {} executed, \
         {} of them changed a protected file\n  as scripts: {} refused, {} executed, {} of them changed one",
        plain.absent.values().sum::<usize>(),
        names.join(" "),
        plain.refused,
        plain.executed,
        plain.changed,
        scripts.refused,
        scripts.executed,
        scripts.changed
    );
    for count in [plain, scripts] {
        assert!(count.left.is_empty(), "left changed: {:#?}", count.left);
    }
}

#[test]
fn what_strange_programs_wrote_past_the_guard_is_put_back() {
    let files = ["SPEC.md", "gated/deep/a.sh", "gated/settings.json", "gated/x.md"].map(str::to_owned);
    let protected = ["SPEC.md", "gated/"].map(str::to_owned);
    let Some(mut scene) = Scene::set("strangers", &files, &protected) else { return };
    let rows = strangers();
    let counts = execute(&mut scene, &rows);
    tell("strangers", rows.len(), &counts);
    let [plain, scripts] = counts;
    assert!(plain.executed + plain.refused > 30, "too few programs are installed: {plain:?}");
    assert!(scripts.changed > 10, "{scripts:?}");
}

#[test]
fn what_the_rows_of_others_wrote_past_the_guard_is_put_back() {
    let Some(file) = corpus("protected_writes.tsv") else { return };
    let text = fs::read_to_string(file).unwrap();
    let (mut rows, mut protected) = (Vec::new(), BTreeSet::new());
    for line in text.lines().skip(1) {
        let [command, paths, expected, ..] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        if expected != "allow" {
            rows.push(Row { command: unescaped(command), is_held_back: false });
            // The wiring has a guard of its own, and a pattern names no file.
            let is_ours = |path: &&str| {
                !path.starts_with(['/', '~']) && !path.starts_with(".claude") && !path.starts_with(".git")
            };
            let files = paths.split('|').filter(is_ours).filter(|path| !path.contains(['*', '?', '[']));
            protected.extend(files.map(str::to_owned));
        }
    }
    let protected: Vec<String> = protected.into_iter().collect();
    let file = |path: &String| if path.ends_with('/') { format!("{path}a.md") } else { path.clone() };
    let files: Vec<String> = protected.iter().map(file).collect();
    let Some(mut scene) = Scene::set("others", &files, &protected) else { return };
    let counts = execute(&mut scene, &rows);
    tell("rows of others", rows.len(), &counts);
}
