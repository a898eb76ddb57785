//! Starts an agent with a proxy between it and its model. Nothing is written into settings: the address is passed on
//! the command line, or in the environment of an agent that we do not know.

mod claude;
mod codex;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use steadfast_model::Host;

use super::Launch;
use crate::install::{Homes, InstallError};

/// The services that agents call unless they are told otherwise.
const ANTHROPIC: &str = "https://api.anthropic.com";
const OPENAI: &str = "https://api.openai.com/v1";

/// The variables of clients that take their service from the environment.
const ANTHROPIC_VARIABLE: &str = "ANTHROPIC_BASE_URL";
const OPENAI_VARIABLE: &str = "OPENAI_BASE_URL";

/// The variables that send requests through a company's proxy.
const COMPANY_PROXIES: [&str; 6] = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const EXCEPTIONS: [&str; 2] = ["NO_PROXY", "no_proxy"];

#[derive(Debug, thiserror::Error)]
pub enum BehindError {
    #[error(transparent)]
    Settings(#[from] InstallError),
    #[error("{path} sets `{ANTHROPIC_VARIABLE}`; Claude Code follows its administrator's settings and not the proxy")]
    Managed { path: PathBuf },
    #[error("`{variable}` is set, and the proxy cannot stand between Claude Code and that service")]
    Cloud { variable: &'static str },
    #[error("cannot read the value of `--settings`: {0}")]
    SettingsArgument(io::Error),
    #[error("Codex uses `{provider}`, which has no address that the proxy can take the place of")]
    NoAddress { provider: String },
    #[error("Codex is not logged in, so its service is unknown")]
    NotLoggedIn,
    #[error("the way Codex is logged in does not name its service")]
    UnknownLogin,
}

/// How Codex is logged in. It decides which service the built-in provider calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodexLogin {
    ApiKey,
    ChatGpt,
    None,
    Unknown,
}

impl CodexLogin {
    /// Asks this Codex. Its credentials may be in a file or in the system's key ring.
    pub fn ask(program: &OsStr) -> Self {
        let mut status = steadfast_system::program(program);
        let said = status.args(["login", "status"]).stdin(Stdio::null()).output();
        said.map_or(Self::Unknown, |output| {
            let said = [output.stdout, output.stderr].concat();
            Self::of_status(&String::from_utf8_lossy(&said))
        })
    }

    /// Reads what `codex login status` prints.
    pub fn of_status(said: &str) -> Self {
        let says = |text: &str| said.lines().any(|line| line.trim_start().starts_with(text));
        if says("Logged in using ChatGPT") {
            Self::ChatGpt
        } else if says("API key configured") || says("Logged in using an API key") {
            Self::ApiKey
        } else if says("Not logged in") {
            Self::None
        } else {
            Self::Unknown
        }
    }
}

/// What the agent would find around it.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    pub homes: &'a Homes,
    /// The folder that the agent starts in.
    pub folder: &'a Path,
    /// Reads a variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Asks this Codex how it is logged in.
    pub codex_login: &'a dyn Fn(&OsStr) -> CodexLogin,
    /// The service to use instead of the one that the agent would have used.
    pub upstream: Option<&'a str>,
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Surroundings").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// A service that the agent calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentUpstream {
    /// Its base address.
    pub url: String,
}

/// An agent that is about to be started behind a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BehindProxy {
    way: Way,
    program: OsString,
    args: Vec<OsString>,
    /// One, or two for an agent that we do not know. The proxy has an address for each.
    pub upstreams: Vec<AgentUpstream>,
    /// The variables of the agent that the proxy takes over: the company's proxy and its certificates.
    network: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Way {
    Claude(claude::ClaudeSettings),
    Codex(codex::CodexProvider),
    /// By variables.
    Other,
}

/// Finds the host that a program is.
fn host_of(program: &OsStr) -> Option<Host> {
    match Path::new(program).file_stem()?.to_str()? {
        "claude" => Some(Host::Claude),
        "codex" => Some(Host::Codex),
        _ => None,
    }
}

impl BehindProxy {
    /// Reads where the agent of this command line would have sent its requests.
    pub fn of(program: &OsStr, args: &[OsString], around: &Surroundings<'_>) -> Result<Self, BehindError> {
        let of_environment = |name: &str| (around.variable)(name);
        let (program, mut args) = (program.to_owned(), args.to_vec());
        let (way, upstreams, network) = match host_of(&program) {
            Some(Host::Claude) => {
                let settings = claude::ClaudeSettings::of(&mut args, around)?;
                let url = settings.variable(ANTHROPIC_VARIABLE).unwrap_or_else(|| ANTHROPIC.to_owned());
                let network = network(|name| settings.variable(name));
                (Way::Claude(settings), vec![url], network)
            }
            Some(Host::Codex) => {
                let provider = codex::CodexProvider::of(&program, &mut args, around)?;
                let url = provider.url.clone();
                (Way::Codex(provider), vec![url], network(of_environment))
            }
            Some(Host::Sim) | None => {
                let of = |name, default: &str| of_environment(name).unwrap_or_else(|| default.to_owned());
                let urls = [(ANTHROPIC_VARIABLE, ANTHROPIC), (OPENAI_VARIABLE, OPENAI)];
                (Way::Other, urls.map(|(name, default)| of(name, default)).into(), network(of_environment))
            }
        };
        let url = |url| around.upstream.map_or(url, str::to_owned);
        let upstreams = upstreams.into_iter().map(|found| AgentUpstream { url: url(found) }).collect();
        Ok(Self { way, program, args, upstreams, network })
    }

