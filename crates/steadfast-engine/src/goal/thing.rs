//! What a human names: a path, a thing that has its usual places in a checkout, a program.

use super::words::{Kind, Word};

/// Things by the words for them, and by which name they are kept. Longer ones first.
const NAMED: [(&[&str], &str); 58] = [
    (&["existing", "test"], "tests"),
    (&["any", "test"], "tests"),
    (&["integration", "tests"], "integration tests"),
    (&["integration", "test"], "integration tests"),
    (&["integration", "suite"], "integration tests"),
    (&["end", "to", "end", "tests"], "e2e tests"),
    (&["e2e", "test"], "e2e tests"),
    (&["end-to-end", "tests"], "e2e tests"),
    (&["e2e", "tests"], "e2e tests"),
    (&["e2e", "suite"], "e2e tests"),
    (&["unit", "tests"], "tests"),
    (&["test", "fixtures"], "fixtures"),
    (&["test", "cases"], "tests"),
    (&["test", "code"], "tests"),
    (&["test", "suite"], "tests"),
    (&["test", "files"], "tests"),
    (&["test", "file"], "tests"),
    (&["lock", "file"], "lock file"),
    (&["lock", "files"], "lock file"),
    (&["github", "actions"], "ci"),
    (&["ci", "config"], "ci"),
    (&["ci", "configuration"], "ci"),
    (&["ci", "workflows"], "ci"),
    (&["ci", "workflow"], "ci"),
    (&["ci", "files"], "ci"),
    (&["ci", "pipeline"], "ci"),
    (&["ci", "pipelines"], "ci"),
    (&["ci", "setup"], "ci"),
    (&["ci", "yaml"], "ci"),
    (&["github", "workflows"], "ci"),
    (&["snapshot", "files"], "snapshots"),
    (&["dev", "server"], "dev server"),
    (&["development", "server"], "dev server"),
    (&["env", "file"], ".env"),
    (&["env", "files"], ".env"),
    (&["generated", "files"], "generated"),
    (&["generated", "code"], "generated"),
    (&["generated", "sources"], "generated"),
    (&["e2e"], "e2e tests"),
    (&["e2es"], "e2e tests"),
    (&["lock-file"], "lock file"),
    (&["lockfile"], "lock file"),
    (&["lockfiles"], "lock file"),
    (&["ci"], "ci"),
    (&["schema"], "schema"),
    (&["schemas"], "schema"),
    (&["migrations"], "migrations"),
    (&["migration"], "migrations"),
    (&["tests"], "tests"),
    (&["specs"], "tests"),
    (&["readme"], "readme"),
    (&["changelog"], "changelog"),
    (&["docs"], "docs"),
    (&["documentation"], "docs"),
    (&["fixtures"], "fixtures"),
    (&["snapshots"], "snapshots"),
    (&["dockerfile"], "dockerfile"),
    (&["makefile"], "makefile"),
];

/// What a folder, a file or a part of a program is called after its name.
const PLACES: [&str; 16] = [
    "module",
    "modules",
    "folder",
    "directory",
    "dir",
    "file",
    "files",
    "crate",
    "package",
    "component",
    "components",
    "service",
    "app",
    "submodule",
    "tree",
    "layer",
];

/// Branches that have no other name.
const BRANCHES: [&str; 9] = ["main", "master", "develop", "dev", "trunk", "staging", "production", "prod", "release"];

