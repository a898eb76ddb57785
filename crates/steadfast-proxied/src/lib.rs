//! Agents behind the proxy: [`ProxiedAgent`] starts a proxy for one of them, [`Meter`] counts what it uses, and
//! [`ProxyPipeline`] sends its calls through the pipeline of the hooks. `corrections` has what the results of its calls carry.

mod agent;
mod corrections;
mod meter;
mod pipeline;

pub use agent::{ProxiedAgent, ProxiedError, routes};
pub use meter::Meter;
pub use pipeline::ProxyPipeline;
