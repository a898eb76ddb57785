//! All generated files come from one table. CI fails if one is out of date.

use std::fs;

use schemars::{JsonSchema, schema_for};
use steadfast_hosts::install;
use steadfast_model::human_commands;
use steadfast_plan::schema::Spec;

use crate::Result;
use crate::commands;
use crate::configuration;
use crate::picture;
use crate::process::root;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Write,
    Check,
}

enum Generator {
    /// Writes the whole file.
    File(fn() -> Result<String>),
    /// Writes the lines between `<!-- generated: NAME -->` and `<!-- end -->`; the rest of the file stays as it is.
    Block(&'static str, fn() -> Result<String>),
}
use Generator::{Block, File};

const GENERATORS: [(&str, Generator); 7] = [
    ("schemas/steadfast.schema.json", File(configuration::schema)),
    ("docs/configuration.md", File(configuration::reference)),
    ("docs/start.md", Block("configuration", || Ok(configuration::excerpt()))),
    ("schemas/spec.schema.json", File(schema::<Spec>)),
    ("plugin/hooks/hooks.json", File(plugin_hooks)),
    ("docs/threat-model.md", Block("human commands", list_of_human_commands)),
    ("xtask/messages.txt", File(xtask::prose::list)),
];

/// These generators run the binary, which must be built before.
const OF_THE_BINARY: [(&str, Generator); 3] = [
    (picture::FILE, File(picture::picture)),
    ("docs/reference/commands.md", File(commands::reference)),
    ("docs/reference/exit-codes.md", Block("exit codes", commands::exit_codes)),
];

/// The longest line of a generated list.
const COLUMNS: usize = 120;

pub(crate) fn generate(doing: Doing) -> Result<()> {
    run(GENERATORS.iter().chain(&OF_THE_BINARY), doing)
}

fn run<'a>(generators: impl Iterator<Item = &'a (&'static str, Generator)>, doing: Doing) -> Result<()> {
    let mut stale = Vec::new();
    for (path, generator) in generators {
        let file = root().join(path);
        let text = match generator {
            File(write) => write()?,
            Block(name, write) => {
                let present = fs::read_to_string(&file).map_err(|error| format!("cannot read {path}: {error}"))?;
                with_block(&present, name, &write()?).ok_or_else(|| {
                    format!("{path} has no lines `<!-- generated: {name} -->` and `<!-- end -->`, in this order, once")
                })?
            }
        };
        if fs::read_to_string(&file).is_ok_and(|present| present == text) {
            continue;
        }
        match doing {
            Doing::Check => stale.push(*path),
            Doing::Write => {
                if let Some(folder) = file.parent() {
                    fs::create_dir_all(folder)?;
                }
                fs::write(&file, text)?;
                eprintln!("wrote {path}");
            }
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("out of date: {}; `cargo xtask generate` writes them", stale.join(", ")).into())
}

fn schema<T: JsonSchema>() -> Result<String> {
    Ok(serde_json::to_string_pretty(&schema_for!(T))? + "\n")
}

fn plugin_hooks() -> Result<String> {
    Ok(serde_json::to_string_pretty(&install::plugin_hooks())? + "\n")
}

/// Returns the text with new lines in the block of that name. `None` if there is not exactly one such block.
fn with_block(text: &str, name: &str, lines: &str) -> Option<String> {
    let begin = format!("<!-- generated: {name} -->\n");
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once("<!-- end -->\n")?;
    (!rest.contains(&begin)).then(|| format!("{before}{begin}{lines}<!-- end -->\n{after}"))
}

fn list_of_human_commands() -> Result<String> {
    Ok(list(human_commands()))
}

/// Returns a line such as "`init`, `task unblock`.", broken only between the words of the list.
fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut words = words.peekable();
    let (mut text, mut column) = (String::new(), 0);
    while let Some(word) = words.next() {
        let item = format!("`{word}`{}", if words.peek().is_some() { "," } else { "." });
        let width = item.chars().count();
        let between = match column {
            0 => "",
            column if column + 1 + width <= COLUMNS => " ",
            _ => "\n",
        };
        column = if between == " " { column + 1 + width } else { width };
        text.extend([between, &item]);
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_files_are_fresh() {
        run(GENERATORS.iter(), Doing::Check).unwrap();
    }

    #[test]
    fn a_block_is_replaced_and_the_rest_stays() {
        let text = "a\n<!-- generated: x -->\nold\n<!-- end -->\nb\n<!-- end -->\n";
        let new = "a\n<!-- generated: x -->\nnew\n<!-- end -->\nb\n<!-- end -->\n";
        assert_eq!(with_block(text, "x", "new\n").as_deref(), Some(new));
        assert_eq!(with_block(new, "x", "new\n").as_deref(), Some(new));
    }

    #[test]
    fn a_block_that_is_missing_open_or_there_twice_is_not_written() {
        let block = "<!-- generated: x -->\n<!-- end -->\n";
        for text in ["a\n", "<!-- generated: x -->\n", "<!-- end -->\n<!-- generated: x -->\n", &block.repeat(2)] {
            assert_eq!(with_block(text, "x", "new\n"), None, "{text}");
        }
    }

    #[test]
    fn a_list_is_broken_between_its_words_at_120_columns() {
        assert_eq!(list(["init", "task unblock"].into_iter()), "`init`, `task unblock`.\n");
        let word = "x".repeat(57);
        let line = format!("`{word}`, `{word}`,");
        assert_eq!(
            (line.len(), list([word.as_str(); 3].into_iter())),
            (121, format!("`{word}`,\n`{word}`,\n`{word}`.\n"))
        );
        let word = &word[1..];
        assert_eq!(list([word; 3].into_iter()), format!("`{word}`, `{word}`,\n`{word}`.\n"));
    }
}
