//! What `init` prints, asks and does with the answer.

use std::fs;

use serde_json::Value;
use steadfast_model::allowed_commands;

use crate::sandbox::Sandbox;

const BOTH: &str = "init --host claude --host codex";
const SETTINGS: &str = ".claude/settings.local.json";
/// The ends of its question.
const ASKED: &str = "show every line, p = without the permissions] ";
const ASKED_AGAIN: &str = "[Y/n, d = show every line] ";

fn rules(sandbox: &Sandbox) -> Vec<String> {
    let settings: Value = serde_json::from_slice(&fs::read(sandbox.root().join(SETTINGS)).unwrap()).unwrap();
    let rules = settings["permissions"]["allow"].as_array().cloned().unwrap_or_default();
    rules.iter().map(|rule| rule.as_str().unwrap().to_owned()).collect()
}

#[test]
fn it_names_every_file_in_a_few_lines() {
    let sandbox = Sandbox::bare();
    insta::assert_snapshot!(sandbox.ok(&["init", "--host", "claude", "--host", "codex", "--yes"]), @r#"
    Steadfast will set up Claude Code and Codex for this repository (only for you, not committed):
      .claude/settings.local.json  new  19 hooks, 43 permissions
      ~/.claude.json               new  MCP server
      ~/.codex/hooks.json          new  12 hooks
      ~/.codex/config.toml         new  MCP server
      .claude/skills/              new  6 skills
      .claude/agents/              new  5 agents
      .agents/skills/              new  6 skills
      .git/info/exclude            +5   git ignores these files
    Cost: about 530 tokens per session (estimated)
    Claude Code will not ask before these calls of an agent, as command or MCP tool: status, progress, why, log, task (list, ready, next, show, start, done, block, check, wait, note), plan (lock, propose as tool, list, show, status), goal show, decide, learn (add, list), recall, loop (status, score, next, advance, review list, review fixed, gate)
    Undo: `steadfast uninstall` restores every byte.
    Claude Code and Codex: set up. Restart running sessions to load the hooks.
    Codex asks at its next start whether you trust these hooks. It runs them only if you do.
    Next: `steadfast plan load SPEC.md` loads a spec, `steadfast task add TITLE` adds a task. Then start the host and say "do the tasks": the agent stops when they are done.
    "#);
    insta::assert_snapshot!(sandbox.ok(&["init", "--host", "claude", "--yes"]), @r#"
    Claude Code: already set up, nothing to change
    Next: `steadfast plan load SPEC.md` loads a spec, `steadfast task add TITLE` adds a task. Then start the host and say "do the tasks": the agent stops when they are done.
    "#);
    let shared = Sandbox::bare();
    insta::assert_snapshot!(shared.ok(&["init", "--host", "claude", "--shared", "--yes"]), @r#"
    Steadfast will set up Claude Code for everyone in this repository (commit these files):
      .claude/settings.json  new  19 hooks, 43 permissions
      .mcp.json              new  MCP server
      .claude/skills/        new  6 skills
      .claude/agents/        new  5 agents
    Cost: about 530 tokens per session (estimated)
    Claude Code will not ask before these calls of an agent, as command or MCP tool: status, progress, why, log, task (list, ready, next, show, start, done, block, check, wait, note), plan (lock, propose as tool, list, show, status), goal show, decide, learn (add, list), recall, loop (status, score, next, advance, review list, review fixed, gate)
    Undo: `steadfast uninstall` restores every byte.
    Claude Code: set up. Restart running sessions to load the hooks.
    Next: `steadfast plan load SPEC.md` loads a spec, `steadfast task add TITLE` adds a task. Then start the host and say "do the tasks": the agent stops when they are done.
    "#);
    let user = Sandbox::bare();
    insta::assert_snapshot!(user.ok(&["init", "--host", "codex", "--user", "--yes"]), @r#"
    Steadfast will set up Codex for you in all repositories (it acts only where you run `init`):
      ~/.codex/hooks.json   new  12 hooks
      ~/.codex/config.toml  new  MCP server
      .agents/skills/       new  6 skills
      .git/info/exclude     +2   git ignores these files
    Cost: about 370 tokens per session (estimated)
    Undo: `steadfast uninstall` restores every byte.
    Codex: set up. Restart running sessions to load the hooks.
    Codex asks at its next start whether you trust these hooks. It runs them only if you do.
    Next: `steadfast plan load SPEC.md` loads a spec, `steadfast task add TITLE` adds a task. Then start the host and say "do the tasks": the agent stops when they are done.
    "#);
}

/// A terminal of `script` has the usual 80 columns and 24 rows.
#[test]
fn the_question_and_everything_above_it_fit_a_small_terminal() {
    let sandbox = Sandbox::bare();
    let (code, seen) = sandbox.at_terminal(BOTH, ASKED, "y\n");
    assert_eq!(code, 0, "{seen}");
    let above: Vec<&str> = seen.lines().take_while(|line| !line.contains("Go on?")).collect();
    assert!(above.len() < 23, "{} lines: {seen}", above.len());
    let plain = |line: &str| {
        line.split('\u{1b}').map(|part| part.split_once('m').map_or(part, |(_, text)| text)).collect::<String>()
    };
    assert!(above.iter().all(|line| plain(line).chars().count() <= 80), "{seen}");
    assert!(seen.contains(" ms per hook (just measured), about "), "{seen}");
    assert!(sandbox.place().state.is_dir());
}

#[test]
fn no_changes_nothing_and_is_no_error() {
    for answer in ["n\n", "No\n", "\u{4}"] {
        let sandbox = Sandbox::bare();
        let (code, seen) = sandbox.at_terminal(BOTH, ASKED, answer);
        assert_eq!(code, 0, "{seen}");
        assert!(seen.ends_with("Nothing changed.\n"), "{seen}");
        assert!(!sandbox.place().state.exists() && !sandbox.root().join(".claude").exists());
    }
}

#[test]
fn enter_is_a_yes_and_an_unknown_answer_is_asked_again() {
    let sandbox = Sandbox::bare();
    let (code, seen) = sandbox.in_dialog(&[], BOTH, &[(ASKED, "what\n"), (ASKED, "\n")]);
    assert_eq!(code, 0, "{seen}");
    assert_eq!(seen.matches("Go on?").count(), 2, "{seen}");
    assert_eq!(seen.matches("Steadfast will").count(), 1, "{seen}");
    assert!(!rules(&sandbox).is_empty());
}

#[test]
fn d_shows_every_line_through_the_pager_and_asks_again() {
    let sandbox = Sandbox::bare();
    let dialog = [(ASKED, "d\n"), (ASKED, "n\n")];
    let (_, seen) = sandbox.in_dialog(&[("PAGER", "cat > paged"), ("TERM", "xterm")], BOTH, &dialog);
    assert!(!seen.contains("+++ "), "{seen}");
    let paged = fs::read_to_string(sandbox.root().join("paged")).unwrap();
    assert!(paged.contains("Bash(steadfast task next:*)") && paged.contains(".git/info/exclude"), "{paged}");
    assert!(paged.contains("\u{1b}[32m+"), "green: {paged}");
    for pager in ["no-such-pager", "cat"] {
        let (_, seen) = sandbox.in_dialog(&[("PAGER", pager), ("NO_COLOR", "1")], BOTH, &dialog);
        assert!(seen.contains("\n+      \"Bash(steadfast task next:*)\",\n"), "{pager}: {seen}");
        assert_eq!(seen.matches("Steadfast will set up").count(), 2, "{pager}: {seen}");
    }
    assert!(!sandbox.place().state.exists());
}

#[test]
fn the_permissions_are_those_of_the_table_and_of_no_human_command() {
    let sandbox = Sandbox::new();
    let rules = rules(&sandbox);
    let commands: Vec<_> = allowed_commands().map(|command| format!("Bash(steadfast {command}:*)")).collect();
    assert_eq!(rules[..commands.len()], commands);
    for tool in ["mcp__steadfast__task_done", "mcp__steadfast__plan_propose"] {
        assert!(rules.contains(&tool.to_owned()), "{rules:?}");
    }
    for left_out in [
        "Bash(steadfast task add:*)",
        "mcp__steadfast__task_add",
        "Bash(steadfast plan load:*)",
        "Bash(steadfast plan propose:*)",
    ] {
        assert!(!rules.contains(&left_out.to_owned()), "{left_out}");
    }
    let named = sandbox.ok(&["init", "--host", "claude", "--shared", "--dry-run"]);
    for word in allowed_commands().flat_map(|command| command.split(' ')) {
        assert!(named.contains(word), "{word}: {named}");
    }
}

#[test]
fn what_was_declined_stays_declined_and_doctor_says_what_it_costs() {
    let sandbox = Sandbox::bare();
    let (code, seen) = sandbox.in_dialog(&[], BOTH, &[(ASKED, "p\n"), (ASKED_AGAIN, "\n")]);
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("asks you before each call of Steadfast by the agent"), "{seen}");
    for _ in 0..2 {
        assert_eq!(rules(&sandbox), [""; 0]);
        let findings = String::from_utf8(sandbox.run(&["doctor"]).stdout).unwrap();
        assert!(findings.contains("\nnote permissions-declined: Claude Code asks you before all "), "{findings}");
        sandbox.ok(&["init", "--host", "claude", "--yes"]);
    }
    sandbox.ok(&["init", "--host", "claude", "--yes", "--permissions"]);
    assert!(!rules(&sandbox).is_empty());
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    assert!(!rules(&sandbox).is_empty());
    let findings = String::from_utf8(sandbox.run(&["doctor"]).stdout).unwrap();
    assert!(!findings.contains("permissions-"), "{findings}");
    sandbox.ok(&["init", "--host", "claude", "--yes", "--no-permissions"]);
    assert_eq!(rules(&sandbox), [""; 0]);
}

#[test]
fn rules_that_someone_removed_are_noticed_and_wider_ones_are_enough() {
    let sandbox = Sandbox::new();
    let text = fs::read_to_string(sandbox.root().join(SETTINGS)).unwrap();
    let write = |text: &str| fs::write(sandbox.root().join(SETTINGS), text).unwrap();
    let found = |code: &str| String::from_utf8(sandbox.run(&["doctor"]).stdout).unwrap().contains(code);
    write(&text.replace("      \"Bash(steadfast task next:*)\",\n", ""));
    assert!(found("note permissions-missing: Claude Code asks you before 1 of "));
    write(&text.replace("\"Bash(steadfast task next:*)\"", "\"Bash(steadfast:*)\""));
    assert!(!found("permissions-missing"));
    write(
        &text
            .replace("\"permissions\": {", "\"permissions\": {\"defaultMode\": \"bypassPermissions\",")
            .replace("Bash(", "B("),
    );
    assert!(!found("permissions-missing"));
}

#[test]
fn an_update_says_what_changes_and_no_change_says_so() {
    let sandbox = Sandbox::new();
    let text = fs::read_to_string(sandbox.root().join(SETTINGS)).unwrap();
    fs::write(sandbox.root().join(SETTINGS), text.replace("      \"Bash(steadfast why:*)\",\n", "")).unwrap();
    let said = sandbox.ok(&["init", "--host", "claude", "--yes"]);
    assert!(said.starts_with("Steadfast will update Claude Code for this repository"), "{said}");
    assert!(said.contains("\n  .claude/settings.local.json  +2 -1  19 hooks, "), "{said}");
    assert!(!said.contains("skills/"), "{said}");
    let said = sandbox.ok(&["init", "--host", "claude"]);
    assert!(said.starts_with("Claude Code: already set up, nothing to change\n"), "{said}");
}

#[test]
fn a_dry_run_at_a_terminal_is_paged_and_coloured() {
    let sandbox = Sandbox::bare();
    let (code, seen) =
        sandbox.in_dialog(&[("PAGER", "tee paged >/dev/null"), ("TERM", "xterm")], "init --host claude --dry-run", &[]);
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("files would change, nothing was written") && !seen.contains("+++ "), "{seen}");
    assert!(fs::read_to_string(sandbox.root().join("paged")).unwrap().contains("\u{1b}[32m+"));
    let piped = sandbox.ok(&["init", "--host", "claude", "--dry-run"]);
    assert!(piped.contains("\n+{\n") && !piped.contains('\u{1b}'), "{piped}");
}

#[test]
fn a_reader_that_leaves_the_pager_early_is_asked_all_the_same() {
    let sandbox = Sandbox::bare();
    let (code, seen) = sandbox.in_dialog(&[("PAGER", "head -1")], BOTH, &[(ASKED, "d\n"), (ASKED, "n\n")]);
    assert_eq!(code, 0, "{seen}");
}
