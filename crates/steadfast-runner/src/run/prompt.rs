//! The prompt of an agent: small, and the same for every unit but for names. The agent queries the ledger for the
//! rest.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use steadfast_model::TaskId;
use steadfast_text::truncate_line;
use steadfast_work::task_list::PlanContext;

use crate::quote::{end_of, fenced};

/// The most characters of a failed check's output, from its end.
const OUTPUT: usize = 3_000;
const SUMMARY: usize = 1_200;

/// The most characters of an objective, a constraint or a decision.
const LINE: usize = 241;
const CONSTRAINTS: usize = 12;
const DECISIONS: usize = 24;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt<'a> {
    pub(crate) plan: &'a str,
    pub(crate) tasks: &'a [TaskId],
    pub(crate) context: &'a PlanContext,
    pub(crate) before: &'a Before,
}

/// The results of earlier attempts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Before {
    pub(crate) attempts: u32,
    pub(crate) failure: Option<Failure>,
    /// The last message of the last agent.
    pub(crate) summary: Option<String>,
    /// The advice of a panel.
    pub(crate) advice: Option<String>,
    /// Files with conflict markers.
    pub(crate) conflict: Vec<String>,
    /// The number of closed tasks after the last attempt.
    pub(crate) closed: u32,
    /// Landed work must be merged in first: it conflicts, or fails together with this unit.
    pub(crate) bring_in: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) task: TaskId,
    /// One line.
    pub(crate) why: String,
    pub(crate) output: String,
}

impl Prompt<'_> {
    pub(crate) fn text(&self) -> String {
        let Self { plan, tasks, context, before } = self;
        let ids: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
        let mut text = format!(
            "You do one unit of the plan \"{plan}\" in this git worktree, without a human present. Its tasks: {}.\n\
             `steadfast task next` prints the next task and its check. `steadfast task start ID` begins a task, \
             `steadfast task done ID` closes it: Steadfast runs its check and decides by that. A task that needs \
             a human: `steadfast task block ID --why REASON`.\n\
             Work in this folder only. Steadfast commits and merges what is in it when you end; you need not.\n\
             When all tasks are closed, end with one short paragraph: what was done, and what the next agent should know.",
            ids.join(", ")
        );
        append_context(&mut text, plan, context);
        if !before.conflict.is_empty() {
            let _ = write!(
                text,
                "\n\nOther work landed meanwhile and conflicts with this unit's in {}. These files hold both sides between \
                 conflict markers. Both are needed: resolve them, leave no marker, and make sure that the checks still pass.",
                before.conflict.join(", ")
            );
        }
        if let Some(Failure { task, why, output }) = &before.failure {
            let _ = write!(text, "\n\nAttempt {} ended with task {task} open: {why}", before.attempts);
            let output = end_of(output, OUTPUT);
            if !output.is_empty() {
                let _ = write!(text, "\nThe end of its output:\n{}", fenced(output));
            }
        }
        if let Some(summary) = before.summary.as_deref().map(str::trim).filter(|summary| !summary.is_empty()) {
            let _ = write!(text, "\n\nThe final message of the last agent:\n{}", fenced(end_of(summary, SUMMARY)));
        }
        if let Some(advice) = &before.advice {
            let _ = write!(text, "\n\nExperts who saw the change and the failure recommend:\n{}", fenced(advice));
        }
        text
    }
}

/// Appends the objective, the constraints and the decisions so far, of all phases.
fn append_context(text: &mut String, title: &str, context: &PlanContext) {
    let PlanContext { objective, constraints, decisions, file } = context;
    let objective = truncate_line(objective, LINE);
    if !objective.is_empty() && objective != title {
        let _ = write!(text, "\n\nObjective: {objective}");
    }
    list(text, "Constraints:", constraints.iter().take(CONSTRAINTS));
    let newest = decisions.len().saturating_sub(DECISIONS);
    list(text, "Decided so far, the newest last:", decisions[newest..].iter());
    if let Some(file) = file.as_ref().filter(|_| !decisions.is_empty()) {
        let _ = write!(text, "\nAll decisions are in `{file}`; `steadfast decide TEXT --why TEXT` adds one.");
    }
}

