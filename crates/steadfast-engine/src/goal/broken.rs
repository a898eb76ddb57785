//! Checks a finished change against a must-not. The constraints are the same as before an action; they are compared
//! with the real differences.

use steadfast_model::{Constraint, ConstraintKind};

use super::{list, understood};
use crate::policy::{covers, is_manifest};

/// One file of a change.
#[derive(Clone, Copy, Debug)]
pub struct Delta<'a> {
    /// The path from the root; for a deleted file, its former path.
    pub path: &'a str,
    pub op: DeltaOp<'a>,
    pub added: &'a [&'a str],
    pub removed: &'a [&'a str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaOp<'a> {
    Wrote,
    Deleted,
    /// The former name.
    Renamed(&'a str),
}

/// Returns the files that break a must-not, each with what was done to it.
///
/// A must-not about something that a change cannot show, such as a push, is not judged here, and neither is one that
/// was not understood. `own` are files that no fence around the work shuts out: the spec of the work itself.
pub fn broken<'a>(must_not: &str, change: &[Delta<'a>], own: &[String]) -> Vec<(&'a str, &'static str)> {
    let mut found: Vec<(&'a str, &'static str)> = Vec::new();
    for constraint in &understood(must_not) {
        let fences = constraint.kind == ConstraintKind::Only;
        let is_own = |path: &str| fences && (is_ours(path) || own.iter().any(|own| own == path));
        for hit in change.iter().filter_map(|file| breaks(constraint, file)) {
            if !is_own(hit.0) && !found.iter().any(|(path, _)| *path == hit.0) {
                found.push(hit);
            }
        }
    }
    found
}

/// Returns true for files of Steadfast and for specs by their usual names. "Only touch `src/auth`" does not concern
/// them.
pub(crate) fn is_ours(path: &str) -> bool {
    let path = path.trim_start_matches("./");
    path.starts_with(".steadfast/") || matches!(path, "SPEC.md" | "SPEC.json")
}

/// Returns true if a change can break the must-not.
pub fn can_be_seen(must_not: &str) -> bool {
    use ConstraintKind as K;
    understood(must_not).iter().any(|constraint| {
        matches!(constraint.kind, K::Touch | K::Only | K::Delete | K::Rename | K::Write | K::Dependencies)
    })
}

/// Paths of a change are relative, and so are those of the constraint, wherever the checkout is.
const ROOT: &str = "/checkout";

fn breaks<'a>(constraint: &Constraint, file: &Delta<'a>) -> Option<(&'a str, &'static str)> {
    use ConstraintKind as K;
    let of = &constraint.of;
    let about = |path: &str| of.is_empty() || of.iter().any(|name| covers(name, &format!("{ROOT}/{path}"), ROOT));
    let names = |file: &Delta<'a>| match file.op {
        DeltaOp::Renamed(before) => [file.path, before],
        DeltaOp::Wrote | DeltaOp::Deleted => [file.path, file.path],
    };
    let done = match file.op {
        DeltaOp::Wrote => "was changed",
        DeltaOp::Deleted => "was deleted",
        DeltaOp::Renamed(_) => "was renamed",
    };
    let hit = match constraint.kind {
        K::Touch => names(file).into_iter().find(|path| !of.is_empty() && about(path)),
        K::Only => names(file).into_iter().find(|path| !about(path)),
        K::Delete => Some(file.path).filter(|path| file.op == DeltaOp::Deleted && about(path)),
        K::Rename => Some(file.path).filter(|path| matches!(file.op, DeltaOp::Renamed(_)) && about(path)),
        K::Write => Some(file.path),
        K::Dependencies => return new_dependency(file).then_some((file.path, "has a new dependency")),
        _ => None,
    };
    hit.map(|path| (path, done))
}

/// Returns true if a manifest names a dependency that it did not name before.
fn new_dependency(file: &Delta<'_>) -> bool {
    let last = file.path.rsplit('/').next().unwrap_or(file.path);
    if !is_manifest(file.path) {
        return false;
    }
    let named = |lines: &[&str]| -> Vec<String> { lines.iter().filter_map(|line| dependency(last, line)).collect() };
    let before = named(file.removed);
    named(file.added).iter().any(|name| !before.contains(name))
}

