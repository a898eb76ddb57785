//! The skills that `init` installs, and what they say.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use steadfast_model::{Authority, commands};

use crate::sandbox::Sandbox;

const SKILL: &str = ".claude/skills/steadfast-run-tasks/SKILL.md";

fn init(sandbox: &Sandbox, more: &[&str]) -> std::process::Output {
    sandbox.run(&[&["init", "--host", "claude", "--host", "codex", "--yes"], more].concat())
}

/// What git would offer for a commit.
fn offered(sandbox: &Sandbox) -> String {
    let status = Command::new("git").args(["status", "--porcelain"]).current_dir(sandbox.root()).output().unwrap();
    String::from_utf8(status.stdout).unwrap()
}

fn texts() -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../plugin");
    [
        "skills/read-spec/SKILL.md",
        "skills/read-spec/reference.md",
        "skills/run-tasks/SKILL.md",
        "skills/plan/SKILL.md",
        "skills/implement/SKILL.md",
        "skills/loop/SKILL.md",
        "skills/counsel/SKILL.md",
        "agents/planner.md",
        "agents/expert-correctness.md",
        "agents/expert-tests.md",
        "agents/expert-security.md",
        "agents/expert-simplicity.md",
    ]
    .map(|file| (folder.join(file), fs::read_to_string(folder.join(file)).unwrap()))
    .to_vec()
}

#[test]
fn ones_own_skills_are_not_offered_for_a_commit_and_shared_ones_are() {
    let sandbox = Sandbox::bare();
    for scope in [&[][..], &["--user"]] {
        init(&sandbox, scope);
        assert!(sandbox.root().join(SKILL).is_file());
        assert_eq!(offered(&sandbox), "", "{scope:?}");
        sandbox.ok(&["uninstall"]);
        assert!(!sandbox.root().join(".claude").exists());
    }
    init(&sandbox, &[]);
    init(&sandbox, &["--shared"]);
    assert_eq!(offered(&sandbox), "?? .agents/\n?? .claude/\n?? .codex/\n?? .mcp.json\n");
    init(&sandbox, &[]);
    assert_eq!(offered(&sandbox), "?? .agents/\n?? .claude/\n?? .codex/\n?? .mcp.json\n");
    sandbox.ok(&["uninstall"]);
    assert_eq!(offered(&sandbox), "");
}

#[test]
fn the_skills_that_come_or_go_are_one_line_and_their_text_is_in_the_dry_run() {
    let sandbox = Sandbox::bare();
    let text = "+# The tasks of a plan, until none is open\n";
    let dry = sandbox.ok(&["init", "--host", "claude", "--dry-run"]);
    assert!(dry.contains(text) && dry.contains("+/.claude/skills/steadfast-*/\n+/.claude/agents/"), "{dry}");
    let shown = sandbox.ok(&["init", "--host", "claude", "--yes"]);
    assert!(shown.contains(".claude/skills/              new  6 skills\n") && !shown.contains(text), "{shown}");
    let out = sandbox.ok(&["uninstall"]);
    assert!(out.contains("  removed  6 skills\n") && out.contains("  removed  5 agents\n"), "{out}");
    assert!(!sandbox.root().join(".claude").exists());
}

#[test]
fn a_skill_that_somebody_changed_is_named_and_left() {
    let sandbox = Sandbox::new();
    let path = sandbox.root().join(SKILL);
    let mine = fs::read_to_string(&path).unwrap().replace("ledger", "list");
    fs::write(&path, &mine).unwrap();
    for command in [&["init", "--host", "claude", "--yes"][..], &["uninstall"]] {
        let output = sandbox.run(command);
        assert!(output.status.success());
        let said = sandbox.without_paths(&output.stderr);
        assert_eq!(said, format!("note: `/repo/{SKILL}` differs from what `init` writes, so it stays as it is\n"));
        assert_eq!(fs::read_to_string(&path).unwrap(), mine);
    }
}

/// A skill that names a command which is not there, or not the agent's, sends every agent into a wall.
#[test]
fn every_command_that_a_skill_names_is_there_and_the_agents() {
    let sandbox = Sandbox::bare();
    let mut named = BTreeSet::new();
    for (path, text) in texts() {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for code in text.split('`').skip(1).step_by(2).filter_map(|code| code.strip_prefix("steadfast ")) {
            let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
            let words: Vec<_> = code.split(' ').take_while(is_name).collect();
            let flags = code.split(' ').filter(|word| word.starts_with("--")).map(str::to_owned).collect::<Vec<_>>();
            named.insert((words.join(" "), flags, path.file_name().unwrap().to_owned()));
        }
    }
    assert!(named.len() > 10, "{named:?}");
    for (command, flags, path) in named {
        // What the plugin's readme and the skills say about `init` itself is for the human.
        if command == "init" {
            continue;
        }
        let words: Vec<_> = command.split(' ').chain(["--help"]).collect();
        let output = sandbox.run(&words);
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{}: `steadfast {command}`", path.display());
        for flag in flags {
            assert!(help.contains(&flag), "{}: `steadfast {command} {flag}`: {help}", path.display());
        }
        let humans = commands().any(|(words, who)| words == command && who == Authority::Human);
        assert!(!humans, "{}: `steadfast {command}` is for a human", path.display());
    }
}

#[test]
fn the_examples_lint_clean_and_can_be_loaded() {
    let (_, reference) = texts().remove(1);
    for (language, file, tasks) in [
        ("json", "SPEC.json", "1.0 1.1 1.1a 1.2 1.2a 2.0 2.1a 2.1 2.1b 2.2 3.0 3.1 3.1a"),
        ("markdown", "SPEC.md", "1.0 1.1 1.1a 1.2"),
    ] {
        let sandbox = Sandbox::new().with_ui_skills();
        let (_, rest) = reference.split_once(&format!("```{language}\n")).unwrap();
        fs::write(sandbox.root().join(file), rest.split_once("```").unwrap().0).unwrap();
        let said = sandbox.ok(&["spec", "lint", file]);
        assert!(said.starts_with(&format!("{file}: OK (")) && said.lines().count() == 1, "{said}");
        assert_eq!(sandbox.ok(&["spec", "count", file]), format!("{}\n", tasks.split(' ').count()));
        sandbox.ok(&["plan", "load", file]);
        let list: serde_json::Value = serde_json::from_str(&sandbox.ok(&["task", "list", "--json"])).unwrap();
        let ids: BTreeSet<_> =
            list["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
        assert_eq!(ids, tasks.split(' ').collect(), "{file}");
    }
}
