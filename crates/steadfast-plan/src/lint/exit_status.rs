//! Checks whose exit status does not depend on the work.

use crate::markdown::words::words;

/// Returns why a command line always succeeds, if it does. Quoted parts are ignored.
pub fn swallowed(command: &str) -> Option<&'static str> {
    let bare = without_quoted(command);
    let fails_through = bare.contains("pipefail");
    let words: Vec<&str> = bare.split_whitespace().collect();
    if words.last().is_some_and(|word| *word == "&" || (word.ends_with('&') && !word.ends_with("&&"))) {
        return Some("it runs in the background, so its result is lost");
    }
    let last = bare.rsplit([';', '\n']).map(str::trim).find(|part| !part.is_empty()).unwrap_or("");
    let after_or = last.rsplit("||").next().map(str::trim).filter(|_| last.contains("||"));
    if let Some(rescue) = after_or
        && succeeds(rescue)
    {
        return Some("the command after `||` always succeeds, so it hides a failure");
    }
    if (bare.contains(';') || bare.contains('\n')) && succeeds(last) {
        return Some("its last command always succeeds, even when an earlier one fails");
    }
    let piped = last.replace("||", "  ");
    let mut parts = piped.split('|').map(str::trim);
    parts.next();
    let into = parts.next_back().and_then(|part| part.trim_start_matches('&').split_whitespace().next());
    match into {
        Some(program) if !fails_through && words!("passes on").contains(program) => {
            Some("a pipe has the exit status of its last command, which always succeeds here")
        }
        _ => None,
    }
}

fn succeeds(part: &str) -> bool {
    let mut words = part.split_whitespace();
    match words.next() {
        Some("true" | ":" | "echo" | "printf") => true,
        Some("exit" | "return") => words.next() == Some("0"),
        _ => false,
    }
}

/// Reports a command line that cannot fail: `true`, `echo ok`, `exit 0`, and sequences of these.
pub(crate) fn is_void(command: &str) -> bool {
    let bare = without_quoted(command);
    // Output into a file may fail, and a substitution may do anything.
    if bare.contains(['>', '$', '`', '|', '<', '(']) {
        return false;
    }
    let mut parts = bare.split([';', '\n', '&']).map(str::trim).filter(|part| !part.is_empty()).peekable();
    parts.peek().is_some() && parts.all(succeeds)
}

/// Returns the line with quoted parts and comments blanked out.
fn without_quoted(command: &str) -> String {
    let mut bare = String::new();
    let mut quote = None;
    let mut characters = command.chars().peekable();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (None, '\\') => {
                characters.next();
                bare.push('x');
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                bare.push('x');
            }
            (Some('"'), '\\') => {
                characters.next();
            }
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '#') if bare.is_empty() || bare.ends_with(char::is_whitespace) => {
                while characters.next_if(|c| *c != '\n').is_some() {}
            }
            (None, c) => bare.push(c),
        }
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_that_is_swallowed_is_seen() {
        for command in [
            "npm test | tail -20",
            "npm test || true",
            "npm test || :",
            "npm test; true",
            "npm test ; exit 0",
            "npm test; echo done",
            "npm test 2>&1 | tee log",
            "npm test &",
            "make || echo failed",
            "npm test\ntrue",
        ] {
            assert!(swallowed(command).is_some(), "{command}");
        }
    }

    #[test]
    fn a_command_that_cannot_fail_is_seen() {
        for command in ["true", ":", "exit 0", "echo ok", "echo 'all tests passed'", "printf done && true"] {
            assert!(is_void(command), "{command}");
        }
        for command in ["make", "echo ok > built.txt", "echo $(make)", "exit 1", "true && make", "echo a | grep b", ""]
        {
            assert!(!is_void(command), "{command}");
        }
    }

    #[test]
    fn a_status_that_counts_is_left_alone() {
        for command in [
            "npm test",
            "npm test && echo done",
            "set -o pipefail; npm test | tail",
            "grep -q 'a | tail' file",
            "test \"$(ls | wc -l)\" = 3",
            "npm test || exit 1",
            "cargo test -- --nocapture # || true",
            "ls | grep -q x",
            "sh -c 'a; true' && b",
            "echo 'x || true' > f && npm test",
        ] {
            assert_eq!(swallowed(command), None, "{command}");
        }
    }
}
