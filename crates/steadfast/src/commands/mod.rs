//! The commands, one file each; a command's doc comment is its help.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, ColorChoice, CommandFactory, FromArgMatches, Parser};

use crate::environment;
use crate::error::{CommandError, ErrorKind};
use crate::output::{gone_or_full, note, put_aside_as_it_is};
use crate::terminal;

/// An enum of commands whose `run` runs the selected one.
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

/// The top-level commands in the groups of the help. Commands of daily use come before the semicolon.
macro_rules! groups {
    (enum $name:ident { $($group:ident {
        $($(#[$of_daily:meta])* $daily:ident($daily_type:ty)),* ;
        $($(#[$of_more:meta])* $more:ident($more_type:ty)),* $(,)?
    })+ }) => {
        commands! {
            enum $name {
                $($($(#[$of_daily])* $daily($daily_type),)* $($(#[$of_more])* $more($more_type),)*)+
            }
        }

        const GROUPS: &[help::Group] = &[$(help::Group {
            name: stringify!($group),
            daily: &[$(stringify!($daily)),*],
            more: &[$(stringify!($more)),*],
        }),+];
    };
}

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
mod help;
mod init;
mod internal;
mod learn;
mod log;
mod loops;
mod mcp;
mod pause;
mod plan;
mod progress;
mod proxy;
mod recall;
mod replay;
mod resume;
mod run;
mod spec;
mod status;
mod task;
mod transcript;
mod uninstall;
mod why;

use help::Shown;
use internal::{neighbours, notify, refine, sim, supervise};
pub(crate) use loops::start::not_clear;

/// The version with commit, target and profile, which `build.rs` sets.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit ",
    env!("STEADFAST_COMMIT"),
    "\ntarget ",
    env!("STEADFAST_TARGET"),
    "\nprofile ",
    env!("STEADFAST_PROFILE"),
);

/// Keep coding agents on task, on scope and honest about done.
#[derive(Debug, Parser)]
#[command(name = "steadfast", version, long_version = LONG_VERSION, max_term_width = help::WIDTH)]
#[command(
    after_help = "With every command: `--color auto|always|never`, and `--utc` for times in UTC.\n\nExit codes: 0 done, 1 failed, 2 refused by a rule, 3 needs a human,\n64 invalid usage."
)]
struct Cli {
    /// When to print colours. `auto`: at a terminal.
    #[arg(long, global = true, hide = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    /// Print times in UTC.
    #[arg(long, global = true, hide = true)]
    utc: bool,
    #[command(subcommand)]
    command: Command,
}

groups! {
    enum Command {
        Start {
            Init(init::Init),
            Doctor(doctor::Doctor);
            Demo(demo::Demo),
            Completions(completions::Completions),
            Uninstall(uninstall::Uninstall),
        }
        Work {
            #[command(subcommand)]
            Plan(plan::Plan),
            Task(task::TaskCommand),
            Run(run::Run),
            Resume(resume::Resume);
            Proxy(proxy::Proxy),
            #[command(subcommand)]
            Spec(spec::Spec),
            #[command(subcommand)]
            Loop(loops::LoopCommand),
            Decide(decide::Decide),
            #[command(subcommand)]
            Learn(learn::Learn),
        }
        Look {
            Status(status::Status),
            Why(why::Why);
            Progress(progress::Progress),
            Log(log::Log),
            Recall(recall::Recall),
            #[command(subcommand)]
            Transcript(transcript::Transcript),
        }
        Control {
            #[command(subcommand)]
            Goal(goal::Goal),
            Pause(pause::Pause);
            Off(pause::Off),
            #[command(subcommand)]
            Config(config::Config),
            Clean(clean::Clean),
        }
        Advanced {
            ;
            #[command(subcommand)]
            Guard(guard::Guard),
            Replay(replay::Replay),
            Backtest(backtest::Backtest),
            Mcp(mcp::Mcp),
            #[command(hide = true)]
            Sim(sim::Sim),
            #[command(hide = true)]
            Supervise(supervise::Supervise),
            #[command(hide = true)]
            Neighbours(neighbours::Neighbours),
            #[command(hide = true)]
            Refine(refine::Refine),
            #[command(hide = true)]
            Notify(notify::Notify),
        }
    }
}

pub(crate) fn run() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(shell) = environment::text(completions::SHELL) {
        completions::complete(&shell, arguments);
        return ExitCode::SUCCESS;
    }
    // Help and usage errors have colours, too, and are printed before the arguments are known.
    terminal::choose(wanted_colour(&arguments));
    let mut commands = match arguments.get(1..) {
        Some(words) if words == help::ALL => {
            arguments = ["steadfast", "--help"].map(OsString::from).into();
            help::with_groups(program(), GROUPS, Shown::All)
        }
        Some(words) if help::OF_ITSELF.iter().any(|of_itself| words == of_itself) => {
            arguments = ["steadfast", "--help"].map(OsString::from).into();
            program()
        }
        _ => program(),
    };
    let parsed = commands
        .try_get_matches_from_mut(arguments)
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            let printed = error.print();
            if error.use_stderr() {
                return ExitCode::from(ErrorKind::Usage.exit_code());
            }
            return end(printed.or_else(|error| gone_or_full(&error)), false);
        }
    };
    let as_json = wants_json(&matches);
    if let Err(refused) = authority::check(&commands, &matches) {
        return end(Err(refused), as_json);
    }
    terminal::choose(cli.color);
    if cli.utc {
        terminal::in_utc();
    }
    end(cli.command.run(), as_json)
}

/// The value of `--color`, where it is understood.
fn wanted_colour(arguments: &[OsString]) -> ColorChoice {
    let words = arguments.iter().map(|word| word.to_str().unwrap_or_default()).take_while(|word| *word != "--");
    let words: Vec<&str> = words.collect();
    let apart = words.windows(2).filter_map(|pair| (pair[0] == "--color").then_some(pair[1]));
    let joined = words.iter().filter_map(|word| word.strip_prefix("--color="));
    apart.chain(joined).filter_map(|word| word.parse().ok()).next_back().unwrap_or_default()
}

/// Whether the called command has `--json`.
fn wants_json(matches: &ArgMatches) -> bool {
    let is_given = matches!(matches.try_get_one::<bool>("json"), Ok(Some(true)));
    is_given || matches.subcommand().is_some_and(|(_, inner)| wants_json(inner))
}

fn end(done: Result<(), CommandError>, as_json: bool) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(CommandError { kind: ErrorKind::Ended(code), .. }) => ExitCode::from(code),
        Err(error) => {
            if as_json {
                put_aside_as_it_is(&format!("{}\n", error.to_json()));
            } else {
                note!("{error}");
            }
            ExitCode::from(error.kind.exit_code())
        }
    }
}

/// `--yes` of a command that does not ask: a script may give it to every command that removes something.
#[derive(Debug, clap::Args)]
struct Unasked {
    #[arg(long = "yes", short = 'y', hide = true)]
    _yes: bool,
}

/// All commands with their help.
fn program() -> clap::Command {
    let commands = help::with_examples(authority::with_authority(Cli::command()));
    help::with_groups(commands, GROUPS, Shown::Daily)
}
