//! Who may run which command. One table: the command line asks it before a command runs, the pre-tool hook before an
//! agent's call runs, and the help and the lists in the documents are generated from it.

/// Who may run a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority {
    /// Refused inside an agent's tool call.
    Human,
    /// Whoever likes.
    Either,
}

/// Every command by its words. A flag that only a human may set has a row of its own.
pub const COMMANDS: [(&str, Authority); 89] = [
    ("init", Authority::Human),
    ("uninstall", Authority::Human),
    ("off", Authority::Human),
    ("pause", Authority::Human),
    ("config set", Authority::Human),
    ("clean", Authority::Human),
    ("doctor --fix", Authority::Human),
    ("task unblock", Authority::Human),
    ("task done --force", Authority::Human),
    ("task done --accept-check", Authority::Human),
    ("plan use", Authority::Human),
    ("plan clear", Authority::Human),
    ("plan approve", Authority::Human),
    ("plan reject", Authority::Human),
    ("plan unlock", Authority::Human),
    ("plan take", Authority::Human),
    ("plan release", Authority::Human),
    ("goal set", Authority::Human),
    ("goal forbid", Authority::Human),
    ("goal allow", Authority::Human),
    ("goal clear", Authority::Human),
    ("learn confirm", Authority::Human),
    ("learn dismiss", Authority::Human),
    ("loop start --fresh", Authority::Human),
    ("loop override", Authority::Human),
    ("loop archive", Authority::Human),
    ("loop waive", Authority::Human),
    ("loop review waive", Authority::Human),
    ("loop review defer", Authority::Human),
    ("run", Authority::Human),
    ("resume", Authority::Human),
    ("doctor", Authority::Either),
    ("status", Authority::Either),
    ("progress", Authority::Either),
    ("why", Authority::Either),
    ("log", Authority::Either),
    ("config show", Authority::Either),
    ("config schema", Authority::Either),
    ("task add", Authority::Either),
    ("task list", Authority::Either),
    ("task ready", Authority::Either),
    ("task next", Authority::Either),
    ("task show", Authority::Either),
    ("task start", Authority::Either),
    ("task done", Authority::Either),
    ("task block", Authority::Either),
    ("task check", Authority::Either),
    ("task wait", Authority::Either),
    ("task note", Authority::Either),
    ("spec compile", Authority::Either),
    ("spec count", Authority::Either),
    ("spec lint", Authority::Either),
    ("plan load", Authority::Either),
    ("plan lock", Authority::Either),
    ("plan propose", Authority::Either),
    ("guard check", Authority::Either),
    ("transcript stats", Authority::Either),
    ("transcript show", Authority::Either),
    ("transcript find", Authority::Either),
    ("replay", Authority::Either),
    ("backtest", Authority::Either),
    ("plan list", Authority::Either),
    ("plan show", Authority::Either),
    ("plan status", Authority::Either),
    ("plan export", Authority::Either),
    ("goal show", Authority::Either),
    ("decide", Authority::Either),
    ("learn add", Authority::Either),
    ("learn list", Authority::Either),
    ("recall", Authority::Either),
    ("loop start", Authority::Either),
    ("loop status", Authority::Either),
    ("loop score", Authority::Either),
    ("loop shape", Authority::Either),
    ("loop next", Authority::Either),
    ("loop advance", Authority::Either),
    ("loop review", Authority::Either),
    ("loop review list", Authority::Either),
    ("loop review fixed", Authority::Either),
    ("loop gate", Authority::Either),
    ("loop objection", Authority::Either),
    ("supervise", Authority::Either),
    ("neighbours", Authority::Either),
    ("refine", Authority::Either),
    ("mcp", Authority::Either),
    ("hook", Authority::Either),
    ("demo", Authority::Either),
    ("sim", Authority::Either),
    ("completions", Authority::Either),
];

/// The commands that are refused inside an agent's call, in the order of the table.
pub fn human_commands() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().filter(|(_, authority)| *authority == Authority::Human).map(|(command, _)| *command)
}

/// The command of a human that these words call, if they call one. `words` are what follows `steadfast`.
pub fn human_command<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    let words: Vec<&str> = words.into_iter().collect();
    // Help is printed, and nothing is run.
    if words.iter().take_while(|word| **word != "--").any(|word| matches!(*word, "--help" | "-h")) {
        return None;
    }
    let calls = |command: &str| {
        let mut plain = words.iter().filter(|word| !word.starts_with('-'));
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
