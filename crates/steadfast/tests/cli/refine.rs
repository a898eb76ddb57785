//! What a command of the user's own adds to a goal, and what it cannot do.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use steadfast_store::read_log;
use steadfast_testkit::wait_for;

use crate::sandbox::{Sandbox, write_program};

const SESSION: &str = "s-1";
const PROMPT: &str = "Fix the expiry in src/token.rs, but don't commit.";

impl Sandbox {
    /// With a tree that git knows.
    fn with_tree() -> Self {
        let sandbox = Self::new();
        for file in ["src/token.rs", "src/clock.rs", "web/menu.ts", "web/side/bar.ts"] {
            sandbox.put(file);
        }
        sandbox.commit();
        sandbox
    }

    fn at_home(&self, name: &str) -> PathBuf {
        self.home().join(name)
    }

    /// A command that leaves a mark when it is run; for you, in this repository.
    fn with_refiner(self, script: &str) -> Self {
        let program = self.at_home("refiner");
        write_program(&program, &format!("cat >'{}'\n{script}", self.at_home("told").display()));
        self.ok(&["config", "set", "drift.refine", program.to_str().unwrap()]);
        self
    }

    fn says(&self, text: &str) {
        self.hook("UserPromptSubmit", SESSION, json!({"prompt": text}));
    }

    fn shown_goal(&self) -> Value {
        serde_json::from_str(&self.ok(&["goal", "show", "--json"])).unwrap()
    }

    fn start_refine(&self, prompt: &str) -> Child {
        self.start_refine_within(prompt, "60")
    }

    /// The command has so many seconds. It is the last to get a core: with others at work, seconds may pass before it starts.
    fn start_refine_within(&self, prompt: &str, seconds: &str) -> Child {
        let arguments = ["refine", "--session", SESSION, "--prompt", prompt, "--seconds", seconds];
        self.command().args(arguments).stdout(Stdio::null()).spawn().unwrap()
    }

    fn was_run(&self) -> bool {
        self.at_home("told").exists()
    }

    /// The lines of the log that speak of it, without their times.
    fn refusals(&self) -> Vec<String> {
        let lines = read_log(&self.place()).into_iter();
        lines.filter_map(|line| Some(line.split_once("cannot refine the goal: ")?.1.to_owned())).collect()
    }
}

#[test]
fn what_the_command_says_and_git_knows_is_where_the_work_is() {
    let answer =
        r#"{"scope": ["src/clock.rs", "web", "src/gone.rs", "/etc/passwd", "../x", "."], "keywords": ["cookies"]}"#;
    let sandbox = Sandbox::with_tree().with_refiner(&format!("echo '{answer}'"));
    sandbox.says(PROMPT);
    wait_for("a goal that is refined", || match sandbox.shown_goal() {
        goal if goal["refined"] == json!([]) => Err(goal.to_string()),
        _ => Ok(()),
    });
    let constraint = json!({"number": 1, "kind": "commit", "of": [], "said": PROMPT});
    assert_eq!(
        sandbox.shown_goal(),
        json!({
            "session": SESSION,
            "goal": PROMPT,
            "scope": ["src/token.rs", "src/clock.rs", "web/"],
            "found": [],
            "refined": ["src/clock.rs", "web/"],
            "constraints": [constraint],
            "waiting": null,
        })
    );
    assert_eq!(
        sandbox.ok(&["goal", "show"]),
        format!(
            "session s-1: goal: {PROMPT} (scope: src/token.rs, src/clock.rs refined by your command, web/ refined by \
             your command); forbidden: 1 commit (\"{PROMPT}\")\n"
        )
    );
    let told: Value = serde_json::from_str(&fs::read_to_string(sandbox.at_home("told")).unwrap()).unwrap();
    assert_eq!(told, json!({"prompt": PROMPT, "goal": PROMPT, "scope": ["src/token.rs"]}));
    assert_eq!(sandbox.refusals(), Vec::<String>::new());
}

#[test]
fn what_the_command_cannot_say_changes_nothing_and_is_logged() {
    let rubbish = "the answer of the command is not `{\"scope\": [path], \"keywords\": [word]}`: ";
    for (script, why) in [
        ("echo 'I think it is src/clock.rs'", &format!("{rubbish}expected value at line 1 column 1")[..]),
        ("echo '{\"scope\": [\"src/clock.rs\"]}'; exit 3", "the command failed: exit status: 3"),
        ("no-such-program", "the command failed: exit status: 127"),
        ("echo '{\"scope\": [\"src/clock.rs\"]}'; sleep 600", "the command did not end within 8 s and was killed"),
        ("cat /dev/zero", "the command printed more than 64 kB and was killed"),
        ("true", &format!("{rubbish}EOF while parsing a value at line 1 column 0")),
    ] {
        let sandbox = Sandbox::with_tree();
        sandbox.says(PROMPT);
        let sandbox = sandbox.with_refiner(script);
        let before = sandbox.session(SESSION).peek();
        let began = Instant::now();
        let seconds = if script.contains("sleep") { "8" } else { "60" };
        assert!(sandbox.start_refine_within("1", seconds).wait().unwrap().success(), "{script}");
        assert!(began.elapsed() < Duration::from_secs(300), "{script}: it was waited for");
        assert_eq!(sandbox.refusals(), [why], "{script}");
        assert!(sandbox.was_run() && sandbox.session(SESSION).peek() == before, "{script}");
    }
}