fn dependency(manifest: &str, line: &str) -> Option<String> {
    let line = line.trim();
    let name = match manifest {
        "Cargo.toml" | "Pipfile" => {
            let (name, value) = line.split_once('=')?;
            let value = value.trim_start();
            let is_one = value.starts_with(['"', '{']) || name.trim().ends_with(".workspace");
            is_one.then(|| name.trim().trim_end_matches(".workspace").trim_matches('"'))?
        }
        "package.json" | "composer.json" => {
            let (name, value) = line.strip_prefix('"')?.split_once("\":")?;
            let value = value.trim().trim_start_matches('"');
            let is_version = value.starts_with(|first: char| first.is_ascii_digit() || "^~*<>=".contains(first))
                || ["workspace:", "file:", "git", "npm:", "link:", "latest"]
                    .iter()
                    .any(|start| value.starts_with(start));
            is_version.then_some(name)?
        }
        "go.mod" => {
            let line = line.trim_start_matches("require ").trim();
            let (name, version) = line.split_once(' ')?;
            (version.starts_with('v') && name.contains('.')).then_some(name)?
        }
        "Gemfile" => line.strip_prefix("gem ")?.trim_start_matches(['"', '\'']).split(['"', '\'']).next()?,
        "pyproject.toml" => {
            let quoted = line.trim_end_matches(',').strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            match quoted {
                Some(requirement) => requirement_name(requirement)?,
                None => line.split_once('=').filter(|(_, value)| value.trim_start().starts_with(['"', '{']))?.0.trim(),
            }
        }
        name if name.starts_with("requirements") => requirement_name(line)?,
        _ => return None,
    };
    (!name.is_empty() && !list("manifest-keys").has(name)).then(|| name.to_ascii_lowercase())
}

/// `requests[socks]>=2.0 ; python_version < "3"`
fn requirement_name(text: &str) -> Option<&str> {
    let end = text.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_.".contains(letter)));
    let name = &text[..end.unwrap_or(text.len())];
    name.starts_with(|first: char| first.is_ascii_alphabetic()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrote(path: &str) -> Delta<'_> {
        Delta { path, op: DeltaOp::Wrote, added: &["x"], removed: &[] }
    }

    #[test]
    fn a_must_not_is_held_against_the_files_that_differ() {
        for (must_not, file, expected) in [
            ("do not touch the schema", wrote("db/schema.sql"), Some("was changed")),
            ("do not touch the schema", wrote("src/auth.rs"), None),
            ("only `src/auth`", wrote("src/auth/login.rs"), None),
            ("only `src/auth`", wrote("src/theme.css"), Some("was changed")),
            ("don't delete tests", Delta { op: DeltaOp::Deleted, ..wrote("tests/a.rs") }, Some("was deleted")),
            ("don't delete tests", wrote("tests/a.rs"), None),
            (
                "never touch `legacy/`",
                Delta { op: DeltaOp::Renamed("legacy/a.rs"), ..wrote("src/a.rs") },
                Some("was renamed"),
            ),
            ("don't push", wrote("src/a.rs"), None),
            ("be nice", wrote("src/a.rs"), None),
        ] {
            let found = broken(must_not, &[wrote("src/auth/other.rs"), file], &[]).first().map(|(_, done)| *done);
            assert_eq!(found, expected, "{must_not}: {file:?}");
        }
    }

    #[test]
    fn a_new_dependency_is_one_that_was_not_named_before() {
        for (path, removed, added, expected) in [
            ("Cargo.toml", &["serde = \"1\""][..], &["serde = \"2\""][..], false),
            ("Cargo.toml", &[], &["regex = \"1\""], true),
            ("Cargo.toml", &[], &["version = \"2.0.0\"", "# regex"], false),
            ("web/package.json", &[], &["    \"left-pad\": \"^1.0.0\","], true),
            ("web/package.json", &[], &["    \"test\": \"vitest run\","], false),
            ("requirements-dev.txt", &[], &["requests[socks]>=2.0"], true),
            ("requirements-dev.txt", &["requests==2.0"], &["requests==2.1"], false),
            ("go.mod", &[], &["\tgithub.com/a/b v1.2.3"], true),
            ("pyproject.toml", &[], &["  \"httpx>=0.27\","], true),
            ("src/a.rs", &[], &["regex = \"1\""], false),
        ] {
            let file = Delta { path, op: DeltaOp::Wrote, added, removed };
            assert_eq!(!broken("no new dependencies", &[file], &[]).is_empty(), expected, "{path} {added:?}");
        }
    }

    #[test]
    fn every_file_that_breaks_it_is_named_once() {
        let files = [wrote("src/auth/a.rs"), wrote("src/b.rs"), wrote("src/auth/c.rs")];
        let found = broken("do not touch src/auth", &files, &[]);
        assert_eq!(found, [("src/auth/a.rs", "was changed"), ("src/auth/c.rs", "was changed")]);
    }

    #[test]
    fn a_fence_around_the_work_does_not_shut_out_its_spec() {
        let own = ["docs/greeting.md".to_owned()];
        for (path, breaks) in [
            ("hello.txt", false),
            ("SPEC.md", false),
            ("docs/greeting.md", false),
            (".steadfast/decisions/greeting.md", false),
            ("docs/other.md", true),
            ("src/SPEC.md", true),
        ] {
            assert_eq!(!broken("Only touch hello.txt", &[wrote(path)], &own).is_empty(), breaks, "{path}");
        }
        assert!(!broken("Do not touch SPEC.md", &[wrote("SPEC.md")], &own).is_empty());
    }

    #[test]
    fn what_a_change_cannot_show_is_said_so() {
        assert!(can_be_seen("no new dependencies") && can_be_seen("only `src/auth`"));
        assert!(!can_be_seen("don't push") && !can_be_seen("be nice"));
    }
}
