//! What people see at a terminal: no line is longer than it, none is broken in a word, and all of it is on the screen.

use serde_json::{Value, json};
use steadfast_text::columns;

use crate::sandbox::Sandbox;

const NARROW: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (140, 40);

const TITLE: &str =
    "Rotate the signing token of the authentication service and keep the previous one valid for an hour";
const CJK: &str =
    "認証サービスの署名トークンを回転させ、以前のトークンを一時間だけ有効なままにしておくことにするという仕事";

/// A ledger with titles that do not fit, and with what needs a human.
fn full() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", TITLE, "--file", "src/authentication/token/rotation.rs", "--verify", "false"]);
    sandbox.ok(&["task", "add", CJK, "--after", "1"]);
    sandbox.ok(&[
        "task",
        "add",
        "👩‍💻 Ship it 🚀 and tell the people who asked for it in the forum that it is there now",
        "--after",
        "2",
    ]);
    for number in 4..=200 {
        sandbox.ok(&["task", "add", &format!("Task number {number} of a long list")]);
    }
    for number in 4..=11 {
        let why = "the key of the staging environment is missing, and only an administrator can make a new one";
        sandbox.ok(&["task", "block", &number.to_string(), "--why", why]);
    }
    for session in ["0198f3a2-aaaa-7000-8000-000000000001", "7f000000-bbbb-7000-8000-000000000002"] {
        sandbox.hook("SessionStart", session, json!({"source": "startup"}));
        sandbox.hook("UserPromptSubmit", session, json!({"prompt": "Do the tasks."}));
        assert!(sandbox.stop_is_refused(session));
    }
    sandbox
}

/// The text without its escape sequences.
fn plain(screen: &str) -> String {
    let (mut text, mut rest) = (String::new(), screen);
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        text.push_str(before);
        rest = after.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, rest)| rest);
    }
    text + rest
}

#[test]
fn no_line_is_longer_than_the_terminal_and_no_word_is_broken() {
    let sandbox = full();
    let commands = [
        "status",
        "why",
        "log",
        "log --full",
        "task list",
        "task ready",
        "task next",
        "task show 1",
        "task show 2",
        "plan show",
        "plan list",
        "plan status",
        "config show",
        "learn list",
    ];
    let piped: String = commands.iter().map(|command| sandbox.ok(&command.split(' ').collect::<Vec<_>>())).collect();
    // A line that only a small terminal has, and a note on standard error.
    let piped = piped + "and more; lists all; no learnings yet";
    for size in [NARROW, WIDE] {
        for command in commands {
            let seen = plain(&sandbox.on_screen(command, size));
            assert!(!seen.trim().is_empty(), "{command} shows nothing");
            for line in seen.lines() {
                assert!(columns(line) <= usize::from(size.0), "{command} at {size:?}: {line}");
                // Each word is one of the whole text, or a shortened one.
                let words =
                    line.split_whitespace().filter(|word| word.is_ascii() && word.chars().all(char::is_alphabetic));
                for word in words.filter(|word| word.len() > 3 && word.chars().any(char::is_lowercase)) {
                    assert!(piped.contains(word), "{command} at {size:?} breaks `{word}`: {line}");
                }
            }
        }
    }
}

#[test]
fn status_and_why_are_on_one_screen_with_what_needs_a_human_first() {
    let sandbox = full();
    for size in [NARROW, WIDE] {
        let seen = plain(&sandbox.on_screen("status", size));
        assert!(seen.lines().count() < usize::from(size.1), "{seen}");
        let seen = plain(&sandbox.paged("why", size, "sed 's/^/page: /'"));
        let (paged, lines) = (seen.lines().filter(|line| line.starts_with("page: ")).count(), seen.lines().count());
        assert!(paged == lines || lines < usize::from(size.1) && paged == 0, "scrolls by unread: {seen}");
    }
    let seen = plain(&sandbox.on_screen("status", NARROW));
    let at = |words: &str| seen.find(words).unwrap_or_else(|| panic!("{words}: {seen}"));
    assert!(at("needs a human: task 4 is blocked") < at("0 of 200 tasks done"), "{seen}");
    assert!(seen.contains("claude 7f000000") && !seen.contains("7f000000-bbbb"), "{seen}");
}

