use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use steadfast_engine::{Decision, Heard, decide};
use steadfast_hosts::install::Homes;
use steadfast_model::{
    Answer, Change, Effect, Event, EventKind, Fact, Facts, GateScope, Millis, Needs, PlanId, Record, SessionId, State,
};
use steadfast_store::ledger::{Claiming, Cursor, Ledger, LedgerError};
use steadfast_store::{
    ConfigFiles, Glance, GrantError, Place, SessionError, SessionFiles, Yes, drop_claim, drop_claims_of, leave_claim,
    log_line, read_lines, settle_checkout,
};

use crate::follow::{Follow, Followed};
use crate::restoring::Restoring;
use crate::{facts, gate, list, removed, spec, watch};

/// How long one event waits for another of the same session.
const LOCK_WAIT: Duration = Duration::from_millis(200);

/// How long the start of a session may spend on journals other sessions left behind.
const DRAIN_ALL: Duration = Duration::from_millis(250);

/// A journal this long is drained, and so bounded, also in a session that never ends.
const STOP_DRAINS: u64 = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum StepError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("the files of session {session} cannot be used: {source}")]
    Files { session: SessionId, source: io::Error },
    #[error(transparent)]
    Claims(io::Error),
    #[error(transparent)]
    Gate(io::Error),
    #[error(transparent)]
    Grant(#[from] GrantError),
}

impl StepError {
    fn files(files: &SessionFiles) -> impl Fn(io::Error) -> Self {
        |source| Self::Files { session: files.session().clone(), source }
    }
}

/// Takes a session one event further: look, decide, write down, act.
///
/// Hooks and commands both come through here. If the event could not be written down, nothing was decided: a refusal
/// that is not on the account must not be given.
pub fn step(place: &Place, config: &ConfigFiles, event: Event) -> Result<Answer, StepError> {
    let follow: Follow = |_, _| Followed::default();
    let step = Step {
        place,
        config,
        run_spent: None,
        homes: || None,
        follow,
        task_list: || None,
        programs: Vec::new,
        keeps_hooks: false,
        inherited: &[],
        hosts: None,
    };
    let decision = step.take(event)?;
    Ok(decision.answer)
}

/// Where a session is kept, and what is around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    pub(crate) place: &'a Place,
    pub(crate) config: &'a ConfigFiles,
    /// What is there once the run of this session has spent its budget.
    pub(crate) run_spent: Option<&'a Path>,
    /// Where the hosts' settings are, where that is known.
    pub(crate) homes: fn() -> Option<Homes>,
    /// Who asks the list that tasks are kept in elsewhere.
    pub(crate) follow: Follow,
    /// Which of its lists of tasks the host uses, as its environment names it.
    pub(crate) task_list: fn() -> Option<String>,
    /// The paths by which this program is installed.
    pub(crate) programs: fn() -> Vec<PathBuf>,
    /// The call writes settings of a host, and leaves what concerns us in them as it is.
    pub(crate) keeps_hooks: bool,
    /// The plans of the session that this one follows after `/clear`.
    pub(crate) inherited: &'a [PlanId],
    /// The processes of the session's hosts, where they are noted anew.
    pub(crate) hosts: Option<&'a str>,
}

