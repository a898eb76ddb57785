//! The hints for the errors of the proxy.

use steadfast_hosts::launch::BehindError;
use steadfast_proxied::{ProxiedError, RecordError};
use steadfast_proxy::{ProxyError, UpstreamError};
use steadfast_work::chain;

use super::CommandError;
use super::hints::install;

impl From<BehindError> for CommandError {
    fn from(error: BehindError) -> Self {
        let said = Self::failure(chain(&error));
        hints!(said, &error, {
            BehindError::Settings(settings) => ("{}", install(settings)),
            BehindError::Managed { .. } => ("ask the administrator to remove it, or start the agent without the proxy"),
            BehindError::Cloud { .. } => ("start the agent without the proxy; its hooks work as always"),
            BehindError::SettingsArgument(_) => ("give `--settings` a JSON object or a file that holds one"),
            BehindError::NoAddress { .. } => ("start Codex without the proxy, or with a provider that has a `base_url`"),
            BehindError::NotLoggedIn => ("`codex login` logs in"),
            BehindError::UnknownLogin =>
                ("name the service: `steadfast proxy --upstream URL -- codex`; `codex login status` shows the login"),
        })
    }
}

impl From<ProxyError> for CommandError {
    fn from(error: ProxyError) -> Self {
        let said = Self::failure(chain(&error));
        hints!(said, &error, {
            ProxyError::NotLoopback { .. } => ("the proxy serves this machine only"),
            ProxyError::Listen { .. } => ("another program may listen there; port 0 takes a free one"),
            ProxyError::Token | ProxyError::Start(_) => ("`steadfast doctor` checks this machine"),
        })
    }
}

impl From<UpstreamError> for CommandError {
    fn from(error: UpstreamError) -> Self {
        let said = Self::failure(chain(&error));
        hints!(said, &error, {
            UpstreamError::Address { .. } => ("a service is named like `https://api.anthropic.com`"),
            UpstreamError::Trust(_) =>
                ("install the certificates of authorities (`ca-certificates`), or name a file with `SSL_CERT_FILE`"),
            UpstreamError::Proxy { .. } => ("`HTTPS_PROXY` names the proxy"),
            UpstreamError::Connect { .. } | UpstreamError::Tunnel { .. } | UpstreamError::Broken { .. } => ("try again"),
        })
    }
}

impl From<RecordError> for CommandError {
    fn from(error: RecordError) -> Self {
        let said = Self::failure(&error);
        hints!(said, &error, {
            RecordError::Exists(_) => ("name a new file: a recording never replaces one"),
            RecordError::Create { .. } => ("name a file in a folder that you can write"),
        })
    }
}

impl From<ProxiedError> for CommandError {
    fn from(error: ProxiedError) -> Self {
        let said = Self::failure(&error);
        hints!(said, error, {
            ProxiedError::UnknownTools =>
                ("start it with `--mode observe`; `claude` and `codex` are known by their names"),
            ProxiedError::Token(_) => ("try again"),
            ProxiedError::Behind(error) => { error.into() },
            ProxiedError::Upstream(error) => { error.into() },
            ProxiedError::Proxy(error) => { error.into() },
        })
    }
}
