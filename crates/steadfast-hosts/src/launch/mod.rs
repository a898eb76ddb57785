//! Command lines and environments that start a host without a human, or with a proxy before its model, as data.

use std::ffi::OsString;
use std::path::PathBuf;

use steadfast_model::Host;

mod behind;
mod claude;
mod codex;
mod headless;

pub use behind::{AgentUpstream, BehindError, BehindProxy, CodexLogin, Surroundings};
pub use claude::claude;
pub use codex::{codex, codex_config};
pub use headless::{AgentPermissions, Headless, headless};

/// A process to start. The caller provides pipes and working directory, and waits for the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub env: Vec<(String, OsString)>,
    /// Pass on nothing but `env`.
    pub clear_env: bool,
}

#[derive(Clone, Debug)]
pub struct LaunchOptions {
    pub program: PathBuf,
    pub prompt: String,
    /// Run tools without asking, for sandboxes, demonstrations and tests.
    pub unasked: bool,
    /// Extra settings in the host's format: JSON for Claude Code, one `key=value` in TOML for Codex.
    pub settings: Option<String>,
    pub alone: Option<Alone>,
}

/// A launch with a scripted model, separate from the user's account and settings.
#[derive(Clone, Debug)]
pub struct Alone {
    pub home: PathBuf,
    /// The scripted model, without a path: `http://127.0.0.1:4000`.
    pub model_url: String,
    /// The `PATH` of the host and of all its processes.
    pub path: OsString,
}

/// The options of a session without a human.
#[derive(Clone, Debug)]
pub struct Unattended {
    pub permissions: AgentPermissions,
    /// Our own program, which the session may call.
    pub steadfast: PathBuf,
    pub extra: Vec<String>,
}

/// Builds a session that continues with `prompt`, with the user's own account and settings: in this terminal, or
/// without a human.
pub fn go_on(host: Host, prompt: &str, unattended: Option<&Unattended>) -> Launch {
    let (program, mode) = match host {
        Host::Claude | Host::Sim => ("claude", "-p"),
        Host::Codex => ("codex", "exec"),
    };
    let mut args: Vec<OsString> = Vec::new();
    if let Some(unattended) = unattended {
        args.push(mode.into());
        args.extend(match host {
            Host::Claude | Host::Sim => unattended.permissions.claude(&unattended.steadfast),
            Host::Codex => unattended.permissions.codex(),
        });
        args.extend(unattended.extra.iter().map(OsString::from));
    }
    args.extend(["--".into(), prompt.into()]);
    Launch { program: program.into(), args, env: Vec::new(), clear_env: false }
}

/// An API key that both hosts require and no scripted model checks.
const DUMMY_KEY: &str = "dummy-key";

impl Launch {
    fn new(options: &LaunchOptions, args: Vec<OsString>) -> Self {
        let env = match &options.alone {
            Some(alone) => {
                vec![("HOME".to_owned(), alone.home.clone().into_os_string()), ("PATH".to_owned(), alone.path.clone())]
            }
            None => Vec::new(),
        };
        Self { program: options.program.clone(), args, env, clear_env: options.alone.is_some() }
    }

    fn with_env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(alone: Option<Alone>) -> LaunchOptions {
        let (program, prompt) = ("/bin/host".into(), "- do it".to_owned());
        LaunchOptions { program, prompt, unasked: false, settings: None, alone }
    }

    fn alone() -> Alone {
        Alone { home: "/tmp/home".into(), model_url: "http://127.0.0.1:4000".to_owned(), path: "/bin".into() }
    }

    fn variable<'a>(launch: &'a Launch, name: &str) -> Option<&'a str> {
        launch.env.iter().find(|(key, _)| key == name).and_then(|(_, value)| value.to_str())
    }

    #[test]
    fn a_prompt_is_never_taken_for_an_option() {
        for launch in [claude(&options(None)), codex(&options(None))] {
            assert_eq!(launch.args[launch.args.len() - 2..], ["--", "- do it"]);
        }
    }

    #[test]
    fn nothing_dangerous_is_passed_unasked_for() {
        for launch in [claude(&options(None)), codex(&options(None))] {
            assert!(!launch.args.iter().any(|arg| arg.to_string_lossy().contains("dangerously")), "{launch:?}");
        }
    }

    #[test]
    fn a_run_with_the_users_account_keeps_the_environment() {
        for launch in [claude(&options(None)), codex(&options(None))] {
            assert_eq!((launch.env, launch.clear_env), (Vec::new(), false));
        }
    }

    #[test]
    fn a_run_alone_sees_only_its_own_home_and_model() {
        let claude = claude(&options(Some(alone())));
        assert!(claude.clear_env);
        assert_eq!(variable(&claude, "HOME"), Some("/tmp/home"));
        assert_eq!(variable(&claude, "ANTHROPIC_BASE_URL"), Some("http://127.0.0.1:4000"));
        let codex = codex(&options(Some(alone())));
        assert!(codex.clear_env);
        assert_eq!(variable(&codex, "CODEX_HOME"), Some("/tmp/home/.codex"));
    }

    #[test]
    fn the_configuration_of_codex_names_the_model_and_the_variable_of_its_key() {
        let config: toml_edit::DocumentMut = codex_config(&alone()).parse().unwrap();
        let provider = &config["model_providers"]["scripted"];
        assert_eq!(provider["base_url"].as_str(), Some("http://127.0.0.1:4000/v1"));
        let launch = codex(&options(Some(alone())));
        assert_eq!(variable(&launch, provider["env_key"].as_str().unwrap()), Some("dummy-key"));
    }
}
