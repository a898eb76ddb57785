//! Any bytes, and a great many of them.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use steadfast_runner::weakened::{FileChange, weakened, weakened_by};

const PATHS: [&str; 16] = [
    "src/lib.rs",
    "tests/a.rs",
    "tests/test_a.py",
    "tests/conftest.py",
    "src/a.test.ts",
    "a_test.go",
    "src/test/java/ATest.java",
    "tests/ATests.cs",
    "spec/a_spec.rb",
    "tests/a.bats",
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    ".github/workflows/ci.yml",
    "Makefile",
    "src/__snapshots__/a.snap",
];

/// Pieces that open something, and ends that do not close it.
const PIECES: [&str; 40] = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "`",
    "#",
    "//",
    "/*",
    "*/",
    "\\",
    "\n",
    "  ",
    "\t",
    "r#\"",
    "${",
    "<<EOF",
    "#[test]\nfn a() {",
    "def test_a():\n    ",
    "it(\"a\", () => {",
    "func TestA(t *testing.T) {",
    "@Test void a() {",
    "[Fact]",
    "expect(",
    "assert ",
    "assert_eq!(",
    ".toBe(",
    "==",
    "try:",
    "except:",
    "@pytest.mark.parametrize(",
    "#if false",
    "é",
    "\u{0}",
    "key: ",
    "- ",
    "= 1",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![3 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned), 1 => "\\PC{0,4}"];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn nothing_is_too_broken_to_be_read(before in text(), after in text()) {
        for path in PATHS {
            weakened(path, Some(&before), Some(&after));
            prop_assert_eq!(weakened(path, Some(&before), Some(&before)), []);
            weakened(path, Some(&before), None);
            weakened(path, None, Some(&after));
        }
    }
}

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
        let least = |text: &str| (0..3).map(|_| took(path, text, &text[..text.len() / 2])).min().unwrap_or_default();
        let (short, long) = (least(&text(4_000)), least(&text(40_000)));
        if long > short * 40 + Duration::from_millis(200) {
            slow.push(format!("{path} {piece:?}: {short:?}, then {long:?}"));
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}
