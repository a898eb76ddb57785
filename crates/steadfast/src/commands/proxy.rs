//! An agent behind our proxy.

mod agent;

use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use steadfast_hosts::launch::{BehindProxy, CodexLogin, Surroundings};
use steadfast_hosts::price::Prices;
use steadfast_model::{ProxyMode, Settings, Usd};
use steadfast_proxied::{ExchangeRecorder, Meter, ProxiedAgent, ProxyWork, routes};
use steadfast_proxy::{NetworkSettings, RunningProxy};

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};

/// Start an agent behind a proxy that sees its requests to the model.
///
/// The agent runs as always, in this terminal, and its exit code is that of this command. The proxy listens on this
/// machine only, ends with the agent, and writes nothing into settings. At the end it prints requests, calls, tokens and
/// cost. `claude` and `codex` are recognized by their names. Any other program gets `ANTHROPIC_BASE_URL` and
/// `OPENAI_BASE_URL`.
#[derive(Debug, Args)]
pub(super) struct Proxy {
    /// Service to use instead of the one that the agent would have used.
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// Address of this machine to listen on, for clients that you start yourself. The proxy prints its address and runs
    /// until Ctrl-C. Port 0 takes a free port.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["command", "mode"], requires = "upstream")]
    listen: Option<SocketAddr>,
    /// The effect of verdicts, if the agent does not call its hooks: `observe` records them, `advise` adds
    /// corrections to the results of calls, `enforce` also refuses calls. [default: proxy.mode, observe]
    #[arg(long, value_name = "MODE")]
    mode: Option<ProxyMode>,
    /// Cost limit in US dollars; 0 means no limit. When it is spent, the next request is refused, which ends `claude`
    /// and `codex` with the reason.
    #[arg(long, value_name = "USD")]
    budget: Option<Usd>,
    /// New file for the requests to models and their answers, without credentials and known secrets, for `steadfast
    /// replay` and bug reports. It ends at 512 MB.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The agent and its arguments.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND",
        required_unless_present = "listen"
    )]
    command: Vec<OsString>,
}

impl Proxy {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let settings = here::repository().ok().map(|repository| repository.config.load()).transpose()?;
        let prices = settings.as_ref().map(|settings| Prices::of_settings(&settings.run.prices.value));
        let meter = Arc::new(Meter::new(
            prices.unwrap_or_else(Prices::built_in),
            self.budget.map(|budget| budget.micro).filter(|micro| *micro > 0),
        ));
        let mode = self.mode.or(settings.map(|settings: Settings| settings.proxy.mode.value)).unwrap_or_default();
        let record = |file: &PathBuf| ExchangeRecorder::create(file, &environment::cwd(), environment::now());
        let work = |recorder| ProxyWork { mode, meter, recorder };
        match (self.command.split_first(), self.listen) {
            (Some((program, args)), _) => {
                let behind = self.behind(program, args)?;
                start_agent(&behind, &work(self.record.as_ref().map(record).transpose()?))
            }
            (None, Some(address)) => {
                let upstream = self.upstream.as_deref().unwrap_or_default();
                serve(address, upstream, &work(self.record.as_ref().map(record).transpose()?))
            }
            (None, None) => {
                Err(CommandError::usage("no agent to start").hint("`steadfast proxy -- claude` starts one"))
            }
        }
    }

    fn behind(&self, program: &OsStr, args: &[OsString]) -> Result<BehindProxy, CommandError> {
        let homes = environment::homes()
            .ok_or_else(|| CommandError::failure("the home folder is unknown").hint("set the variable `HOME`"))?;
        let around = Surroundings {
            homes: &homes,
            folder: &environment::cwd(),
            variable: &environment::text,
            codex_login: &CodexLogin::ask,
            upstream: self.upstream.as_deref(),
        };
        Ok(BehindProxy::of(program, args, &around)?)
    }
}

fn start_agent(behind: &BehindProxy, work: &ProxyWork) -> Result<(), CommandError> {
    let proxied = ProxiedAgent::start(behind, work, environment::of_hook)?;
    if behind.leaves_first_party()
        && let Some(text) = environment::current().first_party_note()
    {
        note!("{text}");
    }
    let code = agent::run(&proxied.launch)?;
    drop(proxied);
    note_end(work);
    if code == 0 { Ok(()) } else { Err(CommandError::ended(code)) }
}

/// Says what was used, and what was recorded.
fn note_end(work: &ProxyWork) {
    note!("{}", work.meter.summary());
    if let Some(recorder) = &work.recorder {
        note!("{}", recorder.finish());
    }
}

fn serve(address: SocketAddr, upstream: &str, work: &ProxyWork) -> Result<(), CommandError> {
    let of = |name: &str, other: &str| environment::text(name).or_else(|| environment::text(other)).unwrap_or_default();
    let network = NetworkSettings {
        http_proxy: of("http_proxy", "HTTP_PROXY"),
        https_proxy: of("https_proxy", "HTTPS_PROXY"),
        no_proxy: of("no_proxy", "NO_PROXY"),
        extra_authorities: environment::path("NODE_EXTRA_CA_CERTS"),
    };
    let (routes, tokens) = routes([upstream], &network, work.recorder.as_ref())?;
    let mut signals = agent::ending_signals()?;
    let proxy = RunningProxy::start_at(address, routes, Arc::clone(&work.meter) as _)?;
    for token in tokens {
        tell!("{}", proxy.url(&token))?;
    }
    signals.forever().next();
    drop(proxy);
    note_end(work);
    Ok(())
}
