//! What waits for the next session of this checkout.

use serde_json::{Value, json};
use steadfast_hook::{InMemorySession, Redacted};
use steadfast_model::{Event, EventKind, GoalWord, Host, Millis, SessionId, State};
use steadfast_store::{add_waiting, remove_waiting, waiting_commands};
use steadfast_work::Repository;

use super::{constraints_json, described};
use crate::environment;
use crate::error::CommandError;
use crate::output::tell;
use crate::terminal::moment;

/// The state that the next session begins with.
#[derive(Debug)]
pub(in crate::commands) struct Waiting(State);

/// The name of a session that does not exist yet.
pub(super) fn next() -> SessionId {
    SessionId::new("next")
}

impl Waiting {
    pub(in crate::commands) fn of(repository: &Repository) -> Option<Self> {
        let commands = waiting_commands(&repository.place);
        (!commands.is_empty()).then(|| Self(after(repository, commands)))
    }

    /// Adds a word for the next session, and shows what it gets. To clear removes all that waits about the goal.
    pub(super) fn add(
        repository: &Repository,
        word: impl FnOnce(&State) -> Result<GoalWord, CommandError>,
    ) -> Result<(), CommandError> {
        let place = &repository.place;
        let word = word(&after(repository, waiting_commands(place)))?;
        let changed = match word {
            GoalWord::Clear => {
                let removed = remove_waiting(place, |command| matches!(command, EventKind::Goal(_)));
                if matches!(removed, Ok(0)) {
                    return Err(CommandError::failure(
                        "no session is running here, and nothing waits for the next one",
                    )
                    .hint("`steadfast status` lists the sessions of this repository"));
                }
                removed.map(drop)
            }
            word => add_waiting(place, EventKind::Goal(word)),
        };
        changed.map_err(failed)?;
        match Self::of(repository) {
            Some(waiting) => waiting.show(),
            None => tell!("nothing waits for the next session"),
        }
    }

    pub(in crate::commands) fn show(&self) -> Result<(), CommandError> {
        let paused = match self.paused_until() {
            None => String::new(),
            Some(Millis(i64::MAX)) => "; Steadfast is off; `steadfast pause --end` switches it on".to_owned(),
            Some(until) => {
                format!("; Steadfast is paused until {}; `steadfast pause --end` switches it on", moment(until))
            }
        };
        tell!("the next session here: {}{paused}", described(&self.0))
    }

    pub(super) fn to_json(&self) -> Value {
        let goal = self.0.goal.clone().unwrap_or_default();
        json!({
            "goal": goal.text,
            "scope": goal.scope,
            "constraints": constraints_json(&goal),
            "paused_until": self.paused_until(),
        })
    }

    /// `None` if a pause is over.
    fn paused_until(&self) -> Option<Millis> {
        self.0.paused_until.filter(|until| *until > environment::now())
    }
}

pub(in crate::commands) fn failed(error: std::io::Error) -> CommandError {
    CommandError::failure(format!("cannot change what waits for the next session: {error}"))
        .hint("check that the state of the repository is writable: `steadfast doctor`")
}

/// The state of a new session after these commands.
fn after(repository: &Repository, commands: Vec<EventKind>) -> State {
    let (now, root) = (repository.environment.now(), repository.place.worktree());
    let mut session = InMemorySession::of_transcript(State::new(next(), Host::Claude, now));
    for command in commands {
        session.handle(&Redacted::of(Event::plain(next(), Host::Claude, root.clone(), now, command)));
    }
    session.state().clone()
}
