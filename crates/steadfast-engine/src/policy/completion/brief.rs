//! Describes the plan to an agent whose context was cut, and how the work goes.

use steadfast_model::{Brief, ExitOn, Host, PlanView, StopRules};
use steadfast_text::one_line;

use super::tokens::{cut, tokens};
use super::{promise, text};

/// The limit for all texts of one event, in tokens.
pub(super) const CONTEXT: usize = 400;

/// The limit for a subagent, in tokens. Its task comes from the agent that started it.
pub(super) const SUBAGENT: usize = 160;

/// For the session that works on the plan: how the work goes, and its state.
pub fn for_session(plan: &PlanView, rules: &StopRules, host: Host) -> String {
    if plan.brief.spec.is_none() {
        return text::owned(plan);
    }
    let loop_text = orchestration(plan, rules, host);
    let standing = progress(plan, CONTEXT.saturating_sub(tokens(&loop_text) + 1));
    format!("{loop_text}\n{standing}")
}

/// For a subagent of that session. A plain list adds nothing to its own task.
pub(super) fn for_subagent(plan: &PlanView) -> Option<String> {
    plan.brief.spec.as_ref()?;
    let head = "Steadfast: the session that started this agent works on a plan.";
    let parts = [objective(&plan.brief), constraints(&plan.brief), decisions(&plan.brief)];
    Some(fit(head, &parts, [60, 50, 40], SUBAGENT))
}

/// Describes how the work goes. The text is constant: it does not depend on the progress of the work.
pub(super) fn orchestration(plan: &PlanView, rules: &StopRules, host: Host) -> String {
    let mut said = String::from(
        "Steadfast keeps the tasks of this session. `steadfast task next` shows one; after the work `steadfast task \
         done ID` runs its check and closes it if that passes. This repeats until none is ready. `steadfast task block \
         ID --why REASON` sets aside what is stuck.",
    );
    if host == Host::Codex {
        said.push_str(" The MCP tools `task_next`, `task_done` and `task_block` do the same.");
    }
    said.push_str(" The turn can end when no task is open or the rest is blocked.");
    let mut promises = Vec::new();
    if let Some(completion) = promise::of_completion(rules, plan.brief.promise.as_deref()) {
        let completion = cut(completion, 12);
        promises.push(format!("`<promise>{completion}</promise>` (compared with the tasks)"));
    }
    for (text, exit, means) in [
        (StopRules::NEEDS_USER, ExitOn::NeedsUser, "blocks the task and asks the user"),
        (StopRules::CHECKPOINT, ExitOn::ContextCheckpoint, "a fresh session continues"),
    ] {
        if promise::is_offered(rules, text, exit) {
            promises.push(format!("`<promise>{text}</promise>` ({means})"));
        }
    }
    if !promises.is_empty() {
        said.push_str(&format!(" Valid at the end of a message: {}.", promises.join(", ")));
    }
    said
}

fn progress(plan: &PlanView, most: usize) -> String {
    let brief = &plan.brief;
    let mut head = text::how_many_open(plan);
    if let Some(spec) = &brief.spec {
        head.push_str(&format!(" of {}", cut(spec, 12)));
    }
    head.push('.');
    let parts = [objective(brief), constraints(brief), criteria(brief), phase(brief), current(plan), next(plan)];
    fit(&head, &parts, [30, 36, 20, 26, 36, 16], most)
}

fn objective(brief: &Brief) -> String {
    brief.objective.as_ref().map(|text| labelled("Objective", &one_line(text))).unwrap_or_default()
}

fn constraints(brief: &Brief) -> String {
    listed("Constraints", brief.constraints.iter())
}

fn criteria(brief: &Brief) -> String {
    listed("Done when", brief.criteria.iter())
}

fn decisions(brief: &Brief) -> String {
    // Newest first, so that the oldest is cut.
    listed("Decided", brief.decisions.iter().rev())
}

fn phase(brief: &Brief) -> String {
    let phase = brief.phase.as_ref().map(|text| labelled("Phase", &cut(&one_line(text), 16))).unwrap_or_default();
    [phase, decisions(brief)].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn current(plan: &PlanView) -> String {
    let Some(task) = plan.open.first() else { return String::new() };
    let mut said = String::from("Current: ");
    text::line(&mut said, task);
    said.push('.');
    if let Some(current) = &plan.brief.current {
        match current.stuck_count {
            0 => {}
            1 => said.push_str(" Stuck once before."),
            count => said.push_str(&format!(" Stuck {count} times before.")),
        }
        if let Some(check) = &current.check {
            said.push_str(&format!(" {}", labelled("Check", &cut(&one_line(check), 24))));
        }
        if !current.files.is_empty() {
            said.push_str(&format!(" {}", labelled("Files", &cut(&current.files.join(", "), 24))));
        }
        if let Some(notes) = &current.notes {
            said.push_str(&format!(" {}", labelled("Notes", &one_line(notes))));
        }
    }
    said
}

fn next(plan: &PlanView) -> String {
    let Some(task) = plan.open.get(1) else { return String::new() };
    let mut said = String::from("Then: ");
    text::line(&mut said, task);
    said.push('.');
    said
}

fn listed<'a>(label: &str, lines: impl Iterator<Item = &'a String>) -> String {
    let lines: Vec<_> = lines.map(|line| one_line(line)).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { String::new() } else { labelled(label, &lines.join("; ")) }
}

fn labelled(label: &str, text: &str) -> String {
    let stop = if text.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{label}: {text}{stop}")
}

/// Puts each part on a line of its own. If not all fit, each part has its share, and passes on what it does not use.
fn fit<const N: usize>(head: &str, parts: &[String; N], shares: [usize; N], most: usize) -> String {
    let mut said = cut(head, most);
    let wanted: Vec<usize> = parts.iter().map(|part| tokens(part) + 1).collect();
    for (index, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
        let later: usize = (index + 1..N).filter(|i| wanted[*i] > 1).map(|i| wanted[i].min(shares[i])).sum();
        let room = most.saturating_sub(tokens(&said));
        let part = cut(part, room.saturating_sub(later).max(shares[index].min(room)).saturating_sub(1));
        if !part.is_empty() {
            said.push('\n');
            said.push_str(&part);
        }
    }
    said
}
