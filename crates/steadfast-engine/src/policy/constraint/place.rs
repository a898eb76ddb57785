//! Compares a path with the names that a human uses.

use steadfast_shell::{GuardDecision, Reading, judge};
use steadfast_text::glob;
use steadfast_words::WordList;

use super::super::target;

/// Returns true if the path is the named place in a checkout, or inside it.
pub(crate) fn covers(name: &str, path: &str, cwd: &str) -> bool {
    let lower = path.to_lowercase();
    let mut parts = lower.split('/').filter(|part| !part.is_empty());
    let last = lower.rsplit('/').next().unwrap_or_default().to_owned();
    let any_word = |wanted: &[&str]| lower.split(['/', '.', '_', '-']).any(|word| wanted.contains(&word));
    match name {
        "schema" => any_word(&["schema", "schemas"]) || last == "structure.sql",
        "migrations" => any_word(&["migration", "migrations", "migrate"]) || lower.contains("alembic/versions"),
        "lock file" => {
            matches!(
                last.as_str(),
                "package-lock.json" | "pnpm-lock.yaml" | "npm-shrinkwrap.json" | "bun.lockb" | "go.sum"
            ) || last.ends_with(".lock")
                || last.ends_with(".lock.hcl")
        }
        "ci" => parts.any(|part| {
            matches!(
                part,
                ".github"
                    | ".gitlab-ci.yml"
                    | ".circleci"
                    | "jenkinsfile"
                    | ".travis.yml"
                    | "azure-pipelines.yml"
                    | "bitbucket-pipelines.yml"
                    | ".buildkite"
                    | ".woodpecker"
            )
        }),
        "tests" => {
            parts.any(|part| matches!(part, "tests" | "test" | "__tests__" | "spec" | "specs" | "e2e"))
                || last.starts_with("test_")
                || ["_test.", ".test.", ".spec.", "_spec.", "tests."].iter().any(|mark| last.contains(mark))
        }
        "integration tests" => any_word(&["integration"]),
        "e2e tests" => any_word(&["e2e"]),
        "docs" => parts.any(|part| matches!(part, "docs" | "doc" | "documentation")),
        "fixtures" => any_word(&["fixture", "fixtures"]),
        "snapshots" => last.ends_with(".snap") || any_word(&["snapshots"]),
        "generated" => any_word(&["generated", "gen"]),
        ".env" => last == ".env" || last.starts_with(".env."),
        "readme" | "changelog" | "dockerfile" => last.starts_with(name),
        name if name.trim_end_matches("/**").contains("**") => {
            let pattern: Vec<&str> = name.trim_start_matches("./").split('/').collect();
            let path: Vec<&str> = path.split('/').collect();
            (0..path.len()).any(|from| glob::path(&pattern, &path[from..]))
        }
        name if name.contains(['/', '.', '*']) => {
            let name = name.trim_start_matches("./").trim_end_matches("**").to_owned();
            judge(&Reading::of_write(path, cwd), &[name]).decision > GuardDecision::Allow
        }
        name => {
            let plain = |text: &str| text.to_lowercase().replace('-', "_");
            let stem = |part: &str| plain(part.split('.').next().unwrap_or(part));
            parts.any(|part| stem(part) == plain(name))
        }
    }
}

/// Returns true for places where an agent may write under every constraint: its scratch folder, temporary files outside
/// the checkout, files that its host keeps for itself, and devices.
pub(crate) fn is_free(path: &str, cwd: &str, scratch: &str) -> bool {
    const TEMPORARY: [&str; 5] = ["/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/dev/"];
    const HOSTS: [&str; 4] = ["/.claude/plans/", "/.claude/projects/", "/.claude/todos/", "/.codex/memories/"];
    let scratch = target::absolute(scratch, cwd);
    let inside =
        |folder: &str| path.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'));
    if inside(&scratch) {
        return true;
    }
    !inside(cwd)
        && (TEMPORARY.iter().any(|folder| path.starts_with(folder)) || HOSTS.iter().any(|part| path.contains(part)))
}

