//! Unknown programs with a path as argument: they may write it.

use crate::command::interpreter::is_interpreter;
use crate::effect::Reading;
use crate::invocation::{Argument, Invocation};
use crate::judge::is_named;
use crate::table::row_of_name;
use crate::text::{base_name, resolve};
use crate::unknown::is_reader;

impl Reading {
    /// Returns the name and the path of the first program that is neither described nor known as a reader, and gets one
    /// of these paths or one inside. A script is such a program, whichever interpreter runs it.
    pub fn handed_over(&self, protected: &[&str]) -> Option<(&str, &str)> {
        self.runs().find_map(|run| {
            let (program, arguments) = unknown_program(run)?;
            let is_protected = |text: &&str| {
                let value = text.split_once('=').map_or(*text, |(_, value)| value);
                let path = resolve(value, &self.context.cwd);
                !value.is_empty() && protected.iter().any(|place| is_named(&path, place))
            };
            let path = arguments.iter().filter_map(Argument::known).find(is_protected)?;
            Some((program, path))
        })
    }
}

/// Returns the program of an invocation if it is unknown, with its arguments.
fn unknown_program(run: &Invocation) -> Option<(&str, &[Argument])> {
    let program = run.argv.first()?.known()?;
    let name = base_name(program);
    if !is_interpreter(name) {
        let is_known = is_reader(name) || row_of_name(name) || is_builtin(name);
        return (!is_known).then_some((name, run.arguments()));
    }
    // `python3 script.py file`; code in an argument is read as code.
    let at = run.arguments().iter().position(|argument| argument.known().is_none_or(|text| !text.starts_with('-')))?;
    let is_code =
        run.arguments()[..at].iter().any(|option| option.known() != Some("-m") && option.known() != Some("-u"));
    let script = run.arguments()[at].known()?;
    let rest = &run.arguments()[at + 1..];
    // With one file it only prints.
    let prints = script == "json.tool" && rest.len() < 2;
    (!is_code && !prints && script.contains('.')).then(|| (base_name(script), rest))
}

/// Recognises builtins of the shell, and programs that have their own module here.
fn is_builtin(name: &str) -> bool {
    matches!(
        name,
        "cd" | "pushd" | "popd" | "test" | "[" | "[[" | "source" | "." | ":" | "echo" | "printf" | "exit" | "alias"
    ) || matches!(name, "steadfast" | "mapfile" | "readarray" | "history" | "ulimit" | "umask" | "trap" | "unalias")
}

#[cfg(test)]
mod tests {
    use crate::{Context, effects};

    fn handed_over(line: &str) -> bool {
        let context = Context { cwd: "/repo".to_owned(), home: "~".to_owned() };
        effects(line, &context).handed_over(&[".git/steadfast/", ".claude/settings.json"]).is_some()
    }

    #[test]
    fn a_program_that_nothing_is_known_of_may_write_what_it_is_given() {
        for line in [
            "frob .claude/settings.json",
            "frob --conf=.claude/settings.json",
            "./fix.sh .git/steadfast/state.db",
            "python3 fix.py .claude/settings.json",
            "python3 -m json.tool a.json .claude/settings.json",
            "npx frob ~/.claude/settings.json",
            "ls && frob -x .git/steadfast",
        ] {
            assert!(handed_over(line), "{line}");
        }
    }

    #[test]
    fn what_reads_is_described_or_is_given_something_else_is_left_alone() {
        for line in [
            "cat .claude/settings.json",
            "jq . .claude/settings.json",
            "git diff .claude/settings.json",
            "python3 -m json.tool .claude/settings.json",
            "python3 -c 'print(1)' .claude/settings.json",
            "frob .claude/agents/a.md",
            "frob settings.json",
            "test -f .claude/settings.json && echo yes",
            "prettier --check .claude/settings.json",
        ] {
            assert!(!handed_over(line), "{line}");
        }
    }
}