impl Step<'_> {
    pub(crate) fn take(self, event: Event) -> Result<Decision, StepError> {
        let glance = SessionFiles::of(self.place, &event.session).glance();
        self.take_from(glance, event)
    }

    /// The same, where the state was looked at before.
    pub(crate) fn take_from(self, mut glance: Option<Glance>, mut event: Event) -> Result<Decision, StepError> {
        let Self { place, config, run_spent, homes, follow, .. } = self;
        let begins = matches!(event.kind, EventKind::SessionStart { .. });
        // What an agent of a run works in is made and removed with its unit.
        let looks = begins || matches!(event.kind, EventKind::Prompt { .. } | EventKind::Stop(_));
        if looks
            && run_spent.is_none()
            && let Err(error) = settle_checkout(place, event.at)
        {
            log_line(place, event.at, &format!("what belongs to this checkout was not brought along: {error}"));
        }
        if begins {
            drain_all(place, event.at);
            glance = SessionFiles::of(place, &event.session).glance();
        }
        let files = SessionFiles::of(place, &event.session);
        let noticed = match glance.as_ref().and_then(|glance| list::seen(&self, glance.state(), &event)) {
            Some(seen) => {
                let said = self.take(seen)?.answer;
                glance = files.glance();
                Some(said)
            }
            None => None,
        };
        self.keep_list(&files, glance.as_ref().map(Glance::state), &event);
        let rules = facts::rules(place, config, glance.as_ref().map(Glance::state), event.at);
        let tasks_from = rules.as_ref().map(|new| new.rules.tasks_from);
        let known = || glance.as_ref().map(|glance| glance.state().rules.tasks_from);
        let tasks_from = tasks_from.or_else(known).unwrap_or_default();
        if list::is_nobodys(&event, tasks_from) {
            return Ok(Decision::default());
        }
        list::pass_over(&mut event, tasks_from);

        let event = event;
        let fresh = || State::new(event.session.clone(), event.host, event.at);
        let before = glance.as_ref().map_or_else(|| Cow::Owned(fresh()), |glance| Cow::Borrowed(glance.state()));
        let heard = Heard::of(&event);
        let wanted = heard.needs(&before);
        let changed = facts::changed(place, wanted, &before, &event);
        let wanted = wanted.and(then(&before, &heard, &changed));
        let facts::GateFacts { gate, seal, tree, running, uncommitted, behind_links } =
            facts::gate(place, wanted, &before, &event);
        // What an agent of a run works on is its unit's.
        let is_followed = wanted.plan && !tasks_from.is_native() && run_spent.is_none() && Followed::is_due(&event);
        let followed = if is_followed { follow(place, config) } else { Followed::default() };
        let facts::PlanFacts { plan, done, leased, task_files, unfinished } =
            facts::plan(place, config, wanted, &before, &event);
        let links = facts::links(homes, gate.as_ref(), &heard);
        // First: what is back needs no telling as missing.
        let removed = removed::removed(place, wanted, &before, &event);
        let spec = if run_spent.is_none() { spec::at_start(place, &event, &plan) } else { None };
        let world = Facts {
            rules,
            plan: followed.seen(plan, &before),
            done,
            leased,
            task_files,
            elsewhere: followed.told(),
            spec,
            gate,
            seal,
            tree,
            running,
            uncommitted,
            wiring: facts::wiring(place, homes, wanted, &before, event.at),
            behind_links,
            links,
            neighbours: facts::neighbours(place, wanted, &before, &heard, &changed),
            found: facts::found(place, wanted, &before, &heard),
            looped: facts::looped(place, wanted, &event),
            unfinished,
            changed,
            spent: run_spent.filter(|_| wanted.budget).and_then(facts::spent),
            inherited: self.inherited.to_vec(),
            hosts: self.hosts.map(str::to_owned),
            of_run: run_spent.is_some() && matches!(event.kind, EventKind::SessionStart { .. }),
            checkout: facts::checkout(place, wanted),
            processes: facts::processes(wanted, &event),
            wired: removed::wired(place, homes, wanted, &event),
            removed,
            programs: facts::programs(self.programs, homes, wanted),
            keeps_hooks: self.keeps_hooks,
            new_files: watch::new_files(wanted, &heard),
            marks: watch::marks(place, wanted, &event.cwd),
            aliases: watch::aliases(place, wanted, homes, &heard),
        };
        let looked_at = before.sequence;
        let updated = files.update(LOCK_WAIT, glance, fresh, |state| {
            let same = state.sequence == looked_at;
            let facts = if same { world.clone() } else { still_asked(state, &heard, &world) };
            let decision = heard.decide(state, &facts);
            (record(event.clone(), facts, &decision), decision)
        });
        if let Err(SessionError::Locked(_)) = &updated {
            files.leave_late(&event).map_err(StepError::files(&files))?;
        }
        let (_, mut decision) = updated?;
        take_in_late(&files)?;

        let mut restoring = Restoring::begin();
        for effect in &decision.effects {
            let done = match effect {
                Effect::Restore { scope, path } => {
                    restoring.put_back(place, scope, path, event.at).map_err(StepError::Gate)
                }
                effect => act(place, config, &event, effect),
            };
            if let Err(error) = done {
                log_line(place, event.at, &format!("session {}: {}: {error}", event.session, effect.undone()));
            }
        }
        if let Err(error) = restoring.finish(place) {
            log_line(place, event.at, &format!("session {}: the files left to put back: {error}", event.session));
        }
        restoring.tell(&mut decision.answer);
        self.tell_owner(&event, &decision);
        if matches!(event.kind, EventKind::Stop(_) | EventKind::SessionEnd { .. }) {
            drop_claims_of(place, &event.session, event.at);
        }
        if (due(&files, &event.kind) || decision.effects.iter().any(Effect::is_ledgers))
            && let Err(error) =
                Ledger::open(&place.state).map_err(StepError::from).and_then(|mut l| drain(&files, &mut l))
        {
            // Whoever opens the ledger next drains it.
            log_line(place, event.at, &format!("the journal was not drained: {error}"));
        }
        if let Some(noticed) = noticed {
            decision.answer = list::told(&event, noticed, decision.answer);
        }
        Ok(decision)
    }

    /// A human answered here what another session had proposed: that one must not close the gate again from memory.
    fn tell_owner(&self, event: &Event, decision: &Decision) {
        let opening = decision.changes.iter().find_map(|change| match change {
            Change::GateOpened(opening) => Some(opening),
            _ => None,
        });
        let owner = decision.effects.iter().find_map(|effect| match effect {
            Effect::OpenGate { scope: GateScope::Session(owner) }
            | Effect::Approve { scope: GateScope::Session(owner), .. } => Some(owner),
            _ => None,
        });
        let (Some(opening), Some(owner)) = (opening, owner.filter(|owner| **owner != event.session)) else { return };
        let known = SessionFiles::of(self.place, owner).peek();
        let Some(known) = known.filter(|state| state.gate.is_some()) else { return };
        let kind = EventKind::GateOpened(opening.clone());
        let told = Event::plain(owner.clone(), known.host, event.cwd.clone(), event.at, kind);
        if let Err(error) = self.take(told) {
            log_line(self.place, event.at, &format!("session {owner} was not told that its gate is open: {error}"));
        }
    }

    /// Before a stop looks at the plan, the ledger has what the journal has of the host's list.
    fn keep_list(&self, files: &SessionFiles, state: Option<&State>, event: &Event) {
        let unkept = state.and_then(|state| state.list.as_ref()).is_some_and(|list| list.unkept);
        if !unkept || !matches!(event.kind, EventKind::Stop(_)) {
            return;
        }
        let kept = Ledger::open(&self.place.state).map_err(StepError::from).and_then(|mut l| drain(files, &mut l));
        if let Err(error) = kept {
            log_line(self.place, event.at, &format!("the host's task list is not in the ledger yet: {error}"));
        }
    }
}

