//! The clock was ahead and is set back. Linux cannot set the wall clock of a single process. So the events from the
//! time ahead go through the same `step` as a hook's, with the time they would have had.

use std::time::{SystemTime, UNIX_EPOCH};

use steadfast_hook::handle_event;
use steadfast_model::{Event, EventKind, Host, Millis, PromptOrigin, SessionId, Stopping};
use steadfast_store::ledger::{Claiming, Ledger};

use super::rng::SeededRng;
use super::scene::Scene;
use super::{Figures, inspect};
use crate::Result;

const HOUR: i64 = 3_600_000;

/// The default number of refusals in a row without a tool call.
const MAX_IDLE: u64 = 3;

pub(super) fn clock_back(scene: &Scene, rng: &mut SeededRng) -> Result<Figures> {
    let ahead = if rng.below(2) == 0 { HOUR } else { 365 * 24 * HOUR };
    let now = Millis(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?);
    let later = |by: i64| Millis(now.0 + by);
    scene.init(3)?;

    // The first owner takes the plan in the time ahead.
    take(scene, "s-1", later(ahead))?;
    let spent = 1 + rng.below(2);
    for n in 0..spent {
        let stop = EventKind::Stop(Stopping { again: n > 0, last_message: None, background: None, wakeups: 0 });
        let answer = handle_event(&scene.place(), &scene.config(), event(scene, "s-1", later(ahead), stop))?;
        if answer.ruling.is_pass() {
            return Err("a stop in the time ahead was allowed".into());
        }
    }

    // The session continues an hour or a year earlier. Its refusals still count.
    for _ in spent..MAX_IDLE {
        scene.stop("s-1")?.refused()?;
    }
    scene.stop("s-1")?.passes()?;
    scene.tool("s-1", "call-1")?.silent()?;
    scene.run(&["status"])?.ok()?;
    let state = inspect::session(&scene.session("s-1"))?;
    inspect::drained(scene, &state)?;
    scene.tool("s-1", "call-2")?.silent()?;

    // The owner is alive: a prompt in another session does not take the plan.
    scene.prompt("s-2", "do the tasks")?.passes()?;
    scene.stop("s-2")?.silent()?;

    // Five hours without an event: the owner counts as silent, although its last event is from the time ahead.
    let prompt = EventKind::prompt("do the tasks", PromptOrigin::Human);
    handle_event(&scene.place(), &scene.config(), event(scene, "s-3", later(HOUR + 5 * HOUR), prompt))?;
    held(scene, "s-3", "after hours of silence a prompt takes the plan")?;

    // A session that starts a task gets the plan, whatever the clock said when the last owner took it.
    take(scene, "s-1", later(ahead))?;
    scene.as_agent("s-4", &["task", "start", "2"])?.ok()?;
    held(scene, "s-4", "`task start` takes the plan")?;
    scene.stop("s-4")?.refused()?;
    Ok(vec![("refusals kept", spent), ("a year ahead", u64::from(ahead > HOUR))])
}

fn take(scene: &Scene, session: &str, at: Millis) -> Result<()> {
    let place = scene.place();
    let mut ledger = Ledger::open(&place.state)?;
    let plan = ledger.plan_view(&place.worktree())?.ok_or("there is no plan")?;
    ledger.take_plan(&plan.id, &SessionId::new(session), Claiming::EvenIfHeld, at)?;
    Ok(())
}

fn held(scene: &Scene, session: &str, rule: &str) -> Result<()> {
    let place = scene.place();
    let ledger = Ledger::open_read_only(&place.state)?.ok_or("the ledger is gone")?;
    let owner = ledger.plan_view(&place.worktree())?.and_then(|plan| plan.owner);
    if owner.as_ref().is_none_or(|owner| owner.as_str() != session) {
        return Err(format!("{rule}, but {owner:?} has it instead of {session}").into());
    }
    Ok(())
}

fn event(scene: &Scene, session: &str, at: Millis, kind: EventKind) -> Event {
    Event::plain(SessionId::new(session), Host::Claude, scene.root().to_string_lossy().into_owned(), at, kind)
}
