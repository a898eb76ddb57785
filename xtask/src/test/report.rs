//! The stages of a run, their times and their failures.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{Result, skip};

pub(crate) struct Report {
    started: Instant,
    stages: Vec<Stage>,
    skips: PathBuf,
}

/// One stage, as it runs and as it is printed.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    name: &'static str,
    took: Duration,
    /// The stage installs programs, which does not count as test time.
    apart: bool,
    failure: Option<String>,
    passed: usize,
    failed: Vec<TestId>,
    flaky: Vec<FlakyTest>,
    note: Option<String>,
}

/// A test, with the words of `cargo test` that select its binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestId {
    pub(crate) binary: String,
    pub(crate) name: String,
}

#[derive(Clone, Debug)]
pub(crate) struct FlakyTest {
    pub(crate) test: TestId,
    pub(crate) attempts: usize,
}

impl Stage {
    pub(crate) fn keep_apart(&mut self) {
        self.apart = true;
    }

    pub(crate) fn passed(&mut self, count: usize) {
        self.passed += count;
    }

    pub(crate) fn failed(&mut self, test: TestId) {
        self.failed.push(test);
    }

    pub(crate) fn flaky(&mut self, test: TestId, attempts: usize) {
        self.flaky.push(FlakyTest { test, attempts });
    }

    /// Adds a note to the stage's line in the table.
    pub(crate) fn note(&mut self, note: String) {
        self.note = Some(note);
    }

    fn is_failed(&self) -> bool {
        self.failure.is_some() || !self.failed.is_empty()
    }

    fn line(&self) -> String {
        let mut line = format!("{:<16} {:>7.1} s  ", self.name, self.took.as_secs_f64());
        line += if self.is_failed() { "FAILED" } else { "passed" };
        if self.passed + self.failed.len() > 0 {
            line += &format!(", {} tests", self.passed + self.failed.len());
        }
        if !self.failed.is_empty() {
            line += &format!(", {} failed", self.failed.len());
        }
        if !self.flaky.is_empty() {
            line += &format!(", {} flaky", self.flaky.len());
        }
        if self.apart {
            line += ", not part of the total";
        }
        if let Some(note) = &self.note {
            line += &format!(", {note}");
        }
        line
    }
}

impl Report {
    pub(crate) fn new(skips: &Path) -> Self {
        Self { started: Instant::now(), stages: Vec::new(), skips: skips.to_owned() }
    }

    /// Runs a stage. Returns `None` if it failed.
    pub(crate) fn stage<T>(&mut self, name: &'static str, run: impl FnOnce(&mut Stage) -> Result<T>) -> Option<T> {
        eprintln!("==> {name}");
        let mut stage = Stage { name, ..Stage::default() };
        let began = Instant::now();
        let result = run(&mut stage);
        stage.took = began.elapsed();
        let result = match result {
            Ok(value) => Some(value),
            Err(error) => {
                eprintln!("error: {error}");
                stage.failure = Some(error.to_string());
                None
            }
        };
        eprintln!("    {} in {:.1} s", if stage.is_failed() { "FAILED" } else { "passed" }, stage.took.as_secs_f64());
        self.stages.push(stage);
        result
    }

    /// Prints the table, the skips, the flaky tests, and finally the failures with the commands that run only these.
    pub(crate) fn print(self) -> Result<()> {
        let apart: Duration = self.stages.iter().filter(|stage| stage.apart).map(|stage| stage.took).sum();
        eprintln!();
        for stage in &self.stages {
            eprintln!("{}", stage.line());
        }
        eprintln!("{:<16} {:>7.1} s", "total", (self.started.elapsed() - apart).as_secs_f64());
        let skips = skip::counted(&self.skips);
        if !skips.is_empty() {
            eprintln!("\nSKIPPED on this machine:");
            for (count, reason) in &skips {
                eprintln!("  {count} x {reason}");
            }
        }
        for flaky in self.stages.iter().flat_map(|stage| &stage.flaky) {
            let FlakyTest { test, attempts } = flaky;
            eprintln!("FLAKY {} passed in attempt {attempts}: {}", test.name, command(&test.binary, &[&test.name]));
        }
        let passed: usize = self.stages.iter().map(|stage| stage.passed).sum();
        let failed: Vec<&TestId> = self.stages.iter().flat_map(|stage| &stage.failed).collect();
        let skipped: usize = skips.iter().map(|(count, _)| count).sum();
        let _ = std::io::stderr().flush();
        println!("\n{passed} passed, {} failed, {skipped} skipped", failed.len());
        let failures: Vec<String> = self.stages.iter().filter(|stage| stage.is_failed()).map(failure).collect();
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n").into()) }
    }
}

/// Returns the failures of a stage, and the commands that run only these.
fn failure(stage: &Stage) -> String {
    let mut text = stage.name.to_owned();
    if let Some(failure) = &stage.failure {
        text += &format!(": {failure}");
    }
    let mut binaries: Vec<(&str, Vec<&str>)> = Vec::new();
    for TestId { binary, name } in &stage.failed {
        match binaries.iter_mut().find(|(known, _)| known == binary) {
            Some((_, names)) => names.push(name),
            None => binaries.push((binary, vec![name])),
        }
    }
    for (binary, names) in binaries {
        text += &format!("\n  {}", command(binary, &names));
    }
    text
}

fn command(binary: &str, names: &[&str]) -> String {
    format!("cargo test {binary} -- --exact {}", names.join(" "))
}
