//! The nouns of the ledger: plans, tasks, checks and their evidence, runs and loops.

pub(crate) mod check;
pub(crate) mod evidence;
pub(crate) mod loops;
pub(crate) mod plan;
pub(crate) mod proof;
pub(crate) mod run;
pub(crate) mod task;
