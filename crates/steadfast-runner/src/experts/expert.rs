/// A point of view from which an agent reviews a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Expert {
    Correctness,
    Security,
    Data,
    Interface,
    Delivery,
    Tests,
    Simplicity,
}

/// The purpose of asking experts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A check failed: recommend a new approach.
    Panel,
    /// A review after a wave, for information.
    Light,
    /// A review before the end. A blocker keeps the loop from ending.
    Thorough,
}

impl Purpose {
    /// Returns the fewest and the most experts.
    fn seats(self) -> (usize, usize) {
        match self {
            Self::Panel => (2, 4),
            Self::Light => (2, 3),
            Self::Thorough => (3, 4),
        }
    }
}

impl Expert {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Correctness => "correctness",
            Self::Security => "security",
            Self::Data => "data",
            Self::Interface => "interface",
            Self::Delivery => "delivery",
            Self::Tests => "tests",
            Self::Simplicity => "simplicity",
        }
    }

    pub(super) fn looks_for(self) -> &'static str {
        match self {
            Self::Correctness => "faults of the change: missed cases, swallowed errors, state left half done",
            Self::Security => "possible misuse: untrusted input, secrets, permissions, injection",
            Self::Data => "effects on existing data: migrations, formats, lost or doubled records, undo",
            Self::Interface => "effects on users: names, texts, defaults, and breakage for current users",
            Self::Delivery => "requirements of build and release: dependencies, versions, build, CI, configuration",
            Self::Tests => "tests that would pass with a wrong change, and code without tests",
            Self::Simplicity => "needless code, code that could be plainer, and duplicates",
        }
    }

    /// Returns whether a file concerns this expert.
    fn minds(self, path: &str) -> bool {
        let path = path.to_ascii_lowercase();
        let name = path.rsplit('/').next().unwrap_or(&path);
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        let has = |words: &[&str]| words.iter().any(|word| path.contains(word));
        match self {
            Self::Security => has(&[
                "auth",
                "login",
                "password",
                "token",
                "session",
                "secret",
                "crypt",
                "permission",
                "acl",
                "oauth",
                "sanitiz",
                "upload",
            ]),
            Self::Data => ends(&[".sql", ".prisma"]) || has(&["migration", "schema", "/db/", "database", "storage"]),
            Self::Interface => {
                ends(&[".tsx", ".jsx", ".vue", ".svelte", ".html", ".css", ".scss"])
                    || has(&["/api/", "routes", "openapi", "/cli/", "commands/"])
            }
            Self::Delivery => {
                ends(&["dockerfile", ".lock", "makefile", "justfile", ".tf"])
                    || has(&[".github/", ".gitlab", ".ci/"])
                    || ["cargo.toml", "package.json", "pyproject.toml", "go.mod", "pom.xml", "build.gradle"]
                        .contains(&name)
            }
            Self::Tests => has(&["test", "spec"]),
            Self::Correctness | Self::Simplicity => false,
        }
    }
}

/// Chooses experts for a change of these files: correctness always, then the experts that most files concern, then
/// tests and simplicity until there are enough.
pub fn choose<'a>(purpose: Purpose, touched: impl IntoIterator<Item = &'a str>) -> Vec<Expert> {
    let touched: Vec<&str> = touched.into_iter().collect();
    let (fewest, most) = purpose.seats();
    let special = [Expert::Security, Expert::Data, Expert::Interface, Expert::Delivery, Expert::Tests];
    let mut called: Vec<(usize, Expert)> = special
        .into_iter()
        .map(|expert| (touched.iter().filter(|path| expert.minds(path)).count(), expert))
        .filter(|(files, _)| *files > 0)
        .collect();
    called.sort_by_key(|(files, expert)| (std::cmp::Reverse(*files), *expert));
    let mut chosen = vec![Expert::Correctness];
    chosen.extend(called.into_iter().map(|(_, expert)| expert));
    chosen.truncate(most);
    for expert in [Expert::Tests, Expert::Simplicity] {
        if chosen.len() < fewest && !chosen.contains(&expert) {
            chosen.push(expert);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(purpose: Purpose, touched: &[&str]) -> Vec<&'static str> {
        choose(purpose, touched.iter().copied()).into_iter().map(Expert::as_str).collect()
    }

    #[test]
    fn who_is_asked_follows_from_what_is_touched() {
        assert_eq!(names(Purpose::Panel, &["src/lib.rs"]), ["correctness", "tests"]);
        assert_eq!(
            names(Purpose::Panel, &["src/auth/login.rs", "db/migrations/1.sql"]),
            ["correctness", "security", "data"]
        );
        assert_eq!(names(Purpose::Thorough, &["README.md"]), ["correctness", "tests", "simplicity"]);
        assert_eq!(
            names(Purpose::Light, &["web/App.tsx", "web/api/x.ts", "Dockerfile", "tests/a.py"]),
            ["correctness", "interface", "delivery"]
        );
    }

    #[test]
    fn no_purpose_has_too_few_or_too_many() {
        let all = ["src/auth.rs", "a.sql", "a.css", "Cargo.toml", "tests/x.rs", "src/b.rs"];
        for count in 0..=all.len() {
            for purpose in [Purpose::Panel, Purpose::Light, Purpose::Thorough] {
                let chosen = choose(purpose, all[..count].iter().copied());
                let (fewest, most) = purpose.seats();
                assert!((fewest..=most).contains(&chosen.len()), "{purpose:?} {chosen:?}");
            }
        }
    }
}
