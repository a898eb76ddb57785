use clap::{Args, Subcommand};
use serde_json::{Value, json};
use steadfast_engine::goal::{self, read};
use steadfast_hook::is_gone;
use steadfast_model::{Constraint, EventKind, Goal as Known, GoalWord, SessionId, State};
use steadfast_redact::redact;
use steadfast_store::SessionFiles;
use steadfast_work::Repository;

use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};
pub(super) use waiting::{Waiting, failed};

mod waiting;

/// Show and set the goal and the constraints of a session.
///
/// Without a running session, `set`, `forbid` and `allow` apply to the next session that starts or continues in this
/// checkout, once. `show` shows what waits, and `clear` removes it. Subagents and the agents of a run do not take it.
#[derive(Debug, Subcommand)]
pub(super) enum Goal {
    /// Show the goal and the constraints.
    Show {
        /// Print JSON with stable keys: `{session, goal, scope: [path], found: [{name, path}], refined: [path],
        /// constraints: [{number, kind, of: [name], said}], waiting: {goal, scope, constraints, paused_until}}`.
        /// `session` is null if there is none yet. `waiting` is for the next session, or null.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        which: Which,
    },
    /// Set the goal of a session.
    Set {
        /// The goal. The paths and names in it set its scope.
        text: String,
        #[command(flatten)]
        which: Which,
    },
    /// Forbid something, in words.
    Forbid {
        /// The constraint, in the words you would use to the agent.
        text: String,
        #[command(flatten)]
        which: Which,
    },
    /// Lift a constraint by its number.
    Allow {
        /// Number of the constraint, as `steadfast goal show` prints it.
        number: u32,
        #[command(flatten)]
        which: Which,
    },
    /// Remove the goal and all its constraints.
    Clear {
        #[command(flatten)]
        which: Which,
    },
}

#[derive(Debug, Args)]
pub(super) struct Which {
    /// Session id. [default: the session of this repository with the latest activity]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Goal {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        match self {
            Self::Show { json, which } => which.show(&repository, json),
            Self::Set { text, which } => {
                let text = redact(&text).into_owned();
                let scope = read(&text).paths;
                which.say(&repository, |_| Ok(GoalWord::Set { text, scope }))
            }
            Self::Forbid { text, which } => {
                which.say(&repository, |_| understood(&redact(&text)).map(GoalWord::Forbid))
            }
            Self::Allow { number, which } => which.say(&repository, |state| {
                let known = state.constraints().iter().any(|constraint| constraint.number == number);
                if known { Ok(GoalWord::Allow(number)) } else { Err(no_such(number, state)) }
            }),
            Self::Clear { which } => which.say(&repository, |_| Ok(GoalWord::Clear)),
        }
    }
}

/// The sessions of this repository that are running, as far as visible: a killed host sends no end.
pub(super) fn running(repository: &Repository) -> Vec<State> {
    let all = SessionFiles::all(&repository.place).into_iter();
    all.filter_map(|files| files.peek().filter(|state| state.ended.is_none() && !is_gone(&files))).collect()
}

impl Which {
    /// The named session, else the running one with the latest activity. `None`: no session is running.
    fn state(&self, repository: &Repository) -> Result<Option<State>, CommandError> {
        let Some(id) = self.session.as_deref().map(SessionId::new) else {
            return Ok(running(repository).into_iter().max_by_key(|state| state.last_at));
        };
        match SessionFiles::of(&repository.place, &id).peek() {
            Some(state) => Ok(Some(state)),
            None => Err(CommandError::failure(format!("there is no session `{id}` here"))
                .hint("`steadfast status` lists the sessions of this repository")),
        }
    }

    /// The same, or the newest session if none is running, also from the ledger.
    fn state_or_last(&self, repository: &Repository) -> Result<Option<(State, bool)>, CommandError> {
        let known = match self.state(repository) {
            Ok(Some(state)) => return Ok(Some((state, false))),
            Ok(None) => None,
            Err(error) => Some(error),
        };
        let wanted = self.session.as_deref().map(SessionId::new);
        let is_wanted = |state: &State| wanted.as_ref().is_none_or(|id| state.session == *id);
        let files = SessionFiles::all(&repository.place).into_iter().filter_map(|files| files.peek());
        let last = files.filter(is_wanted).max_by_key(|state| state.last_at);
        let kept = || -> Result<Option<State>, CommandError> {
            let states = repository.ledger()?.session_states()?;
            Ok(states.into_iter().map(|state| state.state().clone()).find(is_wanted))
        };
        match (last.map_or_else(kept, |state| Ok(Some(state)))?, known) {
            (Some(state), _) => Ok(Some((state, true))),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(None),
        }
    }

