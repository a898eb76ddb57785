//! The pages in `specs/` are the tests: every block of shell on them is read, and what stands below it has to hold.
//!
//! Below a block, one line says the verdict with `.claude/` and `SPEC.md` protected, and lines after it may say effects:
//!
//! ```text
//! → deny
//! - write /repo/.claude/settings.json
//! ```
//!
//! An effect that is only possible ends in `(perhaps)`. Where any effect is given, all are; `- nothing` says that there
//! are none. `→ runs NAME ARGUMENT…` instead of a verdict says that such a command is among those that would run.

use std::fmt::Write;
use std::path::Path;

use steadfast_shell::{Certainty, Context, GuardDecision, Reading, effects, judge};

/// A block and what is said below it.
#[derive(Debug)]
struct Block {
    line: usize,
    command: String,
    said: Vec<String>,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = !inside;
            if inside {
                blocks.push(Block { line: number + 1, command: String::new(), said: Vec::new() });
            }
        } else if let Some(block) = blocks.last_mut() {
            if inside {
                block.command.push_str(line);
                block.command.push('\n');
            } else if line.starts_with("→ ") || line.starts_with("- ") {
                block.said.push(line.to_owned());
            }
        }
    }
    assert!(!inside, "a block is not closed");
    for block in &mut blocks {
        block.command.pop();
    }
    blocks
}

fn effects_of(reading: &Reading) -> Vec<String> {
    let lines = reading.effects.iter().map(|effect| {
        let path = effect.path.as_deref().unwrap_or("anything");
        let perhaps = if effect.certainty == Certainty::Possible { " (perhaps)" } else { "" };
        format!("- {} {path}{perhaps}", effect.op.as_str())
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines.dedup();
    if lines.is_empty() { vec!["- nothing".to_owned()] } else { lines }
}

fn holds(block: &Block) -> Result<(), String> {
    let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
    let protected = [".claude/".to_owned(), "SPEC.md".to_owned()];
    let reading = effects(&block.command, &context);
    let verdict = match judge(&reading, &protected).decision {
        GuardDecision::Allow => "→ allow",
        GuardDecision::Ask => "→ ask",
        GuardDecision::Deny => "→ deny",
    };
    let (verdicts, said): (Vec<&String>, Vec<&String>) = block.said.iter().partition(|line| line.starts_with('→'));
    if verdicts.is_empty() {
        return Err("nothing is said about it".to_owned());
    }
    for expected in verdicts {
        match expected.strip_prefix("→ runs ") {
            Some(command) => {
                let words: Vec<&str> = command.split(' ').collect();
                let found = reading.runs().any(|run| {
                    run.argv.len() == words.len()
                        && run.argv.iter().zip(&words).all(|(arg, word)| arg.known() == Some(word))
                });
                if !found {
                    return Err(format!("it does not run `{command}`, but {:?}", reading.runs().collect::<Vec<_>>()));
                }
            }
            None if expected == verdict => {}
            None => return Err(format!("{verdict}, and the page says {expected}: {:?}", reading.effects)),
        }
    }
    let found = effects_of(&reading);
    let mut said: Vec<&str> = said.iter().map(|line| line.as_str()).collect();
    said.sort_unstable();
    if said.is_empty() || said == found { Ok(()) } else { Err(format!("it does\n{}", found.join("\n"))) }
}

/// Which pages there are is asked of the folder: one that is not run cannot be.
#[test]
fn every_page_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs");
    let mut wrong = String::new();
    let mut pages = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.ends_with(".md"), "{name} is no page");
        let page = std::fs::read_to_string(&path).unwrap();
        let blocks = blocks(&page);
        assert!(!blocks.is_empty(), "{name} says nothing");
        pages += 1;
        for block in &blocks {
            if let Err(error) = holds(block) {
                writeln!(wrong, "{name}:{}: {}\n  {error}", block.line, block.command).unwrap();
            }
        }
    }
    assert!(pages > 8, "only {pages} pages");
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_block_without_a_word_about_it_is_wrong() {
    let page = "```sh\nls\n```\n\nSomething else.\n\n```sh\nrm a\n```\n→ deny\n";
    let errors: Vec<bool> = blocks(page).iter().map(|block| holds(block).is_err()).collect();
    assert_eq!(errors, [true, true]);
}
