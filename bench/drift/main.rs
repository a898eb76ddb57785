//! Measures how well a drift score separates requested work from other work, on real sessions.
//!
//! `cargo xtask bench drift` runs it with the folder of the transcripts, the folder of the labels and the index. Every
//! case uses the scorer's own threshold: [`quiet`] sessions, [`graft`]s, [`refusal`]s, [`plan`]s. Half of the sessions
//! are for tuning, the other half is held back; the report shows both. [`folds`] leaves out one repository at a time.
//! [`scorer`] defines a scorer; [`kind`] lists the compared scorers and the signals that are switched off one by one.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table is the result")]

mod action;
mod corpus;
mod document;
mod engine;
mod folder;
mod folds;
mod graft;
mod kind;
mod mask;
mod measure;
mod plan;
mod quiet;
mod refiner;
mod refusal;
mod report;
mod scorer;
mod session;
mod settled;
mod world;
mod wrong;

use std::path::PathBuf;
use std::process::ExitCode;

use corpus::Corpus;
use graft::grafts;
use kind::{KINDS, REFINED};

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let (transcripts, labels, index, more) = match arguments.as_slice() {
        [transcripts, labels, index, more @ ..] => (transcripts, labels, index, more),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(64);
        }
    };
    let more: Vec<_> = more.iter().map(|word| word.to_string_lossy()).collect();
    let more: Vec<&str> = more.iter().map(AsRef::as_ref).collect();
    let corpus = match Corpus::read(transcripts, labels, index) {
        Ok(corpus) => corpus,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    match more.as_slice() {
        [] => {
            report::print(&corpus, &KINDS);
            KINDS.iter().rev().take(1).for_each(|kind| folds::print(&corpus, kind));
        }
        ["--folds"] => KINDS.iter().rev().take(1).for_each(|kind| folds::print(&corpus, kind)),
        // The last scorer is ours; the others are yardsticks.
        ["--worst"] => KINDS.iter().rev().take(1).for_each(|kind| wrong::print(&corpus, &grafts(&corpus), kind)),
        ["--refine", command] => {
            refiner::measure((*command).to_owned());
            report::print(&corpus, &REFINED);
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(64);
        }
    }
    ExitCode::SUCCESS
}

const USAGE: &str = "usage: bench-drift TRANSCRIPTS LABELS INDEX [--folds | --worst | --refine COMMAND]";
