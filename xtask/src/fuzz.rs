//! `cargo xtask fuzz`: libFuzzer on stable Rust. LLVM provides the coverage; only the sanitizers would require a
//! nightly compiler.

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::{cargo, root, run, triple};
use crate::{Result, tool};

const TARGETS: [&str; 10] = [
    "decode",
    "json_splice",
    "redact",
    "settings",
    "shell",
    "spec_json",
    "spec_markdown",
    "sse",
    "task_lists",
    "transcript",
];

const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Clink-dead-code --cfg fuzzing";

/// The profile of the targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// Unoptimised, for a run that is shorter than an optimised build.
    Quick,
    Optimised,
}

/// Runs every target on its corpus, and then for `seconds`. As many targets run at once as there are cores.
pub(crate) fn fuzz(seconds: u32, build: Build) -> Result<()> {
    if !tool::has("c++", "g++")? {
        return Ok(());
    }
    let folder = root().join("fuzz");
    let (profile, programs) = match build {
        Build::Quick => ("dev", "debug"),
        Build::Optimised => ("release", "release"),
    };
    run(cargo(["build", "--quiet", "--profile", profile]).current_dir(&folder).env("RUSTFLAGS", COVERAGE))?;
    fs::create_dir_all(folder.join("artifacts"))?;
    let programs = folder.join("target").join(triple()?).join(programs);
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut failed = Vec::new();
    for targets in TARGETS.chunks(cores) {
        let mut running = Vec::new();
        for target in targets {
            eprintln!("    {target} for {seconds} s");
            running.push((target, start(&folder, &programs.join(target), target, seconds)?));
        }
        for (target, fuzzer) in running {
            let output = fuzzer.wait_with_output()?;
            if !output.status.success() {
                eprintln!("{}", String::from_utf8_lossy(&output.stderr));
                failed.push(*target);
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!("{} failed; the inputs are in fuzz/artifacts", failed.join(", ")).into())
}

fn start(folder: &Path, program: &Path, target: &str, seconds: u32) -> Result<std::process::Child> {
    let corpus = folder.join("corpus").join(target);
    fs::create_dir_all(&corpus)?;
    let mut fuzzer = Command::new(program);
    fuzzer
        .current_dir(folder)
        .arg(&corpus)
        .arg(folder.join("seeds").join(target))
        .arg(format!("-max_total_time={seconds}"))
        .args([
            "-max_len=8192",
            "-timeout=10",
            "-artifact_prefix=artifacts/",
            "-rss_limit_mb=2048",
            "-print_final_stats=1",
            "-verbosity=0",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    Ok(fuzzer.spawn()?)
}
