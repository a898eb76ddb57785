//! Decides what follows from a dispatch. Pure.

use steadfast_hosts::stream::AgentEnd;
use steadfast_model::{Millis, TaskId};
use steadfast_work::task_list::MARKERS;

use super::message::{Merged, Open, Worked};
use super::prompt::{Before, Failure};
use crate::agent::{Departed, Departure};

/// The number of failures in a row after which a unit needs a human.
pub(crate) const STUCK: u32 = 3;

/// The wait for a rate limit without a known end.
const UNKNOWN_RESET_MS: i64 = 5 * 60_000;

/// The state of a unit when its dispatch ended.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    /// The id of its main task.
    pub(crate) unit: TaskId,
    pub(crate) attempts: u32,
    pub(crate) stuck: u32,
    pub(crate) before: Before,
    /// The dispatcher stopped it because its share was spent.
    pub(crate) over_budget: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Its checks passed.
    Merge { head: String },
    /// Try again, with notes for the next attempt, and the number of failures in a row.
    Again { why: String, before: Before, stuck: u32 },
    /// Wait until this time. The attempt does not count as a failure.
    Later { why: String, until: Millis, before: Before },
    /// `stuck` is the number of failures in a row, if that is the reason.
    Block { task: TaskId, why: String, stuck: Option<u32> },
    /// The cause is outside the unit.
    Pause { why: String },
    /// A human stops the run.
    Stopped,
}

/// Decides what follows when an agent is gone and its work was checked.
pub(crate) fn after_work(tried: Tried, worked: Worked, now: Millis) -> Next {
    let Worked { departure, head, closed, open, needs_human, stopped, trouble } = worked;
    if let Some(why) = trouble {
        return Next::Pause { why };
    }
    if let Some(head) = head {
        return Next::Merge { head };
    }
    if let Some((task, why)) = needs_human {
        return Next::Block { task, why, stuck: None };
    }
    let (how, said) = match departure {
        Some(Departure { how, said, .. }) => (Some(how), said),
        None => (None, None),
    };
    let before = Before {
        attempts: tried.attempts,
        failure: open.as_ref().map(failure).or_else(|| tried.before.failure.clone()),
        summary: said.or_else(|| tried.before.summary.clone()),
        advice: None,
        conflict: Vec::new(),
        closed: closed.max(tried.before.closed),
        bring_in: false,
    };
    match how {
        Some(Departed::NotStarted(why)) => return Next::Pause { why },
        Some(Departed::Ended(AgentEnd::NoAccess(why))) => {
            return Next::Pause { why: format!("the agent has no access: {why}") };
        }
        Some(Departed::Ended(AgentEnd::RateLimited { until })) => {
            let until = until.unwrap_or(Millis(now.0.saturating_add(UNKNOWN_RESET_MS)));
            return Next::Later { why: "rate limit".to_owned(), until, before };
        }
        Some(Departed::Stopped) if tried.over_budget => {
            return Next::Later { why: "its share of the budget is spent".to_owned(), until: now, before };
        }
        Some(Departed::Ended(AgentEnd::BudgetSpent)) => {
            return Next::Later { why: "its share of the budget is spent".to_owned(), until: now, before };
        }
        Some(Departed::OutOfBudget) => {
            return Next::Later { why: "the budget of the run is spent".to_owned(), until: now, before };
        }
        Some(Departed::Stopped) => return Next::Stopped,
        _ if stopped => return Next::Stopped,
        _ => {}
    }
    // An agent that closed a task before it reached its own limit has made progress.
    let at_limit = matches!(&how, Some(Departed::Ended(AgentEnd::ContextFull | AgentEnd::TurnLimit)));
    let stuck = if at_limit && closed > tried.before.closed { 0 } else { tried.stuck.saturating_add(1) };
    let why = why(how.as_ref(), open.as_ref());
    again(tried, before, why, stuck)
}

/// Decides what follows from a merge. `None`: the unit landed.
pub(crate) fn after_merge(tried: Tried, merged: Merged) -> Option<Next> {
    let stuck = tried.stuck.saturating_add(1);
    let bring_in = Before { bring_in: true, failure: None, ..tried.before.clone() };
    Some(match merged {
        Merged::Landed(_) => return None,
        Merged::Stopped => Next::Stopped,
        Merged::Trouble(why) => Next::Pause { why },
        Merged::Conflict(files) => {
            again(tried, bring_in, format!("it conflicts with what landed meanwhile in {}", files.join(", ")), stuck)
        }
        Merged::Fails(open) => {
            let why = format!("task {}: {}", open.task, open.why);
            again(tried, Before { failure: Some(failure(&open)), ..bring_in }, why, stuck)
        }
    })
}

