//! Agents behind the proxy: [`ProxiedAgent`] starts a proxy for one of them, [`Meter`] counts what it uses, and
//! [`ProxyPipeline`] sends its calls through the pipeline of the hooks. `corrections` has what the results of its calls
//! carry. [`RunProxies`] starts one for each agent of a run; they spend from one [`RunAccount`]. [`ExchangeRecorder`]
//! stores exchanges, and [`RecordedSessions`] reads them.

mod account;
mod agent;
mod corrections;
mod meter;
mod pipeline;
mod recorder;
mod recording;
mod run;
#[cfg(test)]
mod tests;

pub use account::RunAccount;
pub use agent::{ProxiedAgent, ProxiedError, ProxyWork, routes};
pub use meter::Meter;
pub use pipeline::ProxyPipeline;
pub use recorder::{ExchangeRecorder, RecordError};
pub use recording::{RecordedSession, RecordedSessions};
pub use run::{AgentWork, ProxiedRunAgent, RunProxies};
