//! The commands, one file each; a command's doc comment is its help.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::ErrorKind;

mod config;
mod demo;
mod init;
mod mcp;
mod sim;
mod status;
mod task;
mod uninstall;

/// Keeps coding agents on task, on scope and honest about done.
#[derive(Debug, Parser)]
#[command(name = "steadfast", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done, 1 failed, 2 refused by a rule, 3 needs a human, 64 not understood.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Init),
    Uninstall(uninstall::Uninstall),
    Status(status::Status),
    #[command(subcommand)]
    Task(task::Task),
    #[command(subcommand)]
    Config(config::Config),
    Mcp(mcp::Mcp),
    Demo(demo::Demo),
    #[command(hide = true)]
    Sim(sim::Sim),
}

pub(crate) fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { ErrorKind::Usage.exit_code() } else { 0 });
        }
    };
    let done = match cli.command {
        Command::Init(command) => command.run(),
        Command::Uninstall(command) => command.run(),
        Command::Status(command) => command.run(),
        Command::Task(command) => command.run(),
        Command::Config(command) => command.run(),
        Command::Mcp(command) => command.run(),
        Command::Demo(command) => command.run(),
        Command::Sim(command) => command.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(error.kind.exit_code())
        }
    }
}
