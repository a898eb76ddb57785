//! Parses the output of a test binary. It reads libtest's text, since its JSON is not stable.

/// Counts and names of one run of a test binary.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) passed: usize,
    pub(super) failed: Vec<String>,
    /// False if the binary ended before it printed the number of passed tests: it crashed or was killed.
    pub(super) is_whole: bool,
}

impl Outcome {
    pub(super) fn parse(output: &str) -> Self {
        let lines: Vec<&str> = output.lines().collect();
        let Some(end) = lines.iter().rposition(|line| line.contains("test result: ")) else { return Self::default() };
        let count = |what: &str| {
            let before = lines[end].split(what).next().unwrap_or_default().trim_end();
            before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        let names = lines[..end].iter().rposition(|line| *line == "failures:").map_or(end, |at| at + 1);
        let failed: Vec<String> =
            lines[names..end].iter().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect();
        // If the list is unreadable, the count still shows the failures.
        let is_whole = failed.len() == count(" failed");
        Self { passed: count(" passed"), failed, is_whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_passed() {
        let output = "\nrunning 2 tests\ntest a ... ok\ntest b::c ... ok\n\n\
            test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.01s\n\n";
        assert_eq!(Outcome::parse(output), Outcome { passed: 2, failed: vec![], is_whole: true });
    }

    #[test]
    fn failed_tests_are_named_once_whatever_they_printed() {
        let output = "running 3 tests\ntest a ... ok\ntest b::c ... FAILED\ntest d ... FAILED\n\nfailures:\n\n\
            ---- b::c stdout ----\n    failures:\n    not a name\nfailures:\n    neither\n\nfailures:\n    b::c\n    d\n\n\
            test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";
        let failed = vec!["b::c".to_owned(), "d".to_owned()];
        assert_eq!(Outcome::parse(output), Outcome { passed: 1, failed, is_whole: true });
    }

    #[test]
    fn a_crash_is_no_success() {
        assert_eq!(Outcome::parse("running 2 tests\ntest a ... ok\n"), Outcome::default());
        assert!(!Outcome::default().is_whole);
        let unnamed = "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert!(!Outcome::parse(unnamed).is_whole);
    }
}
