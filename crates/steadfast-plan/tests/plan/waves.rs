use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use steadfast_model::{AddedBy, Millis, PlanId, Status, Task, TaskId, TaskKind};
use steadfast_plan::{Unit, UnitState, next_wave, units, waves};

fn task(id: &str, kind: TaskKind, files: &[&str], after: &[&str]) -> Task {
    Task {
        plan: PlanId::new("p"),
        id: TaskId::new(id),
        title: format!("title of {id}"),
        kind,
        task_type: None,
        phase: None,
        item: None,
        files: files.iter().map(ToString::to_string).collect(),
        notes: None,
        verify: None,
        blocked_by: after.iter().map(|id| TaskId::new(*id)).collect(),
        status: Status::Pending,
        stuck_count: 0,
        wave: None,
        added_by: AddedBy::Human,
        created_at: Millis(0),
        updated_at: Millis(0),
    }
}

pub(crate) fn main_task(id: &str, files: &[&str], after: &[&str]) -> Task {
    task(id, TaskKind::Main, files, after)
}

/// As the ledger has it: the way people count, which is not the way a chain is worked on.
pub(crate) fn of_spec(text: &str) -> Vec<Task> {
    let plan = super::plan(text);
    let mut tasks: Vec<Task> = plan
        .tasks
        .into_iter()
        .map(|planned| Task {
            task_type: planned.task_type,
            blocked_by: planned.blocked_by,
            files: planned.files,
            title: planned.title,
            ..task(planned.id.as_str(), planned.kind, &[], &[])
        })
        .collect();
    tasks.sort_by(|left, right| left.id.cmp(&right.id));
    tasks
}

fn ids(ids: &[TaskId]) -> String {
    ids.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" ")
}

fn lines(units: &[Unit]) -> String {
    let line = |unit: &Unit| {
        let Unit { id, title, tasks, files, after } = unit;
        format!("{id} ({title}): {} | {} | after {}\n", ids(tasks), files.join(" "), ids(after))
    };
    units.iter().map(line).collect()
}

/// The waves with their units' ids.
fn named(units: &[Unit], waves: &[Vec<usize>]) -> Vec<String> {
    let name = |wave: &Vec<usize>| wave.iter().map(|place| units[*place].id.as_str()).collect::<Vec<_>>().join(" ");
    waves.iter().map(name).collect()
}

#[test]
fn a_task_and_what_its_type_brought_along_are_one_unit() {
    let tasks = of_spec(
        r#"{"feature": "f", "phases": [
            {"id": "one", "name": "One", "tasks": [
                {"id": "1.1", "task": "page", "type": "ui", "files": ["web/a.tsx"]},
                {"id": "1.2", "task": "api", "type": "backend", "files": ["src/api.rs"], "verify": "true", "depends_on": ["1.1"]},
                {"id": "1.3", "task": "plain", "files": ["x"], "verify": "true"}]},
            {"id": "two", "name": "Two", "tasks": [{"id": "2.1", "task": "text", "type": "docs", "files": ["README.md"]}]}]}"#,
    );
    let units = units(&tasks).unwrap();
    insta::assert_snapshot!(lines(&units), @r"
    1.0 (Decisions of One: its goal and the choices made): 1.0 |  | after 
    1.1 (page): 1.1a 1.1 1.1b | web/a.tsx | after 1.0
    1.2 (api): 1.2 1.2a | src/api.rs | after 1.1
    1.3 (plain): 1.3 | x | after 1.0
    2.0 (Decisions of Two: its goal and the choices made): 2.0 |  | after 1.2 1.3
    2.1 (text): 2.1 2.1a | README.md | after 2.0
    ");
    assert_eq!(named(&units, &waves(&units)), ["1.0", "1.1 1.3", "1.2", "2.0", "2.1"]);
}

#[test]
fn a_generated_task_whose_main_one_is_gone_stands_alone() {
    let tasks = [task("1a", TaskKind::Post, &[], &[]), task("2", TaskKind::Remediation, &["x"], &["1a", "9"])];
    let units = units(&tasks).unwrap();
    assert_eq!(lines(&units), "1a (title of 1a): 1a |  | after \n2 (title of 2): 2 | x | after 1a\n");
}

#[test]
fn a_circle_is_refused_with_its_path() {
    let tasks = [
        main_task("1", &[], &[]),
        main_task("2", &[], &["1", "4"]),
        main_task("3", &[], &["2"]),
        main_task("4", &[], &["3"]),
    ];
    assert_eq!(units(&tasks).unwrap_err().to_string(), "circular dependency: 2 → 4 → 3 → 2");
}

#[test]
fn a_circle_through_the_links_of_a_unit_is_one_too() {
    let tasks = [main_task("1", &[], &[]), task("1a", TaskKind::Post, &[], &["1", "2"]), main_task("2", &[], &["1"])];
    assert_eq!(units(&tasks).unwrap_err().to_string(), "circular dependency: 1 → 2 → 1");
}

#[test]
fn units_whose_files_meet_are_not_in_one_wave() {
    let tasks = [
        main_task("1", &["src/a.rs"], &[]),
        main_task("2", &["src"], &[]),
        main_task("3", &["docs/*.md"], &[]),
        main_task("4", &["docs/a.md"], &[]),
        main_task("5", &[], &[]),
        main_task("6", &["src/b.rs"], &["3"]),
    ];
    let units = units(&tasks).unwrap();
    assert_eq!(named(&units, &waves(&units)), ["1 3 5", "2 4", "6"]);
}

