//! A folder, and an agent that is attended in it: in this process, or in another one that can be killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_hosts::launch::Launch;
use steadfast_hosts::price::Prices;
use steadfast_hosts::stream::AgentEvent;
use steadfast_model::Host;
use steadfast_runner::agent::{AgentUpdate, Assignment, Departure, attend};
use steadfast_testkit::wait_for;
use tempfile::TempDir;

pub(crate) struct Fixture {
    folder: TempDir,
    pub(crate) assignment: Assignment,
    stop_at: Option<PathBuf>,
}

/// What was heard in between.
pub(crate) struct Visit {
    pub(crate) departure: Departure,
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) took: Duration,
}

impl Fixture {
    /// An agent that is a shell script.
    pub(crate) fn of(script: &str) -> Self {
        let folder = TempDir::new().unwrap();
        Self::within(folder, script)
    }

    fn within(folder: TempDir, script: &str) -> Self {
        let directory = folder.path().join("work");
        fs::create_dir_all(&directory).unwrap();
        let args = ["-c", script].map(Into::into).to_vec();
        let assignment = Assignment {
            launch: Launch { program: "/bin/sh".into(), args, env: Vec::new(), clear_env: false },
            host: Host::Sim,
            prices: Prices::default(),
            mark: format!("test-{}", folder.path().display()),
            log: folder.path().join("logs/agent.log"),
            directory,
            silence: Duration::from_secs(120),
            limit: Duration::from_secs(120),
        };
        Self { folder, assignment, stop_at: None }
    }

    pub(crate) fn silence(mut self, silence: Duration) -> Self {
        self.assignment.silence = silence;
        self
    }

    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.assignment.limit = limit;
        self
    }

    /// Stops the agent when it has written this file.
    pub(crate) fn stop_at(mut self, name: &str) -> Self {
        self.stop_at = Some(self.work().join(name));
        self
    }

    pub(crate) fn visit(&self) -> Visit {
        let stop = Arc::new(AtomicBool::new(false));
        if let Some(file) = self.stop_at.clone() {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                wait_for("what the agent writes", || match fs::read_to_string(&file) {
                    Ok(text) if !text.is_empty() => Ok(()),
                    other => Err(format!("{other:?}")),
                });
                stop.store(true, Ordering::Relaxed);
            });
        }
        let (began, mut events) = (Instant::now(), Vec::new());
        let departure = attend(&self.assignment, &stop, &mut |heard| match heard {
            AgentUpdate::Running(_) => {}
            AgentUpdate::Event(event) => events.push(event),
        });
        Visit { departure, events, took: began.elapsed() }
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.assignment.log).unwrap()
    }

    /// Another process that attends the agent.
    pub(crate) fn elsewhere(&self, script: &str) -> Child {
        let order = self.folder.path().join("order");
        fs::write(&order, script).unwrap();
        Command::new(env!("CARGO_BIN_EXE_agent-attendant"))
            .arg(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap()
    }

    /// The number that the agent wrote into a file.
    pub(crate) fn pid(&self, name: &str) -> Process {
        let path = self.assignment.directory.join(name);
        wait_for(&format!("a process id in `{name}`"), || {
            let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
            text.trim().parse().map(Process).map_err(|_| format!("{text:?}"))
        })
    }

    pub(crate) fn work(&self) -> &Path {
        &self.assignment.directory
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Process(pub(crate) i32);

impl Process {
    pub(crate) fn runs(self) -> bool {
        let pid = rustix::process::Pid::from_raw(self.0).unwrap();
        let zombie = fs::read_to_string(format!("/proc/{}/stat", self.0)).is_ok_and(|stat| stat.contains(") Z "));
        rustix::process::test_kill_process(pid).is_ok() && !zombie
    }

    pub(crate) fn wait_until_gone(self) {
        wait_for("the end of a process", || if self.runs() { Err(format!("{self:?}")) } else { Ok(()) });
    }
}
