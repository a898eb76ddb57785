//! The proxy between a coding agent and its model.
//!
//! Start with `exchange`: a request comes in, goes to the `upstream`, and the answer passes as it arrives. `watch`
//! reads the answer beside the stream, and `hold` keeps back the records of a call until the [`CallJudge`] has ruled.
//! [`wire`] knows the formats of models. A body is never parsed and written again: `steadfast-splice` splits a stream
//! and keeps its bytes, and replaces single values of JSON. An [`ExchangeSink`] gets copies of what passes.

mod body;
mod encoding;
mod exchange;
mod hold;
mod judge;
mod memory;
mod record;
mod server;
#[cfg(test)]
mod tests;
mod tls;
mod upstream;
mod watch;
pub mod wire;

pub use judge::{CallJudge, CallRuling, ModelExchange};
pub use record::{AnswerCopy, ExchangeCopy, ExchangeSink};
pub use server::{ProxyError, ProxyRoute, RunningProxy};
pub use tls::TrustError;
pub use upstream::{NetworkSettings, Upstream, UpstreamError};
