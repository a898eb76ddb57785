use std::io::{BufRead, stdin};
use std::ops::Range;

use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::{Value, json};
use steadfast_shell::{Certainty, Context, GuardDecision, GuardVerdict, Reading, effects, judge};
use steadfast_text::{columns, quote};

use crate::environment;
use crate::error::CommandError;
use crate::output::{note, put_laid_out, tell};
use crate::terminal;

/// Predict the file changes of a shell command before it runs.
#[derive(Debug, Subcommand)]
pub(super) enum Guard {
    /// Judge a command: exit 0 to allow it, 2 to deny it, 3 to ask a human.
    Check(Check),
}

#[derive(Debug, Args)]
pub(super) struct Check {
    /// Protected path; a folder ends in a slash. May be given several times.
    #[arg(long, value_name = "PATH")]
    protect: Vec<String>,
    /// Print JSON with stable keys: `{verdict, effects: [{op, path, via, certain}], reason}`.
    #[arg(long)]
    json: bool,
    /// Read lines of JSON, `{"command", "protect": [path]}`, and print a verdict for each.
    #[arg(long, conflicts_with_all = ["command", "protect", "json"])]
    batch: bool,
    /// The command, as one word or as several.
    #[arg(last = true, required_unless_present = "batch")]
    command: Vec<String>,
}

/// One line of a batch.
#[derive(Deserialize)]
struct GuardLine {
    command: String,
    #[serde(default)]
    protect: Vec<String>,
}

impl Guard {
    pub(super) fn run(self) -> Result<(), CommandError> {
        match self {
            Self::Check(check) if check.batch => batch(),
            Self::Check(check) => check.one(),
        }
    }
}

impl Check {
    fn one(self) -> Result<(), CommandError> {
        // One word is a command line; several are a command and its arguments.
        let command = match self.command.as_slice() {
            [line] => line.clone(),
            words => words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "),
        };
        let (reading, verdict) = evaluate(&command, &self.protect);
        if self.json {
            tell!("{}", to_json(&reading, &verdict))?;
        } else {
            explain(&command, &reading, &verdict)?;
            if self.protect.is_empty() {
                note!("nothing is protected: name the paths with `--protect PATH`");
            }
        }
        match verdict.decision {
            GuardDecision::Allow => Ok(()),
            GuardDecision::Ask => Err(CommandError::needs_human(format!("ask: {}", verdict.reason))),
            GuardDecision::Deny => Err(CommandError::refused(format!("deny: {}", verdict.reason))),
        }
    }
}

fn batch() -> Result<(), CommandError> {
    for (line, number) in stdin().lock().lines().zip(1..) {
        let line = line.map_err(|error| CommandError::failure(format!("cannot read standard input: {error}")))?;
        if line.trim().is_empty() {
            continue;
        }
        let asked: GuardLine = serde_json::from_str(&line).map_err(|error| {
            CommandError::failure(format!("line {number} is not `{{\"command\", \"protect\": […]}}`: {error}"))
                .hint("every line is one object: `{\"command\": \"rm a\", \"protect\": [\"a\"]}`; the lines before it have their verdicts")
        })?;
        let (reading, verdict) = evaluate(&asked.command, &asked.protect);
        tell!("{}", to_json(&reading, &verdict))?;
    }
    Ok(())
}

fn evaluate(command: &str, protect: &[String]) -> (Reading, GuardVerdict) {
    let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    let context = Context { cwd: text(environment::cwd()), home: environment::home().map(text).unwrap_or_default() };
    let reading = effects(command, &context);
    let verdict = judge(&reading, protect);
    (reading, verdict)
}

fn to_json(reading: &Reading, verdict: &GuardVerdict) -> Value {
    let effects: Vec<Value> = reading
        .effects
        .iter()
        .map(|effect| {
            json!({"op": effect.op.as_str(), "path": effect.path, "via": effect.via,
                "certain": effect.certainty == Certainty::Certain})
        })
        .collect();
    let decision = match verdict.decision {
        GuardDecision::Allow => "allow",
        GuardDecision::Ask => "ask",
        GuardDecision::Deny => "deny",
    };
    json!({"verdict": decision, "effects": effects, "reason": verdict.reason})
}

/// Prints the effects, and underlines the part of the command that decides.
fn explain(command: &str, reading: &Reading, verdict: &GuardVerdict) -> Result<(), CommandError> {
    if !reading.parsed {
        note!("cannot parse this as a bash command");
    }
    for effect in &reading.effects {
        let certain = if effect.certainty == Certainty::Certain { "" } else { " (perhaps)" };
        let path = effect.path.as_deref().unwrap_or("unknown path");
        tell!("{} {path}, by {}{certain}", effect.op.as_str(), effect.via)?;
    }
    if let Some(span) = &verdict.span {
        underline(command, span)?;
    }
    if verdict.decision == GuardDecision::Allow {
        tell!("{}", terminal::good("allow"))?;
    }
    Ok(())
}

/// Prints the line in which the span begins, with carets below it.
fn underline(command: &str, span: &Range<usize>) -> Result<(), CommandError> {
    let Some(before) = command.get(..span.start) else { return Ok(()) };
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = command[start..].lines().next().unwrap_or_default();
    let marked = command.get(span.clone()).and_then(|part| part.lines().next()).unwrap_or_default();
    let carets = terminal::bad(&"^".repeat(columns(marked).max(1)));
    put_laid_out(&format!("  {line}\n  {}{carets}\n", " ".repeat(columns(&command[start..span.start])))).map(|_| ())
}
