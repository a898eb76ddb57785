//! Long command lines are read to their end, up to 1 MB, in time that grows with their length.

use steadfast_shell::{Argument, Context, Reading, effects};

const MB: usize = 1 << 20;

fn read(command: &str) -> Reading {
    effects(command, &Context { cwd: "/repo".to_owned(), home: "~".to_owned() })
}

fn commits(reading: &Reading) -> bool {
    reading.runs().any(|run| run.argv.get(1).and_then(Argument::known) == Some("commit"))
}

/// Texts of that length behind which the same command stands.
fn dressings(length: usize) -> Vec<(&'static str, String)> {
    let lines = "some words of a note, with 'quotes', $variables and (brackets)\n";
    let body = lines.repeat(length / lines.len());
    let safe = body.replace(['\'', '$', '('], "");
    let echo = "echo one two three > out/a.txt\n";
    // A tenth: so many commands take longer than a text that is only carried along.
    let commands = echo.repeat(length / echo.len() / 10);
    vec![
        ("a quoted heredoc", format!("cat > notes.txt <<'EOF'\n{body}EOF\ngit commit -qm x")),
        ("a heredoc", format!("cat > notes.txt <<EOF\n{safe}EOF\ngit commit -qm x")),
        ("a heredoc to nowhere", format!("cat > /dev/null <<'EOF'\n{body}EOF\ngit commit")),
        ("a script on stdin", format!("bash <<'EOF'\n: '{safe}'\ngit commit\nEOF")),
        ("a script in a file", format!("cat > s.sh <<'EOF'\n: '{safe}'\ngit commit\nEOF\nsh s.sh")),
        ("a quoted text", format!("printf '%s' '{safe}' > a; git commit")),
        ("arguments", format!("true {}; git commit", "a ".repeat(length / 2 - 16))),
        ("comments", format!("{}git commit", "# nothing to see\n".repeat(length / 17 - 1))),
        ("commands", format!("{commands}git commit")),
        ("a text in a group", format!("{{ cat; cat; cat; git commit; }} <<'EOF'\n{safe}EOF")),
    ]
}

#[test]
fn the_end_of_a_long_line_is_read() {
    for (what, command) in dressings(MB - 200) {
        assert!(command.len() <= MB, "{what}: {}", command.len());
        let reading = read(&command);
        assert!(commits(&reading), "{what}");
        assert!(reading.parsed, "{what}");
    }
}

#[test]
fn what_is_longer_is_read_in_part_and_says_so() {
    let body = "a line\n".repeat(MB / 7 + 10);
    let reading = read(&format!("git commit\ncat > notes.txt <<'EOF'\n{body}EOF\nrm x"));
    assert!(commits(&reading));
    assert!(!reading.parsed);
}

#[test]
fn a_file_that_is_too_long_to_be_kept_is_unknown_and_not_empty() {
    let half = "true a b c\n".repeat(MB / 11 / 2 + 10);
    // Twice as much as is kept of a file: what runs it may do anything.
    let command = format!("cat > a <<'EOF'\n{half}EOF\ncat a a a a > s.sh\nsh s.sh");
    let reading = read(&command[..command.len().min(MB)]);
    assert!(!reading.parsed || reading.effects.iter().any(|effect| effect.path.is_none()), "{:?}", reading.effects);
}

mod timing {
    use std::time::{Duration, Instant};

    use super::*;

    fn best(command: &str) -> Duration {
        let took = || {
            let start = Instant::now();
            std::hint::black_box(read(command));
            start.elapsed()
        };
        (0..5).map(|_| took()).min().unwrap_or_default()
    }

    #[test]
    fn the_time_grows_with_the_length_and_not_with_its_square() {
        for ((what, short), (_, long)) in dressings(100 << 10).into_iter().zip(dressings(1_000 << 10)) {
            let (short, long) = (best(&short).max(Duration::from_micros(20)), best(&long));
            let ratio = long.as_secs_f64() / short.as_secs_f64();
            // What grows with the square takes a hundred times as long; large texts cost pages of memory besides.
            assert!(ratio < 60.0, "{what}: {ratio:.1} times {short:?}");
            if !cfg!(debug_assertions) && what.contains("heredoc") {
                assert!(long < Duration::from_millis(20), "{what}: {long:?}");
            }
        }
    }
}
