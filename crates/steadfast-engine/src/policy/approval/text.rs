//! Texts about a plan that is not approved: facts, no orders.

use steadfast_model::{DraftLine, Gate, Question, SealBreak};
use steadfast_text::count;

use super::seal::Writer;

pub(super) const CLOSED: &str = "The plan is not approved.";

pub(super) const TOO_LONG: &str = "The command is longer than 1 MB, and Steadfast does not know what its end would write. Write a long text with the \
     host's own tool, and run a shorter command.";

/// Describes the gate in one or two sentences.
pub(super) fn closed(gate: &Gate) -> String {
    let Some(draft) = &gate.draft else {
        return format!(
            "{CLOSED} The plan gate is closed: {} cannot be written. `steadfast plan propose FILE` keeps a draft for the \
             human to read.",
            list(&gate.protected)
        );
    };
    let DraftLine { title, tasks, .. } = draft;
    let drafted = match tasks {
        0 => "A plan is".to_owned(),
        1 => "1 task is".to_owned(),
        tasks => format!("{tasks} tasks are"),
    };
    format!(
        "{CLOSED} {drafted} drafted: {title} ({}). The plan gate is closed until a human approves the plan: in the \
         question dialog, by the message `approve plan {}`, or by `steadfast plan approve` in a terminal.",
        draft.short(),
        draft.short()
    )
}

/// For the human of a session that did not propose the plan.
pub(super) fn waits(gate: &Gate) -> String {
    let Some(draft) = &gate.draft else { return closed(gate) };
    let (short, paths) = (draft.short(), list(&gate.protected));
    format!(
        "Plan {short} ({}) waits for your answer: {paths} cannot be written. Type `approve plan {short}` or `reject plan \
         {short}`.",
        draft.title
    )
}

/// For the human: the gate has closed, or a draft waits at it.
pub(super) fn closed_line(gate: &Gate) -> String {
    let Some(draft) = &gate.draft else {
        return format!(
            "Steadfast: the plan gate is closed. {} cannot be written until you approve a plan",
            list(&gate.protected)
        );
    };
    let tasks = if draft.tasks == 0 { String::new() } else { format!(" ({})", count(draft.tasks, "task")) };
    format!(
        "Steadfast: plan {short} waits for your approval: {}{tasks}. To approve it, type: approve plan {short}",
        draft.title,
        short = draft.short()
    )
}

/// For the human. What became of the plan follows when it is loaded.
pub(super) fn approved_line(draft: &DraftLine) -> String {
    format!("Steadfast: plan {} is approved, and the plan gate is open.", draft.short())
}

pub(super) const REJECTED_LINE: &str = "Steadfast: the plan is rejected, and the plan gate is open.";
pub(super) const OPEN_LINE: &str = "Steadfast: the plan gate is open.";

pub(super) fn planner(scratch: &str) -> String {
    format!(
        "This agent is a planner: it may read, and write only {scratch}. `steadfast plan propose FILE` keeps its draft \
         for the human to read."
    )
}

pub(super) fn refused(target: &str, gate: &Gate, again: bool) -> String {
    let draft = match &gate.draft {
        Some(draft) => {
            format!(
                " Plan {} is drafted; after a human's approval Steadfast writes it to `{}`.",
                draft.short(),
                draft.path
            )
        }
        None => " `steadfast plan propose FILE` keeps a draft for the human to read.".to_owned(),
    };
    let again = if again { " Steadfast refused this path before; another command does not change that." } else { "" };
    format!("{CLOSED} {target} cannot be written until a human approves it.{draft}{again}")
}

pub(super) fn stashed(path: &str) -> String {
    format!(
        "{CLOSED} `{path}` has uncommitted changes, and the plan gate protects it: `git stash` would remove them. `git \
         stash push -- FILE` stashes only the files that it names."
    )
}

