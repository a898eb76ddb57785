//! What to do about an error of a run or a loop.

use std::io::IsTerminal;

use steadfast_runner::RunError;
use steadfast_runner::preflight::NotReady;
use steadfast_store::ledger::LedgerError;
use steadfast_work::chain;

use super::CommandError;
use crate::commands::not_clear;

impl From<RunError> for CommandError {
    fn from(error: RunError) -> Self {
        use RunError as E;
        let said = Self::new(error.cause().into(), chain(&error));
        match error {
            E::Work(error) => error.into(),
            E::Ledger(error @ LedgerError::UnknownRun { .. }) => {
                Self::failure(error).hint("without `--run` it is the last one of this worktree that is not over")
            }
            E::Ledger(error) => error.into(),
            E::NotReady(error) => error.into(),
            E::NotClear(begun) => not_clear(&begun, std::io::stdin().is_terminal()),
            E::Halted { .. } => said.hint("what was done is kept; mend that, and `steadfast resume` goes on"),
            E::Paused { why, .. } => {
                let command = resume_after(&why);
                said.hint(format!("`{command}` goes on where it is; `steadfast progress` shows how it stands"))
            }
            E::NeedsReview { branch, .. } => said
                .hint(format!("the work is on {branch}"))
                .hint("`steadfast task done ID --force` confirms one, `steadfast task start ID` opens it again"),
            E::NotOver { .. } => said
                .hint("`steadfast resume` goes on with it; `steadfast resume --give-up` ends it and keeps its branch"),
            E::UnderWay { .. } => {
                said.hint("`steadfast progress` shows how it stands; Ctrl-C in its terminal pauses it")
            }
            E::Contested(_) => said.hint("`steadfast progress` shows how it stands"),
            E::LoopNotFinished(_) => said
                .hint("`steadfast resume` goes on with it; `steadfast loop status` shows how it stands")
                .hint("`--fresh` puts it away, with what was done kept, and begins this one"),
            E::LoopUnderWay { .. } => {
                said.hint("`steadfast loop status` shows how it stands; Ctrl-C in its terminal pauses it")
            }
            E::NoRun(_) => {
                said.hint("it is worked on in a session; `steadfast loop next` says what is to be done there")
            }
            E::LoopInRun { .. } => said.hint("`steadfast resume` goes on with it, reviews and gate among it"),
            E::NoBase => said.hint("commit first, and `steadfast loop start --fresh`"),
            E::NoPlan => said.hint("`steadfast loop next` says what is to be done now"),
            E::NoSpec { .. } => {
                said.hint("write one yourself: `steadfast run --loop SPEC.md --fresh`; `steadfast resume` tries again")
            }
            E::SpecNotApproved { .. } => {
                said.hint("read it, and change it as you like; `steadfast resume` takes it as it is then")
            }
            E::NoReview { .. } => {
                said.hint("`steadfast resume` asks them again, in a session `steadfast loop review` does")
            }
            E::PutOff(_) => {
                said.hint("`steadfast loop review waive ID --why REASON` takes it as it is, `steadfast resume` goes on")
            }
            E::GateHeld { .. } => said
                .hint("see to it, and `steadfast resume` asks again")
                .hint("`steadfast loop status` lists the objections; `steadfast loop waive ID --why REASON` takes one as it is"),
            E::Capped { branch, .. } => said
                .hint(format!("what was done is on {branch}, and was not called complete"))
                .hint("`steadfast loop waive ID --why REASON` takes an objection as it is; `steadfast resume` goes on then"),
            E::BudgetSpent { .. } => said.hint("`steadfast resume --budget USD` allows it more"),
            E::BranchGone(_) => said.hint("it held what was done; `git reflog` may still know where it was"),
            E::Grounds(_) | E::NoTree => said.hint("`steadfast doctor` looks at this repository"),
            E::Folder { .. } => said.hint("make room there, or see to its permissions"),
            E::NotWritten { .. } => said.hint("make room there, or see to its permissions; `steadfast resume` goes on"),
            E::Lease(_) | E::Circle(_) | E::Thread(_) | E::TakenOver | E::LoopLock { .. } => said,
        }
    }
}

impl From<NotReady> for CommandError {
    fn from(error: NotReady) -> Self {
        use NotReady as E;
        let said = Self::new(error.cause().into(), chain(&error));
        match error {
            E::NoRepository(_) => {
                said.hint("`git init`, and a first commit: agents work in worktrees, and what they did is merged")
            }
            E::NoCommit => said.hint("commit something first: agents begin at the last commit"),
            E::Detached => said.hint("`git switch BRANCH`, or `git switch --create BRANCH` to begin one here"),
            E::OldGit(_) => said.hint("install git 2.38 or newer"),
            E::SubmoduleCommit { path, .. } => {
                let hint = format!("`git submodule update --init {path}` gets it");
                said.hint(hint)
            }
            E::NotCommitted { .. } => said
                .hint("commit or stash them: agents begin at the last commit and would not see them")
                .hint("`--from-head` begins there all the same; your files stay as they are"),
            E::Git(_) => said.hint("`steadfast doctor` looks at this repository"),
            E::NoProgram(_) => said.hint("mount `/proc`, which says where it is"),
            E::NoHost { .. } => said.hint("install it, or name another with `--host`"),
            E::NoHome => said.hint("set `HOME`, or `run.worktrees` to a folder of yours"),
            E::NotWritable { .. } => said
                .hint("make room there, or see to its permissions; `run.worktrees` names another folder for worktrees"),
            E::NearlyFull(_) => said.hint("make room there: worktrees and the ledger need it"),
        }
    }
}

/// What is used up has to be given again, or switched off with `none`.
fn resume_after(why: &str) -> &'static str {
    if why.starts_with("the budget is spent") {
        "steadfast resume --budget USD"
    } else if why.ends_with(" iterations are used") {
        "steadfast resume --max-iterations N"
    } else {
        "steadfast resume"
    }
}

#[cfg(test)]
mod tests {
    use super::resume_after;

    #[test]
    fn the_hint_of_a_limit_names_its_flag() {
        assert_eq!(resume_after("the budget is spent: $7.00 of $7.00"), "steadfast resume --budget USD");
        assert_eq!(resume_after("25 of 25 iterations are used"), "steadfast resume --max-iterations N");
        assert_eq!(resume_after("a human stopped it"), "steadfast resume");
    }
}
