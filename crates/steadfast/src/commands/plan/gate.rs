use clap::Args;
use steadfast_model::Opening;
use steadfast_store::take_kept;
use steadfast_text::and_more;
use steadfast_work::task_list::{ClosedGate, Locked, short_of};
use steadfast_work::why::whose_gate;

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::tell;

/// Close the plan gate.
#[derive(Debug, Args)]
pub(in crate::commands) struct Lock {
    /// Reason shown to the agent when it tries to write a protected file.
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
}

/// Reject a draft.
#[derive(Debug, Args)]
pub(in crate::commands) struct Reject {
    /// First 8 or more characters of the hash of the draft. [default: the draft that awaits approval]
    #[arg(value_name = "HASH8")]
    hash: Option<String>,
}

impl Lock {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let mut list = here::task_list("plan lock")?;
        let Locked { gate, already, not_sealed } = list.lock(self.why.as_deref())?;
        let state = if already { "is closed already" } else { "is closed" };
        tell!("the plan gate {} {state}", whose_gate(&gate.scope))?;
        tell!("not written until a human says yes: {}", gate.protected.join(", "))?;
        if !not_sealed.is_empty() {
            tell!("not sealed, so what a script changes there is not put back: {}", and_more(&not_sealed, 5))?;
        }
        if let Some(at) = gate.expires_at {
            tell!("it opens by itself at {at}")?;
        }
        tell!("`steadfast plan propose FILE` keeps a draft for the human to read")
    }
}

impl Reject {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let list = here::task_list("plan reject")?;
        let draft = list.draft_of(self.hash.as_deref())?;
        let is_its = |standing: &ClosedGate| standing.draft().is_some_and(|line| line.hash == draft.hash);
        let gates: Vec<ClosedGate> = list.gates().into_iter().filter(is_its).collect();
        if gates.is_empty() {
            return Err(CommandError::failure(format!("draft `{}` waits at no gate", short_of(&draft)))
                .hint("`steadfast plan status` shows how the plan stands"));
        }
        list.open(&gates, &Opening::Rejected)?;
        tell!("plan {} is rejected, and the plan gate is open: {}", short_of(&draft), draft.title)?;
        tell!("the draft is kept; `steadfast plan approve {}` approves it after all", short_of(&draft))
    }
}

pub(super) fn unlock() -> Result<(), CommandError> {
    let list = here::task_list("plan unlock")?;
    let gates = list.gates();
    if gates.is_empty() {
        return tell!("the plan gate is open already");
    }
    list.open(&gates, &Opening::Unlocked)?;
    for ClosedGate { gate, .. } in &gates {
        tell!("the plan gate {} is open; nothing is approved by that", whose_gate(&gate.scope))?;
    }
    Ok(())
}

pub(super) fn take(file: &str) -> Result<(), CommandError> {
    let list = here::task_list("plan take")?;
    let place = list.place();
    for standing in list.gates() {
        let taken = take_kept(place, &standing.gate.scope, standing.root(place), file, environment::now());
        let taken = taken.map_err(|error| CommandError::failure(format!("cannot write `{file}`: {error}")))?;
        if let Some(path) = taken {
            tell!("{} is as it was moved aside, and sealed so", path.display())?;
            return tell!("what stood there is kept; the plan gate stays closed");
        }
    }
    Err(CommandError::failure(format!("no other version of `{file}` is kept for a closed plan gate"))
        .hint("`steadfast why` names what is kept aside; copy it from there"))
}
