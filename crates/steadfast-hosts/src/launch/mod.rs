//! Starting a host without a human: the command line and the environment, as data.

use std::ffi::OsString;
use std::path::PathBuf;

mod claude;
mod codex;

pub use claude::claude;
pub use codex::{codex, codex_config};

/// A process to start. Whoever starts it has the pipes, the working directory and the end of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub env: Vec<(String, OsString)>,
    /// Nothing but `env` is passed on.
    pub clear_env: bool,
}

#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// The host's program.
    pub program: PathBuf,
    pub prompt: String,
    /// Tools run without asking: for sandboxes, demonstrations and tests.
    pub unasked: bool,
    /// Settings on top of what the host finds by itself, in its own language: JSON for Claude Code, one `key=value` in
    /// TOML for Codex.
    pub settings: Option<String>,
    pub alone: Option<Alone>,
}

/// Away from the user's account and settings, against a scripted model.
#[derive(Clone, Debug)]
pub struct Alone {
    pub home: PathBuf,
    /// The scripted model, without a path: `http://127.0.0.1:4000`.
    pub model_url: String,
    /// `PATH` of the host and of everything it starts.
    pub path: OsString,
}

/// What both hosts ask for and no scripted model looks at.
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
