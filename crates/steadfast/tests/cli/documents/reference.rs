//! The generated reference of commands is what the binary prints. `cargo xtask generate` writes it.

use std::collections::BTreeSet;

use super::page::Page;
use crate::sandbox::Sandbox;

const HINT: &str = "`cargo xtask generate` writes it";

fn trimmed(text: &str) -> String {
    text.trim_end().lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[test]
fn the_reference_of_commands_is_fresh() {
    let sandbox = Sandbox::bare();
    let page = Page::read("docs/reference/commands.md");
    let headings: Vec<&str> =
        page.prose().into_iter().filter_map(|(_, line)| line.split("# `steadfast").nth(1)).collect();
    let names = headings.iter().map(|heading| heading.trim_end_matches('`').trim().to_owned());
    let names: Vec<String> = names.collect();
    let blocks = page.blocks();
    assert_eq!(names.len(), blocks.len(), "{HINT}");
    for (name, block) in names.iter().zip(&blocks) {
        let words: Vec<&str> = name.split(' ').chain(["--help"]).collect();
        assert_eq!(block.text, trimmed(&sandbox.ok(&words)), "{HINT}");
    }
    let completions = sandbox.ok(&["completions", "bash"]);
    let pairs = completions.lines().filter_map(|line| line.trim().strip_suffix(')')?.split_once(','));
    let known = pairs.filter_map(|(parent, name)| {
        let parent = parent.strip_prefix("steadfast")?.replace("__subcmd__", " ");
        Some(format!("{parent} {name}").trim().to_owned())
    });
    let known: BTreeSet<String> = known.filter(|name| name.split(' ').all(|word| word != "help")).collect();
    assert_eq!(known, names.into_iter().collect(), "{HINT}");
}

#[test]
fn the_exit_codes_are_those_of_the_help() {
    let help = Sandbox::bare().ok(&["--help"]);
    let blocks = Page::read("docs/reference/exit-codes.md").blocks();
    assert!(blocks.iter().all(|block| help.contains(&block.text)) && !blocks.is_empty(), "{HINT}");
}
