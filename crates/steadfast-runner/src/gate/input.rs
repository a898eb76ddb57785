use std::collections::BTreeMap;

use steadfast_model::{EvidenceClass, Status, TaskId};
use steadfast_work::task_list::StatedEnd;

use super::objection::{Objection, Offence, WeakPlace};

/// The facts that the gate judges. The caller collects them from the final tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateInput {
    pub tasks: Vec<GateTask>,
    /// Each distinct check, run once more.
    pub reruns: BTreeMap<String, Rerun>,
    /// The checks from the human's own words, with their results.
    pub stated: Vec<StatedRun>,
    /// Blockers that the last thorough review left. `None`: no such review passed or failed.
    pub blockers: Option<u32>,
    /// The commit that the work started at.
    pub base: String,
    pub broken: Vec<Broken>,
    /// Files that no constraint forbids to change, such as the spec.
    pub own: Vec<String>,
    pub weakened: Vec<Weak>,
}

/// A stated check that was run on the final tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedRun {
    pub command: String,
    pub said: String,
    pub end: StatedEnd,
}

/// A task, and the evidence that it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateTask {
    pub id: TaskId,
    pub title: String,
    pub status: Status,
    pub files: Vec<String>,
    /// Its check, if that is a command.
    pub command: Option<String>,
    /// The class of the evidence that closed it. `None`: no evidence.
    pub class: Option<EvidenceClass>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rerun {
    Passed,
    Failed {
        output: String,
    },
    /// The check did not finish.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub must_not: String,
    pub files: Vec<Offence>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weak {
    pub file: String,
    pub line: u32,
    /// The weakening.
    pub text: String,
}

/// Returns the objections. If there are none, the loop may be called complete.
pub fn judge(standing: &GateInput) -> Vec<Objection> {
    let mut objections: Vec<Objection> = Vec::new();
    let mut failed: Vec<&str> = Vec::new();
    for task in &standing.tasks {
        let (id, title) = (task.id.clone(), task.title.clone());
        if task.status != Status::Done {
            objections.push(Objection::Open { task: id, title });
            continue;
        }
        match (&task.command, task.class) {
            // A human took responsibility for it.
            (_, Some(EvidenceClass::Forced)) => {}
            (_, None | Some(EvidenceClass::Claimed)) => objections.push(Objection::Claimed { task: id, title }),
            (Some(command), Some(_)) => match standing.reruns.get(command) {
                Some(Rerun::Passed) => {}
                Some(Rerun::Failed { output }) => {
                    // Tasks with the same check have the same failure.
                    if !failed.contains(&command.as_str()) {
                        failed.push(command);
                        let (command, output, files) = (command.clone(), output.clone(), task.files.clone());
                        objections.push(Objection::Fails { task: id, command, output, files });
                    }
                }
                Some(Rerun::Unknown) | None => objections.push(Objection::Stale { task: id, title }),
            },
            (None, Some(EvidenceClass::Executed)) => objections.push(Objection::Stale { task: id, title }),
            (None, Some(EvidenceClass::Artifact | EvidenceClass::Observed)) => {}
        }
    }
    objections.extend(standing.stated.iter().filter_map(|run| stated(run, &failed)));
    for Broken { must_not, files } in &standing.broken {
        let (must_not, files) = (must_not.clone(), files.clone());
        let (base, own) = (standing.base.clone(), standing.own.clone());
        objections.push(Objection::MustNot { must_not, files, base, own });
    }
    let mut weak: BTreeMap<&str, Vec<WeakPlace>> = BTreeMap::new();
    for Weak { file, line, text } in &standing.weakened {
        weak.entry(file).or_default().push(WeakPlace { line: *line, text: text.clone() });
    }
    for (file, places) in weak {
        objections.push(Objection::Weakened { file: file.to_owned(), places, base: standing.base.clone() });
    }
    if standing.blockers != Some(0) {
        objections.push(Objection::Unreviewed { blockers: standing.blockers.unwrap_or(0) });
    }
    objections
}

/// `failed`: failed checks of tasks, which already have an objection.
fn stated(run: &StatedRun, failed: &[&str]) -> Option<Objection> {
    let StatedRun { command, said, end } = run;
    let unsure = |why: String| Some(Objection::StatedUnsure { command: command.clone(), why });
    match end {
        StatedEnd::Passed => None,
        StatedEnd::Failed { .. } if failed.contains(&command.as_str()) => None,
        StatedEnd::Failed { how, output } => Some(Objection::Stated {
            command: command.clone(),
            said: said.clone(),
            how: how.clone(),
            output: output.clone(),
        }),
        StatedEnd::Changed { difference } => unsure(format!("it runs something else now: {difference}")),
        StatedEnd::Stopped => unsure("it did not finish".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(class: Option<EvidenceClass>, command: Option<&str>) -> GateTask {
        GateTask {
            id: TaskId::new("1.1"),
            title: "Sign in".into(),
            status: Status::Done,
            files: vec!["src/a.rs".into()],
            command: command.map(str::to_owned),
            class,
        }
    }

    fn standing(tasks: Vec<GateTask>, rerun: Rerun) -> GateInput {
        GateInput { tasks, reruns: [("make test".to_owned(), rerun)].into(), blockers: Some(0), ..GateInput::default() }
    }

    fn objections(standing: &GateInput) -> Vec<String> {
        judge(standing).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_was_run_on_the_final_tree_passes() {
        let done = task(Some(EvidenceClass::Executed), Some("make test"));
        assert_eq!(objections(&standing(vec![done], Rerun::Passed)), Vec::<String>::new());
    }

    #[test]
    fn a_claim_an_open_task_and_evidence_that_nobody_renewed_do_not() {
        let open = GateTask { status: Status::InProgress, ..task(None, None) };
        let claimed = task(Some(EvidenceClass::Claimed), None);
        let stale = task(Some(EvidenceClass::Executed), Some("make lint"));
        let said = objections(&standing(vec![open, claimed, stale], Rerun::Passed));
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(
            said[0].contains("not done") && said[1].contains("claim") && said[2].contains("other files"),
            "{said:?}"
        );
        let forced = task(Some(EvidenceClass::Forced), Some("make lint"));
        assert_eq!(objections(&standing(vec![forced], Rerun::Passed)), Vec::<String>::new());
    }

    #[test]
    fn one_check_that_fails_is_one_objection_and_one_task() {
        let executed = || task(Some(EvidenceClass::Executed), Some("make test"));
        let all = judge(&standing(vec![executed(), executed()], Rerun::Failed { output: "assert".into() }));
        assert_eq!(all.len(), 1);
        let remedy = all[0].remedy().unwrap();
        assert!(remedy.notes.contains("assert") && remedy.files == ["src/a.rs"], "{remedy:?}");
    }

    #[test]
    fn without_a_review_that_passed_nothing_is_complete() {
        for (blockers, said) in
            [(None, "no thorough review has passed"), (Some(2), "the thorough review left 2 blockers")]
        {
            assert_eq!(objections(&GateInput { blockers, ..GateInput::default() }), [said]);
        }
    }

    fn offence(file: &str) -> Offence {
        Offence { file: file.into(), done: "was changed".into() }
    }

    /// One of each kind that an agent can meet.
    fn broken() -> GateInput {
        let weak = |line, text: &str| Weak { file: "tests/a.rs".into(), line, text: text.into() };
        let (command, said) = ("make test".to_owned(), "Done when `make test` passes.".to_owned());
        GateInput {
            stated: vec![StatedRun {
                command,
                said,
                end: StatedEnd::Failed { how: "`make test` exited with 1".into(), output: "no".into() },
            }],
            base: "1a2b".into(),
            broken: vec![Broken { must_not: "don't touch `src/auth`".into(), files: vec![offence("src/auth/a.rs")] }],
            weakened: vec![weak(3, "a test is skipped now"), weak(9, "an assertion is gone")],
            blockers: Some(0),
            ..GateInput::default()
        }
    }

    #[test]
    fn each_objection_is_the_check_of_its_own_task() {
        let remedies: Vec<(String, String)> = judge(&broken())
            .iter()
            .map(|one| one.remedy().unwrap())
            .map(|remedy| (remedy.title, remedy.check.as_command().unwrap().to_owned()))
            .collect();
        let expected = [
            ("Make `make test` pass", "make test"),
            (
                "Undo the changes that break \"don't touch `src/auth`\"",
                "steadfast loop objection --base 1a2b --must-not 'don'\\''t touch `src/auth`'",
            ),
            ("Restore the tests of tests/a.rs", "steadfast loop objection --base 1a2b --tests 'tests/a.rs'"),
        ];
        assert_eq!(remedies, expected.map(|(title, check)| (title.to_owned(), check.to_owned())));
    }

    #[test]
    fn an_objection_has_the_same_name_until_it_is_another() {
        let names = |standing: &GateInput| judge(standing).iter().map(Objection::id).collect::<Vec<_>>();
        let (first, mut other) = (names(&broken()), broken());
        assert_eq!(first, names(&broken()));
        other.broken[0].files.push(offence("src/auth/b.rs"));
        other.weakened[0].line = 5;
        let second = names(&other);
        assert_eq!((first[0] == second[0], first[1] == second[1], first[2] == second[2]), (true, false, true));
    }

    #[test]
    fn what_only_a_human_can_meet_is_no_task() {
        let unsure = |end| StatedRun { command: "make test".into(), said: "s".into(), end };
        let standing = GateInput {
            tasks: vec![
                task(Some(EvidenceClass::Claimed), None),
                GateTask { status: Status::Blocked, ..task(None, None) },
            ],
            stated: vec![
                unsure(StatedEnd::Stopped),
                unsure(StatedEnd::Changed { difference: "Makefile recipe `test` is `true`".into() }),
            ],
            ..GateInput::default()
        };
        let all = judge(&standing);
        assert_eq!((all.len(), all.iter().filter(|one| one.remedy().is_some()).count()), (5, 0));
    }

    #[test]
    fn a_check_of_a_task_that_the_human_states_too_is_one_objection() {
        let executed = task(Some(EvidenceClass::Executed), Some("make test"));
        let failed = Rerun::Failed { output: "no".into() };
        let standing = GateInput { stated: broken().stated, ..standing(vec![executed], failed) };
        assert_eq!(judge(&standing).len(), 1);
    }
}
