//! The commands, one file each; a command's doc comment is its help.

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::error::{CommandError, ErrorKind};
use crate::output::{gone_or_full, note};

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
mod looped;
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

pub(crate) use looped::start::not_clear;

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

#[derive(Debug, Subcommand)]
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
    #[command(subcommand, name = "loop")]
    Looped(looped::Looped),
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

pub(crate) fn run() -> ExitCode {
    let mut commands = authority::with_authority(Cli::command());
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
    let done = match cli.command {
        Command::Init(command) => command.run(),
        Command::Uninstall(command) => command.run(),
        Command::Off(command) => command.run(),
        Command::Pause(command) => command.run(),
        Command::Doctor(command) => command.run(),
        Command::Status(command) => command.run(),
        Command::Why(command) => command.run(),
        Command::Log(command) => command.run(),
        Command::Task(command) => command.run(),
        Command::Spec(command) => command.run(),
        Command::Plan(command) => command.run(),
        Command::Goal(command) => command.run(),
        Command::Decide(command) => command.run(),
        Command::Learn(command) => command.run(),
        Command::Recall(command) => command.run(),
        Command::Looped(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Resume(command) => command.run(),
        Command::Progress(command) => command.run(),
        Command::Guard(command) => command.run(),
        Command::Transcript(command) => command.run(),
        Command::Replay(command) => command.run(),
        Command::Backtest(command) => command.run(),
        Command::Config(command) => command.run(),
        Command::Clean(command) => command.run(),
        Command::Completions(command) => command.run(&authority::with_authority(Cli::command())),
        Command::Mcp(command) => command.run(),
        Command::Demo(command) => command.run(),
        Command::Sim(command) => command.run(),
        Command::Supervise(command) => command.run(),
        Command::Neighbours(command) => command.run(),
        Command::Refine(command) => command.run(),
    };
    end(done)
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
