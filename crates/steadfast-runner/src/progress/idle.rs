//! Reports which places for agents were idle, how long and why, from the times in the ledger.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use steadfast_model::{Millis, RunState, RunUnit, RunView, TaskId, UnitStatus, WorkSpan};
use steadfast_text::duration;

/// Shorter gaps are the runner's own work between two agents.
const LEAST_MS: u64 = 1_000;

/// The reason why a place was idle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// Every startable unit depended on these units, which were running or landing.
    Dependency(Vec<TaskId>),
    /// Every startable unit depended on these units, which needed a human.
    Human(Vec<TaskId>),
    /// Experts reviewed the work, and no unit could start meanwhile.
    Review,
    /// No agent worked although a unit could start: the run was paused, its process was gone, or it waited for a rate
    /// limit.
    Paused,
    /// A unit could start, but its files, the budget or another limit held it back.
    HeldBack,
    /// Every unit had started.
    NothingLeft,
}

struct Place {
    free_at: Millis,
    idle: BTreeMap<Why, u64>,
}

/// Renders the lines of the report. `None`: the run has not started any work.
pub(super) fn idle(view: &RunView) -> Option<String> {
    let (from, to) = (view.run.started_at, view.run.ended_at.unwrap_or(view.run.updated_at));
    let whole = between(from, to);
    let spans: Vec<&WorkSpan> = view.spans.iter().filter(|span| !span.is_aside()).collect();
    if spans.is_empty() || whole < LEAST_MS {
        return None;
    }
    let count = view.run.limits.parallel.max(1) as usize;
    let mut places: Vec<Place> = (0..count).map(|_| Place { free_at: from, idle: BTreeMap::new() }).collect();
    let look = Times::of(view, to);
    let mut worked = 0;
    for span in spans {
        let end = span.ended_at.unwrap_or(to).min(to);
        worked += between(span.started_at, end);
        // Takes the first free place. A run that had more places before may find none, and uses the last one.
        let place = places.iter().position(|place| place.free_at <= span.started_at).unwrap_or(count - 1);
        look.explain(&mut places[place], span.started_at);
        places[place].free_at = end.max(places[place].free_at);
    }
    for place in &mut places {
        look.explain(place, to);
    }
    let percent = (worked.saturating_mul(100) / (whole * count as u64).max(1)).min(100);
    let mut text = format!("\nPlaces: {count}, in use {percent} % of {}\n", duration(whole));
    for (number, place) in (1..).zip(&places) {
        let idle: u64 = place.idle.values().sum();
        if idle >= LEAST_MS {
            let parts: Vec<String> = place
                .idle
                .iter()
                .filter(|(_, time)| **time >= LEAST_MS)
                .map(|(why, time)| format!("{} {}", duration(*time), why.text()))
                .collect();
            text += &format!("  place {number} idle {}: {}\n", duration(idle), parts.join("; "));
        }
    }
    Some(text)
}

/// The times at which units were running and landed.
struct Times<'a> {
    view: &'a RunView,
    rows: HashMap<&'a TaskId, &'a RunUnit>,
    /// The times at which agents worked on each unit.
    spans: HashMap<&'a TaskId, Vec<&'a WorkSpan>>,
    /// The dependencies of each unit.
    after: HashMap<&'a TaskId, BTreeSet<&'a TaskId>>,
    /// All times at which something changed.
    moments: BTreeSet<Millis>,
    to: Millis,
}

impl<'a> Times<'a> {
    fn of(view: &'a RunView, to: Millis) -> Self {
        let unit_of: HashMap<&TaskId, &TaskId> =
            view.units.iter().flat_map(|unit| unit.tasks.iter().map(move |task| (task, &unit.unit))).collect();
        let mut after: HashMap<&TaskId, BTreeSet<&TaskId>> = HashMap::new();
        for task in &view.tasks {
            let Some(unit) = unit_of.get(&task.id) else { continue };
            let causes = task.blocked_by.iter().filter_map(|id| unit_of.get(id).copied()).filter(|cause| cause != unit);
            after.entry(unit).or_default().extend(causes);
        }
        let mut moments: BTreeSet<Millis> = BTreeSet::from([view.run.started_at, to]);
        moments.extend(view.spans.iter().flat_map(|span| [Some(span.started_at), span.ended_at]).flatten());
        moments.extend(view.units.iter().map(|unit| unit.updated_at));
        let rows = view.units.iter().map(|unit| (&unit.unit, unit)).collect();
        let mut spans: HashMap<&TaskId, Vec<&WorkSpan>> = HashMap::new();
        for span in &view.spans {
            spans.entry(&span.unit).or_default().push(span);
        }
        Self { view, rows, spans, after, moments, to }
    }

