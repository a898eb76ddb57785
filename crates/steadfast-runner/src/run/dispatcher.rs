//! The dispatcher: the only part that knows the state of the run, and that records it.

mod after;
mod decide;
mod limits;
mod start;
mod stated;
mod trial;
mod verify;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use steadfast_hosts::stream::AgentEvent;
use steadfast_model::{Millis, PlanId, Process, Run, RunUnit, Spent, Sums, Task, TaskId};
use steadfast_plan::{Lengths, Schedule, Unit, units, waves};
use steadfast_store::ledger::{Lease, Ledger, LedgerError};

pub(super) use limits::reset_tasks;

use super::RunOutcome;
use super::begin::Until;
use super::event::{Activity, Audience, RunEvent, Snapshot};
use super::executor::RunContext;
use super::merger::Arrival;
use super::message::Message;
use crate::agent::AgentUpdate;
use crate::error::RunError;
use crate::progress::tool_call;
use trial::Trial;

/// The longest wait for a message.
const TICK: Duration = Duration::from_secs(1);

type Lines = (Sender<Message>, Receiver<Message>, Sender<Arrival>);

pub(crate) struct Dispatcher {
    pub(super) run: Run,
    pub(super) ledger: Ledger,
    pub(super) context: Arc<RunContext>,
    /// The folder for logs and marks.
    folder: PathBuf,
    runner: Process,
    /// Set when a human stops the run.
    stop: Arc<AtomicBool>,
    /// Ends the check that the merger waits for.
    pub(super) halt: Arc<AtomicBool>,
    tell: Sender<Message>,
    messages: Receiver<Message>,
    arrive: Sender<Arrival>,
    units: Vec<Unit>,
    /// The units' rows in the ledger, in the order of `units`.
    pub(super) rows: Vec<RunUnit>,
    /// The index of each unit.
    places: HashMap<TaskId, usize>,
    waves: u32,
    /// Decides which unit starts next.
    schedule: Schedule,
    /// The expected length of each unit, as far as known.
    lengths: Lengths,
    /// Decisions of phases that need no agent and are not written yet.
    decisions: Vec<usize>,
    /// The units of the current wave, if the run pauses after each wave.
    wave: Vec<usize>,
    /// Waves with at least one started unit.
    begun_waves: BTreeSet<u32>,
    pub(super) until: Until,
    /// The run went as far as requested.
    reached: bool,
    live: BTreeMap<TaskId, Live>,
    activity: BTreeMap<TaskId, Activity>,
    threads: Vec<JoinHandle<()>>,
    /// Sends landed units to the thread that removes their worktrees.
    sweep: Option<Sender<TaskId>>,
    /// The earliest start of units that must wait.
    not_before: HashMap<TaskId, Millis>,
    /// The sums of all finished dispatches.
    pub(super) before: Sums,
    /// The cost apart from units, as far as `before` includes it.
    pub(super) asides: Sums,
    pausing: Option<Pausing>,
    pub(super) events: Vec<RunEvent>,
    trial: Option<Trial>,
    began: Instant,
    ticked_at: Instant,
    beat_at: Instant,
}

/// A unit that an agent works on, or that is landing.
struct Live {
    dispatch: u32,
    /// The start of the agent.
    began: Instant,
    phase: Phase,
    share: Option<u64>,
    spent: Spent,
    turns: u32,
    /// The ledger lacks the latest cost.
    unsaved: bool,
    over_budget: bool,
    stop: Arc<AtomicBool>,
    leases: Vec<Lease>,
    plan: Option<PlanId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Agent,
    Merging,
}

/// The run is pausing, so no unit starts.
#[derive(Clone, Debug)]
enum Pausing {
    /// Running units may finish.
    Drain(String),
    /// Running units are stopped.
    Now(String),
}