    fn show(&self, repository: &Repository, json: bool) -> Result<(), CommandError> {
        let found = self.state_or_last(repository)?;
        let waiting = Waiting::of(repository);
        if json {
            return show_json(found.as_ref().map(|(state, _)| state), waiting.as_ref());
        }
        if let Some((state, is_over)) = &found {
            if *is_over {
                note!("session {} has ended; this is its last state", state.session);
            }
            show(state)?;
        }
        match waiting {
            Some(waiting) => waiting.show(),
            None if found.is_none() => {
                note!("no session has run here; `steadfast goal set` and `goal forbid` apply to the next one");
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Records the word in the session, or for the next one if none is running. Shows the result.
    fn say(
        &self,
        repository: &Repository,
        word: impl FnOnce(&State) -> Result<GoalWord, CommandError>,
    ) -> Result<(), CommandError> {
        let Some(state) = self.state(repository)? else { return Waiting::add(repository, word) };
        let word = word(&state)?;
        here::tell_session(repository, &state, EventKind::Goal(word))?;
        let files = SessionFiles::of(&repository.place, &state.session);
        show(&files.peek().unwrap_or(state))
    }
}

/// Parses the constraints in a text.
fn understood(text: &str) -> Result<Vec<Constraint>, CommandError> {
    let found = goal::understood(text);
    if found.is_empty() {
        return Err(CommandError::failure(format!("no constraint found in `{text}`; nothing was forbidden"))
            .hint("name an action or a path, such as \"don't commit\", \"don't touch src/legacy/\", \"only src/auth\", \"don't run `make deploy`\""));
    }
    Ok(found)
}

fn no_such(number: u32, state: &State) -> CommandError {
    let whose = if state.session == waiting::next() {
        "the next session".to_owned()
    } else {
        format!("session {}", state.session)
    };
    CommandError::failure(format!("{whose} has no constraint {number}"))
        .hint("`steadfast goal show` lists them with their numbers")
}

fn show(state: &State) -> Result<(), CommandError> {
    tell!("session {}: {}", state.session, described(state))
}

/// The goal and the constraints in one line.
fn described(state: &State) -> String {
    let nothing = Known::default();
    let goal = state.goal.as_ref().unwrap_or(&nothing);
    let text = if goal.text.is_empty() { "none" } else { &goal.text };
    let scope: Vec<String> = goal.scope.iter().map(|path| place(goal, path)).collect();
    let scope = if scope.is_empty() { String::new() } else { format!(" (scope: {})", scope.join(", ")) };
    let forbidden: Vec<String> = goal.constraints.iter().map(line).collect();
    let forbidden = if forbidden.is_empty() { "nothing".to_owned() } else { forbidden.join(", ") };
    format!("goal: {text}{scope}; forbidden: {forbidden}")
}

/// A path of the scope, with the name that it was found for, or the note that the user's command added it.
fn place(goal: &Known, path: &str) -> String {
    match goal.found.iter().find(|found| found.path == path) {
        Some(found) => format!("{path} for \"{}\"", found.name),
        None if goal.refined.iter().any(|refined| refined == path) => format!("{path} refined by your command"),
        None => path.to_owned(),
    }
}

fn line(constraint: &Constraint) -> String {
    let Constraint { number, kind, of, said } = constraint;
    let of = if of.is_empty() { String::new() } else { format!(" {}", of.join(" ")) };
    format!("{number} {}{of} (\"{said}\")", kind.as_str())
}

fn constraints_json(goal: &Known) -> Vec<Value> {
    let constraints = goal.constraints.iter().map(|constraint| {
        let Constraint { number, kind, of, said } = constraint;
        json!({"number": number, "kind": kind.as_str(), "of": of, "said": said})
    });
    constraints.collect()
}

fn show_json(state: Option<&State>, waiting: Option<&Waiting>) -> Result<(), CommandError> {
    let goal = state.and_then(|state| state.goal.clone()).unwrap_or_default();
    let constraints = constraints_json(&goal);
    let Known { text, scope, found, refined, .. } = goal;
    tell!(
        "{}",
        json!({
            "session": state.map(|state| &state.session),
            "goal": text,
            "scope": scope,
            "found": found,
            "refined": refined,
            "constraints": constraints,
            "waiting": waiting.map(Waiting::to_json),
        })
    )
}
