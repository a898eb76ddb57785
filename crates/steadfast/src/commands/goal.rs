use clap::{Args, Subcommand};
use serde_json::json;
use steadfast_engine::goal::{self, read};
use steadfast_model::{Constraint, EventKind, Goal as Known, GoalWord, SessionId, State};
use steadfast_redact::redact;
use steadfast_store::SessionFiles;
use steadfast_work::Repository;

use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};

/// Show and set the goal and the constraints of a session.
#[derive(Debug, Subcommand)]
pub(super) enum Goal {
    /// Show the goal and the constraints.
    Show {
        /// Print JSON with stable keys: `{session, goal, scope: [path], found: [{name, path}], refined: [path],
        /// constraints: [{number, kind, of: [name], said}]}`.
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
            Self::Show { json, which } => {
                let state = which.state_or_last(&repository)?;
                if !json && state.ended.is_some() {
                    note!("session {} has ended; this is its last state", state.session);
                }
                if json { show_json(&state) } else { show(&state) }
            }
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

impl Which {
    fn state(&self, repository: &Repository) -> Result<State, CommandError> {
        let states = SessionFiles::all(&repository.place).into_iter().filter_map(|files| files.peek());
        let hint = "`steadfast status` lists the sessions of this repository";
        match self.session.as_deref().map(SessionId::new) {
            Some(id) => states
                .into_iter()
                .find(|state| state.session == id)
                .ok_or_else(|| CommandError::failure(format!("there is no session `{id}` here")).hint(hint)),
            None => states
                .into_iter()
                .filter(|state| state.ended.is_none())
                .max_by_key(|state| state.last_at)
                .ok_or_else(|| CommandError::failure("no session is running here").hint(hint)),
        }
    }

    /// The same, or the newest session if none is running.
    fn state_or_last(&self, repository: &Repository) -> Result<State, CommandError> {
        self.state(repository).or_else(|error| {
            let states = SessionFiles::all(&repository.place).into_iter().filter_map(|files| files.peek());
            let last = states.filter(|_| self.session.is_none()).max_by_key(|state| state.last_at);
            last.ok_or(error)
        })
    }

    /// Records the word in the session, and shows the result.
    fn say(
        &self,
        repository: &Repository,
        word: impl FnOnce(&State) -> Result<GoalWord, CommandError>,
    ) -> Result<(), CommandError> {
        let state = self.state(repository)?;
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
    CommandError::failure(format!("session {} has no constraint {number}", state.session))
        .hint("`steadfast goal show` lists them with their numbers")
}

fn show(state: &State) -> Result<(), CommandError> {
    let nothing = Known::default();
    let goal = state.goal.as_ref().unwrap_or(&nothing);
    let text = if goal.text.is_empty() { "none" } else { &goal.text };
    let scope: Vec<String> = goal.scope.iter().map(|path| place(goal, path)).collect();
    let scope = if scope.is_empty() { String::new() } else { format!(" (scope: {})", scope.join(", ")) };
    let forbidden: Vec<String> = goal.constraints.iter().map(line).collect();
    let forbidden = if forbidden.is_empty() { "nothing".to_owned() } else { forbidden.join(", ") };
    tell!("session {}: goal: {text}{scope}; forbidden: {forbidden}", state.session)
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

fn show_json(state: &State) -> Result<(), CommandError> {
    let goal = state.goal.clone().unwrap_or_default();
    let constraints: Vec<_> = goal
        .constraints
        .iter()
        .map(|constraint| {
            let Constraint { number, kind, of, said } = constraint;
            json!({"number": number, "kind": kind.as_str(), "of": of, "said": said})
        })
        .collect();
    let Known { text, scope, found, refined, .. } = goal;
    tell!(
        "{}",
        json!({
            "session": state.session,
            "goal": text,
            "scope": scope,
            "found": found,
            "refined": refined,
            "constraints": constraints,
        })
    )
}