/// Whether this event brings its session's journal into the ledger. A lone writer pays for two `fsync` when it closes the
/// database: a stop does so only when there is something to show for it. Commands, and the start and the end of a
/// session, always do.
fn due(files: &SessionFiles, kind: &EventKind) -> bool {
    match kind {
        EventKind::SessionEnd { .. } => true,
        EventKind::Stop(_) => files.journal_bytes() > STOP_DRAINS,
        _ => false,
    }
}

/// What was looked up before the lock, seen from the state under it: another event may have come between.
fn still_asked(state: &State, event: &Heard<'_>, world: &Facts) -> Facts {
    let wanted = event.needs(state);
    let changed = if wanted.changed { world.changed.clone() } else { Fact::NotAsked };
    let wanted = wanted.and(then(state, event, &changed));
    let plan = match (wanted.plan, &world.plan) {
        (false, _) => Fact::NotAsked,
        (true, Fact::NotAsked) => Fact::Unknown("it was not looked up in time".into()),
        (true, plan) => plan.clone(),
    };
    Facts {
        rules: world.rules.as_ref().filter(|new| new.stamp != state.rules_stamp).cloned(),
        plan,
        done: world.done.clone(),
        leased: world.leased.clone(),
        task_files: if wanted.task_files { world.task_files.clone() } else { Vec::new() },
        elsewhere: world.elsewhere.clone(),
        spec: world.spec,
        // A marker that came since stands at the next event.
        gate: world.gate.clone(),
        seal: world.seal.clone(),
        tree: world.tree.clone(),
        running: world.running.clone(),
        uncommitted: world.uncommitted.clone(),
        wiring: world.wiring.clone(),
        behind_links: world.behind_links.clone(),
        links: world.links.clone(),
        changed,
        neighbours: if wanted.neighbours { world.neighbours.clone() } else { Vec::new() },
        spent: world.spent.clone(),
        inherited: world.inherited.clone(),
        of_run: world.of_run,
        hosts: world.hosts.clone(),
        found: if wanted.found { world.found.clone() } else { Fact::NotAsked },
        looped: world.looped.clone(),
        unfinished: if wanted.looped { world.unfinished.clone() } else { Fact::NotAsked },
        checkout: world.checkout.clone(),
        processes: world.processes.clone(),
        wired: world.wired.clone(),
        removed: world.removed.clone(),
        programs: world.programs.clone(),
        keeps_hooks: world.keeps_hooks,
        new_files: world.new_files.clone(),
        marks: world.marks.clone(),
        aliases: world.aliases.clone(),
    }
}

/// What has to be known besides, now that the changes are.
fn then(state: &State, event: &Heard<'_>, changed: &Fact<Vec<String>>) -> Needs {
    match changed {
        Fact::Known(paths) if !paths.is_empty() => event.needs_then(state, paths),
        _ => Needs::default(),
    }
}