impl Dispatcher {
    pub(crate) fn of(
        run: Run,
        ledger: Ledger,
        context: Arc<RunContext>,
        folder: PathBuf,
        runner: Process,
        stop: Arc<AtomicBool>,
        (tell, messages, arrive): Lines,
    ) -> Result<Self, RunError> {
        let now = Instant::now();
        let tasks = ledger.tasks(&run.plan)?;
        let units = units(&tasks)?;
        let lengths = Lengths::of(&units, &tasks, &ledger.estimates(&run.plan)?);
        let mut dispatcher = Self {
            schedule: Schedule::of(&units, lengths.expected()),
            lengths,
            decisions: decide::without_agent(&units, &tasks),
            units,
            run,
            ledger,
            context,
            folder,
            runner,
            stop,
            halt: Arc::default(),
            tell,
            messages,
            arrive,
            rows: Vec::new(),
            places: HashMap::new(),
            waves: 0,
            wave: Vec::new(),
            begun_waves: BTreeSet::new(),
            until: Until::End,
            reached: false,
            live: BTreeMap::new(),
            activity: BTreeMap::new(),
            threads: Vec::new(),
            sweep: None,
            not_before: HashMap::new(),
            before: Sums::default(),
            asides: Sums::default(),
            pausing: None,
            events: Vec::new(),
            trial: None,
            began: now,
            ticked_at: now,
            beat_at: now,
        };
        dispatcher.put_units()?;
        dispatcher.read_times()?;
        dispatcher.recover()?;
        dispatcher.ledger.hold_back(&dispatcher.run.plan);
        Ok(dispatcher)
    }

    fn put_units(&mut self) -> Result<(), RunError> {
        let waves = waves(&self.units);
        self.waves = u32::try_from(waves.len()).unwrap_or(u32::MAX);
        let mut rows: Vec<Option<RunUnit>> = vec![None; self.units.len()];
        for (number, wave) in (1..).zip(&waves) {
            for index in wave {
                let Unit { id, title, tasks, .. } = &self.units[*index];
                rows[*index] = Some(RunUnit::new(id.clone(), title.clone(), tasks.clone(), number));
            }
        }
        let rows: Vec<RunUnit> = rows.into_iter().flatten().collect();
        self.ledger.put_units(&self.run.id, &rows, self.now())?;
        self.rows = self.rows_of_ledger()?;
        self.places = self.rows.iter().enumerate().map(|(place, row)| (row.unit.clone(), place)).collect();
        Ok(())
    }

    /// Reads the times of units in earlier runs of this spec, and in this run before an interruption.
    fn read_times(&mut self) -> Result<(), RunError> {
        for (unit, length) in self.ledger.unit_times(&self.run.id)? {
            if let Some(place) = self.places.get(&unit) {
                self.lengths.measure(*place, length);
            }
        }
        self.schedule.expect(self.lengths.expected());
        Ok(())
    }

    /// Returns the rows in the order of the plan's units. Units that left the plan are skipped.
    fn rows_of_ledger(&self) -> Result<Vec<RunUnit>, RunError> {
        let mut rows: HashMap<TaskId, RunUnit> =
            self.ledger.units(&self.run.id)?.into_iter().map(|row| (row.unit.clone(), row)).collect();
        Ok(self.units.iter().filter_map(|unit| rows.remove(&unit.id)).collect())
    }

    /// Runs until every task is done or the run pauses.
    pub(crate) fn go(&mut self, audience: &mut dyn Audience) -> Result<RunOutcome, RunError> {
        loop {
            if self.pausing.is_none() && !self.reached {
                self.start_what_can()?;
            }
            self.publish(audience);
            if self.live.is_empty()
                && let Some(outcome) = self.outcome()?
            {
                self.publish(audience);
                return Ok(outcome);
            }
            if let Ok(message) = self.messages.recv_timeout(TICK) {
                self.handle(message)?;
                while let Ok(message) = self.messages.try_recv() {
                    self.handle(message)?;
                }
            }
            self.tick()?;
        }
    }

    /// Stops everything that still runs, and waits for it.
    pub(crate) fn end(&mut self) {
        for live in self.live.values() {
            live.stop.store(true, Ordering::Relaxed);
        }
        self.halt.store(true, Ordering::Relaxed);
        self.wait_for_threads();
        self.ledger.catch_up();
    }

    fn wait_for_threads(&mut self) {
        self.end_trial();
        // The sweeping thread ends when its channel closes.
        self.sweep = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }

    fn watch_over(&mut self, thread: JoinHandle<()>) {
        self.threads.retain(|thread| !thread.is_finished());
        self.threads.push(thread);
    }

