//! The short lines that the human reads in the host about what Steadfast does: at most one per event and subject, and
//! the same line once between two prompts. With `ui.verbosity = "quiet"` there are none, because none of them needs the
//! human.

use steadfast_model::{Action, Change, Direction, Event, EventKind, Ruling, State, ToolCall, Verbosity, Verdict, fnv};
use steadfast_text::{truncate, truncate_line};

use crate::PolicyDecision;

/// The longest call in a line, in characters.
const CALL: usize = 60;

/// The longest reason in a line, in characters.
const REASON: usize = 140;

/// Adds the lines of the policies, and one about a refused call, to the note for the human.
pub(crate) fn tell(state: &State, event: &Event, decision: &mut PolicyDecision, lines: Vec<String>) {
    let verbosity = state.rules.verbosity;
    if verbosity == Verbosity::Quiet {
        return;
    }
    for line in lines.into_iter().chain(refused_call(verbosity, event, &decision.answer.ruling)) {
        let mark = mark(&line);
        if verbosity == Verbosity::Normal && state.told.contains(&mark) {
            continue;
        }
        decision.changes.push(Change::HumanTold(mark));
        decision.answer.add(Verdict::Note(line), Direction::Advice);
    }
}

/// Recognizes a line that the human has read.
pub(crate) fn mark(line: &str) -> u64 {
    fnv([line.as_bytes()])
}

/// Adds the number of a refusal, if the human wants to read it.
pub(crate) fn counted(state: &State, text: String, count: Option<(u32, u32)>) -> String {
    match count {
        Some(count) if state.rules.verbosity == Verbosity::Detailed => with_count(&text, count),
        _ => text,
    }
}

pub(crate) fn with_count(text: &str, (refusal, limit): (u32, u32)) -> String {
    format!("{text} (refusal {refusal} of {limit})")
}

fn refused_call(verbosity: Verbosity, event: &Event, ruling: &Ruling) -> Option<String> {
    let (EventKind::PreTool(call) | EventKind::Permission(call), Ruling::Deny { reason }) = (&event.kind, ruling)
    else {
        return None;
    };
    let why = match verbosity {
        Verbosity::Detailed => reason.clone(),
        Verbosity::Quiet | Verbosity::Normal => truncate(first_sentence(reason), REASON).into_owned(),
    };
    Some(format!("Steadfast refused {}. {}", shown(call, &event.cwd), for_human(&why)))
}

/// Names a call: its command, the file that it writes, or its tool.
fn shown(call: &ToolCall, cwd: &str) -> String {
    match &call.action {
        Action::Shell { command, .. } => format!("`{}`", truncate_line(&command.replace('`', "'"), CALL)),
        Action::Write { paths } if !paths.is_empty() => {
            let path = paths[0].strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/')).unwrap_or(&paths[0]);
            format!("to write `{}`", truncate_line(path, CALL))
        }
        _ => format!("`{}`", truncate_line(&call.tool, CALL)),
    }
}

/// The reasons are written for the agent.
fn for_human(reason: &str) -> String {
    match reason.strip_prefix("The human said") {
        Some(rest) => format!("You said{rest}"),
        None => reason.to_owned(),
    }
}

/// Returns the text up to the first full stop outside of quotes and backticks.
fn first_sentence(text: &str) -> &str {
    let (mut quoted, mut code) = (false, false);
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '`' => code = !code,
            ' ' | '\n' if before == '.' && !quoted && !code => return &text[..at],
            _ => {}
        }
        before = c;
    }
    text
}

#[cfg(test)]
mod tests {
    use steadfast_model::{Facts, Host, Millis, PromptOrigin, SessionId};

    use super::*;
    use crate::decide;

    fn event(kind: EventKind) -> Event {
        Event::plain(SessionId::new("s"), Host::Claude, "/repo", Millis(1), kind)
    }

    fn call(action: Action) -> Event {
        event(EventKind::PreTool(ToolCall { id: None, tool: "Bash".into(), action, words: Vec::new() }))
    }

    fn forbidding(verbosity: Verbosity) -> State {
        let mut state = State::new(SessionId::new("s"), Host::Claude, Millis(0));
        state.rules.verbosity = verbosity;
        go(&mut state, &event(EventKind::prompt("Do the tasks, but don't commit.", PromptOrigin::Human)));
        state
    }

    /// What the human reads.
    fn go(state: &mut State, event: &Event) -> Option<String> {
        let decision = decide(state, event, &Facts::default());
        state.advance(state.sequence + 1, event.at, &decision.changes);
        decision.answer.note
    }

    #[test]
    fn a_refused_call_is_one_line_and_only_once_until_the_next_prompt() {
        let mut state = forbidding(Verbosity::Normal);
        let commit = || call(Action::shell("git commit -m 'all of it'"));
        let line = "Steadfast refused `git commit -m 'all of it'`. You said: \"Do the tasks, but don't commit\".";
        assert_eq!(go(&mut state, &commit()).as_deref(), Some(line));
        assert_eq!(go(&mut state, &commit()), None);
        let another = go(&mut state, &call(Action::shell("git commit --amend"))).unwrap();
        assert!(another.starts_with("Steadfast refused `git commit --amend`. "), "{another}");
        go(&mut state, &event(EventKind::prompt("Go on.", PromptOrigin::Human)));
        assert_eq!(go(&mut state, &commit()).as_deref(), Some(line));
    }

    #[test]
    fn quiet_reads_nothing_of_it_and_detailed_all_of_it_each_time() {
        let commit = || call(Action::shell("git commit -m x"));
        assert_eq!(go(&mut forbidding(Verbosity::Quiet), &commit()), None);
        let mut state = forbidding(Verbosity::Detailed);
        let whole = "Steadfast refused `git commit -m x`. You said: \"Do the tasks, but don't commit\". `git commit` is \
                     not run.";
        for _ in 0..2 {
            assert_eq!(go(&mut state, &commit()).as_deref(), Some(whole));
        }
    }

    #[test]
    fn a_paused_session_reads_no_line() {
        let mut state = forbidding(Verbosity::Normal);
        state.paused_until = Some(Millis(i64::MAX));
        assert_eq!(go(&mut state, &call(Action::shell("git commit"))), None);
    }

    #[test]
    fn a_sentence_ends_at_a_full_stop_outside_of_quotes_and_code() {
        for (text, first) in [
            ("One. Two.", "One."),
            ("You said: \"a. b\". Then.", "You said: \"a. b\"."),
            ("`x. y` is not written. Then.", "`x. y` is not written."),
            ("a file a.rs is written", "a file a.rs is written"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), first);
        }
    }

    #[test]
    fn a_call_is_named_by_what_it_does() {
        let shown = |action| {
            let EventKind::PreTool(call) = call(action).kind else { unreachable!() };
            shown(&call, "/repo")
        };
        assert_eq!(shown(Action::Write { paths: vec!["/repo/src/a.rs".into()] }), "to write `src/a.rs`");
        assert_eq!(shown(Action::Write { paths: Vec::new() }), "`Bash`");
        assert_eq!(shown(Action::shell("echo `date`\nls")), "`echo 'date' ls`");
    }
}
