//! The chores of the workspace: `cargo xtask CHORE`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "chores talk")]
#![expect(clippy::disallowed_methods, reason = "chores run programs and read the environment")]

mod bench;
mod boundary;
mod fuzz;
mod instructions;
mod purity;
mod soak;
mod test;

use std::process::ExitCode;

use xtask::process::{cargo, run};
use xtask::{Result, process, prose, skip, tool};

const HELP: &str = "\
usage: cargo xtask CHORE

  test [--quick | --older-hosts]
                       formatting, lints, generated files, boundaries, all tests, a short fuzz, the instruction count;
                       --quick leaves out the real hosts and the fuzz; --older-hosts adds the older versions of hosts,
                       as `.ci/run` does
  bench drift          how well the drift score tells work that was asked for, on real sessions (--worst lists where it
                       does not, --refine COMMAND measures what that command adds)
  bench guard          what judging a command costs, fails over its limits; how often it is right [errors] [held-back]
  bench hook           what a hook costs beside an empty process; fails over its limits (--runs N, --binary PATH)
  bench ledger         what the ledger's commands cost, with 1,000, 10,000 and 100,000 tasks (--runs N, --binary PATH)
  bench observe        what a fact costs beside git's own answer; 1,000, 10,000 and 100,000 files by default (FILES...)
  bench proxy [ROUNDS]  what the proxy adds to each event of a stream, beside nginx and beside no proxy
  bench makespan [SETS] how long real runs of 16 units take beside the least they could (--scale FACTOR, --binary PATH)
  bench runner [UNITS] what a run costs besides its agents, with 10, 100 and 1,000 units of 2 s (--binary PATH)
  bench transcript     what reading sessions costs beside decoding their lines, jq and Python
  captures             draws what a human sees in Claude Code and in a terminal into docs/captures
  generate [--check]   writes what is generated, or says what is out of date
  instructions [--set] counts the instructions of one hook call (dist) and compares with the kept count; --set keeps the
                       counts of dev, which `test` compares, and of dist
  prose --count        how often messages, help texts and comments use words that the house replaces
  prose --sample COMMENTS MESSAGES HELP --seed HEX
                       so many texts of each kind in full, drawn at random, for a reader to mark
  picture              draws docs/demo.svg from what the demo prints
  release              what people install, with checksums, in target/release-files: archive, install.sh, npm packages,
                       wheel, .deb (--target aarch64-unknown-linux-gnu adds another machine's, --from URL tells install.sh
                       where the archives will be)
  fuzz [SECONDS]       every fuzz target for so long, 60 by default
  faults [ROUNDS]      kills, also of a run, full disks, other clocks and versions, garbage; 50 rounds by default
                       (--only NAME, --round N)
  soak [ROUNDS]        the long loops: kills, crowds, fuzz; 2,000 rounds by default
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => test::test(test::Extent::Usual),
        ["test", "--older-hosts"] => test::test(test::Extent::OlderHosts),
        ["test", "--quick"] => test::test(test::Extent::Quick),
        ["bench", "drift", rest @ ..] => bench::drift(rest),
        ["bench", "guard", rest @ ..] => bench::guard(rest),
        ["bench", "hook", rest @ ..] => bench::hook(rest),
        ["bench", "ledger", rest @ ..] => bench::ledger(rest),
        ["bench", "observe", rest @ ..] => bench::observe(rest),
        ["bench", "proxy", rest @ ..] => bench::proxy(rest),
        ["bench", "transcript", rest @ ..] => bench::transcript(rest),
        ["captures"] => run(cargo(["test", "--quiet", "--package", "steadfast-e2e", "captures::"])
            .env("STEADFAST_CAPTURES", process::root().join("docs/captures"))),
        ["instructions"] => instructions::instructions(instructions::Doing::Compare),
        ["instructions", "--set"] => instructions::instructions(instructions::Doing::Keep),
        ["prose", "--count"] => count_prose(),
        ["prose", "--sample", comments, messages, help, "--seed", seed] => {
            sample_prose([comments, messages, help], seed)
        }
        ["release", rest @ ..] => run(cargo(["run", "--quiet", "--package", "xtask-package", "--"]).args(rest)),
        ["fuzz"] => fuzz::fuzz(60, fuzz::Build::Optimised),
        ["fuzz", seconds] => {
            seconds.parse().map_err(Into::into).and_then(|seconds| fuzz::fuzz(seconds, fuzz::Build::Optimised))
        }
        ["bench", "makespan" | "runner", ..] | ["generate" | "picture" | "faults", ..] => {
            run(cargo(["run", "--quiet", "--package", "xtask-product", "--"]).args(words))
        }
        ["soak"] => soak::soak(2_000),
        ["soak", rounds] => rounds.parse().map_err(Into::into).and_then(soak::soak),
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(64);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn count_prose() -> Result<()> {
    print!("{}", prose::count(&prose::collect()?));
    Ok(())
}

fn sample_prose(sizes: [&str; 3], seed: &str) -> Result<()> {
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a number of texts"));
    let [comments, messages, help] = sizes;
    let size = prose::Size { comments: number(comments)?, messages: number(messages)?, help: number(help)? };
    let seed = u64::from_str_radix(seed, 16).map_err(|_| format!("the seed `{seed}` is not a hexadecimal number"))?;
    print!("{}", prose::sample(&prose::collect()?, size, seed));
    Ok(())
}
