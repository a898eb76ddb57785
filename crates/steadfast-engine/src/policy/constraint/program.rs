//! Recognises commands by what they do.

use steadfast_words::WordList;

use super::history::git;
use super::package::installs;
use super::release;
use super::run::Run;

pub(super) fn has(words: &[String], flags: &[&str]) -> bool {
    words.iter().any(|word| flags.contains(&word.as_str()))
}

pub(super) fn operands(words: &[String]) -> impl Iterator<Item = &String> {
    words.iter().filter(|word| !word.starts_with('-'))
}

/// Returns true if the command begins with the program and its first arguments that are not options.
pub(super) fn starts(run: &Run, words: &[&str]) -> bool {
    let mut plain =
        run.iter().enumerate().filter(|(at, word)| *at == 0 || !word.starts_with('-')).map(|(_, word)| word);
    words.iter().all(|word| plain.next().is_some_and(|other| other == word))
}

/// Returns true if a command only prints information: its help, its version, or what it would run.
pub(super) fn only_tells(run: &Run) -> bool {
    const LISTS: [&str; 8] =
        ["--collect-only", "--co", "--listTests", "--list-tests", "--no-run", "--fixtures", "--markers", "-list"];
    let own = run.iter().position(|word| word == "--").map_or(run.as_slice(), |end| &run[..end]);
    let Some((program, arguments)) = own.split_first() else { return false };
    let help = asks_help(arguments)
        || arguments.first().is_some_and(|word| word == "help")
            && matches!(
                program.as_str(),
                "git" | "cargo" | "npm" | "pnpm" | "yarn" | "bun" | "gh" | "glab" | "go" | "poetry" | "docker" | "pip"
            );
    // In `gem install x --version 1` the option names a version; only at the end it asks for one. `-v` and `-V` have
    // more meanings.
    let last = arguments.last().is_some_and(|word| word == "--version");
    let version = last && arguments.len() <= 2 || arguments == ["version"];
    help || version || tests(run) && arguments.iter().any(|word| LISTS.contains(&word.as_str()))
}

/// Returns true if a command is asked for its help. After an option it may be the option's value: `git commit -m
/// --help`.
pub(super) fn asks_help(arguments: &[String]) -> bool {
    let asks = |at: usize| arguments[at] == "--help" && (at == 0 || !arguments[at - 1].starts_with('-'));
    (0..arguments.len()).any(asks) || arguments.len() <= 2 && arguments.last().is_some_and(|word| word == "-h")
}

/// Returns a run as a refusal shows it.
pub(super) fn shown(run: &Run) -> String {
    match git(run) {
        Some((verb, _)) => format!("git {verb}"),
        None => {
            let line = run.iter().take(4).cloned().collect::<Vec<_>>().join(" ");
            line.chars().take(60).collect()
        }
    }
}

pub(super) fn uses_network(run: &Run) -> bool {
    let here = |word: &String| ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"].iter().any(|host| word.contains(host));
    if run.iter().any(here) {
        return false;
    }
    if let Some((verb, _)) = git(run) {
        return matches!(verb.as_str(), "fetch" | "pull" | "push" | "clone" | "ls-remote");
    }
    let program = run.first().map(String::as_str).unwrap_or_default();
    matches!(program, "curl" | "wget" | "ssh" | "scp" | "sftp" | "telnet" | "ftp" | "gh" | "glab")
        || starts(run, &["docker", "pull"])
        || installs(run).is_some()
}