    fn handle(&mut self, message: Message) -> Result<(), RunError> {
        match message {
            Message::Loaded(unit, plan) => {
                let kept = plan.clone();
                self.change(&unit, |row| row.plan = Some(kept))?;
                if let Some(live) = self.live.get_mut(&unit) {
                    live.plan = Some(plan);
                }
            }
            Message::Heard(unit, AgentUpdate::Running(process)) => {
                self.change(&unit, |row| row.agent = Some(process))?;
            }
            Message::Heard(unit, AgentUpdate::Event(event)) => self.heard(&unit, event)?,
            Message::Checking(unit) => {
                self.doing(&unit, "running its checks".to_owned());
                self.events.push(RunEvent::Checking { unit });
            }
            Message::Advised(unit, advice) => self.advised(unit, advice)?,
            Message::PassAlready(tasks) => self.pass_already(tasks)?,
            Message::Worked(unit, worked) => self.worked(&unit, *worked)?,
            Message::Merged(unit, merged) => self.merged(&unit, merged)?,
        }
        Ok(())
    }

    /// Keeps the advice with the task, so that it can be read later.
    fn advised(&mut self, unit: TaskId, advice: Option<String>) -> Result<(), RunError> {
        if let Some(advice) = &advice {
            let note = format!("{}\n{advice}", Task::COUNSEL);
            match self.ledger.note_task(&self.run.plan, &unit, &note, self.now()) {
                // The agent has the advice already. A full note is no reason to end the run.
                Ok(_) | Err(LedgerError::TooLong { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.doing(&unit, "starts".to_owned());
        self.events.push(RunEvent::Advised { unit, advice });
        Ok(())
    }

    fn heard(&mut self, unit: &TaskId, event: AgentEvent) -> Result<(), RunError> {
        let Some(live) = self.live.get_mut(unit) else { return Ok(()) };
        match event {
            AgentEvent::Started { session } => {
                self.change(unit, |row| row.session = Some(session))?;
            }
            AgentEvent::Turn => live.turns = live.turns.saturating_add(1),
            AgentEvent::Tool { name, target } => {
                let directory = self.row(unit).and_then(|row| row.directory.clone());
                self.doing(unit, tool_call(&name, target.as_deref(), directory.as_deref()));
            }
            AgentEvent::Spent(spent) => {
                live.spent = spent;
                live.unsaved = true;
                self.stop_if_spent(unit);
            }
            AgentEvent::RateLimited { until } => {
                let until =
                    until.map(|until| format!(" until {}", self.context.tasks.moment(until))).unwrap_or_default();
                self.doing(unit, format!("waiting for a rate limit{until}"));
            }
            AgentEvent::Said { .. } | AgentEvent::Ended(_) => {}
        }
        if let (Some(activity), Some(live)) = (self.activity.get_mut(unit), self.live.get(unit)) {
            (activity.turns, activity.spent) = (live.turns, live.spent);
        }
        Ok(())
    }

    fn doing(&mut self, unit: &TaskId, doing: String) {
        self.activity.entry(unit.clone()).or_default().doing = doing;
    }

    fn publish(&mut self, audience: &mut dyn Audience) {
        let sums = self.sums();
        let Self { run, rows, activity, waves, .. } = self;
        let snapshot = Snapshot { run, units: rows, agents: activity, sums, waves: *waves };
        for news in self.events.drain(..) {
            audience.on_event(&news, &snapshot);
        }
    }

    /// Returns the sums, with those of running agents.
    fn sums(&self) -> Sums {
        let mut sums = self.before;
        for live in self.live.values().filter(|live| live.phase == Phase::Agent) {
            sums.iterations += 1;
            sums.micro_usd = sums.micro_usd.saturating_add(live.spent.micro_usd.unwrap_or(0));
            sums.tokens = sums.tokens.saturating_add(live.spent.tokens());
        }
        sums
    }

    pub(super) fn change(&mut self, unit: &TaskId, change: impl FnOnce(&mut RunUnit)) -> Result<(), RunError> {
        let row = self.ledger.change_unit(&self.run.id, unit, self.context.tasks.now(), change)?;
        self.put(row);
        Ok(())
    }

    /// Rereads a unit that the ledger changed.
    fn reread(&mut self, unit: &TaskId) -> Result<(), RunError> {
        let row = self.ledger.unit(&self.run.id, unit)?;
        self.put(row);
        Ok(())
    }

    fn put(&mut self, row: RunUnit) {
        if let Some(place) = self.places.get(&row.unit) {
            self.rows[*place] = row;
        }
    }

    fn row(&self, unit: &TaskId) -> Option<&RunUnit> {
        self.places.get(unit).map(|place| &self.rows[*place])
    }

    pub(super) fn now(&self) -> Millis {
        self.context.tasks.now()
    }
}