#[test]
fn the_log_has_a_header_and_one_line_per_event() {
    let sandbox = full();
    let events = sandbox.ok(&["log"]).lines().count();
    let seen = plain(&sandbox.on_screen("log", NARROW));
    let lines: Vec<&str> = seen.lines().collect();
    assert!(lines[0].starts_with("TIME") && lines[0].ends_with("TEXT"), "{seen}");
    assert!(lines[1].ends_with(", UTC"), "the day: {seen}");
    assert_eq!(lines.len(), events + 2, "{seen}");
    assert!(seen.contains('…'), "{seen}");
    let whole = plain(&sandbox.on_screen("log --full", NARROW));
    assert!(whole.contains("works on them only if the user asks") && whole.lines().count() > lines.len(), "{whole}");
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let sandbox = full();
    assert!(sandbox.on_screen("task list", NARROW).contains("\u{1b}["));
    assert!(!sandbox.on_screen("task list --color never", NARROW).contains("\u{1b}["));
    assert!(!sandbox.on_screen("--color=never task nonsense", NARROW).contains("\u{1b}["));
    assert!(!sandbox.ok(&["task", "list"]).contains('\u{1b}'));
    let forced = sandbox.ok(&["task", "list", "--color", "always"]);
    assert!(forced.contains("\u{1b}[33m") || forced.contains("\u{1b}[1m"), "{forced}");
    assert_eq!(plain(&forced), sandbox.ok(&["task", "list"]), "colour is not information");
    for (name, value, has) in [("NO_COLOR", "1", false), ("CLICOLOR_FORCE", "1", true)] {
        let output = sandbox.command().args(["task", "next"]).env(name, value).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap().contains('\u{1b}'), has, "{name}");
    }
}

#[test]
fn an_agent_cannot_style_or_move_what_a_human_reads() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "A\u{1b}[32mgreen\u{1b}[2J \u{9b}31mred"]);
    let seen = sandbox.on_screen("task list --color always", NARROW);
    assert!(!seen.contains("\u{1b}[32mgreen") && !seen.contains("\u{1b}[2J") && !seen.contains('\u{9b}'), "{seen:?}");
    assert!(seen.contains("green"), "{seen:?}");
}