#[test]
fn a_wave_is_what_is_ready_and_meets_nothing_that_runs() {
    let tasks = [
        main_task("1", &["src/a.rs"], &[]),
        main_task("2", &["src/a.rs"], &[]),
        main_task("3", &[], &["1"]),
        main_task("4", &[], &["5"]),
        main_task("5", &[], &[]),
        main_task("6", &["src/b.rs"], &["7"]),
        main_task("7", &[], &[]),
    ];
    let units = units(&tasks).unwrap();
    let state = |id: &TaskId| match id.as_str() {
        "1" => UnitState::Running,
        "5" => UnitState::Blocked,
        "7" => UnitState::Done,
        _ => UnitState::Waiting,
    };
    assert_eq!(named(&units, &[next_wave(&units, &state)]), ["6"]);
}

#[test]
fn a_unit_is_done_when_all_its_tasks_are_and_blocked_when_one_is() {
    let unit = &units(&[main_task("1", &[], &[]), task("1a", TaskKind::Post, &[], &["1"])]).unwrap()[0];
    let state = |main: Status, post: Status| unit.state(&|id| if id.as_str() == "1" { main } else { post });
    assert_eq!(state(Status::Done, Status::Done), UnitState::Done);
    assert_eq!(state(Status::Done, Status::Pending), UnitState::Waiting);
    assert_eq!(state(Status::InProgress, Status::Pending), UnitState::Waiting);
    assert_eq!(state(Status::Done, Status::Blocked), UnitState::Blocked);
}

/// Tasks that wait only for those before them, so that there is no circle.
fn plan() -> impl Strategy<Value = Vec<Task>> {
    let file = prop::sample::select(vec!["a", "a/b", "a/b/c", "b", "a/*", "b/*.rs", "c/d", "c*"]);
    let one = (prop::collection::vec(file, 0..3), prop::collection::vec(0_usize..100, 0..3), 0_u8..3);
    prop::collection::vec(one, 1..30).prop_map(|all| {
        let mut tasks: Vec<Task> = Vec::new();
        for (index, (files, after, links)) in all.iter().enumerate() {
            let after: Vec<String> =
                after.iter().filter(|_| index > 0).map(|cause| (cause % index.max(1)).to_string()).collect();
            let after: Vec<&str> = after.iter().map(String::as_str).collect();
            let id = index.to_string();
            tasks.push(main_task(&id, files, &after));
            match links {
                1 => tasks.push(task(&format!("{id}a"), TaskKind::Post, files, &[&id])),
                2 => {
                    tasks.push(task(&format!("{id}a"), TaskKind::Pre, files, &after));
                    tasks.push(task(&format!("{id}b"), TaskKind::Post, files, &[&id]));
                }
                _ => {}
            }
        }
        tasks
    })
}

fn meet(left: &Unit, right: &Unit) -> bool {
    let literal = |file: &str| file.split('*').next().unwrap_or_default().trim_end_matches('/').to_owned();
    let reaches = |left: &str, right: &str| {
        let (left, right) = (literal(left), literal(right));
        left == right || left.starts_with(&format!("{right}/")) || right.starts_with(&format!("{left}/"))
    };
    left.files.iter().any(|left| right.files.iter().any(|right| reaches(left, right)))
}

proptest! {
    #[test]
    fn every_unit_is_in_one_wave_after_what_it_waits_for_and_meets_nobody_there(tasks in plan()) {
        let units = units(&tasks).unwrap();
        let members: BTreeSet<&TaskId> = units.iter().flat_map(|unit| &unit.tasks).collect();
        prop_assert_eq!(members.len(), tasks.len());
        prop_assert_eq!(units.iter().map(|unit| unit.tasks.len()).sum::<usize>(), tasks.len());
        let waves = waves(&units);
        let mut wave_of: BTreeMap<&TaskId, usize> = BTreeMap::new();
        for (number, wave) in waves.iter().enumerate() {
            prop_assert!(!wave.is_empty());
            for (place, unit) in wave.iter().enumerate() {
                prop_assert_eq!(wave_of.insert(&units[*unit].id, number), None);
                for other in &wave[..place] {
                    prop_assert!(!meet(&units[*unit], &units[*other]), "{} meets {}", unit, other);
                }
            }
        }
        prop_assert_eq!(wave_of.len(), units.len());
        for unit in &units {
            for cause in &unit.after {
                prop_assert!(wave_of[cause] < wave_of[&unit.id]);
            }
        }
    }

    #[test]
    fn wave_after_wave_is_what_was_foretold(tasks in plan()) {
        let units = units(&tasks).unwrap();
        let mut done: BTreeSet<TaskId> = BTreeSet::new();
        for foretold in waves(&units) {
            let state = |id: &TaskId| if done.contains(id) { UnitState::Done } else { UnitState::Waiting };
            let wave = next_wave(&units, &state);
            prop_assert_eq!(&wave, &foretold);
            done.extend(wave.into_iter().map(|place| units[place].id.clone()));
        }
        prop_assert_eq!(done.len(), units.len());
    }
}