fn again(tried: Tried, before: Before, why: String, stuck: u32) -> Next {
    if stuck >= STUCK {
        // A conflict belongs to the unit, not to a task of the plan.
        let failure = before.failure.filter(|failure| !failure.why.contains(MARKERS));
        let task = failure.map_or(tried.unit, |failure| failure.task);
        let why = format!("{STUCK} attempts in a row failed; the last: {why}");
        return Next::Block { task, why, stuck: Some(stuck) };
    }
    Next::Again { why, before, stuck }
}

fn failure(open: &Open) -> Failure {
    Failure { task: open.task.clone(), why: open.why.clone(), output: open.output.clone() }
}

fn why(how: Option<&Departed>, open: Option<&Open>) -> String {
    let end = how.and_then(ending);
    let open = open.map(|open| match open.why.split_once(MARKERS) {
        // The conflict's task is not in the plan, so its id means nothing to the user.
        Some((_, rest)) => match rest.split_once('`') {
            Some((files, _)) => format!("the conflict with what landed meanwhile is not resolved in {files}"),
            None => "the conflict with what landed meanwhile is not resolved".to_owned(),
        },
        None => format!("task {} is open: {}", open.task, open.why),
    });
    match (end, open) {
        (Some(end), Some(open)) => format!("{end}; {open}"),
        (Some(end), None) => end,
        (None, Some(open)) => open,
        (None, None) => "the agent ended without a message".to_owned(),
    }
}

