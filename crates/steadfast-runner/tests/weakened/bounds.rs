//! Any bytes.

use proptest::prelude::*;
use steadfast_runner::weakened::weakened;

pub(crate) const PATHS: [&str; 16] = [
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
pub(crate) const PIECES: [&str; 40] = [
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
