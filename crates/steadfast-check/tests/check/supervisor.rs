//! The supervisor, as a process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use steadfast_check::{CheckReport, CheckRun};
use steadfast_testkit::wait_for;
use tempfile::TempDir;

/// What a supervisor is told: the check, the words of a program that keeps it in, the file whose appearance stops it.
type Order = (CheckRun, Vec<String>, Option<PathBuf>);

/// A folder, and a check that runs in it.
pub(crate) struct Fixture {
    folder: TempDir,
    pub(crate) run: CheckRun,
    stop_at: Option<PathBuf>,
    within: Vec<String>,
}

impl Fixture {
    pub(crate) fn of(command: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let directory = folder.path().join("work");
        fs::create_dir(&directory).unwrap();
        let run = CheckRun {
            task: "1.2".to_owned(),
            command: command.to_owned(),
            directory,
            limit: Duration::from_secs(120),
            environment: Vec::new(),
            tail: 4096,
        };
        Self { folder, run, stop_at: None, within: Vec::new() }
    }

    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.run.limit = limit;
        self
    }

    /// Has the supervisor told to stop when the check has written this file.
    pub(crate) fn stop_at(mut self, name: &str) -> Self {
        self.stop_at = Some(self.work().join(name));
        self
    }

    pub(crate) fn within(mut self, words: &[&str]) -> Self {
        self.within = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    pub(crate) fn work(&self) -> &Path {
        &self.run.directory
    }

    fn order(&self) -> PathBuf {
        self.folder.path().join("order")
    }

    pub(crate) fn start(&self) -> Child {
        let order: Order = (self.run.clone(), self.within.clone(), self.stop_at.clone());
        fs::write(self.order(), serde_json::to_vec(&order).unwrap()).unwrap();
        Command::new(env!("CARGO_BIN_EXE_check-supervisor"))
            .arg(self.order())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap()
    }

    pub(crate) fn report(&self) -> CheckReport {
        assert!(self.start().wait().unwrap().success(), "the supervisor failed");
        serde_json::from_slice(&fs::read(self.order().with_extension("report")).unwrap()).unwrap()
    }

    /// The number that the check wrote into a file.
    pub(crate) fn pid(&self, name: &str) -> Process {
        let path = self.work().join(name);
        wait_for(&format!("a process id in `{name}`"), || {
            let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
            text.trim().parse().map(Process).map_err(|_| format!("{text:?}"))
        })
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
