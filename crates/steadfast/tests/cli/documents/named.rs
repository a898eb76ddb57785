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
        let name = [&["steadfast"], words].concat().join(" ");
        let help = self.known.entry(name.clone()).or_insert_with(|| {
            let output = sandbox.run(&[words, &["--help"]].concat());
            let help = String::from_utf8(output.stdout).unwrap();
            // With an argument instead of a command, the usage is that of the command before it.
            let is_command = help.contains(&format!("Usage: {name} ")) || help.contains(&format!("Usage: {name}\n"));
            (output.status.success() && is_command).then_some(help)
        });
        help.as_deref()
    }

    /// Why a command line is not one of ours.
    fn fault(&mut self, line: &str) -> Option<String> {
        let words: Vec<&str> = line.split_whitespace().skip(1).take_while(|word| *word != "--").collect();
        let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
        let names = words.iter().take_while(|word| is_name(word)).count();
        let depth = (0..=names).rev().find(|depth| self.of(&words[..*depth]).is_some()).unwrap_or(0);
        if depth == 0 && names > 0 {
            // The parser does not know these: hosts call `hook`, and `help all` is not parsed.
            return (!matches!(words[0], "hook" | "help")).then(|| "no such command".to_owned());
        }
        let help = self.of(&words[..depth])?.to_owned();
        let flags = words[depth..].iter().filter(|word| word.starts_with("--"));
        let name = |flag: &&str| flag.split(['=', ',', ']', ')']).next().unwrap_or_default().to_owned();
        let unknown = flags.map(name).find(|flag| !help.contains(flag.as_str()))?;
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

#[test]
fn a_command_or_flag_that_does_not_exist_is_named() {
    let mut helps = Helps { sandbox: Sandbox::bare(), known: BTreeMap::new() };
    let faults = ["steadfast nonsense", "steadfast run SPEC.md --nonsense", "steadfast task done 1 --force"];
    let faults = faults.map(|line| helps.fault(line));
    assert_eq!(faults, [Some("no such command".to_owned()), Some("no flag `--nonsense`".to_owned()), None]);
}
