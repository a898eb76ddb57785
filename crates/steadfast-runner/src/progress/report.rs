use steadfast_model::{
    CheckEnd, Evidence, EvidenceClass, RunState, RunUnit, RunView, Status, Sums, TaskId, UnitStatus,
};
use steadfast_text::{count, duration, one_line};

use super::amount::{cost, grouped};
use super::idle::idle;
use super::{Listed, Look, is_closed};

/// Renders the report of a run: finished tasks with their evidence, the cost, open tasks with the reason, and the next
/// steps.
pub fn report(view: &RunView) -> String {
    let look = Look::at(view);
    let mut text = heading(&look);
    for unit in view.units.iter().filter(|unit| unit.status == UnitStatus::Done || unit.attempts > 0) {
        let took = view.unit_sums.get(&unit.unit).map(took).unwrap_or_default();
        text += &format!("\n{} {}{took}\n", unit.unit, one_line(&unit.title));
        for Listed { task, .. } in look.listed(unit).filter(|listed| listed.task.status == Status::Done) {
            let rests_on = view.evidence.get(&task.id).map_or("no evidence".to_owned(), rests_on);
            text += &format!("  {} done: {rests_on}\n", task.id);
        }
        for Listed { task, .. } in look.listed(unit) {
            text.extend(task.counsel().map(|said| format!("  {} counsel: {}\n", task.id, one_line(said))));
        }
    }
    let left: String = look.all().filter_map(|listed| open(&look, &listed)).collect();
    if !left.is_empty() {
        text += &format!("\nLeft:\n{left}");
    }
    text += &idle(view).unwrap_or_default();
    text + &next(&look)
}

fn heading(look: &Look<'_>) -> String {
    let RunView { run, sums, .. } = look.view;
    let (done, all) = look.counts();
    let units = look.view.units.len();
    let until = run.ended_at.unwrap_or(run.updated_at).since(run.started_at);
    let lasted = duration(u64::try_from(until).unwrap_or(0));
    let iterations = sums.iterations;
    format!(
        "Run {} of {}: {}\n{done} of {all} tasks done, {}, {}, {lasted}, {}\n",
        run.id,
        run.spec,
        look.stated(run.state.as_str()),
        count(units, "unit"),
        count(iterations, "iteration"),
        look.spent(" of "),
    )
}

fn took(sums: &Sums) -> String {
    let Sums { iterations, micro_usd, tokens, unpriced } = *sums;
    let price = if unpriced > 0 && micro_usd == 0 { format!("{} tokens", grouped(tokens)) } else { cost(micro_usd) };
    format!(" ({price}, {})", count(iterations, "iteration"))
}

/// Describes the evidence of a task in a few words.
fn rests_on(evidence: &Evidence) -> String {
    let Evidence { class, end, command, note, tree, .. } = evidence;
    let what = match (command, end) {
        (Some(command), CheckEnd::Exited(code)) => format!("`{}` exited with {code}", one_line(command)),
        (Some(command), _) => format!("`{}`", one_line(command)),
        (None, _) => note.as_deref().map(one_line).unwrap_or_default(),
    };
    let tree = tree.as_deref().map(|tree| format!(", tree {}", tree.get(..8).unwrap_or(tree)));
    let class = match class {
        EvidenceClass::Claimed => "claimed, not checked",
        EvidenceClass::Forced => "closed by a human",
        class => class.as_str(),
    };
    let class = format!("{class}{}", tree.unwrap_or_default());
    if what.is_empty() { class } else { format!("{what} ({class})") }
}

/// Renders a task that is not done, with the reason.
fn open(look: &Look<'_>, listed: &Listed<'_>) -> Option<String> {
    let Listed { task, unit } = listed;
    let why = match task.status {
        Status::Done => return None,
        Status::Blocked => blocked(look, listed),
        Status::Pending | Status::InProgress if unit.status == UnitStatus::Blocked => blocked(look, listed),
        Status::Pending | Status::InProgress => match look.waits_for(task).as_slice() {
            [] if unit.attempts > 0 => "started".to_owned(),
            [] => "not started".to_owned(),
            open => format!("depends on {}", open.join(", ")),
        },
    };
    Some(format!("  {} {}: {why}\n", task.id, one_line(&task.title)))
}

fn blocked(look: &Look<'_>, listed: &Listed<'_>) -> String {
    match look.why_blocked(listed) {
        Some(why) => format!("blocked: {}", one_line(why)),
        None => "blocked".to_owned(),
    }
}

/// The most blocked tasks that are named; the rest are counted.
const UNBLOCKED: usize = 5;

fn next(look: &Look<'_>) -> String {
    let RunView { run, units, .. } = look.view;
    let mut steps = Vec::new();
    let blocked: Vec<(&TaskId, &RunUnit)> =
        units.iter().filter_map(|unit| Some((first_blocked(look, unit)?, unit))).collect();
    for (task, unit) in blocked.iter().take(UNBLOCKED) {
        let place = unit.directory.as_deref().filter(|_| unit.merged.is_none());
        let place = place.map(|folder| format!("; its worktree is {folder}")).unwrap_or_default();
        steps.push(format!("`steadfast task unblock {task}` when its cause is fixed{place}"));
    }
    if blocked.len() > UNBLOCKED {
        steps.push(format!("{} more tasks are blocked", blocked.len() - UNBLOCKED));
    }
    let goes_on = !blocked.is_empty() || units.iter().any(|unit| !is_closed(unit));
    if goes_on && run.state != RunState::Running {
        steps.push(resume(look.view));
    }
    if units.iter().any(|unit| unit.merged.is_some()) {
        steps.push(format!("`git merge {}` merges the finished work into your branch", run.branch));
    }
    if steps.is_empty() {
        return String::new();
    }
    let steps: String = steps.into_iter().map(|step| format!("  {step}\n")).collect();
    format!("\nNext:\n{steps}")
}

/// Returns the command that continues the run. A used-up limit needs a new value.
fn resume(view: &RunView) -> String {
    let RunView { run, sums, .. } = view;
    let mut command = String::from("steadfast resume");
    if sums.iterations >= run.limits.iterations {
        command += " --max-iterations N";
    }
    let is_spent = run.reason.as_ref().is_some_and(|reason| reason.starts_with("the budget is spent"));
    if is_spent || run.limits.micro_usd.is_some_and(|limit| sums.micro_usd >= limit) {
        command += " --budget USD";
    }
    match command.contains("--") {
        true => format!("`{command}` continues with the higher limit"),
        false => format!("`{command}` continues"),
    }
}

/// Returns the task of a unit that blocks it.
fn first_blocked<'a>(look: &Look<'a>, unit: &'a RunUnit) -> Option<&'a TaskId> {
    let blocked = look.listed(unit).find(|listed| listed.task.status == Status::Blocked);
    blocked.map(|listed| &listed.task.id).or_else(|| (unit.status == UnitStatus::Blocked).then_some(&unit.unit))
}
