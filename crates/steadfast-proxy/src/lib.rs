//! The proxy between a coding agent and its model.
//!
//! [`sse`] splits a stream and keeps its bytes. [`wire`] reads the formats of models: calls, text, usage.

#[cfg(test)]
mod client;
mod hold;
pub mod json;
mod judge;
mod memory;
pub mod sse;
pub mod wire;

pub use judge::{CallJudge, ModelExchange, Ruling};
