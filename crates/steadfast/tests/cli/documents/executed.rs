//! Every command line and configuration block of the documents runs here, in order, in one sandbox for each page.
//!
//! | block | its test |
//! | --- | --- |
//! | `sh` | a script that exits with 0 |
//! | `console` | lines with `$ ` are commands; each other line occurs in the output of the command above it |
//! | `toml` | a `steadfast.toml` that `steadfast config show` reads without a complaint |
//! | `json` | one value, or a value for each line |
//! | `markdown` | a file that later blocks use |
//! | `text` | has no command of ours |
//!
//! Comments above a block change that: `not run: REASON`, `file: PATH` (write the block there), `exit: CODE`, `as: agent` (inside
//! the tool call of an agent), `answer: TEXT` (at a terminal, with this typed). A comment that begins with `<!-- setup` is a
//! script that prepares the sandbox and that readers do not see.

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::page::{Block, Page, pages};
use crate::run::git;
use crate::sandbox::{Sandbox, write_program};

const MARKS: [&str; 7] = ["not run", "file", "exit", "as", "answer", "keys", "generated"];
/// What an answer is typed for: the ends of the questions.
const QUESTIONS: [&[u8]; 3] = [b"[y/N] ", b"show every line] ", b"without the permissions] "];
/// Its help texts have their own tests.
const GENERATED: &str = "docs/reference/commands.md";

/// A repository with a commit, and programs that stand for the agents and the tools of a project.
pub(super) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::bare();
    let bin = sandbox.binary().parent().unwrap().to_owned();
    for name in ["claude", "codex", "cargo", "npm"] {
        write_program(&bin.join(name), "exit 0");
    }
    git(&sandbox, &["config", "user.name", "A User"]);
    git(&sandbox, &["config", "user.email", "user@example.com"]);
    git(&sandbox, &["commit", "--quiet", "--allow-empty", "-m", "Start"]);
    sandbox
}

/// Runs a script at the root of the checkout. It has a minute.
fn bash(sandbox: &Sandbox, script: &str, block: &Block) -> Output {
    let mut command = sandbox.command_of("timeout".as_ref());
    command.args(["60", "bash", "-e", "-c", script]);
    if block.mark("as") == Some("agent") {
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", "session");
    }
    let Some(answer) = block.mark("answer") else { return command.output().unwrap() };
    let mut terminal = Command::new("script");
    terminal.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    terminal.args(["--quiet", "--return", "--command", script, "/dev/null"]).current_dir(sandbox.root());
    let mut child = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut stdout, mut byte) = (Vec::new(), [0]);
    while output.read(&mut byte).unwrap() == 1 {
        stdout.extend(byte);
        if QUESTIONS.iter().any(|question| stdout.ends_with(question)) {
            input.write_all(format!("{answer}\n").as_bytes()).unwrap();
        }
    }
    // Its end would end the terminal.
    drop(input);
    Output { status: child.wait().unwrap(), stdout, stderr: Vec::new() }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn script(sandbox: &Sandbox, script: &str, block: &Block) -> Result<String, String> {
    let output = bash(sandbox, script, block);
    let expected = block.mark("exit").map_or(0, |code| code.parse().unwrap());
    let said = said(&output);
    if output.status.code() == Some(expected) {
        return Ok(said);
    }
    Err(format!("{:?} instead of {expected}:\n{script}\n{said}", output.status.code()))
}

/// The commands with the lines that their output has.
fn console(sandbox: &Sandbox, block: &Block) -> Result<(), String> {
    let mut printed = None;
    for line in block.text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            printed = Some(script(sandbox, command, block)?);
        } else if !line.trim().is_empty() {
            let printed = printed.as_deref().ok_or("output without a command")?;
            // `…` stands for what differs from one run to the next.
            let mut rest = printed;
            for part in line.split('…').map(str::trim).filter(|part| !part.is_empty()) {
                let Some((_, after)) = rest.split_once(part) else {
                    return Err(format!("`{part}` is not in the output:\n{printed}"));
                };
                rest = after;
            }
        }
    }
    Ok(())
}

/// In the user's own file every key is valid.
fn toml(text: &str) -> Result<(), String> {
    let sandbox = Sandbox::new();
    sandbox.set_own(text);
    let output = sandbox.run(&["config", "show"]);
    if output.status.success() && output.stderr.is_empty() { Ok(()) } else { Err(said(&output)) }
}

