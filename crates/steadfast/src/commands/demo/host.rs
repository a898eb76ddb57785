//! The host of the scenario: the simulated agent, or a real program with the scripted model.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use steadfast_hosts::install::{self, Homes, InstallRequest, InstallScope};
use steadfast_hosts::launch::{self, Alone, Launch, LaunchOptions};
use steadfast_model::{Host, Millis};
use steadfast_sim::ScriptedModel;

use super::sandbox::{Sandbox, temporary};
use super::script;
use crate::environment;
use crate::error::CommandError;

/// Time limit for a host to end after its last line: it still runs the hook of the end of the session.
const END_LIMIT: Duration = Duration::from_secs(3);

/// A running host; dropping it ends the process.
#[derive(Debug)]
pub(super) struct Performance {
    child: Child,
    lines: Receiver<Line>,
    deadline: Instant,
    limit: Duration,
    errors: PathBuf,
    model: Option<ScriptedModel>,
}

/// A line of the host, with its time.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) at: Millis,
    pub(super) text: String,
}

/// The program of a real host; `None` for the simulated agent, which is part of this program.
pub(super) fn find_program(host: Host, named: Option<PathBuf>) -> Result<Option<PathBuf>, CommandError> {
    let (name, package) = match host {
        Host::Sim => return Ok(None),
        Host::Claude => ("claude", "@anthropic-ai/claude-code"),
        Host::Codex => ("codex", "@openai/codex"),
    };
    let hint = format!(
        "install it with `npm install --global {package}`, or give its path with `--program PATH`; `steadfast demo` without \
         `--host` needs no other program"
    );
    if let Some(program) = named {
        return match fs::canonicalize(&program) {
            Ok(program) if program.is_file() => Ok(Some(program)),
            _ => Err(CommandError::failure(format!("`{}` is not a program", program.display())).hint(hint)),
        };
    }
    let folders = environment::path("PATH").unwrap_or_default();
    std::env::split_paths(folders.as_os_str())
        .map(|folder| environment::cwd().join(folder).join(name))
        .find(|program| program.is_file())
        .map(Some)
        .ok_or_else(|| CommandError::failure(format!("`{name}` is not on the PATH")).hint(hint))
}

impl Performance {
    /// Starts the host. A scripted session takes a real host 2 to 5 seconds.
    pub(super) fn start(
        host: Host,
        program: Option<PathBuf>,
        sandbox: &Sandbox,
        limit: Duration,
    ) -> Result<Self, CommandError> {
        let (launch, model) = match program {
            None => (simulated(sandbox)?, None),
            Some(program) => {
                // The simulated agent does this when it reads the file.
                let scenario = script::scenario().fill(&BTreeMap::new());
                let scenario = scenario.map_err(|error| CommandError::failure(error.to_string()))?;
                let model = ScriptedModel::start(scenario).map_err(|error| {
                    CommandError::failure(format!("cannot start the scripted model: {error}"))
                        .hint("it listens on 127.0.0.1, which a sandbox may forbid; `steadfast demo` without `--host` needs no model")
                })?;
                (real(host, program, sandbox, &model)?, Some(model))
            }
        };
        let failed = |error| {
            CommandError::failure(format!("cannot start `{}`: {error}", launch.program.display())).hint(
                "give the program of the host with `--program PATH`; `steadfast demo` without `--host` needs none",
            )
        };
        let errors = sandbox.root.join("stderr");
        let written = fs::File::create(&errors)
            .map_err(|error| temporary(&format!("cannot write `{}`: {error}", errors.display())))?;
        let mut child = sandbox
            .command(&launch.program)
            .args(&launch.args)
            .envs(launch.env.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::piped())
            .stderr(written)
            .spawn()
            .map_err(failed)?;
        let (sender, lines) = channel();
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || {
                for text in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if sender.send(Line { at: environment::now(), text }).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Self { child, lines, deadline: Instant::now() + limit, limit, errors, model })
    }