pub(super) fn planner_refused(target: &str, scratch: &str) -> String {
    format!("A planner may read, and write only {scratch}: {target} is not written.")
}

pub(super) fn approved(draft: &DraftLine, start: bool) -> String {
    let start = if start { " and asked to start" } else { "" };
    format!("The human approved plan {} ({}){start}. It is written to `{}`.", draft.short(), draft.title, draft.path)
}

pub(super) const REJECTED: &str = "The human rejected the plan. The plan gate is open, and nothing is approved.";

pub(super) const NOT_YET: &str = "The human has not approved the plan. The plan gate stays closed.";

/// Steadfast's question in place of the agent's.
pub(super) fn question(draft: &DraftLine) -> Question {
    let tasks = match draft.tasks {
        0 => String::new(),
        1 => "1 task, ".to_owned(),
        tasks => format!("{tasks} tasks, "),
    };
    Question {
        heading: "Plan".to_owned(),
        text: format!(
            "Approve plan {}: {} ({tasks}to be written to {})? `steadfast plan show --draft` shows it.",
            draft.short(),
            draft.title,
            draft.path
        ),
        options: options(draft),
        draft: draft.hash.clone(),
        preview: None,
    }
}

/// A text without tasks can be approved, and there is nothing to start.
fn options(draft: &DraftLine) -> Vec<(String, String)> {
    let has_tasks = draft.tasks > 0;
    let start = (START_LABEL.to_owned(), "Writes and loads this plan, and this session works on it now.".to_owned());
    let approves = if has_tasks { "Writes and loads this plan. Nothing starts yet." } else { "Writes this plan." };
    let others = [
        (approve_label(draft), approves),
        (CHANGE_LABEL.to_owned(), "The gate stays closed; say what should change."),
        (REJECT_LABEL.to_owned(), "The draft is dropped, and the gate opens."),
    ];
    let others = others.map(|(label, meaning)| (label, meaning.to_owned()));
    has_tasks.then_some(start).into_iter().chain(others).collect()
}

pub(super) const START_LABEL: &str = "Approve and start";

pub(super) fn approve_label(draft: &DraftLine) -> String {
    format!("Approve plan {}", draft.short())
}

pub(super) const CHANGE_LABEL: &str = "Not yet";
pub(super) const REJECT_LABEL: &str = "Reject the plan";

/// For the agent. The effect that restores the files reports whether that succeeded.
pub(super) fn broken(broken: &[SealBreak]) -> String {
    format!("{CLOSED} {} while the plan gate is closed.", SealBreak::describe(broken))
}

/// Added when one event restores only a part of a tree.
pub(super) const MORE: &str = "More files may have changed. Each event restores some of them; `steadfast doctor --fix` \
     restores all of them at once.";

/// For the human.
pub(super) fn broken_by(broken: &[SealBreak], writer: Writer) -> String {
    let who = match writer {
        Writer::Agent => "a process of the agent could have done it",
        Writer::Human | Writer::Unknown => "Steadfast does not know whether the agent did it",
    };
    format!("While the plan gate is closed, {}; {who}.", SealBreak::describe(broken))
}

pub(super) fn switched(broken: &[SealBreak]) -> String {
    format!(
        "While the plan gate is closed, another commit was checked out: {} by that. Steadfast keeps this content and \
         seals it. The gate stays closed.",
        SealBreak::describe(broken)
    )
}

pub(super) fn left(broken: &[SealBreak]) -> String {
    format!(
        "While the plan gate is closed, {} by something other than the agent. It is left as it is.",
        SealBreak::describe(broken)
    )
}

fn list(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().take(3).map(|path| format!("`{path}`")).collect();
    let more = paths.len().saturating_sub(shown.len());
    let joined = shown.join(", ");
    match (joined.is_empty(), more) {
        (true, _) => "the protected paths".to_owned(),
        (false, 0) => joined,
        (false, more) => format!("{joined} and {more} more"),
    }
}
