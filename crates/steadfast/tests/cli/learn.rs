//! What was learned and what is remembered, and who is told.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use steadfast_model::{Change, Course, DriftChange, Millis, Record, Score, SessionId, Step, StepKind};
use steadfast_store::ledger::{LearningKind, LearningSource, Ledger, NewLearning};

use crate::sandbox::{Sandbox, as_just_now};

impl Sandbox {
    /// As an agent that must succeed.
    fn by_agent(&self, arguments: &[&str]) -> String {
        let output = self.as_agent("s-1", arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn agent_fails(&self, arguments: &[&str]) -> String {
        let output = self.as_agent("s-1", arguments);
        format!("exit {}\n{}", output.status.code().unwrap(), self.without_paths(&output.stderr))
    }

    fn refuses(&self, arguments: &[&str]) -> String {
        let (code, said) = self.fails(arguments);
        format!("exit {code}\n{said}")
    }

    /// A session that took these steps three days ago, as its journal says.
    fn worked(&self, session: &str, steps: &[Step]) {
        self.went(session, steps, Course::Normal);
    }

    fn went(&self, session: &str, steps: &[Step], course: Course) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let at = Millis(i64::try_from(now).unwrap() - 3 * 86_400_000);
        let id = SessionId::new(session);
        let event = json!({"at": at, "host": "claude", "via": "local", "session": id, "cwd": self.root(),
            "kind": {"tool_batch": {"calls": 1}}});
        let record: Record = serde_json::from_value(json!({ "event": event })).unwrap();
        let stepped =
            (1..).zip(steps).map(|(number, step)| DriftChange::Stepped(Box::new(Step { number, ..step.clone() })));
        let ends = DriftChange::Steered { astray: 0, quiet: 0, escalation: 0, course, awaited: None, corrected: false };
        let changes = stepped.chain([ends]).map(Change::Drift).collect();
        self.invent(Record { changes, ..record });
    }
}

fn edit(path: &str, score: u8) -> Step {
    let score = Score::new(score);
    Step {
        number: 1,
        kind: StepKind::Edit,
        call: None,
        paths: vec![path.into()],
        command: None,
        score,
        level: score.level(),
        reasons: Vec::new(),
        thinking: None,
        recovery: None,
        correction: None,
    }
}

fn bash(command: &str) -> Step {
    Step { kind: StepKind::Bash, paths: Vec::new(), command: Some(command.into()), ..edit("", 10) }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn an_agent_writes_down_what_it_learned_and_a_human_says_what_is_so() {
    let sandbox = Sandbox::new();
    let add =
        ["learn", "add", "npm ci hangs", "--kind", "failure", "--why", "no proxy", "--file", "./web/package.json"];
    assert_eq!(sandbox.by_agent(&add), "learning 1: npm ci hangs (open until a human confirms or dismisses it)\n");
    assert_eq!(sandbox.by_agent(&add), "already known as learning 1: npm ci hangs (open, 60 %)\n");
    assert_eq!(sandbox.ok(&["learn", "add", "Ask before a release"]), "learning 2: Ask before a release (confirmed)\n");
    assert_eq!(
        as_just_now(&sandbox.ok(&["learn", "list"])),
        "1    open       failure     npm ci hangs  [web/package.json]  (60 %, agent, just now)\n     why: no proxy\n\
         2    confirmed  discovery   Ask before a release  (100 %, human, just now)\n"
    );
    assert_eq!(sandbox.ok(&["learn", "confirm", "1"]), "learning 1: npm ci hangs (confirmed)\n");
    assert_eq!(sandbox.ok(&["learn", "dismiss", "2"]), "learning 2: Ask before a release (dismissed)\n");
    let mut listed = parsed(&sandbox.ok(&["learn", "list", "--json"]));
    for learning in listed["learnings"].as_array_mut().unwrap() {
        for time in ["created_at", "updated_at"] {
            assert!(learning[time].take().is_i64());
        }
    }
    assert_eq!(
        listed,
        json!({"learnings": [
            {"id": 1, "kind": "failure", "text": "npm ci hangs", "why": "no proxy", "files": ["web/package.json"],
                "confidence": 100, "status": "confirmed", "source": "agent", "session": "s-1", "created_at": null,
                "updated_at": null},
            {"id": 2, "kind": "discovery", "text": "Ask before a release", "why": "", "files": [], "confidence": 0,
                "status": "dismissed", "source": "human", "session": null, "created_at": null, "updated_at": null},
        ]})
    );
}

#[test]
fn only_a_human_confirms_or_dismisses() {
    let sandbox = Sandbox::new();
    sandbox.by_agent(&["learn", "add", "npm ci hangs"]);
    insta::assert_snapshot!(sandbox.agent_fails(&["learn", "confirm", "1"]), @r"
    exit 2
    error: only a human can run `steadfast learn confirm`, and this is an agent's call

    hint: a human runs `steadfast learn confirm` in a separate terminal
    ");
    insta::assert_snapshot!(sandbox.agent_fails(&["learn", "dismiss", "1"]), @r"
    exit 2
    error: only a human can run `steadfast learn dismiss`, and this is an agent's call

    hint: a human runs `steadfast learn dismiss` in a separate terminal
    ");
    let input = json!({"command": "steadfast learn confirm 1"});
    let call = json!({"tool_name": "Bash", "tool_use_id": "t-1", "tool_input": input});
    assert!(sandbox.hook("PreToolUse", "s-1", call).contains("\"permissionDecision\":\"deny\""));
    assert_eq!(parsed(&sandbox.ok(&["learn", "list", "--json"]))["learnings"][0]["status"], "open");
}

#[test]
fn what_a_human_dismissed_an_agent_does_not_bring_back() {
    let sandbox = Sandbox::new();
    sandbox.by_agent(&["learn", "add", "npm ci hangs"]);
    sandbox.ok(&["learn", "dismiss", "1"]);
    insta::assert_snapshot!(sandbox.agent_fails(&["learn", "add", "NPM ci hangs"]), @r"
    exit 2
    error: a human dismissed this already, as learning 1

    hint: if it is true after all, a human runs `steadfast learn confirm 1`
    ");
    assert_eq!(
        sandbox.ok(&["learn", "add", "npm ci hangs"]),
        "already known as learning 1: npm ci hangs (confirmed, 100 %)\n"
    );
}

#[test]
fn a_learning_that_says_nothing_or_too_much() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.refuses(&["learn", "add", " \n"]), @r"
    exit 64
    error: the learning is empty

    hint: `steadfast learn add TEXT --why TEXT --file PATH` records a learning about a file
    ");
    insta::assert_snapshot!(sandbox.refuses(&["learn", "add", &"x".repeat(501)]), @r"
    exit 64
    error: a learning has 501 characters; the limit is 500

    hint: put the whole text into a file and name the file; for a task: `--file PATH`
    ");
    insta::assert_snapshot!(sandbox.refuses(&["learn", "add", "x", "--why", &"x".repeat(1_001)]), @r"
    exit 64
    error: the reason for a learning has 1001 characters; the limit is 1000

    hint: put the whole text into a file and name the file; for a task: `--file PATH`
    ");
    insta::assert_snapshot!(sandbox.refuses(&["learn", "add", "x", "--file", &"x".repeat(4_097)]), @r"
    exit 64
    error: a path of a learning has 4097 characters; the limit is 4096

    hint: put the whole text into a file and name the file; for a task: `--file PATH`
    ");
    insta::assert_snapshot!(sandbox.refuses(&["learn", "add", "x", "--file", ""]), @r"
    exit 64
    error: the path is empty

    hint: give the path of a file or folder: `--file PATH`
    ");
    let mut many = vec!["learn", "add", "x"];
    many.extend(["--file", "f"].repeat(21));
    insta::assert_snapshot!(sandbox.refuses(&many), @r"
    exit 64
    error: a learning names 21 files; the limit is 20

    hint: a folder covers all its files: `--file src/auth/`
    ");
    insta::assert_snapshot!(sandbox.refuses(&["learn", "add", "x", "--kind", "mood"]), @r"
    exit 64
    error: invalid value 'mood' for '--kind <KIND>'
      [possible values: failure, discovery, constraint]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.refuses(&["learn", "confirm", "7"]), @r"
    exit 1
    error: there is no learning 7

    hint: `steadfast learn list` shows the learnings with their ids
    ");
    insta::assert_snapshot!(sandbox.refuses(&["learn", "dismiss", "seven"]), @r"
    exit 64
    error: invalid value 'seven' for '<ID>': invalid digit found in string

    For more information, try '--help'.
    ");
    assert_eq!(sandbox.run(&["learn", "list"]).stderr, b"no learnings yet\n");
}

#[test]
fn when_nobody_looks_at_them_there_is_an_end_to_learning() {
    let sandbox = Sandbox::new();
    sandbox.by_agent(&["learn", "add", "Number 0"]);
    let mut ledger = Ledger::open(&sandbox.place().state).unwrap();
    for number in 1..500 {
        let new = NewLearning {
            kind: LearningKind::Discovery,
            text: format!("Number {number}"),
            why: String::new(),
            files: Vec::new(),
            session: None,
            source: LearningSource::Agent,
        };
        ledger.learn(&new, Millis(1)).unwrap();
    }
    insta::assert_snapshot!(sandbox.agent_fails(&["learn", "add", "One more"]), @r"
    exit 1
    error: 500 learnings are open, and the limit is 500: a human has to confirm or dismiss some of them first

    hint: a human reads them with `steadfast learn list`, and runs `steadfast learn confirm ID` or `steadfast learn dismiss ID`
    ");
}

#[test]
fn a_secret_is_not_kept() {
    let sandbox = Sandbox::new();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    sandbox.by_agent(&["learn", "add", &format!("The registry wants {token}"), "--why", &token]);
    let listed = sandbox.ok(&["learn", "list", "--json"]);
    assert!(listed.contains("[redacted:") && !listed.contains(&token), "{listed}");
}

#[test]
fn what_was_done_learned_and_decided_is_recalled_with_its_reason() {
    let sandbox = Sandbox::new();
    sandbox
        .worked("s-0", &[edit("src/auth/token.rs", 10), edit("src/auth/cookie.rs", 7), edit("src/auth/theme.css", 3)]);
    sandbox.worked("s-2", &[bash("cargo test login")]);
    sandbox.by_agent(&["learn", "add", "Tokens live an hour", "--file", "src/auth/"]);
    sandbox.ok(&["task", "add", "One"]);
    sandbox.ok(&["decide", "Keep the cookie", "--why", "old browsers"]);
    assert_eq!(
        as_just_now(&sandbox.ok(&["recall", "the", "login", "--file", "src/auth/token.rs"])),
        "learned: Tokens live an hour (discovery, open; same folder)\n\
         done: edit src/auth/token.rs, 3 days ago (same file)\n\
         done: edit src/auth/cookie.rs, 3 days ago (same folder)\n\
         done: bash `cargo test login`, 3 days ago (keyword)\n"
    );
    let mut found = parsed(&sandbox.ok(&["recall", "cookie", "--json"]));
    for recalled in found["recalled"].as_array_mut().unwrap() {
        assert!(recalled["at"].take().is_i64());
    }
    assert_eq!(
        found,
        json!({"recalled": [
            {"what": "decision", "reason": "keyword", "text": "Keep the cookie", "why": "old browsers", "files": [],
                "at": null, "session": null, "id": null, "kind": null, "status": null, "confidence": null, "score": null},
            {"what": "step", "reason": "keyword", "text": "edit src/auth/cookie.rs", "why": "",
                "files": ["src/auth/cookie.rs"], "at": null, "session": "s-0", "id": "s-0/1/2", "kind": "edit",
                "status": null, "confidence": null, "score": 7},
        ]})
    );
}

#[test]
fn a_path_is_meant_from_where_one_is() {
    let sandbox = Sandbox::new();
    sandbox.worked("s-0", &[edit("src/auth/token.rs", 10)]);
    std::fs::create_dir_all(sandbox.root().join("src/auth")).unwrap();
    let whole = sandbox.root().join("src/auth/token.rs");
    let expected = "done: edit src/auth/token.rs, 3 days ago (same file)\n";
    for (folder, path) in [
        (".", "src/auth/token.rs"),
        ("src", "auth/token.rs"),
        ("src/auth", "../auth/./token.rs"),
        (".", whole.to_str().unwrap()),
    ] {
        let output = sandbox
            .command()
            .current_dir(sandbox.root().join(folder))
            .args(["recall", "--file", path])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{folder} {path}");
    }
    assert_eq!(
        sandbox.ok(&["recall", "--file", "src/auth"]),
        "done: edit src/auth/token.rs, 3 days ago (same folder)\n"
    );
    let none = sandbox.run(&["recall", "--file", "/elsewhere/token.rs"]);
    assert_eq!(none.stdout, b"");
    let said = String::from_utf8(none.stderr).unwrap();
    assert_eq!(said, "nothing found: no learning, step or decision is about `/elsewhere/token.rs`\n");
}

#[test]
fn nothing_found_is_said_and_an_unrelated_decision_is_not_shown() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    sandbox.ok(&["decide", "Codes have 6 digits", "--why", "people type them on a phone"]);
    sandbox.ok(&["decide", "Install with npm ci", "--why", "the lock file decides"]);
    let about = |words: &[&str]| {
        let output = sandbox.run(&[&["recall"], words].concat());
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    assert!(about(&["npm"]).starts_with("decided: Install with npm ci: the lock file decides, "));
    assert!(about(&["digits"]).starts_with("decided: Codes have 6 digits: "));
    for words in
        [&["cargo"][..], &["theme"], &["npm", "cache"], &["git"], &["digit", "recognition", "model", "training"]]
    {
        let subject = words.join(" ");
        assert_eq!(about(words), format!("nothing found: no learning, step or decision is about `{subject}`\n"));
    }
}

#[test]
fn a_question_without_words() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.refuses(&["recall"]), @r"
    exit 64
    error: no words and no file given

    hint: `steadfast recall login token`, or `steadfast recall --file src/auth.rs`
    ");
    insta::assert_snapshot!(sandbox.refuses(&["recall", "--file", ""]), @r"
    exit 64
    error: the path is empty

    hint: give the path of a file or folder: `--file PATH`
    ");
}

#[test]
fn whoever_starts_a_task_is_told_what_is_known_of_such_work() {
    let sandbox = Sandbox::new();
    let files: Vec<Step> = (1..=5).map(|n| edit(&format!("src/auth/part_{n}.rs"), 10)).collect();
    sandbox.worked("s-0", &files);
    sandbox.worked("s-1", &[edit("src/auth/own.rs", 10)]);
    for n in 1..=5 {
        sandbox.by_agent(&["learn", "add", &format!("Lesson {n}"), "--file", "src/auth/token.rs"]);
    }
    sandbox.ok(&["learn", "confirm", "2"]);
    sandbox.ok(&["learn", "dismiss", "5"]);
    sandbox.by_agent(&["learn", "add", "The refreshed cookie is set twice"]);
    sandbox.by_agent(&["learn", "add", "A cookie is a biscuit"]);
    sandbox.ok(&["task", "add", "Mend the token", "--file", "src/auth/token.rs"]);
    sandbox.ok(&["task", "add", "Refreshed cookie"]);
    sandbox.ok(&["task", "add", "Something else"]);
    let told = sandbox.by_agent(&["task", "start", "1"]);
    assert_eq!(
        told,
        "1 Mend the token: in progress\n0 of 3 tasks done, 3 open, 0 blocked.\n\
         learned: Lesson 2 (discovery, confirmed; same file)\n\
         learned: Lesson 4 (discovery, open; same file)\n\
         learned: Lesson 3 (discovery, open; same file)\n\
         done: edit src/auth/part_5.rs, 3 days ago (same folder)\n\
         done: edit src/auth/part_4.rs, 3 days ago (same folder)\n\
         done: edit src/auth/part_3.rs, 3 days ago (same folder)\n"
    );
    assert!(!sandbox.by_agent(&["task", "start", "1"]).contains("learned:"), "it was told");
    let told = sandbox.by_agent(&["task", "start", "2"]);
    assert!(told.ends_with("\nlearned: The refreshed cookie is set twice (discovery, open; keyword)\n"), "{told}");
    let told = sandbox.by_agent(&["task", "start", "3"]);
    assert_eq!(told.lines().count(), 2, "{told}");
}

#[test]
fn a_session_that_drifted_is_marked_and_so_is_the_task_it_works_on() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    sandbox.ok(&["task", "add", "Two"]);
    sandbox.by_agent(&["task", "start", "1"]);
    let tags = |sandbox: &Sandbox| {
        let tasks = parsed(&sandbox.ok(&["task", "list", "--json"]));
        tasks["tasks"].as_array().unwrap().iter().map(|task| task["tags"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(tags(&sandbox), [json!([]), json!([])]);
    let steps = [edit("a.rs", 10), edit("b.rs", 7), edit("c.rs", 6), edit("d.rs", 5), edit("e.rs", 2)];
    sandbox.went("s-1", &steps, Course::Drifted);
    assert_eq!(tags(&sandbox), [json!(["had-drift", "needs-review"]), json!([])]);
    assert!(sandbox.ok(&["task", "show", "1"]).contains("   tags: had-drift, needs-review\n"));
    let status = sandbox.ok(&["status"]);
    let line = "\n       5 steps, 1 nudge, 2 corrections, 1 halt, drifted (had-drift, needs-review)\n";
    assert!(status.contains(line), "{status}");
    let status = parsed(&sandbox.ok(&["status", "--json"]));
    let session = &status["sessions"].as_array().unwrap().iter().find(|session| session["id"] == "s-1").unwrap();
    let drift = json!({"steps": 5, "nudges": 1, "corrections": 2, "interventions": 0, "halts": 1, "course": "drifted"});
    assert_eq!((&session["tags"], &session["drift"]), (&json!(["had-drift", "needs-review"]), &drift));
}
