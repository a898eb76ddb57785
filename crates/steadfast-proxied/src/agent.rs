//! A proxy for one agent.

use std::path::PathBuf;
use std::sync::Arc;

use steadfast_hook::HookEnvironment;
use steadfast_hosts::launch::{BehindError, BehindProxy, Launch};
use steadfast_model::ProxyMode;
use steadfast_proxy::{CallJudge, NetworkSettings, ProxyError, ProxyRoute, RunningProxy, Upstream, UpstreamError};
use steadfast_store::Place;
use steadfast_text::hex;

use crate::meter::Meter;
use crate::pipeline::ProxyPipeline;
use crate::recorder::ExchangeRecorder;

#[derive(Debug, thiserror::Error)]
pub enum ProxiedError {
    #[error("the rules do not know the tools of this agent, so the proxy can only observe")]
    UnknownTools,
    #[error("cannot make a token: {0}")]
    Token(getrandom::Error),
    #[error(transparent)]
    Behind(#[from] BehindError),
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    #[error(transparent)]
    Proxy(#[from] ProxyError),
}

/// The work of an agent's proxy.
#[derive(Clone, Debug)]
pub struct ProxyWork {
    pub mode: ProxyMode,
    pub meter: Arc<Meter>,
    /// `None`: it stores nothing.
    pub recorder: Option<Arc<ExchangeRecorder>>,
}

/// A running proxy, and the command that starts the agent behind it. The proxy ends when this is dropped.
#[derive(Debug)]
pub struct ProxiedAgent {
    pub launch: Launch,
    _proxy: RunningProxy,
}

impl ProxiedAgent {
    /// Starts a proxy for an agent. `around` returns what a hook of that agent would find around it.
    pub fn start(
        behind: &BehindProxy,
        work: &ProxyWork,
        around: impl Fn() -> HookEnvironment + Send + Sync + 'static,
    ) -> Result<Self, ProxiedError> {
        let ProxyWork { mode, meter, recorder } = work;
        let HookEnvironment { cwd, user_state, .. } = around();
        if let Some(place) = Place::find(&cwd, user_state.as_deref()) {
            meter.report_unseen_in(&place);
        }
        let judge: Arc<dyn CallJudge> = match (behind.host(), *mode) {
            (Some(host), mode) => ProxyPipeline::start(Arc::clone(meter), host, mode.into(), Box::new(around)),
            (None, ProxyMode::Observe) => Arc::clone(meter) as _,
            (None, ProxyMode::Advise | ProxyMode::Enforce) => return Err(ProxiedError::UnknownTools),
        };
        Self::judged_by(behind, judge, recorder.as_ref())
    }

    /// Starts a proxy whose judge is given.
    pub(crate) fn judged_by(
        behind: &BehindProxy,
        judge: Arc<dyn CallJudge>,
        recorder: Option<&Arc<ExchangeRecorder>>,
    ) -> Result<Self, ProxiedError> {
        let network = NetworkSettings {
            http_proxy: variable(behind, ["http_proxy", "HTTP_PROXY"]),
            https_proxy: variable(behind, ["https_proxy", "HTTPS_PROXY"]),
            no_proxy: variable(behind, ["no_proxy", "NO_PROXY"]),
            extra_authorities: behind.network(["NODE_EXTRA_CA_CERTS", "NODE_EXTRA_CA_CERTS"]).map(PathBuf::from),
        };
        let urls = behind.upstreams.iter().map(|upstream| upstream.url.as_str());
        let (routes, tokens) = routes(urls, &network, recorder)?;
        let proxy = RunningProxy::start(routes, judge)?;
        let launch = behind.launch(&tokens.iter().map(|token| proxy.url(token)).collect::<Vec<_>>());
        Ok(Self { launch, _proxy: proxy })
    }
}

fn variable(behind: &BehindProxy, names: [&str; 2]) -> String {
    let of_all = || behind.network(["all_proxy", "ALL_PROXY"]).filter(|_| !names[0].starts_with("no"));
    behind.network(names).or_else(of_all).unwrap_or_default().to_owned()
}

/// Returns a route with a token of its own for each service, and the tokens.
pub fn routes<'a>(
    urls: impl IntoIterator<Item = &'a str>,
    network: &NetworkSettings,
    recorder: Option<&Arc<ExchangeRecorder>>,
) -> Result<(Vec<ProxyRoute>, Vec<String>), ProxiedError> {
    let (mut routes, mut tokens) = (Vec::new(), Vec::new());
    for url in urls {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(ProxiedError::Token)?;
        let token = hex(&bytes);
        let route = ProxyRoute::new(token.clone(), Upstream::new(url, network)?)?;
        routes.push(match recorder {
            Some(recorder) => route.copied_to(Arc::clone(recorder) as _),
            None => route,
        });
        tokens.push(token);
    }
    Ok((routes, tokens))
}