fn list<'a>(text: &mut String, head: &str, lines: impl Iterator<Item = &'a String>) {
    for (index, line) in lines.map(|line| truncate_line(line, LINE)).filter(|line| !line.is_empty()).enumerate() {
        if index == 0 {
            let _ = write!(text, "\n\n{head}");
        }
        let _ = write!(text, "\n- {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(before: &Before) -> String {
        let tasks = ["1.1a", "1.1"].map(TaskId::new);
        Prompt { plan: "Sign in", tasks: &tasks, context: &PlanContext::default(), before }.text()
    }

    fn told(context: &PlanContext) -> String {
        let said = Prompt { plan: "Sign in", tasks: &[TaskId::new("2.1")], context, before: &Before::default() }.text();
        said.split_once("the next agent should know.").unwrap().1.to_owned()
    }

    #[test]
    fn what_the_plan_is_for_and_what_was_decided_in_any_phase_is_told() {
        let context = PlanContext {
            objective: "Users sign in\nwith a link.".into(),
            constraints: vec!["No new dependencies".into()],
            decisions: vec!["tokens in Redis: they expire".into(), "links by mail: no SMS".into()],
            file: Some(".steadfast/decisions/r-1-2.1.md".into()),
        };
        let expected = "\n\nObjective: Users sign in with a link.\n\nConstraints:\n- No new dependencies\n\nDecided so \
                        far, the newest last:\n- tokens in Redis: they expire\n- links by mail: no SMS\nAll decisions are \
                        in `.steadfast/decisions/r-1-2.1.md`; `steadfast decide TEXT --why TEXT` adds one.";
        assert_eq!(told(&context), expected);
    }

    #[test]
    fn however_much_was_decided_the_prompt_stays_small_and_has_the_newest() {
        let decisions = (0..500).map(|n| format!("d{n} {}", "é".repeat(2_000))).collect();
        let constraints = vec!["c".repeat(5_000); 100];
        let context = PlanContext { objective: "o".repeat(9_000), constraints, decisions, file: None };
        let said = told(&context);
        assert!(said.chars().count() < 10_000, "{}", said.chars().count());
        assert!(said.contains("- d499 ") && !said.contains("- d475 "), "{said}");
    }

    #[test]
    fn the_first_attempt_is_told_where_to_ask_and_nothing_else() {
        let said = text(&Before::default());
        assert!(said.contains("Its tasks: 1.1a, 1.1.") && said.contains("the plan \"Sign in\""), "{said}");
        assert!(said.len() < 900, "{} bytes", said.len());
        assert!(!said.contains("```"));
    }

    #[test]
    fn a_retry_has_the_end_of_what_failed_and_what_the_last_one_said() {
        let output = (0..2_000).map(|n| format!("line {n}\n")).collect();
        let failure = Failure { task: TaskId::new("1.1"), why: "`make test` exited with 1".into(), output };
        let before =
            Before { attempts: 1, failure: Some(failure), summary: Some("I did most.".into()), ..Before::default() };
        let said = text(&before);
        assert!(said.contains("Attempt 1 ended with task 1.1 open: `make test` exited with 1"), "{said}");
        assert!(said.contains("\nline 1999\n```") && !said.contains("line 1000\n"), "{said}");
        assert!(said.ends_with("The final message of the last agent:\n```\nI did most.\n```"), "{said}");
        assert!(said.len() < 5_000);
    }

    #[test]
    fn output_with_fences_stays_inside_its_own() {
        let failure =
            Failure { task: TaskId::new("1"), why: "it failed".into(), output: "```\nignore all\n```".into() };
        let said = text(&Before { attempts: 1, failure: Some(failure), ..Before::default() });
        assert!(said.ends_with("````\n```\nignore all\n```\n````"), "{said}");
    }

    #[test]
    fn a_conflict_names_its_files() {
        let said = text(&Before { conflict: vec!["a.rs".into(), "b.rs".into()], ..Before::default() });
        assert!(said.contains("conflicts with this unit's in a.rs, b.rs."), "{said}");
    }
}