/// Describes an agent's end, unless it is normal.
pub(crate) fn ending(how: &Departed) -> Option<String> {
    Some(match how {
        Departed::Ended(AgentEnd::Finished) => return None,
        Departed::Ended(AgentEnd::TurnLimit) => "the agent ran into its limit of turns".to_owned(),
        Departed::Ended(AgentEnd::BudgetSpent) => "the agent spent its share of the budget".to_owned(),
        Departed::Ended(AgentEnd::ContextFull) => "the agent's context was full".to_owned(),
        Departed::Ended(AgentEnd::RateLimited { .. }) => "the agent ran into a rate limit".to_owned(),
        Departed::Ended(AgentEnd::NoAccess(why)) => format!("the agent has no access: {why}"),
        Departed::Ended(AgentEnd::Failed(why)) => format!("the agent failed: {why}"),
        Departed::Silent => "the agent was silent for too long and was stopped".to_owned(),
        Departed::TimeUp => "the agent ran out of time".to_owned(),
        Departed::Stopped => "the agent was stopped".to_owned(),
        Departed::Died { status } => format!("the agent died: {status}"),
        Departed::NotStarted(why) => format!("the agent was not started: {why}"),
        Departed::OutOfBudget => "the budget of the run was spent".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use steadfast_model::Spent;

    use super::*;

    fn tried(stuck: u32) -> Tried {
        Tried { unit: TaskId::new("1.1"), attempts: stuck + 1, stuck, before: Before::default(), over_budget: false }
    }

    fn left(how: Departed) -> Option<Departure> {
        let said = Some("did some".to_owned());
        Some(Departure { how, session: None, spent: Spent::default(), said, errors: String::new() })
    }

    fn open() -> Option<Open> {
        Some(Open { task: TaskId::new("1.1"), why: "`make test` exited with 1".into(), output: "assert".into() })
    }

    fn finished() -> Departed {
        Departed::Ended(AgentEnd::Finished)
    }

    fn next(stuck: u32, worked: Worked) -> Next {
        after_work(tried(stuck), worked, Millis(1_000))
    }

    #[test]
    fn what_passes_its_checks_is_merged_however_its_agent_ended() {
        for how in [finished(), Departed::Silent, Departed::Died { status: "exited with 1".into() }] {
            let worked = Worked { departure: left(how), head: Some("c0ffee".into()), ..Worked::default() };
            assert_eq!(next(2, worked), Next::Merge { head: "c0ffee".into() });
        }
    }

    #[test]
    fn a_failed_check_goes_into_the_next_attempt() {
        let Next::Again { why, before, stuck } =
            next(0, Worked { departure: left(finished()), open: open(), ..Worked::default() })
        else {
            panic!("not tried again")
        };
        assert_eq!((why.as_str(), stuck), ("task 1.1 is open: `make test` exited with 1", 1));
        assert_eq!(before.failure.unwrap().output, "assert");
        assert_eq!((before.summary.as_deref(), before.attempts), (Some("did some"), 1));
    }

    #[test]
    fn a_conflict_that_is_not_settled_is_called_that() {
        let why = format!("`{MARKERS}'shared.txt'` exited with 1");
        let open = Some(Open { task: TaskId::new("2"), why, output: String::new() });
        let worked = || Worked { departure: left(finished()), open: open.clone(), ..Worked::default() };
        let Next::Again { why, .. } = next(0, worked()) else { panic!("not tried again") };
        assert_eq!(why, "the conflict with what landed meanwhile is not resolved in 'shared.txt'");
        let Next::Block { task, why, stuck: Some(3) } = next(2, worked()) else { panic!("not blocked") };
        assert_eq!(task, tried(0).unit);
        assert!(!why.contains("task 2"), "{why}");
    }

    #[test]
    fn the_third_failure_in_a_row_blocks() {
        let worked = Worked { departure: left(Departed::Silent), open: open(), ..Worked::default() };
        let Next::Block { task, why, .. } = next(2, worked) else { panic!("not blocked") };
        assert_eq!(task.as_str(), "1.1");
        assert_eq!(
            why,
            "3 attempts in a row failed; the last: the agent was silent for too long and was stopped; task 1.1 is open: `make test` exited with 1"
        );
    }

    #[test]
    fn an_agent_at_its_context_limit_that_came_further_is_not_stuck() {
        let full = || left(Departed::Ended(AgentEnd::ContextFull));
        let further = Worked { departure: full(), closed: 1, open: open(), ..Worked::default() };
        assert!(matches!(next(2, further), Next::Again { stuck: 0, .. }));
        let nothing = Worked { departure: full(), closed: 0, open: open(), ..Worked::default() };
        assert!(matches!(next(1, nothing), Next::Again { stuck: 2, .. }));
    }

    #[test]
    fn a_rate_limit_waits_for_its_reset_and_is_held_against_nobody() {
        for (until, expected) in [(Some(Millis(9_000)), 9_000), (None, 301_000)] {
            let how = Departed::Ended(AgentEnd::RateLimited { until });
            let worked = Worked { departure: left(how), open: open(), ..Worked::default() };
            assert!(matches!(next(2, worked), Next::Later { until: Millis(at), .. } if at == expected));
        }
    }

    #[test]
    fn what_is_not_the_units_fault_pauses_the_run() {
        for how in [Departed::NotStarted("no such file".into()), Departed::Ended(AgentEnd::NoAccess("log in".into()))] {
            assert!(matches!(next(0, Worked { departure: left(how), ..Worked::default() }), Next::Pause { .. }));
        }
        assert!(matches!(next(0, Worked::trouble("no space left".into())), Next::Pause { .. }));
    }

    #[test]
    fn a_share_that_is_spent_is_no_failure_and_a_stop_is_a_stop() {
        let stopped = || Worked { departure: left(Departed::Stopped), ..Worked::default() };
        assert_eq!(next(0, stopped()), Next::Stopped);
        let refused = Worked { departure: left(Departed::OutOfBudget), open: open(), ..Worked::default() };
        assert!(matches!(next(2, refused), Next::Later { until: Millis(1_000), .. }));
        let over = Tried { over_budget: true, ..tried(2) };
        assert!(matches!(after_work(over, stopped(), Millis(5)), Next::Later { until: Millis(5), .. }));
    }

    #[test]
    fn a_conflict_and_a_failure_on_what_would_land_go_back_with_it() {
        let Some(Next::Again { before, stuck, .. }) = after_merge(tried(0), Merged::Conflict(vec!["a".into()])) else {
            panic!("not tried again")
        };
        assert!(before.bring_in && before.failure.is_none() && stuck == 1);
        let Some(Next::Again { before, .. }) = after_merge(tried(0), Merged::Fails(open().unwrap())) else {
            panic!("not tried again")
        };
        assert!(before.bring_in && before.failure.is_some());
        assert!(matches!(after_merge(tried(2), Merged::Conflict(Vec::new())), Some(Next::Block { .. })));
        assert_eq!(after_merge(tried(0), Merged::Landed("c0ffee".into())), None);
    }
}
