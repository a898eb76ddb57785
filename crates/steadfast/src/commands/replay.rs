use std::path::PathBuf;

use clap::Args;
use steadfast_hosts::transcript::{SessionEvents, target};
use steadfast_model::{Event, EventKind, Goal, PolicyOpinion, Rules, Score};
use steadfast_proxied::{RecordedSession, RecordedSessions};
use steadfast_text::{HANG, count, printable};
use steadfast_work::replay::{Fold, ReplayedAction, ReplayedActions, ReplayedEvent};

use super::transcript::sessions;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};
use crate::terminal;

mod picture;

/// Replay a past session through the current rules.
///
/// Changes nothing. Uses the rules of this repository, or the default rules where Steadfast is not set up. The stop
/// gate has no verdicts here, because the tasks of a past session are not known. A recording of the proxy may hold several
/// sessions; each is replayed by itself.
#[derive(Debug, Args)]
pub(super) struct Replay {
    /// Transcript of the session, or a recording of `steadfast proxy --record`.
    file: PathBuf,
    /// Goal of the session, if its first prompt does not state it.
    #[arg(long)]
    goal: Option<String>,
    /// Path in scope: a file, a folder with a trailing `/`, or a pattern. May be given several times.
    #[arg(long = "scope", value_name = "GLOB")]
    scope: Vec<String>,
    /// Print one JSON object per action, with stable keys: `{n, tool, target, score, level, type, reasons, verdict}`.
    /// `score` is 1 to 10; a call that only reads is free, and scores 10. `verdict` is the strictest one before the
    /// mode applies: `pass`, `note`, `context`, `ask`, `continue` or `deny`.
    #[arg(long)]
    json: bool,
}

impl Replay {
    pub(super) fn run(self) -> Result<(), CommandError> {
        if let Some(recorded) = RecordedSessions::read(&self.file).ok().flatten() {
            return self.run_recorded(recorded);
        }
        let mut unread = sessions::Unread::default();
        let events = unread.open(&self.file).and_then(|transcript| SessionEvents::of(&self.file, transcript));
        let Some(events) = events else {
            return unread.end(1).and_then(|()| {
                Err(CommandError::failure(format!(
                    "`{}` is not a Claude Code or Codex transcript, and not a recording of `steadfast proxy`",
                    self.file.display()
                ))
                .hint("`steadfast transcript stats` lists the transcripts of this repository"))
            });
        };
        let mut fold = Fold::new(events, rules()?).with_goal(self.goal());
        let numbers = self.replay(&mut fold)?;
        note_damage(fold.damaged());
        self.note(&numbers);
        Ok(())
    }

    fn run_recorded(&self, recorded: RecordedSessions) -> Result<(), CommandError> {
        let RecordedSessions { sessions, damaged, unknown } = recorded;
        let (several, rules) = (sessions.len() > 1, rules()?);
        let mut all = ReplayedNumbers::default();
        for RecordedSession { id, events } in sessions {
            if several {
                note!("session {}:", printable(&id));
            }
            let mut fold = Fold::new(events.into_iter(), rules.clone()).with_goal(self.goal());
            let numbers = self.replay(&mut fold)?;
            all.actions += numbers.actions;
            all.steps += numbers.steps;
            all.verdicts += numbers.verdicts;
        }
        note_damage(damaged);
        if unknown > 0 {
            note!(
                "{} left out: without a session, or in a format that the rules do not know",
                count(unknown, "exchange")
            );
        }
        self.note(&all);
        Ok(())
    }

    /// Prints the verdicts on a session, and the score of each step.
    fn replay<E: Iterator<Item = Event>>(&self, fold: &mut Fold<E>) -> Result<ReplayedNumbers, CommandError> {
        let mut verdicts = 0_u64;
        let mut scores: Vec<Score> = Vec::new();
        let mut actions = ReplayedActions::default();
        for judged in fold {
            verdicts += u64::from(!judged.opinions().is_empty());
            actions.add(&judged);
            while let Some(action) = actions.pop() {
                self.tell(&action, &mut scores)?;
            }
            if !self.json {
                judged.opinions().iter().try_for_each(|opinion| tell!("{}", line(&judged, opinion)))?;
            }
        }
        let count = actions.count;
        actions.rest().try_for_each(|action| self.tell(&action, &mut scores))?;
        if !self.json && !scores.is_empty() {
            tell!("score of each step, 1 to 10; a column shows its worst:")?;
            tell!("{}", picture::strip(&scores))?;
        }
        Ok(ReplayedNumbers { actions: count, steps: scores.len() as u64, verdicts })
    }

    fn note(&self, ReplayedNumbers { actions, steps, verdicts }: &ReplayedNumbers) {
        if !self.json {
            note!("{}, {}, {}", count(*actions, "action"), count(*steps, "step"), count(*verdicts, "verdict"));
        }
    }

    fn tell(&self, action: &ReplayedAction, scores: &mut Vec<Score>) -> Result<(), CommandError> {
        scores.extend(action.is_step.then_some(action.score));
        if self.json {
            tell!("{}", action.to_json())?;
        }
        Ok(())
    }

    fn goal(&self) -> Option<Goal> {
        let said = self.goal.is_some() || !self.scope.is_empty();
        said.then(|| Goal { text: self.goal.clone().unwrap_or_default(), scope: self.scope.clone(), ..Goal::default() })
    }
}

/// The size of a replay.
#[derive(Debug, Default)]
struct ReplayedNumbers {
    actions: u64,
    steps: u64,
    verdicts: u64,
}

fn note_damage(rows: u64) {
    if rows > 0 {
        note!("cannot read {}", count(rows, "row"));
    }
}

/// The rules of this repository, or the default rules if Steadfast is not set up.
pub(super) fn rules() -> Result<Rules, CommandError> {
    match here::repository() {
        Ok(repository) => Ok(repository.config.load()?.rules()),
        Err(_) => Ok(Rules::default()),
    }
}

fn line(judged: &ReplayedEvent, opinion: &PolicyOpinion) -> String {
    let what = match &judged.event.kind {
        EventKind::PreTool(call) => format!("{} {}", call.tool, target(&call.action, "", &judged.event.cwd)),
        EventKind::PostTool(result) => {
            format!("after {} {}", result.call.tool, target(&result.call.action, "", &judged.event.cwd))
        }
        other => other.label().to_owned(),
    };
    let PolicyOpinion { policy, mode, verdict } = opinion;
    format!(
        "{}  {policy} ({mode})  {}  {HANG}{}\n    {HANG}{}",
        terminal::stamp(judged.event.at),
        terminal::warning(verdict.label()),
        printable(&what),
        printable(verdict.text())
    )
}