/// Programs that people forbid by name.
const PROGRAMS: [&str; 75] = [
    "aws",
    "az",
    "black",
    "cmake",
    "cypress",
    "dropdb",
    "eslint",
    "gcloud",
    "heroku",
    "killall",
    "mypy",
    "mysql",
    "ninja",
    "nx",
    "phpunit",
    "pkill",
    "playwright",
    "rspec",
    "rsync",
    "ruff",
    "rustfmt",
    "scp",
    "sqlite3",
    "ssh",
    "tsc",
    "turbo",
    "vercel",
    "vitest",
    "webpack",
    "ansible",
    "apt",
    "apt-get",
    "bash",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "curl",
    "deno",
    "docker",
    "docker-compose",
    "dotnet",
    "find",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "jest",
    "kubectl",
    "make",
    "mvn",
    "node",
    "npm",
    "npx",
    "pip",
    "pip3",
    "pnpm",
    "poetry",
    "prettier",
    "psql",
    "pytest",
    "python",
    "python3",
    "rails",
    "rake",
    "rm",
    "sed",
    "sudo",
    "terraform",
    "tox",
    "uv",
    "wget",
    "yarn",
];

/// Words with a slash that are no path.
const SLASHED: [&str; 8] = ["and/or", "either/or", "he/she", "i/o", "input/output", "n/a", "tcp/ip", "yes/no"];

/// The name of the thing that stands here, and how many words it takes.
pub(super) fn named(words: &[Word]) -> Option<(&'static str, usize)> {
    let stands = |name: &&(&[&str], &str)| {
        name.0.len() <= words.len()
            && name.0.iter().zip(words).all(|(text, word)| word.text == *text && !word.is_break())
    };
    NAMED.iter().find(stands).map(|(texts, name)| (*name, texts.len()))
}

pub(super) fn is_place(word: &Word) -> bool {
    word.is_one_of(&PLACES)
}

pub(super) fn is_code(word: &Word) -> bool {
    word.kind == Kind::Code
}

pub(super) fn is_branch(word: &Word) -> bool {
    word.is_one_of(&BRANCHES)
}

pub(super) fn is_program(word: &Word) -> bool {
    matches!(word.kind, Kind::Plain | Kind::Code) && PROGRAMS.contains(&word.text.as_str())
}

/// A line in backticks that begins with a program, and has more.
pub(super) fn is_command(word: &Word) -> bool {
    word.text.split_once(' ').is_some_and(|(program, _)| PROGRAMS.contains(&program))
}

/// The path that a word is, if it is one.
pub(super) fn path(word: &Word) -> Option<String> {
    let raw = word.raw.trim_start_matches("./");
    let looks = match word.kind {
        Kind::Plain => !SLASHED.contains(&word.text.as_str()) && (raw.contains('/') || is_file(raw)),
        Kind::Code => raw.contains('/') || is_file(raw),
        Kind::Quoted | Kind::Break => false,
    };
    let plain = !raw.contains("://") && !raw.contains(['(', '<', '>', '|', ' ', '\'']) && !raw.starts_with(['-', '@']);
    // `/commit` is a command of the host.
    let command = raw.starts_with('/') && !raw[1..].contains('/');
    (looks && plain && !command && raw.len() < 200).then(|| raw.to_owned())
}

/// `a.rs`, `.env`, `*.snap`; neither `e.g` nor `2.1`.
fn is_file(raw: &str) -> bool {
    if raw.starts_with("*.") && raw.len() > 2 {
        return true;
    }
    let Some((stem, ending)) = raw.rsplit_once('.') else { return false };
    let ending_fits = (1..=8).contains(&ending.len())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && ending.bytes().any(|byte| byte.is_ascii_lowercase())
        && !ending.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    let stem_fits =
        stem.len() != 1 && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.*[]".contains(&byte));
    ending_fits && stem_fits && !matches!(raw, "i.e" | "e.g" | "etc.")
}

#[cfg(test)]
mod tests {
    use super::super::words::sentences;
    use super::*;

    #[test]
    fn paths_are_told_from_words() {
        let found = |text: &str| sentences(text)[0].words.iter().filter_map(path).collect::<Vec<_>>();
        assert_eq!(
            found("see src/a.rs, `lib/`, .env, *.snap and Cargo.toml"),
            ["src/a.rs", "lib/", ".env", "*.snap", "Cargo.toml"]
        );
        assert_eq!(found("i/o and/or e.g. 2.1 https://a.b/c /commit v1.2 it's"), Vec::<String>::new());
    }
}