    /// The next line, or `None` after the end of the host.
    pub(super) fn next(&mut self) -> Result<Option<Line>, CommandError> {
        match self.lines.recv_timeout(self.deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Disconnected) => {
                self.wait(END_LIMIT);
                Ok(None)
            }
            Err(RecvTimeoutError::Timeout) => {
                let seconds = self.limit.as_secs();
                Err(self
                    .failure(&format!("the host did not end within {seconds} s"))
                    .hint("`--limit TIME` gives it more time"))
            }
        }
    }

    fn wait(&mut self, limit: Duration) {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns true if the host sent this text to the model verbatim. The simulated agent has no model.
    pub(super) fn passed_on(&self, reason: &str) -> bool {
        self.model.as_ref().is_none_or(|model| model.last_request_text().contains(reason))
    }

    /// An error with the last line of the host's standard error.
    pub(super) fn failure(&self, message: &str) -> CommandError {
        let error = CommandError::failure(message);
        let said = fs::read_to_string(&self.errors).unwrap_or_default();
        let error = match said.lines().rev().find(|line| !line.trim().is_empty()) {
            Some(line) => error.hint(format!("last line of the host: {}", line.trim())),
            None => error,
        };
        error.hint(match self.model {
            Some(_) => "`steadfast demo` without `--host` shows the same",
            None => "the checks of its tasks need `sh` and `grep`",
        })
    }
}

impl Drop for Performance {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn simulated(sandbox: &Sandbox) -> Result<Launch, CommandError> {
    let file = sandbox.root.join("scenario.json");
    let failed = |error| temporary(&format!("cannot write the scenario: {error}"));
    let text = serde_json::to_vec(&script::scenario()).map_err(|error| failed(error.into()))?;
    fs::write(&file, text).map_err(failed)?;
    Ok(Launch {
        program: sandbox.steadfast.clone(),
        args: [OsString::from("sim"), "--scenario".into(), file.into()].into(),
        env: Vec::new(),
        clear_env: true,
    })
}

fn real(host: Host, program: PathBuf, sandbox: &Sandbox, model: &ScriptedModel) -> Result<Launch, CommandError> {
    let alone = Alone { home: sandbox.home.clone(), model_url: model.url(), path: sandbox.path.clone() };
    if host == Host::Codex {
        let folder = sandbox.home.join(".codex");
        let config = folder.join("config.toml");
        fs::create_dir(&folder)
            .and_then(|()| fs::write(&config, launch::codex_config(&alone)))
            .map_err(|error| temporary(&format!("cannot write `{}`: {error}", config.display())))?;
    }
    wire(host, sandbox)?;
    let options =
        LaunchOptions { program, prompt: script::PROMPT.to_owned(), unasked: true, settings: None, alone: Some(alone) };
    Ok(match host {
        Host::Codex => launch::codex(&options),
        Host::Claude | Host::Sim => launch::claude(&options),
    })
}

/// Writes the hooks as `init` does, with the present path of the program: no rebuild replaces it during the demo.
fn wire(host: Host, sandbox: &Sandbox) -> Result<(), CommandError> {
    let records = sandbox.home.join(".local/state/steadfast/install");
    let place = install::InstallPaths {
        homes: Homes {
            home: sandbox.home.clone(),
            claude_config_dir: None,
            codex_home: None,
            path: Some(sandbox.path.clone()),
        },
        root: sandbox.repository.clone(),
        main_root: sandbox.repository.clone(),
        repository_records: records.join("repository"),
        user_records: records,
    };
    let request = InstallRequest {
        hosts: &[host],
        scope: InstallScope::Local,
        place: &place,
        binary: &sandbox.steadfast,
        stop_block_cap: None,
        allow: &[],
    };
    Ok(install::plan_install(&request).and_then(|plan| install::apply(&plan))?)
}
