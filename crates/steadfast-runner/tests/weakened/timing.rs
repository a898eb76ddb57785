//! A great many bytes.

use std::time::{Duration, Instant};

use steadfast_runner::weakened::{FileChange, weakened_by};

use crate::bounds::{PATHS, PIECES};

/// What this thread worked so far: the machine may be busy with others. Elsewhere than on Linux, the time.
fn worked(since: Instant) -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = stat.and_then(|stat| stat.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

fn took(path: &str, before: &str, after: &str) -> Duration {
    let since = Instant::now();
    let start = worked(since);
    weakened_by(&[FileChange { path, was: None, before: Some(before), after: Some(after) }]);
    worked(since) - start
}

const TESTS: [(&str, &str); 6] = [
    ("tests/a.rs", "#[test]\nfn a() {\n    assert_eq!(f(1), 2);\n}\n"),
    ("tests/test_a.py", "def test_a():\n    assert f(1) == 2\n"),
    ("src/a.test.ts", "it(\"a\", () => {\n  expect(f(1)).toBe(2);\n});\n"),
    ("a_test.go", "func TestA(t *testing.T) {\n\tif f(1) != 2 {\n\t\tt.Error()\n\t}\n}\n"),
    ("src/test/java/ATest.java", "@Test void a() { assertEquals(2, f(1)); }\n"),
    (".github/workflows/ci.yml", "a:\n  - run: cargo test || true\n"),
];

/// Ten times the text takes ten times as long, and not a hundred times; with much room for a busy machine.
#[test]
fn ten_times_the_text_takes_about_ten_times_as_long() {
    let broken = PIECES.iter().filter(|piece| piece.is_ascii()).enumerate();
    let broken = broken.map(|(at, piece)| (PATHS[at % PATHS.len()], *piece));
    let mut slow = Vec::new();
    for (path, piece) in broken.chain(TESTS) {
        let text = |size: usize| piece.repeat(size / piece.len() + 1);
        let (small, large) = (text(4_000), text(40_000));
        let (mut short, mut long) = (Duration::MAX, Duration::MAX);
        for _ in 0..4 {
            short = short.min(took(path, &small, &small[..small.len() / 2]));
            long = long.min(took(path, &large, &large[..large.len() / 2]));
        }
        if long > short * 40 + Duration::from_millis(200) {
            slow.push(format!("{path} {piece:?}: {short:?}, then {long:?}"));
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}