#[test]
fn an_answer_that_adds_nothing_is_no_event() {
    let sandbox = Sandbox::with_tree();
    sandbox.says(PROMPT);
    let sandbox = sandbox.with_refiner("echo '{\"scope\": [\"src/gone.rs\"], \"more\": 1}'");
    let before = sandbox.session(SESSION).peek();
    assert!(sandbox.start_refine("1").wait().unwrap().success());
    assert!(sandbox.was_run() && sandbox.session(SESSION).peek() == before);
    assert_eq!(sandbox.refusals(), Vec::<String>::new());
}

#[test]
fn who_speaks_while_the_command_thinks_is_heard_and_not_it() {
    let sandbox = Sandbox::with_tree();
    sandbox.says(PROMPT);
    let wait = format!("while [ ! -e '{}' ]; do sleep 0.02; done", sandbox.at_home("go").display());
    let sandbox = sandbox.with_refiner(&format!("{wait}\necho '{{\"scope\": [\"src/clock.rs\"]}}'"));
    let mut refine = sandbox.start_refine("1");
    wait_for("the command", || if sandbox.was_run() { Ok(()) } else { Err("it was not asked".to_owned()) });
    sandbox.says("never mind the clock");
    fs::write(sandbox.at_home("go"), "").unwrap();
    assert!(refine.wait().unwrap().success());
    assert_eq!(sandbox.shown_goal()["refined"], json!([]));
    // One that comes even later is not asked.
    fs::remove_file(sandbox.at_home("told")).unwrap();
    assert!(sandbox.start_refine("1").wait().unwrap().success());
    assert!(!sandbox.was_run());
}

#[test]
fn a_project_does_not_say_what_is_run() {
    let sandbox = Sandbox::with_tree();
    let mark = sandbox.at_home("told");
    fs::write(sandbox.root().join("steadfast.toml"), format!("[drift]\nrefine = \"touch '{}'\"\n", mark.display()))
        .unwrap();
    sandbox.says(PROMPT);
    assert!(sandbox.start_refine("1").wait().unwrap().success());
    sandbox.wait_until_quiet();
    assert!(!sandbox.was_run());
    let shown = sandbox.run(&["config", "show"]);
    let lines = String::from_utf8(shown.stdout).unwrap();
    assert!(lines.contains("drift.refine         \"\"         default\n"), "{lines}");
    let ignored = "`/repo/steadfast.toml` says `drift.refine`, which is ignored there: ";
    let found_ignored = "`/repo/steadfast.toml` sets `drift.refine`, which is ignored there: ";
    assert_eq!(
        sandbox.without_paths(&shown.stderr),
        format!("note: {ignored}only your own settings may name a command to run\n")
    );
    let found = sandbox.without_paths(&sandbox.run(&["doctor"]).stdout);
    assert!(
        found.contains(&format!(
            "note config-ignored: {found_ignored}a project file may not choose which commands are run\n"
        )),
        "{found}"
    );
    let (code, said) = sandbox.fails(&["config", "set", "--project", "drift.refine", "true"]);
    assert_eq!(code, 2);
    assert!(said.contains("is ignored in a committed `steadfast.toml`"), "{said}");
    // One's own for this repository holds beside it.
    sandbox.ok(&["config", "set", "drift.refine", &format!("touch '{}'", mark.display())]);
    assert!(sandbox.start_refine("1").wait().unwrap().success());
    assert!(sandbox.was_run());
}

#[test]
fn an_agent_that_the_command_starts_does_not_start_the_command() {
    let sandbox = Sandbox::with_tree().with_refiner("echo '{}'");
    let payload = json!({"session_id": SESSION, "cwd": sandbox.root(), "prompt": PROMPT}).to_string();
    let file = sandbox.at_home("payload");
    fs::write(&file, payload).unwrap();
    let mut hook = sandbox.command();
    hook.args(["hook", "--host", "claude", "--via", "local", "UserPromptSubmit"]).env("STEADFAST_REFINING", "1");
    assert!(hook.stdin(fs::File::open(file).unwrap()).status().unwrap().success());
    sandbox.wait_until_quiet();
    assert!(!sandbox.was_run());
    assert_eq!(sandbox.shown_goal()["scope"], json!(["src/token.rs"]));
}
