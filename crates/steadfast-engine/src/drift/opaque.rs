//! Programs whose command lines do not show what they write.

use steadfast_shell::{Argument, Invocation, Op, Reading};

/// Programs that only read or talk to others, that show in their arguments what they write, or that run a command from
/// the same line. Git is one of them: what it puts into the checkout was committed before.
const KNOWN: &str = ". [ [[ : awk base64 basename break builtin cat cd chmod chown cmp column comm command continue cp curl \
    cut date declare df diff dirname du echo egrep env eval exec exit export false fgrep file find fold gh git grep groups \
    head hexdump hostname id install jobs join jq kill less let link ln local ls lsof man md5sum mkdir mktemp more mv nice \
    nl nohup od open paste pgrep ping pkill popd printenv printf ps pushd pwd read readlink realpath return rg rm rmdir \
    sed seq set sha256sum shift shopt sleep sort ss stat steadfast sudo tac tail tee test time timeout tmux touch tr trap \
    tree true type typeset ulimit umask uname uniq unlink unset uptime wait wc wget whereis which whoami xargs xxd yes";

/// Verbs with which these programs only read, build, check or test. Their output goes to places that git ignores. A
/// file that changed while tests ran was far more often changed by someone else than by the tests.
const KNOWN_WORDS: [(&str, &str); 14] = [
    ("bun", "test"),
    ("cargo", "bench build check clippy doc metadata nextest search test tree"),
    ("docker", "images inspect logs ps"),
    ("dotnet", "build test"),
    ("go", "build doc env list test version vet"),
    ("golangci-lint", "run"),
    ("mix", "compile test"),
    ("mvn", "compile test verify"),
    ("npm", "audit list ls outdated test view why"),
    ("pnpm", "audit list ls outdated test why"),
    ("ruff", "check"),
    ("swift", "build test"),
    ("terraform", "plan show validate"),
    ("yarn", "audit list test why"),
];

/// Programs that do nothing but check.
const CHECKS: &str =
    "ctest eslint flake8 jest mocha mypy phpunit pylint pyright pytest rspec shellcheck unittest vitest";

/// Programs that run a check, with the words of their arguments up to it.
const BEFORE: [(&str, &str); 8] = [
    ("bundle", "exec"),
    ("bunx", ""),
    ("npx", ""),
    ("pnpm", "exec"),
    ("poetry", "run"),
    ("python", "-m"),
    ("python3", "-m"),
    ("uv", "run"),
];

/// Returns true for a program that reads, searches or moves files, and starts no code of the project.
pub(crate) fn only_looks(program: &str) -> bool {
    is_in(KNOWN, program) && !matches!(program, "git" | "gh")
}

/// Returns true if a command line may write files that it does not show.
pub(super) fn is_opaque(reading: &Reading) -> bool {
    let unread = reading.effects.iter().any(|effect| effect.op == Op::Exec);
    !reading.parsed || unread || reading.runs().any(is_unknown)
}

fn is_unknown(invocation: &Invocation) -> bool {
    let Some(program) = invocation.argv.first().and_then(Argument::known) else { return true };
    let program = program.rsplit('/').next().unwrap_or(program);
    let arguments = invocation.arguments();
    let first = word(arguments, 0);
    let asks = matches!(first, "--version" | "--help" | "-h" | "-V");
    !asks && !is_in(KNOWN, program) && (!is_check(program, arguments) || arguments.iter().any(fixes))
}

fn is_check(program: &str, arguments: &[Argument]) -> bool {
    let of = |(name, list): &(&str, &str)| *name == program && is_in(list, word(arguments, 0));
    let behind = |(name, list): &(&str, &str)| {
        let words = list.split_ascii_whitespace().count();
        *name == program && (words == 0 || is_in(list, word(arguments, 0))) && is_in(CHECKS, word(arguments, words))
    };
    is_in(CHECKS, program) || KNOWN_WORDS.iter().any(of) || BEFORE.iter().any(behind)
}

/// Returns true if an argument tells a check to fix what it finds, or may tell it so.
fn fixes(argument: &Argument) -> bool {
    const MENDS: [&str; 6] = ["--fix", "--write", "--accept", "--bless", "--snapshot-update", "-u"];
    let updates = |text: &str| text.starts_with("-update") || text.starts_with("--update");
    MENDS.iter().any(|text| argument.may_be(text)) || argument.known().is_some_and(updates)
}

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

fn word(arguments: &[Argument], at: usize) -> &str {
    arguments.get(at).and_then(Argument::known).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use steadfast_shell::{Context, effects};

    use super::*;

    fn opaque(command: &str) -> bool {
        is_opaque(&effects(command, &Context { cwd: "/repo".into(), home: "~".into() }))
    }

    #[test]
    fn what_runs_code_of_the_project_may_write_anything() {
        for command in
            ["python3 gen.py", "cd web && ./build.sh | tail", "timeout 5 make all", "npm run fix", "$TOOL x", "if then"]
        {
            assert!(opaque(command), "{command}");
        }
    }

    #[test]
    fn what_looks_or_says_what_it_writes_is_known() {
        for command in [
            "git log --oneline | head -5",
            "cp a b && sed -i s/a/b/ c",
            "for f in *.rs; do grep -n x \"$f\"; done",
            "cargo build 2>&1 | tail -3",
            "python3 --version",
            "git stash pop",
        ] {
            assert!(!opaque(command), "{command}");
        }
    }

    #[test]
    fn what_checks_is_known_unless_it_is_told_to_mend() {
        for command in [
            "cargo test --workspace 2>&1 | head -n 40",
            "cd web && npm test",
            "npx vitest run src/a.test.ts",
            "python3 -m pytest -q tests",
            "uv run pytest",
            "go test ./... | tail -20",
            "eslint src",
            "ruff check .",
        ] {
            assert!(!opaque(command), "{command}");
        }
        for command in [
            "cargo clippy --fix --allow-dirty",
            "cargo fmt",
            "cargo run",
            "cargo test $FLAGS",
            "npx vitest run -u",
            "npx prettier .",
            "python3 -m build",
            "uv run gen.py",
            "go test ./... -update",
            "eslint src --fix",
            "ruff format .",
            "npm run build",
        ] {
            assert!(opaque(command), "{command}");
        }
    }

    /// One of three, task runners most of all.
    #[test]
    fn most_commands_are_followed_by_no_look() {
        let Some(list) = steadfast_testkit::corpus("benign_commands.tsv") else { return };
        let text = std::fs::read_to_string(list).unwrap();
        let (mut all, mut asked) = (0, 0);
        for line in text.lines().skip(1) {
            let columns: Vec<&str> = line.split('\t').collect();
            let times: u32 = columns[0].parse().unwrap();
            let command = columns[4].replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\");
            all += times;
            asked += if opaque(&command) { times } else { 0 };
        }
        assert!(asked * 5 < all * 2, "{asked} of {all}");
    }
}