/// Returns true if a human's name fits a run: the name of a kind of command, or the words of a command.
pub(super) fn is_called(run: &Run, name: &str) -> bool {
    let speaks_of = |part: &str| run.iter().any(|word| word.to_lowercase().contains(part));
    let script = |names: &[&str]| {
        let package = ["npm", "pnpm", "yarn", "bun"].contains(&run[0].as_str());
        let mut plain = operands(&run[1..]).skip_while(|word| *word == "run");
        let is_it = |word: &String, name: &str| match word.strip_prefix(name) {
            Some(rest) => rest.is_empty() || rest.strip_prefix(':').is_some_and(|part| !is_beside(part)),
            None => false,
        };
        package && plain.next().is_some_and(|word| names.iter().any(|name| is_it(word, name)))
    };
    let any = |commands: &[&[&str]]| commands.iter().any(|words| starts(run, words));
    let make = |targets: &[&str]| {
        matches!(run[0].as_str(), "make" | "just" | "task" | "rake")
            && operands(&run[1..]).any(|word| targets.contains(&word.as_str()))
    };
    let gradle = matches!(run[0].as_str(), "gradle" | "gradlew" | "mvn" | "mvnw");
    match name {
        "tests" => tests(run) || script(&["test", "t"]) || make(&["test", "tests", "check", "spec"]),
        "integration tests" => {
            speaks_of("integration") && (tests(run) || script(&["test", "integration"]) || make_any(run))
        }
        "e2e tests" => {
            any(&[&["playwright", "test"], &["cypress", "run"], &["cypress", "open"]])
                || (speaks_of("e2e") && (tests(run) || script(&["test", "e2e"]) || make_any(run)))
        }
        "dev server" => {
            script(&["dev", "start", "serve"])
                || any(&[
                    &["next", "dev"],
                    &["rails", "s"],
                    &["rails", "server"],
                    &["flask", "run"],
                    &["astro", "dev"],
                    &["nuxt", "dev"],
                    &["webpack", "serve"],
                    &["hugo", "server"],
                ])
                || matches!(run[0].as_str(), "uvicorn" | "nodemon" | "gunicorn")
                || (run[0] == "vite" && !speaks_of("build"))
                || speaks_of("runserver")
        }
        "build" => {
            script(&["build"])
                || any(&[
                    &["cargo", "build"],
                    &["cargo", "b"],
                    &["go", "build"],
                    &["vite", "build"],
                    &["next", "build"],
                    &["dotnet", "build"],
                ])
                || make(&["build", "all"])
                || (run[0] == "make" && operands(&run[1..]).next().is_none())
                || (gradle && (speaks_of("build") || speaks_of("package")))
        }
        "linter" => {
            script(&["lint"])
                || any(&[&["cargo", "clippy"]])
                || make(&["lint"])
                || matches!(run[0].as_str(), "eslint" | "ruff" | "flake8" | "pylint" | "golangci-lint" | "rubocop")
        }
        "formatter" => {
            script(&["format", "fmt", "prettier"])
                || any(&[&["cargo", "fmt"], &["go", "fmt"], &["ruff", "format"]])
                || make(&["fmt", "format"])
                || matches!(run[0].as_str(), "prettier" | "black" | "rustfmt" | "gofmt")
        }
        "benchmarks" => {
            script(&["bench", "benchmark"])
                || any(&[&["cargo", "bench"]])
                || make(&["bench"])
                || run.iter().any(|word| word.starts_with("-bench"))
        }
        "migrations" => {
            run.iter().skip(1).any(|word| {
                let word = word.rsplit('/').next().unwrap_or(word);
                matches!(word, "migrate" | "db:migrate" | "db:push" | "migration") || word.starts_with("migrate:")
            }) || any(&[&["alembic", "upgrade"]])
                || script(&["migrate"])
        }
        "deploy" => release::deploys(run) || script(&["deploy"]) || make(&["deploy"]),
        "publish" => release::publishes(run) || script(&["publish", "release"]) || make(&["publish", "release"]),
        flag if flag.starts_with("--") => release::has_flag(run, flag),
        literal => is_literally(run, literal),
    }
}

/// Returns true for parts of a script's name that change its meaning: `test:types` runs no test.
fn is_beside(part: &str) -> bool {
    const BESIDE: WordList = words!("no test");
    BESIDE.contains(part.split([':', '-']).next().unwrap_or(part)) || BESIDE.contains(part)
}

fn make_any(run: &Run) -> bool {
    matches!(run[0].as_str(), "make" | "just" | "task" | "rake" | "gradle" | "gradlew" | "mvn" | "mvnw")
}

fn tests(run: &Run) -> bool {
    const TESTING: [&[&str]; 20] = [
        &["cargo", "test"],
        &["cargo", "t"],
        &["cargo", "nextest"],
        &["go", "test"],
        &["dotnet", "test"],
        &["deno", "test"],
        &["bun", "test"],
        &["mix", "test"],
        &["swift", "test"],
        &["playwright", "test"],
        &["mvn", "test"],
        &["mvn", "verify"],
        &["gradle", "test"],
        &["gradlew", "test"],
        &["gradle", "check"],
        &["gradlew", "check"],
        &["rails", "test"],
        &["artisan", "test"],
        &["npm", "test"],
        &["npm", "t"],
    ];
    TESTING.iter().any(|words| starts(run, words))
        || matches!(
            run[0].as_str(),
            "pytest"
                | "py.test"
                | "unittest"
                | "jest"
                | "vitest"
                | "mocha"
                | "ava"
                | "rspec"
                | "phpunit"
                | "tox"
                | "nox"
                | "ctest"
        )
}

/// Returns true for the same program with these words in this order; options may come between them.
fn is_literally(run: &Run, line: &str) -> bool {
    let mut wanted = line.split_whitespace();
    let Some(program) = wanted.next() else { return false };
    let program = program.rsplit('/').next().unwrap_or(program);
    let mut words = run[1..].iter();
    run[0].eq_ignore_ascii_case(program) && wanted.all(|word| words.any(|other| other.eq_ignore_ascii_case(word)))
}
