//! Generates the reference of all commands from the binary's `--help` texts, in the order of their names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::process::build;

const HEAD: &str = "\
# Commands

Every command with its help. This page is generated from the binary: `steadfast COMMAND --help` prints the same text.

*Human only* marks a command that Steadfast refuses inside an agent's tool call. See [exit codes](exit-codes.md) and
[JSON outputs](json.md).
";

fn binary() -> Result<PathBuf> {
    build("dev")
}

fn print_of(binary: &Path, words: &[&str]) -> Result<String> {
    let output = Command::new(binary).args(words).env_clear().output()?;
    if !output.status.success() {
        return Err(format!("`steadfast {}`: {}", words.join(" "), String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the commands in bash's completion script, such as `task add`: all except the hidden ones.
fn names(completions: &str) -> BTreeSet<String> {
    let pairs = completions.lines().filter_map(|line| line.trim().strip_suffix(')')?.split_once(','));
    let names = pairs.map(|(parent, name)| [&parent.replace("__subcmd__", " "), " ", name].concat());
    names.filter(|name| name.starts_with("steadfast ") && name.split(' ').all(|word| word != "help")).collect()
}

pub(crate) fn reference() -> Result<String> {
    let binary = binary()?;
    let mut text = HEAD.to_owned();
    for name in names(&print_of(&binary, &["completions", "bash"])?) {
        let words: Vec<&str> = name.split(' ').skip(1).chain(["--help"]).collect();
        let help = print_of(&binary, &words)?;
        let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
        let depth = if words.len() > 2 { "###" } else { "##" };
        text += &format!("\n{depth} `{name}`\n\n```text\n{}\n```\n", lines.join("\n"));
    }
    Ok(text)
}

/// Returns the lines about exit codes in the help.
pub(crate) fn exit_codes() -> Result<String> {
    let help = print_of(&binary()?, &["--help"])?;
    let from = help.find("Exit codes:").ok_or("the help has no exit codes")?;
    let lines: Vec<&str> = help[from..].lines().take_while(|line| !line.is_empty()).collect();
    Ok(format!("```text\n{}\n```\n", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_completions_without_help() {
        let script = "case x in\n  steadfast,plan)\n  steadfast,help)\n  steadfast__subcmd__plan,load)\n  \
                      steadfast__subcmd__help__subcmd__plan,load)\n  steadfast__subcmd__plan__subcmd__help,load)\n  *)\n";
        assert_eq!(names(script).into_iter().collect::<Vec<_>>(), ["steadfast plan", "steadfast plan load"]);
    }
}
