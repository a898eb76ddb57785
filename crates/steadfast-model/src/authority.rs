//! The commands that only a human may run. The command line reads this table before a command runs, the pre-tool hook
//! before an agent's call runs. The help and the lists in the documents are generated from it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority {
    /// Refused inside an agent's tool call.
    Human,
    /// Also for agents. The host asks a human before each call, as before every other program.
    Either,
    /// The same, but `init` offers to allow its MCP tool: the tool takes a text where the command reads any file.
    AllowedAsTool,
    /// Also for agents, and `init` offers to allow it in the host's settings, so that the host does not ask. Such a
    /// command brings in no command that Steadfast runs later, starts no agent, and neither shows nor writes a file that
    /// the caller names: otherwise the permission would allow much more than its words say.
    Allowed,
}

/// One line per command: `human`, `either`, `tool` or `allowed`, then its words. A flag that only a human may set has its
/// own line.
const COMMANDS: &str = include_str!("commands.txt");

/// Returns the words of every command and who may run it.
pub fn commands() -> impl Iterator<Item = (&'static str, Authority)> {
    COMMANDS.lines().filter_map(|line| {
        let (who, words) = line.split_once(' ')?;
        let authority = match who {
            "human" => Authority::Human,
            "either" => Authority::Either,
            "tool" => Authority::AllowedAsTool,
            "allowed" => Authority::Allowed,
            _ => return None,
        };
        Some((words, authority))
    })
}

/// Returns the commands that are refused inside an agent's call, in the order of the table.
pub fn human_commands() -> impl Iterator<Item = &'static str> {
    with_authority(Authority::Human)
}

/// Returns the commands that `init` offers to allow, in the order of the table.
pub fn allowed_commands() -> impl Iterator<Item = &'static str> {
    with_authority(Authority::Allowed)
}

/// Returns the commands of which `init` offers to allow only the MCP tool.
pub fn commands_allowed_as_tools() -> impl Iterator<Item = &'static str> {
    with_authority(Authority::AllowedAsTool)
}

fn with_authority(wanted: Authority) -> impl Iterator<Item = &'static str> {
    commands().filter(move |(_, authority)| *authority == wanted).map(|(command, _)| command)
}

/// The flag of every command whose value is a word of its own.
const COLOUR: &str = "--color";

/// Returns the human-only command that these words call, if any. `words` are the arguments of `steadfast`.
pub fn human_command<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    let words: Vec<&str> = words.into_iter().collect();
    // With `--help` the command only prints its help.
    if words.iter().take_while(|word| **word != "--").any(|word| matches!(*word, "--help" | "-h")) {
        return None;
    }
    let values: Vec<usize> = (1..words.len()).filter(|index| words[index - 1] == COLOUR).collect();
    let calls = |command: &str| {
        let plain = words.iter().enumerate().filter(|(index, word)| !word.starts_with('-') && !values.contains(index));
        let mut plain = plain.map(|(_, word)| word);
        command
            .split(' ')
            .all(|word| if word.starts_with('-') { words.contains(&word) } else { plain.next() == Some(&word) })
    };
    human_commands().find(|command| calls(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_command() {
        assert_eq!(commands().count(), COMMANDS.lines().count());
        assert_eq!((human_commands().next(), human_commands().last()), (Some("init"), Some("resume")));
    }

    /// Each of these would let an agent run any command: with the check that it brings, or as the simulated agent.
    #[test]
    fn a_command_that_can_bring_another_command_is_not_offered() {
        let offered: Vec<_> = allowed_commands().collect();
        for command in ["task add", "plan load", "loop start", "loop review", "plan export", "sim", "mcp", "hook"] {
            assert!(!offered.contains(&command), "{command}");
        }
        // These show lines of the file that they are given.
        for command in ["spec lint", "spec count", "spec compile", "plan propose", "loop shape", "transcript show"] {
            assert!(!offered.contains(&command), "{command}");
        }
        assert!(offered.contains(&"task next") && offered.contains(&"task done"));
    }

    #[test]
    fn a_humans_command_is_known_by_its_words() {
        let called = |line: &'static str| human_command(line.split_whitespace());
        assert_eq!(called("uninstall --purge"), Some("uninstall"));
        assert_eq!(called("task unblock 3"), Some("task unblock"));
        assert_eq!(called("task --quiet unblock 3"), Some("task unblock"));
        assert_eq!(called("doctor --json --fix"), Some("doctor --fix"));
        assert_eq!(called("config set stop.max_idle 9"), Some("config set"));
        assert_eq!(called("task done 1 --force"), Some("task done --force"));
        assert_eq!(called("plan approve 1a2b3c4d --yes"), Some("plan approve"));
        assert_eq!(called("plan approve -- --help"), Some("plan approve"));
        for line in ["--color never plan approve", "plan --color always approve", "--utc plan --color=auto approve"] {
            assert_eq!(called(line), Some("plan approve"), "{line}");
        }
        assert_eq!(called("task done 1 --force -- -h"), Some("task done --force"));
        for help in
            ["plan approve --help", "plan approve 1a2b3c4d -h", "uninstall --purge --help", "--help plan approve"]
        {
            assert_eq!(called(help), None, "{help}");
        }
        for either in
            ["doctor", "plan propose x", "plan lock", "task done 1", "task add uninstall", "config show", "status", ""]
        {
            assert_eq!(called(either), None, "{either}");
        }
    }
}