/// Gives late events their place in the journal. What they were answered is past: nothing is looked up for them, so no
/// refusal is counted that was not given.
fn take_in_late(files: &SessionFiles) -> Result<(), StepError> {
    for late in files.late() {
        let event = &late.event;
        let fresh = || State::new(event.session.clone(), event.host, event.at);
        files.update(LOCK_WAIT, None, fresh, |state| {
            let decision = decide(state, event, &Facts::default());
            (record(event.clone(), Facts::default(), &decision), ())
        })?;
        late.done().map_err(StepError::files(files))?;
    }
    Ok(())
}

fn record(event: Event, facts: Facts, decision: &Decision) -> Record {
    let Decision { opinions, answer, changes, effects } = decision.clone();
    Record { event: event.stored(), facts, opinions, answer, changes, effects }
}

fn act(place: &Place, config: &ConfigFiles, event: &Event, effect: &Effect) -> Result<(), StepError> {
    let Event { at: now, session, .. } = event;
    let now = *now;
    match effect {
        Effect::TakePlan { plan, session, silent } => {
            Ledger::open(&place.state)?.take_plan(plan, session, Claiming::of(silent.as_ref()), now)?;
        }
        // Draining the journal does them.
        Effect::LeavePlan { .. }
        | Effect::BlockTask { .. }
        | Effect::Checkpoint { .. }
        | Effect::GiveUp { .. }
        | Effect::BindLoop { .. }
        | Effect::LoopWaits { .. }
        | Effect::FollowList { .. } => {}
        Effect::LeaveClaim(claim) => leave_claim(place, claim).map_err(StepError::Claims)?,
        Effect::DropClaim { call } => drop_claim(place, call).map_err(StepError::Claims)?,
        Effect::CloseGate(closed) => gate::close(place, closed).map_err(StepError::Gate)?,
        Effect::OpenGate { scope } => gate::open(place, scope).map_err(StepError::Gate)?,
        Effect::KeepDraft { scope, call, text, waiting } => {
            gate::keep(place, scope, call, text, *waiting, now).map_err(StepError::Gate)?;
        }
        Effect::Approve { scope, hash, channel } => {
            let yes = Yes { scope, hash, channel: *channel, session: Some(session), at: now };
            gate::approve(place, config, &yes)?;
        }
        // Done where its outcome is told.
        Effect::Restore { .. } => {}
        Effect::Reseal { scope, path } => gate::adopt(place, scope, path).map_err(StepError::Gate)?,
        Effect::ResealTree { scope } => gate::adopt_tree(place, scope).map_err(StepError::Gate)?,
        // Whoever answers begins it, and answers first.
        Effect::Refine { .. } => {}
    }
    Ok(())
}

/// Brings a session's journal into the ledger, and begins it anew where it has grown large.
pub fn drain(files: &SessionFiles, ledger: &mut Ledger) -> Result<(), StepError> {
    take_in_late(files)?;
    let known = ledger.drained(files.session())?;
    let offset = known.as_ref().map_or(0, |cursor| cursor.offset);
    let (mut first, mut lines) = read_lines(files.dir(), offset).map_err(StepError::files(files))?;
    let goes_on = |cursor: &Cursor| match lines.first() {
        Some(line) => cursor.file_start == first && line.sequence == cursor.sequence + 1,
        None => cursor.file_start == first && cursor.offset == files.journal_bytes(),
    };
    if offset > 0 && known.as_ref().is_some_and(|cursor| !goes_on(cursor)) {
        // The journal was begun anew since, or an older one was put back.
        (first, lines) = read_lines(files.dir(), 0).map_err(StepError::files(files))?;
    }
    if !lines.is_empty() {
        // What the ledger has must not vanish from the journal with the power: its sequence would be given twice.
        files.sync().map_err(StepError::files(files))?;
        ledger.drain(files.session(), first, lines)?;
    }
    if let Some(cursor) = ledger.drained(files.session())? {
        files.rotate(cursor.sequence, Duration::ZERO)?;
    }
    Ok(())
}

/// Journals of sessions that died, or whose last stop found the ledger locked. As many as there is time for.
fn drain_all(place: &Place, now: Millis) {
    let started = Instant::now();
    let Ok(mut ledger) = Ledger::open(&place.state) else { return };
    for files in SessionFiles::all(place) {
        if started.elapsed() > DRAIN_ALL {
            return;
        }
        if let Err(error) = drain(&files, &mut ledger) {
            log_line(place, now, &format!("the journal of {} was not drained: {error}", files.session()));
        }
    }
}
