//! The commands, one file each; a command's doc comment is its help.

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};

use crate::error::{CommandError, ErrorKind};
use crate::output::{gone_or_full, note};

/// An enum of commands that runs the one that was called.
macro_rules! commands {
    ($(#[$about:meta])* $visibility:vis enum $name:ident { $($(#[$attribute:meta])* $command:ident($type:ty),)+ }) => {
        $(#[$about])*
        #[derive(Debug, clap::Subcommand)]
        $visibility enum $name { $($(#[$attribute])* $command($type),)+ }

        impl $name {
            pub(super) fn run(self) -> Result<(), $crate::error::CommandError> {
                match self { $(Self::$command(command) => command.run(),)+ }
            }
        }
    };
}

use commands;

mod authority;
mod backtest;
mod clean;
mod completions;
mod config;
mod decide;
mod demo;
mod doctor;
mod goal;
mod guard;
mod init;
mod learn;
mod log;
mod loops;
mod mcp;
mod neighbours;
mod pause;
mod plan;
mod progress;
mod recall;
mod refine;
mod replay;
mod resume;
mod run;
mod sim;
mod spec;
mod status;
mod supervise;
mod task;
mod transcript;
mod uninstall;
mod why;

pub(crate) use loops::start::not_clear;

/// What this binary was built from; `build.rs` knows.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit ",
    env!("STEADFAST_COMMIT"),
    "\ntarget ",
    env!("STEADFAST_TARGET"),
    "\nprofile ",
    env!("STEADFAST_PROFILE"),
);

/// Keeps coding agents on task, on scope and honest about done.
#[derive(Debug, Parser)]
#[command(name = "steadfast", version, long_version = LONG_VERSION, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done, 1 failed, 2 refused by a rule, 3 needs a human, 64 not understood.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

commands! {
    enum Command {
        Init(init::Init),
        Uninstall(uninstall::Uninstall),
        Off(pause::Off),
        Pause(pause::Pause),
        Doctor(doctor::Doctor),
        Status(status::Status),
        Why(why::Why),
        Log(log::Log),
        #[command(subcommand)]
        Task(task::Task),
        #[command(subcommand)]
        Spec(spec::Spec),
        #[command(subcommand)]
        Plan(plan::Plan),
        #[command(subcommand)]
        Goal(goal::Goal),
        Decide(decide::Decide),
        #[command(subcommand)]
        Learn(learn::Learn),
        Recall(recall::Recall),
        #[command(subcommand)]
        Loop(loops::LoopCommand),
        Run(run::Run),
        Resume(resume::Resume),
        Progress(progress::Progress),
        #[command(subcommand)]
        Guard(guard::Guard),
        #[command(subcommand)]
        Transcript(transcript::Transcript),
        Replay(replay::Replay),
        Backtest(backtest::Backtest),
        #[command(subcommand)]
        Config(config::Config),
        Clean(clean::Clean),
        Completions(completions::Completions),
        Mcp(mcp::Mcp),
        Demo(demo::Demo),
        #[command(hide = true)]
        Sim(sim::Sim),
        #[command(hide = true)]
        Supervise(supervise::Supervise),
        #[command(hide = true)]
        Neighbours(neighbours::Neighbours),
        #[command(hide = true)]
        Refine(refine::Refine),
    }
}

pub(crate) fn run() -> ExitCode {
    let mut commands = program();
    let parsed = commands
        .try_get_matches_from_mut(std::env::args_os())
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            let printed = error.print();
            if error.use_stderr() {
                return ExitCode::from(ErrorKind::Usage.exit_code());
            }
            return end(printed.or_else(|error| gone_or_full(&error)));
        }
    };
    if let Err(refused) = authority::check(&commands, &matches) {
        return end(Err(refused));
    }
    end(cli.command.run())
}

fn end(done: Result<(), CommandError>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note!("{error}");
            ExitCode::from(error.kind.exit_code())
        }
    }
}

/// All that can be called, with its help.
fn program() -> clap::Command {
    authority::with_authority(Cli::command())
}
