//! Finds the check in the text of a list item: `Verify: grep -q x a.ts`.

/// The longest check, in bytes. A longer text is not a command line that an agent writes into a list.
const LONGEST: usize = 1_000;

/// Programs that checks run. A text without backticks is a command line only if it begins with one of these or with a
/// path: "Verify: the page looks right" is prose, and running it would never pass.
const PROGRAMS: &str = include_str!("programs.txt");

/// Returns the command line after `Verify:` (in any case): between backticks, or up to the end of the line.
pub(crate) fn check_in(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let at = find(line)?;
        let rest = line[at..].trim_start();
        let command = match rest.strip_prefix('`') {
            Some(quoted) => quoted.split_once('`')?.0.trim(),
            None => plain(rest)?,
        };
        (!command.is_empty() && command.len() <= LONGEST).then(|| command.to_owned())
    })
}

/// Returns the position after the word `verify:`, and after the asterisks of a heading around it (`**Verify:**`).
fn find(line: &str) -> Option<usize> {
    const WORD: &str = "verify:";
    let lower = line.to_ascii_lowercase();
    let at = lower.match_indices(WORD).find(|(at, _)| !line[..*at].ends_with(|c: char| c.is_alphanumeric()))?.0;
    let after = &line[at + WORD.len()..];
    Some(line.len() - after.trim_start_matches('*').len())
}

fn plain(rest: &str) -> Option<&str> {
    let command = rest.trim_end();
    // Remove the full stop of a sentence, but not a path: `cargo test .` keeps its dot.
    let command = match command.strip_suffix('.') {
        Some(before) if before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '"' | '\'' | ')')) => before,
        _ => command,
    };
    let assigns = |word: &&str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    let program = command.split_whitespace().find(|word| !assigns(word))?;
    let is_command = PROGRAMS.split_whitespace().any(|known| known == program)
        || program.starts_with("./")
        || program.starts_with('/');
    is_command.then_some(command)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_found_wherever_it_stands() {
        for (text, command) in [
            (
                "Add import to src/auth.ts. Verify: grep 'ValidationError' src/auth.ts",
                "grep 'ValidationError' src/auth.ts",
            ),
            ("Do it.\nverify: cargo test -p a\nThen rest.", "cargo test -p a"),
            ("**Verify:** `the-tool --check`, then go on", "the-tool --check"),
            ("VERIFY: npm test.", "npm test"),
            ("verify: CI=1 ./run.sh", "CI=1 ./run.sh"),
            ("verify: cargo test .", "cargo test ."),
        ] {
            assert_eq!(check_in(text).as_deref(), Some(command), "{text}");
        }
    }

    #[test]
    fn prose_is_no_command_line() {
        let long = format!("verify: grep {}", "x".repeat(LONGEST));
        for text in [
            "",
            "verify:",
            "Verify: all tests pass",
            "Verify the result: ls",
            "reverify: ls",
            "verify: ``",
            "verify: `ls",
            "Verify: A=1",
            long.as_str(),
        ] {
            assert_eq!(check_in(text), None, "{text}");
        }
    }

    #[test]
    fn the_programs_are_in_order_and_none_is_there_twice() {
        assert!(PROGRAMS.split_whitespace().is_sorted_by(|one, next| one < next));
    }
}
