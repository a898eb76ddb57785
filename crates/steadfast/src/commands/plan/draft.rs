use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use steadfast_store::Draft;
use steadfast_text::{ago, count};
use steadfast_work::spec_file;
use steadfast_work::task_list::{ClosedGate, Proposal, Proposed, TaskList, short_of};

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, put_laid_out, says_yes, tell};
use crate::report::{granted, position_json, rendered};
use crate::{diff, pager};

/// Store a draft of a plan for a human to approve.
#[derive(Debug, Args)]
pub(in crate::commands) struct Propose {
    /// SPEC.md or SPEC.json; `-` is standard input.
    file: PathBuf,
    /// Path for the plan after approval. [default: FILE, if it is in this checkout outside `.steadfast`]
    #[arg(long)]
    path: Option<String>,
    /// Print JSON with stable keys: `{hash, title, tasks, path, replaces, gate, warnings: [text]}`.
    #[arg(long)]
    json: bool,
}

/// Show a draft, ask, and approve it.
#[derive(Debug, Args)]
pub(in crate::commands) struct Approve {
    /// First 8 or more characters of the hash of the draft. [default: the draft that awaits approval]
    #[arg(value_name = "HASH8")]
    hash: Option<String>,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    yes: bool,
    /// Print JSON with stable keys: those of `plan status --json`.
    #[arg(long, requires = "yes")]
    json: bool,
}

impl Propose {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let text = spec_file::read(&self.file)?;
        let mut list = here::task_list("plan propose")?;
        let proposed = list.propose(Proposal { text, file: &self.file, path: self.path.as_deref() })?;
        if self.json {
            let Proposed { draft, before, warnings, .. } = &proposed;
            let before = before.as_ref().filter(|before| before.hash != draft.hash).map(|before| &before.hash);
            return tell!(
                "{}",
                json!({"hash": draft.hash, "title": draft.title, "tasks": draft.tasks, "path": draft.path,
                    "replaces": before, "gate": "locked", "warnings": warnings})
            );
        }
        if let Some(before) = &proposed.before {
            let (old, new) = (before.text.as_bytes(), proposed.draft.text.as_bytes());
            put_laid_out(&diff::of_file(Path::new(&proposed.draft.path), Some(old), Some(new)))?;
        }
        tell!("{}", said(&proposed))?;
        for warning in &proposed.warnings {
            note!("warning: {warning}");
        }
        Ok(())
    }
}

/// The text about a proposed plan and how a human approves it, for the command and the MCP tool.
pub(in crate::commands) fn said(proposed: &Proposed) -> String {
    let Proposed { draft, before, closed, .. } = proposed;
    let short = short_of(draft);
    let other = before.as_ref().filter(|before| before.hash != draft.hash);
    let replaced = other.map(|before| format!("; it replaces {}", short_of(before)));
    let gate = if *closed { "The plan gate is closed now" } else { "The plan gate stays closed" };
    format!(
        "plan {short}: {}, {}, to be written to {}{}\n{gate}. A human approves it with the message `approve plan {short}`, \
         in Claude Code's question, or by `steadfast plan approve {short}` in a terminal.",
        draft.title,
        tasks(draft.tasks),
        draft.path,
        replaced.unwrap_or_default()
    )
}

pub(super) fn tasks(number: u32) -> String {
    if number == 0 { "a text without tasks".to_owned() } else { count(number, "task") }
}

/// Shows a draft to the human who approves it, page by page if it is longer than the terminal.
fn read_out(list: &TaskList, draft: &Draft) -> Result<(), CommandError> {
    let plan = list.read_draft(draft)?;
    let by = draft.session.as_ref().map(|session| format!(" by session {session}")).unwrap_or_default();
    let text = plan.map_or_else(|| draft.text.clone(), |plan| rendered(&plan));
    pager::show_long(&format!(
        "plan {}, proposed {}{by}, {}, to be written to {}\n\n{}",
        short_of(draft),
        ago(environment::now().since(draft.proposed_at)),
        tasks(draft.tasks),
        draft.path,
        text.trim_end()
    ))
}

pub(super) fn show(list: &TaskList, as_json: bool) -> Result<(), CommandError> {
    let draft = list.draft_of(None)?;
    if !as_json {
        return read_out(list, &draft);
    }
    let Draft { hash, text, format, title, tasks, path, worktree, session, proposed_at, replaces } = &draft;
    tell!(
        "{}",
        json!({"hash": hash, "title": title, "tasks": tasks, "path": path, "format": format, "worktree": worktree,
            "session": session, "proposed_at": proposed_at, "replaces": replaces, "text": text})
    )
}

impl Approve {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let mut list = here::task_list("plan approve")?;
        let draft = list.draft_of(self.hash.as_deref())?;
        if !self.json {
            read_out(&list, &draft)?;
        }
        tell_broken(&list, &draft);
        if !self.yes {
            confirm(&draft)?;
        }
        let given = list.approve(&draft)?;
        if self.json {
            list.load_draft(&draft)?;
            list.take_lines().iter().for_each(|line| note!("{line}"));
            return tell!("{}", position_json(&list.position()?));
        }
        tell!("{}", granted(&draft, &given))?;
        let Some(loaded) = list.load_draft(&draft)? else { return Ok(()) };
        list.take_lines().iter().try_for_each(|line| tell!("{line}"))?;
        let (open, all) = list.open_of(&list.ledger().plan_row(loaded.plan())?)?;
        tell!("it is loaded as plan {}: {}, {open} open", loaded.plan(), count(all, "task"))?;
        tell!("the next session is offered its tasks; say \"do the tasks\" to start")
    }
}

/// Notes protected files that changed while the gate was closed. Not the path of the plan: the approval writes it, and
/// keeps the file that was there.
fn tell_broken(list: &TaskList, draft: &Draft) {
    let its = |closed_gate: &ClosedGate| closed_gate.draft().is_some_and(|line| line.hash == draft.hash);
    for closed_gate in list.gates().into_iter().filter(its) {
        let mut looked = closed_gate.seal(list.place());
        looked.breaks.retain(|broken| broken.path != draft.path);
        if let Some(broken) = looked.line() {
            note!("note: {broken}; approving the plan does not undo this, and removes the seal");
        }
    }
}

fn confirm(draft: &Draft) -> Result<(), CommandError> {
    let short = short_of(draft);
    if !io::stdin().is_terminal() {
        return Err(CommandError::needs_human(format!(
            "plan {short} is not approved: there is no terminal to ask for confirmation"
        ))
        .hint(format!("`steadfast plan approve {short} --yes` approves it without asking")));
    }
    if says_yes(&format!("\napprove plan {short}? [y/N] ")) {
        return Ok(());
    }
    Err(CommandError::refused("nothing is approved; the plan gate is unchanged")
        .hint(format!("`steadfast plan approve {short}` asks again, `steadfast plan reject {short}` rejects it")))
}
