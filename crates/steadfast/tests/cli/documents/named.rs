//! Commands that the prose names exist, with their flags.

use std::collections::BTreeMap;

use super::page::pages;
use crate::sandbox::Sandbox;

/// The help of each command that was asked for; `None` if there is no such command.
struct Helps {
    sandbox: Sandbox,
    known: BTreeMap<String, Option<String>>,
}

impl Helps {
    fn of(&mut self, words: &[&str]) -> Option<&str> {
        let sandbox = &self.sandbox;
        let help = self.known.entry(words.join(" ")).or_insert_with(|| {
            let output = sandbox.run(&[words, &["--help"]].concat());
            output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
        });
        help.as_deref()
    }

    /// Why a command line is not one of ours.
    fn fault(&mut self, line: &str) -> Option<String> {
        let words: Vec<&str> = line.split_whitespace().skip(1).take_while(|word| *word != "--").collect();
        let mut depth = 0;
        while let Some(word) = words.get(depth).filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-')) {
            let help = self.of(&words[..depth])?;
            if !help.lines().any(|line| line.split_whitespace().next() == Some(*word)) || !help.contains("Commands:") {
                break;
            }
            depth += 1;
        }
        let is_placeholder = |word: &&str| word.starts_with('-') || *word == "COMMAND";
        if depth == 0 && words.first().is_some_and(|word| !is_placeholder(word)) {
            // Hidden commands and hooks are called by hosts.
            let is_hidden = matches!(words[0], "hook" | "supervise" | "neighbours" | "refine" | "sim" | "…");
            return (!is_hidden).then(|| "no such command".to_owned());
        }
        let help = self.of(&words[..depth])?.to_owned();
        let flags = words[depth..].iter().filter(|word| word.starts_with("--"));
        let name = |flag: &&&str| flag.split(['=', ',', ']', ')']).next().unwrap_or_default().to_owned();
        let unknown = flags.map(|flag| name(&flag)).find(|flag| !help.contains(flag.as_str()))?;
        Some(format!("no flag `{unknown}`"))
    }
}

#[test]
fn every_command_that_the_documents_name_exists() {
    let mut helps = Helps { sandbox: Sandbox::bare(), known: BTreeMap::new() };
    let (mut faults, mut checked) = (Vec::new(), 0);
    for page in pages() {
        for (line, text) in page.prose() {
            for code in text.split('`').skip(1).step_by(2).filter(|code| code.starts_with("steadfast ")) {
                checked += 1;
                if let Some(why) = helps.fault(code) {
                    faults.push(format!("{}:{line}: `{code}`: {why}", page.path));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(checked > 100, "{checked}");
}
