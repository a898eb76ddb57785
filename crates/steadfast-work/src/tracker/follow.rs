//! Follows a tracker: copies its tasks to the ledger, and sends our statuses to it.

use std::collections::BTreeSet;

use steadfast_hook::FollowResult;
use steadfast_hosts::install::Homes;
use steadfast_model::{AddedBy, Check, Millis, PlanId, Settings, Status, fnv};
use steadfast_plan::{Compiled, hash};
use steadfast_store::ledger::{Following, Happened, Ledger, TrackerChange};
use steadfast_store::{ConfigFiles, Place, lock_following};
use steadfast_text::count_of;

use super::{HOOK, TimeBudget, Tracker, TrackerError, of};
use crate::spec_file::with_skills;
use crate::task_list::freeze;

/// Limit of changes that are listed one by one.
const SHOWN: usize = 6;

/// Part of the line about statuses that are not sent yet.
pub const NOT_TOLD: &str = "not sent yet";

/// The result of following a tracker.
#[derive(Debug, Default)]
pub struct FollowReport {
    /// `None` if the list is empty, or if another process is reading it.
    pub plan: Option<PlanId>,
    /// The changes in the list, one line each.
    pub news: Vec<String>,
    pub told: TrackerNotice,
}

/// The messages after sending statuses to a tracker.
#[derive(Debug, Default)]
pub struct TrackerNotice {
    /// Issues that are done here on a claim and not closed there, one line each.
    pub claimed: Vec<String>,
    /// The statuses that could not be sent.
    pub untold: Option<String>,
}

impl TrackerNotice {
    pub fn lines(self) -> impl Iterator<Item = String> {
        self.claimed.into_iter().chain(self.untold)
    }
}

impl FollowReport {
    pub fn lines(self) -> Vec<String> {
        self.news.into_iter().chain(self.told.lines()).collect()
    }
}

/// Brings the ledger and the tracker in line. `added_by`: a human who asks for this vouches for the tasks in the list.
pub fn follow(
    place: &Place,
    tracker: &dyn Tracker,
    (settings, homes): (&Settings, Option<&Homes>),
    added_by: AddedBy,
    patience: TimeBudget,
    now: Millis,
) -> Result<FollowReport, TrackerError> {
    let Some(_lock) = lock_following(place, patience.left()?).map_err(TrackerError::Lock)? else {
        return Ok(FollowReport::default());
    };
    let (worktree, source) = (place.worktree(), tracker.source());
    let text = tracker.read(patience)?;
    let digest = format!("{:016x}", fnv([text.as_bytes()]));
    let known = match Ledger::open_read_only(&place.state)? {
        Some(ledger) => ledger.followed(&worktree, &source)?,
        None => None,
    };
    let mut report = match known {
        Some((plan, last)) if last == digest && added_by == AddedBy::Agent => {
            FollowReport { plan: Some(plan), ..FollowReport::default() }
        }
        known => {
            let options = with_skills(settings.ledger.ui_skills.value.clone(), &place.root, homes);
            // Without time left, stop here: a half-done compilation would be lost.
            patience.left()?;
            let compiled = tracker.compile(&text, &options)?;
            patience.left()?;
            match compiled {
                Some(compiled) => take_in(place, tracker, &compiled, &digest, added_by, now)?,
                None => nothing_left(place, known)?,
            }
        }
    };
    if let Some(plan) = &report.plan {
        report.told = tell_all(place, tracker, plan, patience)?;
    }
    Ok(report)
}

/// Sends the changed statuses to the tracker.
pub fn tell(
    place: &Place,
    tracker: &dyn Tracker,
    plan: &PlanId,
    patience: TimeBudget,
) -> Result<TrackerNotice, TrackerError> {
    match lock_following(place, patience.left()?).map_err(TrackerError::Lock)? {
        Some(_lock) => tell_all(place, tracker, plan, patience),
        // The process that holds the lock sends them.
        None => Ok(TrackerNotice::default()),
    }
}

/// For a stop and the start of a session: works within their time, and returns any error as a message.
pub fn in_hook(place: &Place, config: &ConfigFiles, homes: Option<&Homes>, now: Millis) -> FollowResult {
    let patience = TimeBudget::of(HOOK);
    let settings = match config.load() {
        Ok(settings) => settings,
        Err(error) => return FollowResult { failed: Some(error.to_string()), ..FollowResult::default() },
    };
    let Some(tracker) = of(&settings, place, now) else { return FollowResult::default() };
    let source = tracker.source();
    match follow(place, tracker.as_ref(), (&settings, homes), AddedBy::Agent, patience, now) {
        Ok(report) => FollowResult { source, lines: report.lines(), failed: None },
        Err(error) => FollowResult { source, lines: Vec::new(), failed: Some(unread(tracker.as_ref(), &error)) },
    }
}

