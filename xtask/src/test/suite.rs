//! The test binaries of the workspace, and how each group of tests runs.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write, pipe};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::leftovers::Workplace;
use super::outcome::Outcome;
use super::report::{Stage, TestId};
use crate::Result;
use crate::process::{cargo, kill_group};

/// The path of every time-sensitive test contains this. These tests run one at a time, with no other load.
const TIMING: &str = "timing::";

/// The package with the tests of the real hosts.
const REAL_HOSTS: &str = "steadfast-e2e";

/// The number of times that a failed test of a real host runs again, alone.
const AGAIN: usize = 2;

/// The time limit of a binary. The longest takes a quarter of it on two idle cores.
const LIMIT: Duration = Duration::from_secs(30 * 60);

const PROGRESS: Duration = Duration::from_secs(30);

/// A binary that takes longer has its own line in the table.
const WORTH_A_LINE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group<'a> {
    UnitAndCli,
    /// Without the tests of these hosts.
    RealHosts {
        left_out: &'a [&'static str],
    },
    Timing,
}

pub(crate) struct Suite {
    binaries: Vec<TestBinary>,
    /// The program under test.
    steadfast: PathBuf,
    /// A copy without symbols on the file system of `memory`. Each test links to it, as `init` refuses a program in a build folder.
    copy: PathBuf,
    disk: PathBuf,
    memory: PathBuf,
    skips: PathBuf,
}

struct TestBinary {
    package: String,
    /// The words of `cargo test` that select it.
    selection: String,
    program: PathBuf,
    folder: PathBuf,
}

impl Suite {
    /// Builds all tests of the workspace.
    pub(crate) fn build(workplace: &Workplace) -> Result<Self> {
        // Without the examples: those are benchmarks, which only the lints compile.
        let output = cargo(["test", "--workspace", "--lib", "--bins", "--tests", "--no-run"])
            .args(["--message-format", "json-render-diagnostics"])
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err("the tests do not build".into());
        }
        let messages = String::from_utf8(output.stdout)?;
        let artifacts: Vec<Value> = messages.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let steadfast = artifacts
            .iter()
            .filter(|artifact| artifact["target"]["kind"][0] == "bin" && artifact["profile"]["test"] == false)
            .find(|artifact| artifact["target"]["name"] == "steadfast")
            .and_then(|artifact| artifact["executable"].as_str())
            .ok_or("cargo built no `steadfast`")?;
        let binaries: Vec<_> = artifacts.iter().filter_map(TestBinary::read).collect();
        if !binaries.iter().any(TestBinary::is_real_hosts) {
            return Err(format!("cargo built no tests of `{REAL_HOSTS}`").into());
        }
        let copy = workplace.memory().join("steadfast");
        copy_without_symbols(steadfast, &copy)?;
        Ok(Self {
            binaries,
            steadfast: steadfast.into(),
            copy,
            disk: workplace.disk().to_owned(),
            memory: workplace.memory().to_owned(),
            skips: workplace.skips(),
        })
    }

    /// The program under test.
    pub(crate) fn binary(&self) -> &Path {
        &self.steadfast
    }

    /// Runs the tests of a group.
    pub(crate) fn run(&self, group: Group<'_>, stage: &mut Stage) -> Result<()> {
        let cores = std::thread::available_parallelism().map_or(2, NonZero::get);
        // A real host uses a core while it starts. A test of the command line waits for half of its time.
        let busy = (cores + 1).to_string();
        let waiting = (3 * cores).to_string();
        let parallel = |threads| ["--test-threads", threads, "--skip", TIMING];
        match group {
            Group::UnitAndCli => {
                let binaries: Vec<_> = self.binaries.iter().filter(|binary| !binary.is_real_hosts()).collect();
                self.run_two_at_once(&binaries, &parallel(&waiting), stage)
            }
            Group::Timing => {
                for binary in &self.binaries {
                    binary.report(self.start(binary, &["--test-threads", "1", TIMING])?, stage);
                }
                Ok(())
            }
            Group::RealHosts { left_out } => {
                // Such a test has the name of its program.
                let left_out: Vec<String> = left_out.iter().map(|name| name.replace(['-', '.'], "_")).collect();
                let mut words = parallel(&busy).to_vec();
                words.extend(left_out.iter().flat_map(|name| ["--skip", name]));
                for binary in self.binaries.iter().filter(|binary| binary.is_real_hosts()) {
                    self.run_hosts(binary, &words, stage)?;
                }
                Ok(())
            }
        }
    }

    /// Runs two binaries at once. The longest takes half of the time, and many others mostly wait: one at a time, the
    /// cores are idle for a third of it.
    fn run_two_at_once(&self, binaries: &[&TestBinary], words: &[&str], stage: &mut Stage) -> Result<()> {
        let next = Mutex::new(binaries.iter());
        let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            let mut done = Vec::new();
            while let Some(binary) = take() {
                done.push((*binary, self.start(binary, words).map_err(|error| error.to_string())));
            }
            done
        };
        let done = std::thread::scope(|scope| {
            let other = scope.spawn(work);
            let mut done = work();
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            done
        });
        let mut crashed = Vec::new();
        for (binary, outcome) in done {
            match outcome {
                Ok(outcome) => binary.report(outcome, stage),
                Err(error) => crashed.push(error),
            }
        }
        if crashed.is_empty() { Ok(()) } else { Err(crashed.join("; ").into()) }
    }

    /// Runs failed tests again, alone: a host may have been too slow beside the others.
    fn run_hosts(&self, binary: &TestBinary, words: &[&str], stage: &mut Stage) -> Result<()> {
        let outcome = self.start(binary, words)?;
        stage.passed(outcome.passed);
        let mut failed = outcome.failed;
        for attempt in 2..2 + AGAIN {
            if failed.is_empty() {
                break;
            }
            eprintln!("    running {} failed tests again, alone", failed.len());
            let mut again: Vec<&str> = vec!["--test-threads", "1", "--exact"];
            again.extend(failed.iter().map(String::as_str));
            let outcome = self.start(binary, &again)?;
            if outcome.passed + outcome.failed.len() != failed.len() {
                return Err(format!("cargo test {}: not all of {failed:?} ran again", binary.selection).into());
            }
            let still: HashSet<&String> = outcome.failed.iter().collect();
            for name in failed.iter().filter(|name| !still.contains(name)) {
                stage.passed(1);
                stage.flaky(binary.test(name.clone()), attempt);
            }
            failed = outcome.failed;
        }
        for name in failed {
            stage.failed(binary.test(name));
        }
        Ok(())
    }

    /// Runs a binary to its end. Prints its output if a test failed.
    fn start(&self, binary: &TestBinary, words: &[&str]) -> Result<Outcome> {
        let (output, to_output) = pipe()?;
        let (steadfast, temporary) =
            if binary.is_real_hosts() { (&self.steadfast, &self.disk) } else { (&self.copy, &self.memory) };
        let mut command = Command::new(&binary.program);
        command
            .args(words)
            .current_dir(&binary.folder)
            .env("CARGO_MANIFEST_DIR", &binary.folder)
            .env("STEADFAST_BINARY", steadfast)
            .env("STEADFAST_SKIPS", &self.skips)
            .env("TMPDIR", temporary)
            .stdin(Stdio::null())
            .stdout(to_output.try_clone()?)
            .stderr(to_output);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| format!("cannot start {command:?}: {error}"))?;
        // It holds the other end of the pipe.
        drop(command);
        let (said, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n').map_while(std::result::Result::ok) {
                if said.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
            }
        });
        let (started, mut told) = (Instant::now(), Instant::now());
        let mut text = String::new();
        let mut done = 0;
        let mut status = None;
        loop {
            match lines.recv_timeout(Duration::from_millis(200)) {
                Ok(line) => {
                    done += usize::from(line.starts_with("test ") && line.contains(" ... "));
                    text += &line;
                    text.push('\n');
                }
                Err(RecvTimeoutError::Disconnected) => {
                    status = Some(child.wait()?);
                    break;
                }
                // A leftover process of a test may keep the pipe open.
                Err(RecvTimeoutError::Timeout) if status.is_some() => break,
                Err(RecvTimeoutError::Timeout) => status = child.try_wait()?,
            }
            if told.elapsed() > PROGRESS {
                told = Instant::now();
                eprintln!("    {}: {done} tests after {} s", binary.selection, started.elapsed().as_secs());
            }
            if started.elapsed() > LIMIT {
                kill_group(child.id());
                child.wait()?;
                eprint!("{text}");
                return Err(format!("{} took more than {} s and was ended", binary.selection, LIMIT.as_secs()).into());
            }
        }
        let outcome = Outcome::parse(&text);
        if started.elapsed() > WORTH_A_LINE {
            eprintln!(
                "    {}: {} passed in {:.1} s",
                binary.selection,
                outcome.passed,
                started.elapsed().as_secs_f64()
            );
        }
        let passed = status.is_some_and(|status| status.success());
        if !passed || !outcome.is_whole {
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
        if !outcome.is_whole || passed != outcome.failed.is_empty() {
            return Err(format!("cargo test {}: the test binary crashed", binary.selection).into());
        }
        Ok(outcome)
    }
}

