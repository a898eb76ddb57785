//! The authority to run commands: dispatch checks the table in `steadfast_model`, and the help shows it.

use clap::builder::StyledStr;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use steadfast_hosts::install::AllowedCalls;
use steadfast_model::{allowed_commands, commands_allowed_as_tools, human_command, human_commands};
use steadfast_store::Place;
use steadfast_work::Caller;

use super::mcp;
use crate::environment;
use crate::error::CommandError;

/// Refuses a human's command inside an agent's call, before the command runs.
pub(super) fn check(commands: &Command, matches: &ArgMatches) -> Result<(), CommandError> {
    let words = words(commands, matches);
    match human_command(words.iter().map(String::as_str)) {
        Some(row) if is_agents_call(&in_a_claim(row, matches)) => {
            Err(CommandError::refused(format!("only a human can run `steadfast {row}`, and this is an agent's call"))
                .hint(format!("a human runs `steadfast {row}` in a separate terminal")))
        }
        _ => Ok(()),
    }
}

/// The words of the called command, each followed by its flags. Without positional arguments: their values may look like
/// words of another command.
fn words(commands: &Command, matches: &ArgMatches) -> Vec<String> {
    let mut words = Vec::new();
    let mut level = Some((commands, matches));
    while let Some((command, matches)) = level {
        let given = matches.ids().filter(|id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine));
        let long = |id| command.get_arguments().find(|argument| argument.get_id() == id)?.get_long();
        words.extend(given.filter_map(long).map(|flag| format!("--{flag}")));
        level = matches.subcommand().and_then(|(name, inner)| Some((command.find_subcommand(name)?, inner)));
        words.extend(level.map(|(command, _)| command.get_name().to_owned()));
    }
    words
}

/// The words of this call in its claim. They include the id of a task, because agents and humans work on several tasks at
/// once, but not if the row has a flag: then the flag tells the calls apart.
fn in_a_claim(row: &str, matches: &ArgMatches) -> String {
    let task = matches.subcommand_matches("task").and_then(ArgMatches::subcommand);
    match task
        .filter(|_| !row.contains(" --"))
        .and_then(|(verb, inner)| Some((verb, inner.try_get_raw("id").ok()??.next()?)))
    {
        Some((verb, id)) => format!("task {verb} {}", id.to_string_lossy()),
        None => row.to_owned(),
    }
}

fn is_agents_call(words: &str) -> bool {
    let environment = environment::current();
    // Without `init` there are no claims, but the environment and the parent processes still show an agent.
    let place = Place::find(&environment.cwd, environment.user_state.as_deref());
    Caller::of(place.as_ref(), &environment, words).is_agent()
}

/// The calls that `init` offers to allow in the host's settings: of commands, and of the MCP tools that do the same.
pub(super) fn allowed_calls() -> AllowedCalls {
    let is_allowed = |tool: &&str| {
        let mut rows = allowed_commands().chain(commands_allowed_as_tools());
        rows.any(|command| command == tool.replace('_', " "))
    };
    AllowedCalls { commands: allowed_commands().collect(), tools: mcp::tool_names().filter(is_allowed).collect() }
}

/// Marks the commands and flags that only a human can run in the help.
pub(super) fn with_authority(command: Command) -> Command {
    human_commands().fold(command, |command, row| mark(command, &row.split(' ').collect::<Vec<_>>()))
}

