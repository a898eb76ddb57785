//! Names in a text: paths, commands, identifiers.

use super::sentence::{Said, is_code, list, words};

/// Reports whether a sentence names an exact place in the project.
pub(super) fn names_path(said: &Said) -> bool {
    said.words.iter().any(|word| is_path(&word.raw.to_lowercase(), is_code(word)))
}

/// Returns the files and folders that a text names, each once, as written, from the root of the checkout. Routes are not
/// included.
///
/// ```
/// assert_eq!(steadfast_plan::paths("Edit `src/Main.java`, look into docs/ and/or GET /api/v1/x."), ["src/Main.java", "docs/"]);
/// ```
pub fn paths(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words(text) {
        for part in word.raw.split_whitespace() {
            let path = without_line(bare_path(part));
            let is_path = is_path(&path.to_lowercase(), is_code(&word)) && !path.starts_with('/');
            if is_path && !found.iter().any(|known| known == path) {
                found.push(path.to_owned());
            }
        }
    }
    found
}

fn is_path(text: &str, is_code: bool) -> bool {
    let text = without_line(bare_path(text));
    if text.contains("://") || text.contains(' ') || text.starts_with('-') {
        return false;
    }
    if has_extension(text) {
        return true;
    }
    let is_word = |part: &str| {
        part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '*' | '{' | '}' | '[' | ']'))
    };
    if !text.contains('/') || !text.split('/').all(is_word) || !text.contains(char::is_alphabetic) {
        return false;
    }
    let mut parts = text.split('/').filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or_default();
    let is_rooted = parts.next().is_some() && (text.starts_with('/') || list("root-folder").has(first));
    is_code || text.ends_with('/') || is_rooted
}

/// Removes punctuation at the end of a sentence, and all of a link but its target: `[this](src/a.rs)`.
fn bare_path(word: &str) -> &str {
    let word = word.rsplit("](").next().unwrap_or(word);
    word.trim_matches(|c: char| matches!(c, ',' | ':' | ';' | '(' | ')' | '"' | '\'' | '!' | '?')).trim_end_matches('.')
}

/// Removes a line number: `collision.go:329` is a place in `collision.go`.
fn without_line(path: &str) -> &str {
    match path.rsplit_once(':') {
        Some((path, line)) if !line.is_empty() && line.chars().all(|c| c.is_ascii_digit() || c == '-') => path,
        _ => path,
    }
}

fn has_extension(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(stem, extension)| {
        list("extension").has(extension)
            && stem.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '*'))
    })
}

/// Reports whether a command only tests that a file exists, or cannot fail. It proves only that something was made.
pub(super) fn is_presence(command: &str) -> bool {
    let looks = |part: &str| {
        let words: Vec<&str> = part.split_whitespace().filter(|word| *word != "!").collect();
        match words.as_slice() {
            ["test" | "[" | "[[", "-e" | "-f" | "-s" | "-d" | "-r" | "-x", ..] => true,
            [program, ..] => list("presence").has(program),
            [] => true,
        }
    };
    !command.contains('|') && command.split("&&").flat_map(|part| part.split(';')).all(looks)
}

/// Recognises a command for more than all tests.
pub(super) fn tests_something(command: &str) -> bool {
    !is_presence(command) && (command.contains('/') || command.split_whitespace().nth(2).is_some())
}

/// Returns the command lines of a sentence, in backticks or in a code block.
pub(super) fn commands(said: &Said) -> impl Iterator<Item = &str> {
    said.codes().filter(|code| is_command(code))
}

/// Reports whether a text can run as a command. Two plain words such as `all tests` are more likely a name.
pub(super) fn is_runnable(code: &str) -> bool {
    let assigns = |word: &&str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        })
    };
    let bare = code.split_whitespace().skip_while(|word| *word == "!" || assigns(word)).collect::<Vec<_>>();
    let Some((program, rest)) = bare.split_first() else { return false };
    let is_script = program.contains('/') && program.ends_with(".sh");
    let technical = |word: &&str| word.contains(|c: char| !c.is_alphabetic());
    is_known(program)
        || list("more-programs").has(program)
        || is_script
        || is_command(&bare.join(" ")) && rest.iter().any(technical)
}

fn is_command(code: &str) -> bool {
    let mut words = code.split_whitespace().filter(|word| !matches!(*word, "!" | "$" | "for" | "while" | "if"));
    let Some(program) = words.next().filter(|program| !program.starts_with('-')) else { return false };
    let more = words.next().is_some();
    let name_like =
        program.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.' | '/'));
    is_known(program) || (more && name_like && !code.contains([';', '{']) && !code.contains(" = "))
}

fn is_known(program: &str) -> bool {
    list("program").has(program) || program.starts_with("./")
}

/// Recognises names that occur only in code: `UserStore`, `replace_ids`, `run()`.
pub(super) fn names_code(said: &Said) -> bool {
    let is_name = |word: &str| {
        let humps =
            word.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
        humps.count() > 0 || (word.contains('_') && word.contains(char::is_alphabetic)) || word.ends_with("()")
    };
    said.text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '(' && c != ')'))
        .any(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::sentence::{Form, Part};

    fn said(text: &str) -> Said {
        Said::new(1, text, Part::Other, Form::Prose)
    }

    #[test]
    fn paths_are_told_from_words_with_a_slash() {
        let paths = [
            "edit src/auth/login.rs.",
            "in src/auth",
            "look into worker/",
            "`docs/cli.md`",
            "see `src/core`",
            "at /api/v1/orders",
        ];
        for text in paths {
            assert!(names_path(&said(text)), "{text}");
        }
        let others = [
            "and/or",
            "read/write speed",
            "see https://a.example/b/c",
            "version 4.5",
            "e.g. this",
            "`--since`",
            "`/ x`",
        ];
        for text in others {
            assert!(!names_path(&said(text)), "{text}");
        }
    }

    #[test]
    fn commands_are_told_from_names() {
        let commands = [
            "`cargo test`",
            "`make`",
            "`./run.sh`",
            "`tool log --since 2026`",
            "`! grep -rn x src`",
            "`vendor/bin/phpstan --level=max src`",
        ];
        for text in commands {
            assert!(super::commands(&said(text)).next().is_some(), "{text}");
        }
        for text in ["`UserStore`", "`src/a.rs`", "`let a = 1;`", "cargo test", "`Read only`", "`--type x`"] {
            assert!(super::commands(&said(text)).next().is_none(), "{text}");
        }
    }
}