/// Returns true for files that a build, a test run or an installation makes again from the sources.
pub(super) fn is_derived(path: &str, cwd: &str) -> bool {
    const ANYWHERE: WordList = words!("derived");
    // Beside the sources these folders are build output; among them they may be sources.
    const BESIDE: [&str; 4] = ["target", "dist", "build", "coverage"];
    let Some(inside) = path.strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/')) else { return false };
    let parts: Vec<&str> = inside.split('/').filter(|part| !part.is_empty()).collect();
    let among = |at: usize| parts[..at].iter().any(|part| matches!(*part, "src" | "lib" | "app" | "source"));
    parts.iter().enumerate().any(|(at, part)| ANYWHERE.contains(part) || BESIDE.contains(part) && !among(at))
        || parts.last().is_some_and(|last| last.ends_with(".pyc") || last.ends_with(".tsbuildinfo"))
}

/// Returns true for files that list dependencies.
pub(crate) fn is_manifest(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or(path);
    matches!(
        last,
        "package.json"
            | "Cargo.toml"
            | "pyproject.toml"
            | "go.mod"
            | "Gemfile"
            | "composer.json"
            | "pom.xml"
            | "build.gradle"
            | "build.gradle.kts"
            | "Pipfile"
            | "setup.py"
            | "setup.cfg"
    ) || (last.starts_with("requirements") && last.ends_with(".txt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_is_found_where_it_usually_is() {
        for (name, path) in [
            ("schema", "/repo/db/schema.rb"),
            ("schema", "/repo/prisma/schema.prisma"),
            ("schema", "/repo/src/user_schema.ts"),
            ("migrations", "/repo/db/migrate/001_add.rb"),
            ("lock file", "/repo/Cargo.lock"),
            ("ci", "/repo/.github/workflows/ci.yml"),
            ("tests", "/repo/src/auth/token.test.ts"),
            ("tests", "/repo/tests/cli/main.rs"),
            ("readme", "/repo/README.md"),
            (".env", "/repo/.env.local"),
            ("vendor/", "/repo/vendor/a/b.go"),
            ("*.snap", "/repo/a/b.snap"),
            ("src/auth", "/repo/src/auth/x.rs"),
            ("billing", "/repo/app/billing/mod.rs"),
            ("user-form", "/repo/src/user_form.ts"),
            ("src/**/*.css", "/repo/src/a.css"),
            ("src/**/*.css", "/repo/src/a/b/c.css"),
            ("**/gen/*.rs", "/repo/x/gen/a.rs"),
            ("src/**", "/repo/src/a/b.rs"),
        ] {
            assert!(covers(name, path, "/repo"), "{name} {path}");
        }
    }

    #[test]
    fn what_is_only_near_it_is_not_it() {
        for (name, path) in [
            ("schema", "/repo/src/schematic.rs"),
            ("lock file", "/repo/src/lock.rs"),
            ("tests", "/repo/src/latest.rs"),
            ("tests", "/repo/src/attest/x.rs"),
            ("src/auth", "/repo/src/author/x.rs"),
            ("billing", "/repo/src/billings.rs"),
            ("main.go", "/repo/domain.go"),
            ("src/**/*.css", "/repo/src/a/b.ts"),
            ("src/**/*.css", "/repo/web/a.css"),
            ("docs", "/repo/src/docstring.py"),
        ] {
            assert!(!covers(name, path, "/repo"), "{name} {path}");
        }
    }

    #[test]
    fn a_checkout_among_temporary_files_is_a_checkout() {
        assert!(covers("docs/", "/tmp/repo/docs/a.md", "/tmp/repo"));
        assert!(!covers("docs/", "/tmp/repo/src/a.rs", "/tmp/repo"));
    }

    #[test]
    fn temporary_files_beside_the_checkout_are_free() {
        let free = |path: &str, cwd: &str| is_free(path, cwd, ".steadfast/scratch/");
        assert!(free("/tmp/x", "/repo"));
        assert!(free("/repo/.steadfast/scratch/x", "/repo"));
        assert!(free("/home/u/.claude/plans/x.md", "/repo"));
        assert!(!free("/repo/x", "/repo"));
        assert!(!free("/tmp/repo/x", "/tmp/repo"));
        assert!(!free("/home/u/x", "/repo"));
    }
}