    /// Returns the host, if we know the program.
    pub fn host(&self) -> Option<Host> {
        match self.way {
            Way::Claude(_) => Some(Host::Claude),
            Way::Codex(_) => Some(Host::Codex),
            Way::Other => None,
        }
    }

    /// Returns whether Claude Code loses functions that it has with Anthropic's own address only.
    pub fn leaves_first_party(&self) -> bool {
        matches!(self.way, Way::Claude(_))
            && self.upstreams.iter().any(|upstream| claude::is_first_party(&upstream.url))
    }

    /// Returns a variable about the network, as the agent would have used it.
    pub fn network(&self, names: [&str; 2]) -> Option<&str> {
        let of = |name: &str| self.network.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        names.into_iter().find_map(of)
    }

    /// Returns the command that starts the agent. `urls` are the proxy's addresses, in the order of the upstreams.
    pub fn launch(&self, urls: &[String]) -> Launch {
        let around = self.exceptions();
        let (args, env): (Vec<OsString>, Vec<(String, OsString)>) = match (&self.way, urls) {
            (Way::Claude(settings), [url, ..]) => {
                let settings = settings.behind(url, &around, self.leaves_first_party());
                (vec!["--settings".into(), settings.into()], Vec::new())
            }
            (Way::Codex(provider), [url, ..]) => (provider.behind(url), as_env(&around)),
            (Way::Other, [anthropic, openai, ..]) => {
                let urls =
                    [(ANTHROPIC_VARIABLE.to_owned(), anthropic.clone()), (OPENAI_VARIABLE.to_owned(), openai.clone())];
                (Vec::new(), as_env(&[&urls[..], &around].concat()))
            }
            // Each way has as many addresses as upstreams.
            _ => (Vec::new(), Vec::new()),
        };
        let args = args.into_iter().chain(self.args.iter().cloned()).collect();
        Launch { program: self.program.clone().into(), args, env, clear_env: false }
    }

    /// Keeps the agent's requests to our proxy away from the company's.
    fn exceptions(&self) -> Vec<(String, String)> {
        if self.network(["HTTP_PROXY", "http_proxy"]).or(self.network(["ALL_PROXY", "all_proxy"])).is_none() {
            return Vec::new();
        }
        let known = self.network(EXCEPTIONS).filter(|known| !known.is_empty());
        let value = known.map_or_else(|| "127.0.0.1".to_owned(), |known| format!("{known},127.0.0.1"));
        EXCEPTIONS.map(|name| (name.to_owned(), value.clone())).into()
    }
}

fn network(variable: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let names = COMPANY_PROXIES.iter().chain(&EXCEPTIONS).chain(&["NODE_EXTRA_CA_CERTS"]);
    names.filter_map(|name| Some(((*name).to_owned(), variable(name)?))).collect()
}

fn as_env(variables: &[(String, String)]) -> Vec<(String, OsString)> {
    variables.iter().map(|(name, value)| (name.clone(), value.into())).collect()
}

/// Takes an option with its value out of a command line, up to `--`: `--name value`, `--name=value`.
fn take_option(args: &mut Vec<OsString>, names: &[&str], keep: impl Fn(&str) -> bool) -> Vec<String> {
    let (mut taken, mut left, mut index) = (Vec::new(), Vec::new(), 0);
    while index < args.len() {
        let word = args[index].to_str().unwrap_or_default();
        if word == "--" {
            break;
        }
        let joined = names.iter().find_map(|name| word.strip_prefix(name)?.strip_prefix('='));
        let found = match joined {
            Some(value) => Some((value.to_owned(), 1)),
            None if names.contains(&word) => {
                args.get(index + 1).and_then(|value| value.to_str()).map(|value| (value.to_owned(), 2))
            }
            None => None,
        };
        match found {
            Some((value, words)) if !keep(&value) => {
                taken.push(value);
                index += words;
            }
            Some((_, words)) => {
                left.extend_from_slice(&args[index..index + words]);
                index += words;
            }
            None => {
                left.push(args[index].clone());
                index += 1;
            }
        }
    }
    left.extend_from_slice(&args[index..]);
    *args = left;
    taken
}

#[cfg(test)]
mod tests;
