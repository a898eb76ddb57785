//! A run as it looks at a terminal: a bar, and a row for each unit.

use std::path::Path;

use steadfast_model::{Millis, RunState, RunUnit, RunView, Status, UnitStatus, WorkSpan};
use steadfast_runner::progress::{last_action, status_line};
use steadfast_text::{HANG, cost, duration, noun, one_line, wrap};

use super::is_running;
use crate::terminal::{self, Column, Table};

/// The lines of a run. `rows`: how many there is room for.
pub(super) fn frame(view: &RunView, state: &Path, now: Millis, (width, rows): (usize, usize)) -> Vec<String> {
    let mut lines: Vec<String> = head(view, now)
        .iter()
        .flat_map(|line| wrap(line, width).lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let mut table = Table::new(&[
        Column::whole("", 8),
        Column::whole("UNIT", 9),
        Column::whole("STATE", 8),
        Column::whole("TIME", 5),
        Column::whole("TRIES", 1),
        Column::whole("COST", 3),
        Column::text("TITLE", 6, 16),
        Column::text("NOW", 7, 16),
    ]);
    // Around the units are an empty line, the header, and the line that counts the rest.
    let shown = most_important(&view.units, rows.saturating_sub(lines.len() + 3));
    for unit in &shown {
        table.row(row(view, unit, state, now));
    }
    lines.push(String::new());
    lines.extend(table.lines(Some(width)));
    if shown.len() < view.units.len() {
        let more = view.units.len() - shown.len();
        lines.push(terminal::faint(&format!("and {more} more {}", noun(more, "unit"))));
    }
    lines
}

/// The run and its bar: `████░░░░ 5 of 12 tasks · 12 min 5 s · about 18 min left`.
fn head(view: &RunView, now: Millis) -> Vec<String> {
    let run = &view.run;
    let (done, all) = counts(view);
    let until = if run.state == RunState::Running { now } else { run.ended_at.unwrap_or(run.updated_at) };
    let took = u64::try_from(until.since(run.started_at)).unwrap_or(0);
    let left = match (is_running(view), worked(view) as u64) {
        (true, worked @ 1..) if done < all => {
            let left = took / worked * (all - done) as u64;
            // To the minute: more would pretend to know.
            format!(" · about {} left", duration(left.div_ceil(60_000) * 60_000))
        }
        _ => String::new(),
    };
    let mut lines = vec![
        format!("{} of {}: {HANG}{}", terminal::strong(run.id.as_str()), run.spec, status_line(view)),
        format!(
            "{} {HANG}{done} of {all} tasks · since {}, {}{left}",
            terminal::good(&terminal::bar(done, all)),
            terminal::moment(run.started_at),
            duration(took),
        ),
    ];
    if run.state == RunState::Running && !is_running(view) {
        lines.push(terminal::warning("its process is gone; continue with `steadfast resume`"));
    }
    lines
}

/// The tasks that agents have done. Those that needed none say nothing about the time of the others.
fn worked(view: &RunView) -> usize {
    let has_agent = |unit: &&RunUnit| view.spans.iter().any(|span| span.unit == unit.unit);
    let done = view.units.iter().filter(|unit| unit.status == UnitStatus::Done);
    done.filter(has_agent).map(|unit| unit.tasks.len()).sum()
}

fn counts(view: &RunView) -> (usize, usize) {
    let done = view.tasks.iter().filter(|task| task.status == Status::Done).count();
    (done, view.tasks.len())
}

/// As many units as there is room for: those at work and those that need a human, then the next, then the last done ones.
fn most_important(units: &[RunUnit], room: usize) -> Vec<&RunUnit> {
    if units.len() <= room {
        return units.iter().collect();
    }
    let rank = |unit: &RunUnit| match unit.status {
        UnitStatus::Running | UnitStatus::Merging => 0,
        UnitStatus::Blocked => 1,
        UnitStatus::Waiting => 2,
        UnitStatus::Done => 3,
    };
    let mut ranked: Vec<(usize, &RunUnit)> = units.iter().enumerate().collect();
    ranked.sort_by_key(|(index, unit)| {
        (rank(unit), if unit.status == UnitStatus::Done { units.len() - index } else { *index })
    });
    ranked.truncate(room.max(1));
    ranked.sort_by_key(|(index, _)| *index);
    ranked.into_iter().map(|(_, unit)| unit).collect()
}

fn row(view: &RunView, unit: &RunUnit, state: &Path, now: Millis) -> [String; 8] {
    let (mark, word) = (mark(unit.status), unit.status.as_str());
    let paint = match unit.status {
        UnitStatus::Done => terminal::good,
        UnitStatus::Running | UnitStatus::Merging => terminal::strong,
        UnitStatus::Blocked => terminal::warning,
        UnitStatus::Waiting => terminal::faint,
    };
    let took = elapsed(view, unit, now);
    let spent = view.unit_sums.get(&unit.unit).map(|sums| sums.micro_usd).filter(|micro| *micro > 0);
    let doing = match (unit.status, &unit.note) {
        (UnitStatus::Running, None) => last_action(state, &view.run, unit).unwrap_or_default(),
        (_, note) => note.clone().unwrap_or_default(),
    };
    [
        mark.to_owned(),
        terminal::strong(unit.unit.as_str()),
        paint(word),
        took.map(duration).unwrap_or_default(),
        if unit.attempts > 1 { unit.attempts.to_string() } else { String::new() },
        spent.map(cost).unwrap_or_default(),
        one_line(&unit.title),
        one_line(&doing),
    ]
}

/// `[x]`, for those who do not see the colour.
pub(super) fn mark(status: UnitStatus) -> &'static str {
    match status {
        UnitStatus::Done => "[x]",
        UnitStatus::Running | UnitStatus::Merging => "[>]",
        UnitStatus::Blocked => "[!]",
        UnitStatus::Waiting => "[ ]",
    }
}

/// How long agents worked on a unit.
pub(super) fn elapsed(view: &RunView, unit: &RunUnit, now: Millis) -> Option<u64> {
    let spans: Vec<&WorkSpan> = view.spans.iter().filter(|span| span.unit == unit.unit).collect();
    let is_open = matches!(unit.status, UnitStatus::Running | UnitStatus::Merging);
    let end = |span: &WorkSpan| span.ended_at.unwrap_or(if is_open { now } else { unit.updated_at });
    let took = spans.iter().map(|span| u64::try_from(end(span).since(span.started_at)).unwrap_or(0)).sum();
    (!spans.is_empty()).then_some(took)
}

#[cfg(test)]
mod tests {
    use steadfast_model::TaskId;

    use super::*;

    fn unit(id: &str, status: UnitStatus) -> RunUnit {
        RunUnit { status, ..RunUnit::new(TaskId::new(id), String::new(), Vec::new(), 1) }
    }

    #[test]
    fn where_not_all_units_fit_those_at_work_are_shown() {
        use UnitStatus::{Blocked, Done, Running, Waiting};
        let all = [("1", Done), ("2", Done), ("3", Running), ("4", Blocked), ("5", Waiting), ("6", Waiting)];
        let units = all.map(|(id, status)| unit(id, status));
        let shown = |room| most_important(&units, room).iter().map(|unit| unit.unit.to_string()).collect::<String>();
        assert_eq!([1, 2, 3, 5, 6].map(shown), ["3", "34", "345", "23456", "123456"]);
    }
}
