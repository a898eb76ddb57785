use std::time::Duration;

use clap::Args;
use steadfast_hook::is_gone;
use steadfast_model::{EventKind, Millis, SessionId, State};
use steadfast_store::{SessionFiles, add_waiting, remove_waiting};
use steadfast_text::count;

use super::goal::failed;
use crate::duration;
use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::tell;
use crate::terminal;

/// Switch the rules off in the running sessions.
///
/// Steadfast still records events, but refuses nothing. `steadfast pause --end` switches the rules on again. Without a
/// running session, this applies to the next one that starts or continues in this checkout.
#[derive(Debug, Args)]
pub(super) struct Off {
    #[command(flatten)]
    which: Which,
}

/// Pause the rules in the running sessions.
///
/// Steadfast still records events, but refuses nothing. Without a running session, this applies to the next one that
/// starts or continues in this checkout; the time counts from now.
#[derive(Debug, Args)]
pub(super) struct Pause {
    /// Length of the pause: `90s`, `10m`, `1h30m`.
    #[arg(long = "for", value_name = "TIME", default_value = "10m", value_parser = duration::parse)]
    duration: Duration,
    /// End a pause, or an `off`, now.
    #[arg(long, conflicts_with = "duration")]
    end: bool,
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Args)]
struct Which {
    /// Session id. [default: every running session of this repository]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// A session without an event for this long counts as ended.
const SILENCE_MS: i64 = 24 * 60 * 60 * 1_000;

impl Off {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let paused = self.which.pause(Some(Millis(i64::MAX)))?;
        tell!(
            "Steadfast is off for {}: it records events and refuses nothing. `steadfast pause --end` switches it on again.",
            whom(paused)
        )?;
        Ok(())
    }
}

impl Pause {
    pub(super) fn run(self) -> Result<(), CommandError> {
        if self.end {
            let paused = self.which.pause(None)?;
            tell!("Steadfast is on again for {}.", whom(paused))?;
            return Ok(());
        }
        let until =
            Millis(environment::now().0.saturating_add(i64::try_from(self.duration.as_millis()).unwrap_or(i64::MAX)));
        let paused = self.which.pause(Some(until))?;
        tell!(
            "Steadfast is paused for {} until {}: it records events and refuses nothing. `steadfast pause --end` \
             switches it on again.",
            whom(paused),
            terminal::moment(until)
        )?;
        Ok(())
    }
}

impl Which {
    /// Records the pause in each session, and returns the number of sessions. 0: the next one gets it.
    fn pause(&self, until: Option<Millis>) -> Result<usize, CommandError> {
        let repository = here::repository()?;
        let now = environment::now();
        let wanted = self.session.as_deref().map(SessionId::new);
        let is_selected = |state: &State| match &wanted {
            Some(id) => state.session == *id,
            None => state.ended.is_none() && now.since(state.last_at) < SILENCE_MS,
        };
        let files = SessionFiles::all(&repository.place).into_iter();
        let states: Vec<State> = files
            .filter(|files| wanted.is_some() || !is_gone(files))
            .filter_map(|files| files.peek())
            .filter(is_selected)
            .collect();
        // An end also ends what waits: the next session begins without it.
        let removed = if wanted.is_none() {
            remove_waiting(&repository.place, |command| matches!(command, EventKind::Paused { .. })).map_err(failed)?
        } else {
            0
        };
        if states.is_empty() {
            return match (&wanted, until) {
                (Some(id), _) => Err(nowhere(&format!("there is no session `{id}` here"))),
                (None, None) if removed == 0 => Err(nowhere("no session is running here, and none is to be paused")),
                (None, None) => Ok(0),
                (None, Some(_)) => {
                    add_waiting(&repository.place, EventKind::Paused { until }).map_err(failed)?;
                    Ok(0)
                }
            };
        }
        for state in &states {
            here::tell_session(&repository, state, EventKind::Paused { until })?;
        }
        Ok(states.len())
    }
}

fn nowhere(what: &str) -> CommandError {
    CommandError::failure(what).hint("`steadfast status` lists the sessions of this repository")
}

fn whom(sessions: usize) -> String {
    if sessions == 0 { "the next session here".to_owned() } else { count(sessions, "session") }
}
