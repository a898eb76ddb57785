//! `cargo xtask fuzz`: libFuzzer on stable Rust. Coverage is asked of LLVM directly; only the sanitizers would need a
//! nightly compiler.

use std::fs;
use std::process::Command;

use crate::process::{cargo, root, run, triple};
use crate::{Result, skip};

const TARGETS: [&str; 8] =
    ["decode", "settings", "redact", "shell", "spec_json", "spec_markdown", "task_lists", "transcript"];

const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Clink-dead-code --cfg fuzzing";

/// Runs every target for `seconds`.
pub(crate) fn fuzz(seconds: u32) -> Result<()> {
    if !skip::has("c++", &["g++"])? {
        return Ok(());
    }
    let folder = root().join("fuzz");
    run(cargo(["build", "--quiet", "--release"]).current_dir(&folder).env("RUSTFLAGS", COVERAGE))?;
    for target in TARGETS {
        let corpus = folder.join("corpus").join(target);
        fs::create_dir_all(&corpus)?;
        fs::create_dir_all(folder.join("artifacts"))?;
        eprintln!("fuzzing {target} for {seconds} s");
        run(Command::new(folder.join("target").join(triple()?).join("release").join(target))
            .current_dir(&folder)
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
            ]))?;
    }
    Ok(())
}
