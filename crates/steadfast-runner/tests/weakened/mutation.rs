//! Real tests, each with one assertion less.

use std::fs;
use std::path::Path;

use steadfast_runner::weakened::{WeakeningKind, weakened};

/// Tests of this crate and of the one for checks: every line that is one whole assertion is taken out in turn.
#[test]
fn an_assertion_that_is_taken_out_is_missed() {
    let (mut all, mut found) = (0usize, 0usize);
    let mut silent = Vec::new();
    let folders = [
        "steadfast-runner/tests/agent",
        "steadfast-runner/tests",
        "steadfast-check/tests/check",
        "steadfast-check/tests/definition",
        "steadfast-check/tests",
    ];
    for folder in folders {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("").join(folder);
        for file in fs::read_dir(folder).unwrap().flatten().filter(|file| file.path().is_file()) {
            let before = fs::read_to_string(file.path()).unwrap();
            let path = format!("tests/{}", file.file_name().to_string_lossy());
            for (at, line) in before.lines().enumerate() {
                let whole = line.trim_start().starts_with("assert") && line.ends_with(");");
                if !whole {
                    continue;
                }
                let after: String = before
                    .lines()
                    .enumerate()
                    .filter(|(line, _)| *line != at)
                    .map(|(_, line)| format!("{line}\n"))
                    .collect();
                let seen = weakened(&path, Some(&before), Some(&after));
                all += 1;
                if seen
                    .iter()
                    .any(|seen| matches!(seen.kind, WeakeningKind::AssertionDeleted | WeakeningKind::TestDeleted))
                {
                    found += 1;
                } else {
                    silent.push(format!("{path}:{} {}", at + 1, line.trim()));
                }
            }
        }
    }
    assert!(all > 50 && found * 100 >= all * 95, "{found} of {all}:\n{}", silent.join("\n"));
}
