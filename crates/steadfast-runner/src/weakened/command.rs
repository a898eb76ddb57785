//! A command line that checks something, and what keeps it from failing.

use super::Kind;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Checks {
    Tests,
    Source,
}

const TESTS: [&str; 28] = [
    "test",
    "tests",
    "pytest",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tox",
    "nox",
    "rspec",
    "phpunit",
    "bats",
    "ctest",
    "playwright",
    "cypress",
    "nextest",
    "unittest",
    "karma",
    "tap",
    "verify",
    "minitest",
    "tarpaulin",
    "llvm-cov",
    "nyc",
    "c8",
    "coverage",
    "testing",
    "wdio",
];
const SOURCE: [&str; 17] = [
    "lint",
    "clippy",
    "eslint",
    "tsc",
    "mypy",
    "ruff",
    "pyright",
    "golangci-lint",
    "rubocop",
    "typecheck",
    "type-check",
    "flake8",
    "pylint",
    "vet",
    "check",
    "staticcheck",
    "detekt",
];
/// Programs that only speak of tests.
const OTHERS: [&str; 18] = [
    "rm", "mkdir", "docker", "cp", "mv", "echo", "kill", "pkill", "git", "test", "[", "cd", "chmod", "curl", "cat",
    "ls", "export", "printf",
];

/// What it checks, if anything.
pub(super) fn checks(command: &str) -> Option<Checks> {
    let command = command.trim_start_matches(['@', '-', ' ']);
    command.split([';', '|', '&']).find_map(part)
}

fn part(command: &str) -> Option<Checks> {
    let mut words =
        command.split_whitespace().skip_while(|word| word.contains('=') && !word.starts_with('-')).peekable();
    let first = words.peek()?.trim_start_matches(['@', '-', '(']);
    if OTHERS.contains(&first) {
        return None;
    }
    let words: Vec<&str> = words
        .flat_map(|word| word.rsplit('/').take(1).chain(word.split(':')))
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()))
        .collect();
    if words.iter().any(|word| TESTS.contains(word)) {
        Some(Checks::Tests)
    } else if words.iter().any(|word| SOURCE.contains(word)) {
        Some(Checks::Source)
    } else {
        None
    }
}

const SWALLOWS: [&str; 9] =
    ["|| true", "||true", "|| :", "|| exit 0", "; true", "; exit 0", "|| echo", "|| /bin/true", "|| printf"];
const ACCEPTS: [&str; 9] = [
    "--updateSnapshot",
    "--update-snapshots",
    "--snapshot-update",
    "INSTA_UPDATE=always",
    "INSTA_UPDATE=1",
    "INSTA_FORCE_PASS=1",
    "UPDATE_SNAPSHOTS=",
    "UPDATE_EXPECT=1",
    "UPDATE_GOLDEN=",
];
const LEAVES_OUT: [&str; 11] = [
    "--ignore",
    "--deselect",
    "--skip",
    "--exclude",
    "--testPathIgnorePatterns",
    "--omit",
    "-DskipTests",
    "-Dmaven.test.skip",
    "--passWithNoTests",
    "--ignore-glob",
    "--exclude-pattern",
];

/// What keeps a check from saying that something is wrong.
pub(super) fn flaw(command: &str) -> Option<Kind> {
    let has = |texts: &[&str]| texts.iter().any(|text| command.contains(text));
    let words: Vec<&str> = command.split_whitespace().collect();
    let named = |word: &str, names: &[&str]| names.contains(&word.split('=').next().unwrap_or(word));
    let not = |flag: &str| {
        words.windows(2).any(|pair| pair[0] == flag && pair[1].trim_start_matches(['"', '\'', '\\']).starts_with("not"))
    };
    if has(&SWALLOWS) {
        Some(Kind::StatusIgnored)
    } else if has(&ACCEPTS) || has(&["jest", "vitest"]) && words.contains(&"-u") {
        Some(Kind::SnapshotAccepted)
    } else if words.iter().any(|word| named(word, &LEAVES_OUT)) || not("-k") || not("-m") {
        Some(Kind::Excluded)
    } else if words.iter().any(|word| named(word, &["--reruns", "--retries"])) {
        Some(Kind::Retried)
    } else {
        None
    }
}

/// A number that a flag of a check demands, and the flag.
pub(super) fn demands(command: &str) -> Vec<(&str, f64)> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let (flag, value) =
            word.split_once('=').map_or((*word, words.get(at + 1).copied()), |(flag, value)| (flag, Some(value)));
        let known = flag.contains("fail-under") || flag == "--max-warnings" || flag.contains("coverage-threshold");
        let value = value.and_then(|value| value.trim_matches(['"', '\'', '%', ',']).parse().ok());
        if let (true, Some(value)) = (known, value) {
            found.push((flag, value));
        }
    }
    found
}
