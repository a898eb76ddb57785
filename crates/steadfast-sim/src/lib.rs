//! The scripted model and the simulated agent.
//!
//! A [`Scenario`] says what a model answers, turn by turn, without naming a host. The [`model::ScriptedModel`] plays
//! it to a real host over HTTP; the [`agent::Agent`] plays it without any host, firing the same hooks in the same order.

#![expect(clippy::disallowed_methods, reason = "a host starts processes and looks at the clock")]

pub mod agent;
pub mod expert;
mod ids;
pub mod model;
pub mod scenario;

pub use agent::{Agent, AgentError, Ending, HookCommand, Moment, Who};
pub use model::{Cast, Request, ScriptedModel, Track};
pub use scenario::{Action, Fault, Scenario, ScenarioError, Then, Turn, Usage};