fn mark(command: Command, words: &[&str]) -> Command {
    let marked = |text: Option<&StyledStr>| {
        let text = text.map(ToString::to_string).unwrap_or_default();
        format!("{}. Human only.", text.trim_end_matches('.'))
    };
    match words {
        [] => {
            let about = marked(command.get_about());
            match command.get_long_about().map(ToString::to_string) {
                Some(long) => command.about(about).long_about(format!("{long}\n\nHuman only.")),
                None => command.about(about),
            }
        }
        [flag, ..] if flag.starts_with('-') => {
            let name = flag.trim_start_matches('-');
            let id =
                command.get_arguments().find(|argument| argument.get_long() == Some(name)).map(|a| a.get_id().clone());
            match id {
                Some(id) => command.mut_arg(id, |argument| {
                    let help = marked(argument.get_help());
                    argument.help(help)
                }),
                None => command,
            }
        }
        [name, rest @ ..] if command.find_subcommand(name).is_some() => {
            command.mut_subcommand(*name, |inner| mark(inner, rest))
        }
        // A row without a command fails a test below.
        _ => command,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::Cli;
    use steadfast_model::Authority;

    use super::*;

    /// Every command that can be called, by its words.
    fn called(command: &Command, above: &str) -> Vec<String> {
        let below = command.get_subcommands().flat_map(|inner| {
            let words = format!("{above} {}", inner.get_name());
            called(inner, words.trim_start())
        });
        let is_itself = !above.is_empty() && !command.is_subcommand_required_set();
        is_itself.then(|| above.to_owned()).into_iter().chain(below).collect()
    }

    #[test]
    fn every_command_has_exactly_one_row() {
        let mut commands = called(&Cli::command(), "");
        // `main` takes it before there is a parser.
        commands.push("hook".to_owned());
        commands.sort();
        let mut rows: Vec<&str> =
            steadfast_model::commands().map(|(row, _)| row).filter(|row| !row.contains(" --")).collect();
        rows.sort_unstable();
        assert_eq!(rows, commands);
    }

    #[test]
    fn every_tool_is_a_command_of_the_table_and_none_is_a_humans() {
        for tool in mcp::tool_names() {
            let row = steadfast_model::commands().find(|(row, _)| *row == tool.replace('_', " "));
            assert!(row.is_some_and(|(_, authority)| authority != Authority::Human), "{tool}");
        }
        let tools = allowed_calls().tools;
        assert!(tools.contains(&"task_done") && tools.contains(&"plan_propose"), "{tools:?}");
        assert!(!tools.contains(&"task_add"), "{tools:?}");
    }

    /// A rule for a command also allows more words after it. A human's command that begins with those words is refused by
    /// the hook and by the command itself.
    #[test]
    fn a_rule_covers_a_humans_command_only_where_this_list_says_so() {
        let is_covered = |row: &&str| {
            allowed_commands().any(|command| row.strip_prefix(command).is_some_and(|rest| rest.starts_with(' ')))
        };
        let covered: Vec<_> = human_commands().filter(is_covered).collect();
        assert_eq!(covered, ["task done --force", "task done --accept-check"]);
    }

    #[test]
    fn every_row_of_a_flag_names_one_that_exists() {
        let commands = Cli::command();
        for (row, _) in steadfast_model::commands().filter(|(row, _)| row.contains(" --")) {
            let (words, flag) = row.split_once(" --").unwrap();
            let command = words.split(' ').try_fold(&commands, |command, word| command.find_subcommand(word));
            let command = command.unwrap_or_else(|| panic!("no command of `{row}`"));
            assert!(command.get_arguments().any(|argument| argument.get_long() == Some(flag)), "no flag of `{row}`");
        }
    }

    #[test]
    fn the_words_of_a_call_are_its_commands_and_the_flags_that_were_given() {
        let mut commands = with_authority(Cli::command());
        let mut read = |line: &str| {
            let matches = commands.try_get_matches_from_mut(format!("steadfast {line}").split(' ')).unwrap();
            words(&commands, &matches).join(" ")
        };
        assert_eq!(read("task done --force 1"), "task done --force");
        assert_eq!(read("task done 1"), "task done");
        assert_eq!(read("task add uninstall"), "task add");
        assert_eq!(read("plan approve -y"), "plan approve --yes");
        assert_eq!(read("pause"), "pause", "a default is not given");
        assert_eq!(read("loop review waive 3 --why x"), "loop review waive --why");
        assert_eq!(read("loop review --json"), "loop review --json");
    }
}