#[test]
fn times_are_those_of_the_reader_and_in_utc_on_request() {
    let sandbox = Sandbox::new();
    sandbox.hook("SessionStart", "s-1", json!({"source": "startup"}));
    sandbox.ok(&["pause", "--for", "10m"]);
    let until = |zone: &str, arguments: &[&str]| {
        let output = sandbox.command().args(arguments).env("TZ", zone).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let (_, after) = said.split_once("paused until ").unwrap();
        after.split_once(',').unwrap().0.to_owned()
    };
    let hour = |time: &str| time.rsplit(' ').find_map(|word| word.split_once(':')?.0.parse::<i32>().ok()).unwrap();
    let utc = until("UTC", &["status"]);
    assert!(utc.ends_with(" UTC"), "{utc}");
    let there = until("XYZ-5", &["status"]);
    assert_eq!((hour(&utc) + 5) % 24, hour(&there), "{utc} {there}");
    assert!(!there.contains("UTC"), "{there}");
    assert_eq!(until("XYZ-5", &["status", "--utc"]), utc);
    assert_eq!(until("Mars/Olympus", &["status"]), utc, "an unknown zone is UTC, and says so");
    let said = |zone: &str, arguments: &[&str]| {
        let output = sandbox.command().args(arguments).env("TZ", zone).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(said("XYZ-5", &["pause", "--for", "1m"]).contains(":") && !said("XYZ-5", &["pause"]).contains("UTC"));
    assert!(said("XYZ-5", &["pause", "--utc"]).contains(" UTC: it records"));
    let row = |at: &str, text: &str| {
        format!(
            "{{\"type\":\"user\",\"sessionId\":\"s\",\"timestamp\":\"{at}\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let midnight = row("2026-03-01T18:59:58.000Z", "Before") + &row("2026-03-01T19:00:01.000Z", "After");
    sandbox.write("a.jsonl", &midnight);
    let shown = said("XYZ-5", &["transcript", "show", "a.jsonl"]);
    let lines: Vec<&str> = shown.lines().skip(1).map(str::trim_end).collect();
    assert_eq!(
        lines,
        ["Sun 2026-03-01, XYZ", "23:59:58  human       Before", "Mon 2026-03-02, XYZ", "00:00:01  human       After"]
    );
    assert!(said("XYZ-5", &["transcript", "show", "a.jsonl", "--utc"]).contains("18:59:58  human"));
    assert!(said("XYZ-5", &["transcript", "find", "After", "a.jsonl"]).contains("2026-03-02 00:00:01  human: After"));
}

#[test]
fn every_command_that_removes_something_takes_yes() {
    let sandbox = Sandbox::new();
    for (arguments, code) in [
        (&["clean", "--yes"][..], 0),
        (&["plan", "unlock", "-y"], 0),
        (&["plan", "reject", "--yes"], 1),
        (&["plan", "clear", "--yes"], 1),
        (&["plan", "approve", "--yes"], 1),
        (&["loop", "archive", "--yes"], 1),
        (&["resume", "--give-up", "--yes"], 1),
        (&["uninstall", "--purge", "--yes"], 0),
        (&["init", "--host", "claude", "--yes"], 0),
    ] {
        let output = sandbox.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn where_there_is_nothing_to_show_that_is_said_and_is_no_failure() {
    let sandbox = Sandbox::new();
    for command in ["log", "task list", "task next", "learn list", "plan list", "goal show", "loop status", "progress"]
    {
        let output = sandbox.run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(output.stdout.len() + output.stderr.len() > 1, "{command} says nothing");
    }
    assert_eq!(sandbox.ok(&["progress", "--json"]), "{\"run\":null}\n");
    assert_eq!(sandbox.run(&["progress", "--run", "r-1"]).status.code(), Some(1));
}

#[test]
fn nothing_scrolls_by_before_a_question() {
    let sandbox = Sandbox::bare();
    let before = |seen: &str, question: &str| {
        seen.split_once(question).unwrap_or_else(|| panic!("{question}: {seen}")).0.lines().count()
    };
    for size in [NARROW, WIDE] {
        let seen = plain(&sandbox.on_screen("init --host claude --host codex", size));
        assert!(before(&seen, "Go on?") < usize::from(size.1), "{seen}");
        sandbox.ok(&["uninstall", "--yes"]);
    }
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    let tasks: String =
        (1..=60).map(|number| format!("### 1.{number} Do it\n- Files: {number}.txt\n- Verify: `true`\n")).collect();
    sandbox.write("SPEC.md", format!("# It\n\nIt does it.\n\n## Phase 1: One\n{tasks}"));
    sandbox.ok(&["plan", "propose", "SPEC.md"]);
    let seen = plain(&sandbox.paged("plan approve", NARROW, "sed 's/^/page: /'"));
    let unread = seen.lines().filter(|line| !line.starts_with("page: ")).count();
    assert!(seen.contains("approve plan ") && seen.lines().count() > 60 && unread < 10, "{seen}");
}

#[test]
fn what_changes_tasks_prints_them_as_json_and_so_do_its_errors() {
    let sandbox = Sandbox::new();
    let run = |arguments: &[&str]| {
        let output = sandbox.run(arguments);
        let text = if output.status.success() { output.stdout } else { output.stderr };
        (output.status.code().unwrap(), serde_json::from_slice::<Value>(&text).unwrap())
    };
    let one = |arguments: &[&str]| {
        let (code, said) = run(arguments);
        assert_eq!((code, said["tasks"].as_array().map(Vec::len)), (0, Some(1)), "{arguments:?}: {said}");
        (said["tasks"][0]["id"].clone(), said["tasks"][0]["status"].clone())
    };
    assert_eq!(one(&["task", "add", "One", "--verify", "true", "--json"]), (json!("1"), json!("pending")));
    assert_eq!(one(&["task", "--json", "start", "1"]), (json!("1"), json!("in_progress")));
    assert_eq!(one(&["task", "note", "1", "Seen", "--json"]).0, json!("1"));
    assert_eq!(one(&["task", "done", "1", "--json"]), (json!("1"), json!("done")));
    let (code, said) = run(&["task", "show", "9", "--json"]);
    assert_eq!((code, &said["error"]["kind"]), (1, &json!("failure")), "{said}");
    assert!(said["error"]["message"].as_str().unwrap().contains('9') && said["error"]["hints"].is_array(), "{said}");
    let (_, said) = run(&["learn", "add", "Always so", "--json"]);
    assert_eq!(said["text"], "Always so");
    sandbox.write("SPEC.md", "# It\n\n## Phase 1: One\n\n- [ ] 1.1 Do it\n  Verify: `true`\n");
    let (_, said) = run(&["plan", "load", "SPEC.md", "--json"]);
    assert_eq!((&said["approval"], &said["gate"]), (&json!("not_required"), &json!("open")), "{said}");
    sandbox.write("NEXT.md", "# Next\n\n## Phase 1: One\n\n- [ ] 1.1 Do it\n  Verify: `true`\n");
    let (_, said) = run(&["plan", "propose", "NEXT.md", "--json"]);
    assert_eq!(
        (&said["title"], &said["tasks"], &said["gate"]),
        (&json!("Next"), &json!(2), &json!("locked")),
        "{said}"
    );
    let (_, said) = run(&["plan", "approve", "--yes", "--json"]);
    assert_eq!((&said["plan"], &said["approval"]), (&json!("next"), &json!("approved")), "{said}");
    assert_eq!((&said["gate"], &said["open"]), (&json!("open"), &json!(2)), "{said}");
}
