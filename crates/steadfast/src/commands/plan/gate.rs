use clap::Args;
use steadfast_model::Opening;
use steadfast_store::take_kept;
use steadfast_text::and_more;
use steadfast_work::task_list::{ClosedGate, Locked, short_of};
use steadfast_work::why::whose_gate;

use crate::commands::Unasked;
use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::tell;
use crate::terminal;

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
    #[command(flatten)]
    _unasked: Unasked,
}

impl Lock {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let mut list = here::task_list("plan lock")?;
        let Locked { gate, already, not_sealed } = list.lock(self.why.as_deref())?;
        let state = if already { "was already closed" } else { "is closed" };
        tell!("the plan gate {} {state}", whose_gate(&gate.scope))?;
        tell!("protected until a human approves a plan: {}", gate.protected.join(", "))?;
        if !not_sealed.is_empty() {
            tell!("not sealed, so Steadfast cannot restore changes by a script there: {}", and_more(&not_sealed, 5))?;
        }
        if let Some(at) = gate.expires_at {
            tell!("the gate opens by itself at {}", terminal::moment(at))?;
        }
        tell!("`steadfast plan propose FILE` stores a draft for the human to read")
    }
}

impl Reject {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let list = here::task_list("plan reject")?;
        let draft = list.draft_of(self.hash.as_deref())?;
        let is_its = |closed_gate: &ClosedGate| closed_gate.draft().is_some_and(|line| line.hash == draft.hash);
        let gates: Vec<ClosedGate> = list.gates().into_iter().filter(is_its).collect();
        if gates.is_empty() {
            return Err(CommandError::failure(format!("no plan gate waits for draft `{}`", short_of(&draft)))
                .hint("`steadfast plan status` shows the plan"));
        }
        list.open(&gates, &Opening::Rejected)?;
        tell!("plan {} is rejected, and the plan gate is open: {}", short_of(&draft), draft.title)?;
        tell!("the draft is kept; `steadfast plan approve {}` still approves it", short_of(&draft))
    }
}

pub(super) fn unlock() -> Result<(), CommandError> {
    let list = here::task_list("plan unlock")?;
    let gates = list.gates();
    if gates.is_empty() {
        return tell!("the plan gate is already open");
    }
    list.open(&gates, &Opening::Unlocked)?;
    for ClosedGate { gate, .. } in &gates {
        tell!("the plan gate {} is open; no plan is approved", whose_gate(&gate.scope))?;
    }
    Ok(())
}

pub(super) fn take(file: &str) -> Result<(), CommandError> {
    let list = here::task_list("plan take")?;
    let place = list.place();
    for closed_gate in list.gates() {
        let taken = take_kept(place, &closed_gate.gate.scope, closed_gate.root(place), file, environment::now());
        let taken = taken.map_err(|error| CommandError::failure(format!("cannot write `{file}`: {error}")))?;
        if let Some(path) = taken {
            tell!("{} is restored and sealed", path.display())?;
            return tell!("the file that was there is kept; the plan gate stays closed");
        }
    }
    Err(CommandError::failure(format!("no closed plan gate has a moved version of `{file}`"))
        .hint("`steadfast why` lists the files that Steadfast moved aside"))
}