fn json(text: &str) -> Result<(), String> {
    let is_json = |text: &str| serde_json::from_str::<Value>(text).map(drop);
    is_json(text).or_else(|error| text.lines().try_for_each(is_json).map_err(|_| error.to_string()))
}

fn text(text: &str) -> Result<(), String> {
    let is_command = |line: &&str| line.starts_with("$ ") || line.starts_with("steadfast ");
    match text.lines().map(str::trim_start).find(is_command) {
        None => Ok(()),
        Some(line) => Err(format!("`{line}` belongs in a block `sh` or `console`")),
    }
}

fn execute(sandbox: &Sandbox, block: &Block) -> Result<(), String> {
    if let Some(unknown) = block.marks().find(|mark| !MARKS.contains(mark)) {
        return Err(format!("unknown mark `{unknown}`"));
    }
    if let Some(path) = block.mark("file") {
        let file = sandbox.root().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, &block.text).unwrap();
    }
    match block.kind.as_str() {
        "setup" | "sh" => script(sandbox, &block.text, block).map(drop),
        "console" => console(sandbox, block),
        "toml" => toml(&block.text),
        "json" => json(&block.text),
        "text" => text(&block.text),
        "markdown" if block.mark("file").is_some() => Ok(()),
        kind => Err(format!("a block of the kind `{kind}` needs `<!-- not run: REASON -->` above it")),
    }
}

/// For a test that reads a page in its own way.
pub(super) fn prepare(sandbox: &Sandbox, block: &Block) {
    if matches!(block.kind.as_str(), "setup" | "markdown") {
        execute(sandbox, block).unwrap();
    }
}

#[derive(Default)]
struct Count {
    executed: usize,
    not_run: Vec<String>,
    failed: Vec<String>,
}

fn page(page: &Page, count: &mut Count) {
    let blocks = page.blocks();
    if blocks.is_empty() || page.path == GENERATED {
        return;
    }
    let sandbox = sandbox();
    for block in blocks {
        let at = format!("{}:{}", page.path, block.line);
        match block.mark("not run") {
            Some(reason) if reason.len() > 5 => count.not_run.push(format!("{at}: {reason}")),
            Some(_) => count.failed.push(format!("{at}: no reason")),
            None => {
                count.executed += usize::from(block.kind != "setup" && block.kind != "text");
                if let Err(why) = execute(&sandbox, &block) {
                    count.failed.push(format!("{at}: {why}"));
                }
            }
        }
    }
    sandbox.wait_until_quiet();
}

#[test]
fn every_block_of_the_documents_runs_or_says_why_not() {
    let pages = pages();
    let work = |some: &[Page]| {
        let mut count = Count::default();
        some.iter().for_each(|each| page(each, &mut count));
        count
    };
    let counts: Vec<Count> = std::thread::scope(|scope| {
        let workers: Vec<_> =
            pages.chunks(pages.len().div_ceil(4)).map(|some| scope.spawn(move || work(some))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let executed: usize = counts.iter().map(|count| count.executed).sum();
    let (not_run, failed): (Vec<_>, Vec<_>) = counts.into_iter().map(|count| (count.not_run, count.failed)).unzip();
    let (not_run, failed) = (not_run.concat(), failed.concat());
    eprintln!("{executed} blocks run, {} do not:\n{}", not_run.len(), not_run.join("\n"));
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    assert!(not_run.len() * 4 <= executed, "too many blocks are not run");
}

#[test]
fn a_block_that_fails_or_cannot_run_is_named() {
    let text = "```sh\nfalse\n```\n```rust\n```\n```text\n  steadfast status\n```\n```toml\n[stop]\nmax = 1\n```\n\
                ```console\n$ echo one\ntwo\n```\n<!-- not run: no -->\n```sh\n```\n<!-- exit: 3 -->\n```sh\nexit 3\n```\n";
    let mut count = Count::default();
    page(&Page { path: "x.md".to_owned(), text: text.to_owned() }, &mut count);
    let lines = |text: &String| text.split(':').nth(1).unwrap().to_owned();
    assert_eq!(count.failed.iter().map(lines).collect::<Vec<_>>(), ["1", "4", "6", "9", "13", "18"]);
}
