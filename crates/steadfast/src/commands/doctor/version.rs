use std::fmt;

/// Three numbers; what follows them does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32, pub(super) u32);

impl Version {
    /// The first version in what a program says of itself: `2.1.325 (Claude Code)`, `codex-cli 0.166.0`.
    pub(super) fn find(said: &str) -> Option<Self> {
        said.split_whitespace().find_map(|word| {
            let mut numbers = word.trim_start_matches('v').splitn(3, '.');
            let (major, minor) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
            let patch = numbers.next()?;
            let digits = patch.find(|c: char| !c.is_ascii_digit()).unwrap_or(patch.len());
            Some(Self(major, minor, patch[..digits].parse().ok()?))
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(major, minor, patch) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_say_is_read() {
        let found = |said| Version::find(said);
        assert_eq!(found("2.1.325 (Claude Code)\n"), Some(Version(2, 1, 325)));
        assert_eq!(found("codex-cli 0.166.0-alpha.2"), Some(Version(0, 166, 0)));
        assert_eq!(found("steadfast 0.1.0"), Some(Version(0, 1, 0)));
        assert_eq!(found("Not logged in."), None);
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(Version(2, 1, 99) < Version(2, 1, 143));
    }
}
