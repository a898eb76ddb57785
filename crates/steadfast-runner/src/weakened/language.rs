//! Which language a file is in, and whether its runner looks for tests there.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Python,
    JavaScript,
    Go,
    /// Java, Kotlin, Scala: annotations.
    Jvm,
    CSharp,
    Ruby,
    Shell,
}

/// How far a file is one of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Program,
    /// Among tests, by its folder.
    Beside,
    /// A file that the runner collects by its name.
    Collected,
}

impl Language {
    pub(super) fn of(path: &str) -> Option<Self> {
        let (_, extension) = name(path).rsplit_once('.')?;
        Some(match extension {
            "rs" => Self::Rust,
            "py" | "pyi" => Self::Python,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => Self::JavaScript,
            "go" => Self::Go,
            "java" | "kt" | "kts" | "scala" | "groovy" => Self::Jvm,
            "cs" => Self::CSharp,
            "rb" => Self::Ruby,
            "sh" | "bash" | "bats" => Self::Shell,
            _ => return None,
        })
    }

    /// Blocks are told by how far lines are indented.
    pub(super) fn is_indented(self) -> bool {
        matches!(self, Self::Python | Self::Ruby)
    }

    pub(super) fn place(self, path: &str) -> Place {
        let name = name(path).to_ascii_lowercase();
        let stem = name.split('.').next().unwrap_or_default();
        let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders).to_ascii_lowercase();
        let mut folders = folders.split('/');
        let collected = match self {
            Self::Rust => stem == "tests" || stem == "test" || stem.ends_with("_tests") || stem.ends_with("_test"),
            Self::Python => {
                stem.starts_with("test_") || stem.ends_with("_test") || stem == "tests" || stem == "conftest"
            }
            Self::JavaScript => {
                [".test.", ".spec.", ".cy.", ".e2e.", "-test.", "_test."].iter().any(|mark| name.contains(mark))
            }
            Self::Go => stem.ends_with("_test"),
            Self::Jvm | Self::CSharp => {
                ["test", "tests", "spec", "it"].iter().any(|end| stem.ends_with(end)) || stem.starts_with("test")
            }
            Self::Ruby => stem.ends_with("_spec") || stem.ends_with("_test") || stem.starts_with("test_"),
            Self::Shell => name.ends_with(".bats"),
        };
        let among = |folder: &str| {
            ["test", "tests", "spec", "specs", "__tests__", "e2e", "testing"].contains(&folder)
                || folder.ends_with(".tests")
                || folder.ends_with("test") && self == Self::Jvm
        };
        match (collected, folders.any(among)) {
            (true, _) => Place::Collected,
            (false, true) if self != Self::Go => Place::Beside,
            _ => Place::Program,
        }
    }
}

pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
