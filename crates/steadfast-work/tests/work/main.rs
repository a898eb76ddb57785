//! The rules of tasks, plans, gates, decisions, loops and runs, without a process of our own: a repository in a temporary
//! folder, a clock that the test moves, a human and an agent.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod decisions;
mod drafts;
mod evidence;
mod failures;
mod gates;
mod loops;
mod plans;
mod scene;
mod space;
mod tasks;
mod trackers;
mod units;
