//! Forbids effects in the pure crates: files, network, environment, processes, clock and waiting. Clippy can only
//! forbid single functions, and `std::fs` alone has dozens, so this check searches the source for the names.

use std::fs;

use xtask::sources::production_sources;

use crate::Result;
use crate::process::root;

const PURE: [&str; 8] = ["text", "words", "model", "redact", "shell", "engine", "plan", "splice"];

/// Modules of `std` with effects.
const MODULES: [&str; 6] = ["fs", "net", "os", "env", "process", "thread"];

/// Types and functions with effects, from any module.
const NAMES: [&str; 3] = ["SystemTime", "UNIX_EPOCH", "Instant"];

pub(crate) fn check() -> Result<()> {
    let mut found = Vec::new();
    for name in PURE {
        for file in production_sources(&root().join(format!("crates/steadfast-{name}/src")))? {
            let text = fs::read_to_string(&file)?;
            let shown = file.strip_prefix(root()).unwrap_or(&file).display();
            found.extend(effects(&text).into_iter().map(|(line, name)| format!("{shown}:{line}: {name}")));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(format!("effects in pure crates:\n{}", found.join("\n")).into()) }
}

/// The lines that name an effect, up to the tests of the file.
fn effects(text: &str) -> Vec<(usize, String)> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    // The modules that a `use std::{…}` over several lines still has to close.
    let mut group = false;
    for (line, text) in (1..).zip(code.lines()) {
        let text = text.split("//").next().unwrap_or_default();
        let words: Vec<&str> =
            text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty()).collect();
        found.extend(words.iter().filter(|word| NAMES.contains(word)).map(|word| (line, (*word).to_owned())));
        group |= text.contains("std::{");
        let imported = |module: &&&str| group || text.contains(&format!("std::{module}"));
        let is_word = |module: &&&str| words.contains(*module);
        let modules = MODULES.iter().filter(imported).filter(is_word);
        found.extend(modules.map(|module| (line, format!("std::{module}"))));
        group &= !text.contains("};");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        effects(text).into_iter().map(|(line, name)| format!("{line} {name}")).collect()
    }

    #[test]
    fn every_spelling_of_an_effect_is_found() {
        assert_eq!(names("use std::fs;\nuse std::{fmt,\n    net::TcpStream,\n};"), ["1 std::fs", "3 std::net"]);
        assert_eq!(names("std::thread::sleep(x);\nlet now = SystemTime::now();"), ["1 std::thread", "2 SystemTime"]);
        assert_eq!(names("use std::time::{Duration, Instant};"), ["1 Instant"]);
    }

    #[test]
    fn comments_tests_and_other_names_are_passed_over() {
        assert!(
            names("// std::fs\nlet fs = fs::x();\nuse std::fmt;\n#[cfg(test)]\nmod tests {\nuse std::fs;").is_empty()
        );
    }

    #[test]
    fn the_pure_crates_are_pure() {
        check().unwrap();
    }
}