/// The message for people and agents that a list cannot be read.
pub fn unread(tracker: &dyn Tracker, error: &TrackerError) -> String {
    format!("cannot read {}: {error}", tracker.name())
}

fn take_in(
    place: &Place,
    tracker: &dyn Tracker,
    compiled: &Compiled,
    digest: &str,
    added_by: AddedBy,
    now: Millis,
) -> Result<FollowReport, TrackerError> {
    let Compiled { plan, reported, .. } = compiled;
    let commands: BTreeSet<&str> =
        plan.tasks.iter().filter_map(|task| task.verify.as_ref().and_then(Check::as_command)).collect();
    let frozen = freeze(&place.root, commands).map_err(TrackerError::Checks)?;
    let (worktree, source) = (place.worktree(), tracker.source());
    let followed = Ledger::open(&place.state)?.follow(Following {
        plan,
        reported,
        hash: &hash(plan),
        digest,
        worktree: &worktree,
        source: &source,
        added_by,
        frozen: &frozen,
        now,
    })?;
    let mut news = Vec::new();
    if followed.is_new {
        let open = plan.tasks.len() - reported.iter().filter(|task| task.status.is_closed()).count();
        news.push(format!("now following {}: {} tasks, {open} open", tracker.name(), plan.tasks.len()));
    }
    news.extend(followed.news.iter().take(SHOWN).map(|one| format!("{}: {}", tracker.name(), said(one))));
    if followed.news.len() > SHOWN {
        news.push(format!("{}: {} more changes", tracker.name(), followed.news.len() - SHOWN));
    }
    Ok(FollowReport { plan: Some(followed.plan), news, told: TrackerNotice::default() })
}

/// A list that is suddenly empty is more often a mistake than the end of all work.
fn nothing_left(place: &Place, known: Option<(PlanId, String)>) -> Result<FollowReport, TrackerError> {
    let Some((plan, _)) = known else { return Ok(FollowReport::default()) };
    let tasks = match Ledger::open_read_only(&place.state)? {
        Some(ledger) => ledger.tasks(&plan)?,
        None => Vec::new(),
    };
    match tasks.iter().filter(|task| task.status != Status::Done).count() {
        0 => Ok(FollowReport { plan: Some(plan), ..FollowReport::default() }),
        open => Err(TrackerError::Emptied { open }),
    }
}

fn said(TrackerChange { task, title, what }: &TrackerChange) -> String {
    match what {
        Happened::Added => format!("{task} is new: {title}"),
        Happened::Renamed => format!("{task} was renamed: {title}"),
        Happened::Removed => format!("{task} was removed: {title}"),
        Happened::Unproven => {
            format!("{task} was closed there, but its check has not passed, so it stays open here: {title}")
        }
        Happened::Moved { from, to } => {
            let how = match (from, to) {
                (_, Status::Done) => "was closed there",
                (Status::Done, _) => "was reopened there",
                (_, Status::InProgress) => "is in progress there",
                (_, Status::Blocked) => "was blocked there",
                (_, Status::Pending) => "is open there",
            };
            format!("{task} {how}: {title}")
        }
    }
}

/// A status that cannot be sent stays in the ledger for the next time.
fn tell_all(
    place: &Place,
    tracker: &dyn Tracker,
    plan: &PlanId,
    patience: TimeBudget,
) -> Result<TrackerNotice, TrackerError> {
    let Some(ledger) = Ledger::open_read_only(&place.state)? else { return Ok(TrackerNotice::default()) };
    let untold = ledger.untold(plan)?;
    drop(ledger);
    if untold.is_empty() {
        return Ok(TrackerNotice::default());
    }
    let mut ledger = Ledger::open(&place.state)?;
    let (mut left, mut why, mut claimed) = (untold.len(), None, Vec::new());
    for one in &untold {
        let id = &one.task.id;
        match tracker.tell(one, patience) {
            Ok(there) => {
                ledger.told(one, there)?;
                left -= 1;
                if there != one.task.status && claimed.len() < SHOWN {
                    claimed.push(format!(
                        "{}: {id} stays in progress there, because no check confirms that it is done (a human can \
                         close it: \
                         `steadfast task done {id} --force`)",
                        tracker.name()
                    ));
                }
            }
            Err(error) => {
                why.get_or_insert(format!("{id}: {error}"));
                if patience.left().is_err() || matches!(error, TrackerError::NoProgram) {
                    break;
                }
            }
        }
    }
    let untold = why.map(|why| {
        let what = count_of(left, "status is", "statuses are");
        format!("{}: {what} {NOT_TOLD}; Steadfast tries again the next time ({why})", tracker.name())
    });
    Ok(TrackerNotice { claimed, untold })
}
