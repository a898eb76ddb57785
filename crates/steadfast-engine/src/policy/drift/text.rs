//! Texts about drift for the agent and its human. The longest is well under 120 tokens.

use steadfast_model::{Course, Drift, Level, Places, State, Verbosity};

use crate::drift::{Repeated, Repetition, StepScore, ToolEffects, folder};

/// The most characters of the goal that are repeated.
const GOAL: usize = 90;

/// The most folders that are named.
const FOLDERS: usize = 3;

/// Returns the text about a step. `None`: no correction.
pub(super) fn correction(state: &State, scored: &StepScore, level: Level, recovery: Option<&str>) -> Option<String> {
    if level > Level::None
        && let Some(repeated) = scored.repeated
    {
        return Some(circling(state, repeated, level));
    }
    let reasons = scored.reasons.join("; ");
    let goal = goal(state);
    let back = recovery.map(|path| format!(" Back on course: `{path}`.")).unwrap_or_default();
    Some(match level {
        Level::None => return None,
        Level::Nudge => format!("Is this part of the goal? {}.{goal}", capital(&reasons)),
        Level::Correct => format!(
            "This leads away from the goal: {reasons}.{goal}{}{back} If it is needed, say why in one sentence and \
             continue.",
            places(&state.drift)
        ),
        Level::Intervene => format!(
            "This is not what was asked for: {reasons}.{goal}{back} Before the next write, check that it serves the goal; \
             undo what does not, or ask the human."
        ),
        Level::Halt => {
            let first = match recovery {
                Some(path) => format!("read `{path}` and say what is left to do for the goal"),
                None => "say what is left to do for the goal, or ask the human".to_owned(),
            };
            let before = if state.drift.corrected { " The previous correction changed nothing." } else { "" };
            format!("Halt: {reasons}.{goal}{before} First action now: {first}.")
        }
    })
}

/// For the human: the correction in one line.
pub(super) fn line(scored: &StepScore, level: Level, verbosity: Verbosity) -> Option<String> {
    let reasons = match scored.repeated {
        Some(repeated) if repeated.what == Repetition::ToAndFro => {
            format!("the same lines were changed back and forth {} times", repeated.times)
        }
        Some(repeated) => format!("the same attempt failed {} times", repeated.times),
        None if verbosity == Verbosity::Detailed => scored.reasons.join("; "),
        None => scored.reasons.first().cloned().unwrap_or_default(),
    };
    Some(match level {
        Level::None => return None,
        _ if scored.repeated.is_some() => format!("Steadfast: the agent goes in circles. {}", capital(&reasons)),
        Level::Nudge => format!("Steadfast: part of the goal? {}", capital(&reasons)),
        Level::Correct => format!("Steadfast: off course? {}", capital(&reasons)),
        Level::Intervene => format!("Steadfast: this is not what you asked for. {}", capital(&reasons)),
        Level::Halt => format!("Steadfast told the agent to halt. {}", capital(&reasons)),
    })
}

/// For an agent that tries the same again.
fn circling(state: &State, repeated: Repeated, level: Level) -> String {
    let times = repeated.times;
    let goal = goal(state);
    if repeated.what == Repetition::ToAndFro {
        return format!(
            "The same lines were changed back and forth {times} times. Say what each version was meant to solve, \
             choose one and keep it, or ask the human.{goal}"
        );
    }
    match level {
        Level::None | Level::Nudge | Level::Correct => {
            format!(
                "The same attempt failed {times} times. Read its error before trying again, or try another way.{goal}"
            )
        }
        Level::Intervene | Level::Halt => {
            format!(
                "The same attempt failed {times} times; trying again changes nothing. Say what is known about the \
                     cause, then do something else or ask the human.{goal}"
            )
        }
    }
}

/// The reason for a refused call.
pub(super) fn refusal(state: &State, scored: &StepScore, recovery: Option<&str>) -> String {
    let back = recovery.map(|path| format!(" First action now: read `{path}`.")).unwrap_or_default();
    format!("Refused because it leads away from the goal: {}.{}{back}", scored.reasons.join("; "), goal(state))
}

/// For the agent, when the human speaks while it is off course.
pub(super) fn at_prompt(memory: &Drift) -> String {
    let awaited = memory.awaited.as_ref().map(|path| format!("; the way back was `{path}`")).unwrap_or_default();
    format!("Before this prompt the work had drifted{awaited}. This prompt of the human decides what the work is now.")
}

/// For the human, at a stop that is off course.
pub(super) fn at_stop(memory: &Drift) -> String {
    let told = memory.tally.corrections + memory.tally.interventions + memory.tally.halts;
    let told = if told == 1 { "1 correction".to_owned() } else { format!("{told} corrections") };
    let halted = match (memory.course, memory.tally.halts) {
        (Course::Forced, _) | (_, 1..) => ", including a halt",
        _ => "",
    };
    format!(
        "The work drifted and has not come back: {told}{halted}. `steadfast log --policy drift` shows what led away; the \
         session is marked needs-review."
    )
}

/// For the human, once, if no text names the place of the work.
pub(super) fn undeclared(memory: &Drift, effects: &ToolEffects) -> String {
    let mut folders: Vec<&str> = memory.places.folders.iter().rev().map(|folder| shown(folder)).take(FOLDERS).collect();
    if folders.is_empty() {
        folders.extend(effects.writes.first().map(|path| shown(folder(path))));
    }
    // The root is a folder, too, and its name is empty.
    let places = match folders.as_slice() {
        [] | ["" | "." | "./"] => "the root of the project".to_owned(),
        folders => folders.join(", "),
    };
    format!(
        "No path was named for this work, so Steadfast assumes the folders that the agent read first: {places}. \
         `steadfast goal set` names other paths."
    )
}

fn goal(state: &State) -> String {
    let text = state.goal.as_ref().map(|goal| goal.text.as_str()).unwrap_or_default();
    match text.char_indices().nth(GOAL) {
        _ if text.is_empty() => String::new(),
        Some((end, _)) => format!(" The goal: \"{}…\".", text[..end].trim_end()),
        None => format!(" The goal: \"{}\".", text.trim_end_matches('.')),
    }
}

fn places(memory: &Drift) -> String {
    let Places { worked, folders, .. } = &memory.places;
    let folders = if worked.is_empty() { folders } else { worked };
    let folders: Vec<String> =
        folders.iter().rev().take(FOLDERS).map(|folder| format!("`{}`", shown(folder))).collect();
    if folders.is_empty() { String::new() } else { format!(" The work is in {}.", folders.join(", ")) }
}

fn shown(folder: &str) -> &str {
    if folder.is_empty() { "." } else { folder }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