    /// Adds the reasons why a place was idle until now, interval by interval.
    fn explain(&self, place: &mut Place, until: Millis) {
        let mut from = place.free_at;
        for moment in self.moments.range(from..=until).copied().filter(|moment| *moment > place.free_at) {
            *place.idle.entry(self.why(from)).or_default() += between(from, moment);
            from = moment;
        }
    }

    /// Returns why nothing started at this moment.
    fn why(&self, at: Millis) -> Why {
        let is_at_work = self.view.spans.iter().any(|span| !span.is_aside() && self.covers(span, at));
        if !is_at_work && self.view.spans.iter().any(|span| span.is_aside() && self.covers(span, at)) {
            return Why::Review;
        }
        let to_start: Vec<&TaskId> =
            self.view.units.iter().map(|unit| &unit.unit).filter(|unit| self.is_to_start(unit, at)).collect();
        if to_start.is_empty() {
            return Why::NothingLeft;
        }
        let mut human = BTreeSet::new();
        let mut waited_for = BTreeSet::new();
        for unit in to_start {
            if self.needs_human(unit, at) {
                human.insert(unit.clone());
                continue;
            }
            let open = self.after.get(unit).into_iter().flatten().copied().filter(|cause| !self.has_landed(cause, at));
            let open: Vec<&TaskId> = open.collect();
            if open.is_empty() {
                return if is_at_work { Why::HeldBack } else { Why::Paused };
            }
            // A unit that has not started either waits for one that is named anyway.
            waited_for.extend(open.into_iter().filter(|cause| !self.is_to_start(cause, at)).cloned());
        }
        if !waited_for.is_empty() {
            return Why::Dependency(waited_for.into_iter().collect());
        }
        Why::Human(human.into_iter().collect())
    }

    fn covers(&self, span: &WorkSpan, at: Millis) -> bool {
        span.started_at <= at && at < span.ended_at.unwrap_or(self.to)
    }

    fn has_landed(&self, unit: &TaskId, at: Millis) -> bool {
        self.row(unit).is_none_or(|row| row.status == UnitStatus::Done && row.updated_at <= at)
    }

    /// Returns whether a unit is blocked, starts later, or never started.
    fn is_to_start(&self, unit: &TaskId, at: Millis) -> bool {
        let Some(row) = self.row(unit) else { return false };
        let own = || self.spans.get(unit).into_iter().flatten();
        if own().any(|span| self.covers(span, at)) || self.has_landed(unit, at) {
            return false;
        }
        let is_sent_later = own().any(|span| span.started_at > at);
        // The decisions of a phase may need no agent.
        let needs_agent = row.status != UnitStatus::Done || own().next().is_some();
        needs_agent && (is_sent_later || row.status != UnitStatus::Done)
    }

    fn needs_human(&self, unit: &TaskId, at: Millis) -> bool {
        let is_over = !self.spans.get(unit).into_iter().flatten().any(|span| span.started_at > at);
        is_over && self.row(unit).is_some_and(|row| row.status == UnitStatus::Blocked && row.updated_at <= at)
    }

    fn row(&self, unit: &TaskId) -> Option<&'a RunUnit> {
        self.rows.get(unit).copied()
    }
}

impl Why {
    fn text(&self) -> String {
        let names = |units: &[TaskId]| units.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ");
        match self {
            Self::Dependency(units) => format!("waiting for {}", names(units)),
            Self::Human(units) => format!("waiting for a human ({})", names(units)),
            Self::Review => "waiting for a review".to_owned(),
            Self::Paused => "with no agent at work (a pause or a rate limit)".to_owned(),
            Self::HeldBack => "held back by files in use, the budget or a limit".to_owned(),
            Self::NothingLeft => "with nothing left to start".to_owned(),
        }
    }
}

fn between(from: Millis, to: Millis) -> u64 {
    u64::try_from(to.since(from)).unwrap_or(0)
}

/// Renders the idle places of a running run.
pub(super) fn idle_now(view: &RunView) -> Option<String> {
    if view.run.state != RunState::Running {
        return None;
    }
    let at = view.run.updated_at.max(view.spans.iter().map(|span| span.started_at).max()?);
    let times = Times::of(view, Millis(at.0.saturating_add(1)));
    let busy = view.spans.iter().filter(|span| !span.is_aside() && span.ended_at.is_none()).count();
    let free = (view.run.limits.parallel.max(1) as usize).saturating_sub(busy);
    (free > 0).then(|| format!("{free} of {}: {}", view.run.limits.parallel.max(1), times.why(at).text()))
}
