//! The scripted model and the simulated agent, for tests and demos.
//!
//! A [`Scenario`] lists a model's answers, turn by turn, independent of a host. The [`model::ScriptedModel`] plays it
//! to a real host over HTTP. The [`agent::Agent`] plays it without a host and fires the same hooks in the same order.
//! Start with `scenario.rs`, then `agent/session.rs` or `model/stage.rs`.

#![expect(clippy::disallowed_methods, reason = "a host starts processes and looks at the clock")]

pub mod agent;
pub mod expert;
mod ids;
pub mod model;
pub mod scenario;

pub use agent::{Agent, AgentError, Ending, HookCommand, Moment, Who};
pub use model::{Cast, Request, ScriptedModel, Track};
pub use scenario::{Action, Fault, Scenario, ScenarioError, Then, Turn, Usage};
