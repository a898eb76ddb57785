//! The parts of the help beyond the doc comments: groups of top-level commands, and an example for each command.

use clap::Command;
use clap::builder::Styles;
use steadfast_text::{HANG, wrap};

/// Maximum width of a line of help.
pub(super) const WIDTH: usize = 80;

/// The words that ask for the list of all commands.
pub(super) const ALL: [&str; 2] = ["help", "all"];

/// The words that ask for the help of `help`, which `clap` takes for a command of the name `--help`.
pub(super) const OF_ITSELF: [[&str; 2]; 2] = [["help", "--help"], ["help", "-h"]];

/// A line per command: its words, the scene in which a test runs its example, and the example.
const EXAMPLES: &str = include_str!("examples.txt");

/// A group of commands of the top level, by the names of their variants.
pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) daily: &'static [&'static str],
    pub(super) more: &'static [&'static str],
}

/// The commands that the help of the top level lists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Daily,
    All,
}

/// Lists the top-level commands in groups: `clap` has headings for arguments, but not for commands.
pub(super) fn with_groups(program: Command, groups: &[Group], shown: Shown) -> Command {
    let row = |variant: &&str| {
        let command = program.find_subcommand(variant.to_ascii_lowercase())?;
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        (!command.is_hide_set()).then(|| (command.get_name().to_owned(), about))
    };
    let rows_of = |group: &Group| -> Vec<(String, String)> {
        match shown {
            Shown::All => group.daily.iter().chain(group.more).filter_map(row).collect(),
            Shown::Daily if group.daily.is_empty() => vec![
                (ALL.join(" "), "List all commands".to_owned()),
                ("help COMMAND".to_owned(), "Show the help of a command".to_owned()),
            ],
            Shown::Daily => group.daily.iter().filter_map(row).collect(),
        }
    };
    let groups: Vec<_> = groups.iter().map(|group| (group.name, rows_of(group))).collect();
    let width = groups.iter().flat_map(|(_, rows)| rows).map(|(name, _)| name.len()).max().unwrap_or(0);
    let styles = Styles::default();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut template = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (name, rows) in groups {
        template.push_str(&format!("\n{header}{name}:{header:#}\n"));
        for (name, about) in rows {
            let about = wrapped(&about, width + 4);
            template.push_str(&format!("  {literal}{name}{literal:#}{:1$}  {about}\n", "", width - name.len()));
        }
    }
    template.push_str(&format!("\n{header}Options:{header:#}\n{{options}}{{after-help}}"));
    program.help_template(template)
}

/// Wraps a text at `WIDTH`. Lines start at column `indent`; the first one is already there.
fn wrapped(text: &str, indent: usize) -> String {
    let lines = wrap(&format!("{:indent$}{HANG}{text}", ""), WIDTH);
    lines[indent..].trim_start_matches(HANG).to_owned()
}

/// Ends the help of each command with its example.
pub(super) fn with_examples(program: Command) -> Command {
    let rows = EXAMPLES.lines().filter_map(|line| {
        let mut columns = line.splitn(3, '|').map(str::trim);
        Some((columns.next()?, columns.nth(1)?))
    });
    rows.fold(program, |program, (words, example)| {
        with_example(program, &words.split(' ').collect::<Vec<_>>(), example)
    })
}

fn with_example(command: Command, words: &[&str], example: &str) -> Command {
    match words {
        [] => {
            let styles = Styles::default();
            let header = styles.get_header();
            command.after_help(format!("{header}Example:{header:#}\n  {example}"))
        }
        [name, rest @ ..] if command.find_subcommand(name).is_some() => {
            command.mut_subcommand(*name, |inner| with_example(inner, rest, example))
        }
        // A row without a command fails the test that runs the examples.
        _ => command,
    }
}
