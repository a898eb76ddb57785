use std::collections::BTreeMap;

use steadfast_model::{EvidenceClass, Status, TaskId};

use super::objection::Objection;

/// All that the gate looks at. Whoever fills it in looked at the final tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    pub tasks: Vec<Held>,
    /// Each distinct check, run once more.
    pub reruns: BTreeMap<String, Rerun>,
    /// Blockers that the last thorough review left; `None`: there was none that passed or failed.
    pub blockers: Option<u32>,
    pub broken: Vec<Broken>,
    pub weakened: Vec<Weak>,
}

/// A task, and what says that it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub id: TaskId,
    pub title: String,
    pub status: Status,
    pub files: Vec<String>,
    /// Its check, where that is a command.
    pub command: Option<String>,
    /// What it was closed with. None: nothing.
    pub class: Option<EvidenceClass>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rerun {
    Passed,
    Failed {
        output: String,
    },
    /// It could not be run to its end.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub must_not: String,
    pub file: String,
    /// `was changed`.
    pub done: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weak {
    pub file: String,
    pub line: u32,
    /// What was weakened.
    pub text: String,
}

/// What there is to object to. Nothing: it may be called complete.
pub fn judge(standing: &Standing) -> Vec<Objection> {
    let mut objections: Vec<Objection> = Vec::new();
    let mut failed: Vec<&str> = Vec::new();
    for task in &standing.tasks {
        let (id, title) = (task.id.clone(), task.title.clone());
        if task.status != Status::Done {
            objections.push(Objection::Open { task: id, title });
            continue;
        }
        match (&task.command, task.class) {
            // A human took it on themselves.
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
    for Broken { must_not, file, done } in &standing.broken {
        objections.push(Objection::MustNot { must_not: must_not.clone(), file: file.clone(), done: done.clone() });
    }
    for Weak { file, line, text } in &standing.weakened {
        objections.push(Objection::Weakened { file: file.clone(), line: *line, text: text.clone() });
    }
    if standing.blockers != Some(0) {
        objections.push(Objection::Unreviewed { blockers: standing.blockers.unwrap_or(0) });
    }
    objections
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(class: Option<EvidenceClass>, command: Option<&str>) -> Held {
        Held {
            id: TaskId::new("1.1"),
            title: "Sign in".into(),
            status: Status::Done,
            files: vec!["src/a.rs".into()],
            command: command.map(str::to_owned),
            class,
        }
    }

    fn standing(tasks: Vec<Held>, rerun: Rerun) -> Standing {
        Standing { tasks, reruns: [("make test".to_owned(), rerun)].into(), blockers: Some(0), ..Standing::default() }
    }

    fn objections(standing: &Standing) -> Vec<String> {
        judge(standing).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_was_run_on_the_final_tree_passes() {
        let done = task(Some(EvidenceClass::Executed), Some("make test"));
        assert_eq!(objections(&standing(vec![done], Rerun::Passed)), Vec::<String>::new());
    }

    #[test]
    fn a_claim_an_open_task_and_evidence_that_nobody_renewed_do_not() {
        let open = Held { status: Status::InProgress, ..task(None, None) };
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
            assert_eq!(objections(&Standing { blockers, ..Standing::default() }), [said]);
        }
    }

    #[test]
    fn a_broken_must_not_and_a_weakened_test_become_work() {
        let broken =
            Broken { must_not: "no new dependencies".into(), file: "Cargo.toml".into(), done: "was changed".into() };
        let weak = Weak { file: "tests/a.rs".into(), line: 3, text: "a test is skipped now".into() };
        let standing =
            Standing { broken: vec![broken], weakened: vec![weak], blockers: Some(0), ..Standing::default() };
        let titles: Vec<String> = judge(&standing).iter().filter_map(|one| Some(one.remedy()?.title)).collect();
        assert_eq!(
            titles,
            ["Take back what breaks \"no new dependencies\"", "Give tests/a.rs the strength back that its tests had"]
        );
    }
}