/// Copies a program. Its symbols are most of it, and some tests pack and unpack it.
fn copy_without_symbols(program: &str, copy: &Path) -> Result<()> {
    let stripped = Command::new("strip").arg("-o").arg(copy).arg(program).status();
    if !stripped.is_ok_and(|status| status.success()) {
        std::fs::copy(program, copy)?;
    }
    Ok(())
}

impl TestBinary {
    /// Parses a line of cargo's output.
    fn read(artifact: &Value) -> Option<Self> {
        if artifact["profile"]["test"] != true {
            return None;
        }
        let folder = Path::new(artifact["manifest_path"].as_str()?).parent()?.to_owned();
        let (place, version) = artifact["package_id"].as_str()?.rsplit_once('#')?;
        let package = match version.split_once('@') {
            Some((name, _)) => name,
            None => place.rsplit('/').next()?,
        };
        let (kind, name) = (artifact["target"]["kind"][0].as_str()?, artifact["target"]["name"].as_str()?);
        let target = match kind {
            "bin" | "test" => format!("--{kind} {name}"),
            _ => "--lib".to_owned(),
        };
        Some(Self {
            package: package.to_owned(),
            selection: format!("-p {package} {target}"),
            program: artifact["executable"].as_str()?.into(),
            folder,
        })
    }

    /// The library beside the tests of real hosts has ordinary tests.
    fn is_real_hosts(&self) -> bool {
        self.package == REAL_HOSTS && !self.selection.ends_with("--lib")
    }

    fn report(&self, outcome: Outcome, stage: &mut Stage) {
        stage.passed(outcome.passed);
        for name in outcome.failed {
            stage.failed(self.test(name));
        }
    }

    fn test(&self, name: String) -> TestId {
        TestId { binary: self.selection.clone(), name }
    }
}
