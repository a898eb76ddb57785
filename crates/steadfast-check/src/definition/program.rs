//! Finds what a program runs, from its arguments.

use std::path::PathBuf;

use super::reference::{FileRunner, ManifestEntry, ReferenceTarget, is_assignment};

/// Returns command lines in the arguments of programs that the shell reader does not know.
pub(crate) fn command_lines(word: &str, arguments: &[String]) -> Vec<String> {
    let behind = |rest: &[String]| vec![rest.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")];
    match (name_of(word), arguments.first().map(String::as_str)) {
        ("concurrently", _) => {
            past_flags(arguments, &["-n", "-c", "--names"]).iter().map(|word| spelled_out(word)).collect()
        }
        ("npm" | "bun", Some("x")) => behind(&arguments[1..]),
        ("pnpx", _) => behind(past_flags(arguments, &["-p", "-c"])),
        ("dotenvx", _) | ("nix", Some("develop")) | ("mise", Some("exec" | "x")) => {
            let after = arguments.iter().position(|word| matches!(word.as_str(), "--" | "-c" | "--command"));
            after.map(|at| behind(&arguments[at + 1..])).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Expands the short form for scripts of `concurrently`.
fn spelled_out(word: &str) -> String {
    let short = ["npm:", "yarn:", "pnpm:", "bun:"].iter().find_map(|prefix| Some((prefix, word.strip_prefix(prefix)?)));
    short.map_or(word.to_owned(), |(prefix, name)| format!("{} run {name}", prefix.trim_end_matches(':')))
}

/// Splits the arguments of a shell into its flags, with their values, and the rest.
fn shell_flags(arguments: &[String]) -> (&[String], &[String]) {
    let mut at = 0;
    while let Some(flag) = arguments.get(at).filter(|word| word.starts_with(['-', '+'])) {
        let long = flag.starts_with("--");
        let valued =
            if long { matches!(flag.as_str(), "--rcfile" | "--init-file") } else { flag.ends_with(['o', 'O']) };
        at += if valued { 2 } else { 1 };
    }
    arguments.split_at(at.min(arguments.len()))
}

/// Returns the references of a program, each with the folder that it starts from.
pub(crate) fn targets(word: &str, arguments: &[String], input: Option<&str>) -> Vec<(PathBuf, ReferenceTarget)> {
    let mut found = known(name_of(word), arguments, input);
    if is_path(word) {
        found.push((PathBuf::new(), file(word, FileRunner::Itself)));
    }
    found
}

fn is_path(word: &str) -> bool {
    word.contains('/')
}

/// Returns whether a package manager installed the path, so the author did not write it.
pub(crate) fn is_installed(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "node_modules" | ".venv" | "venv" | ".tox" | "vendor"))
        || ["/usr/", "/bin/", "/opt/"].iter().any(|folder| path.starts_with(folder))
}

fn known(name: &str, arguments: &[String], input: Option<&str>) -> Vec<(PathBuf, ReferenceTarget)> {
    let here = |target: ReferenceTarget| vec![(PathBuf::new(), target)];
    match name {
        "npm" | "pnpm" | "yarn" | "bun" => package_scripts(name, arguments),
        "run-s" | "run-p" | "npm-run-all" | "npm-run-all2" => {
            let names = plain(arguments, &[]).into_iter();
            names.map(|name| (PathBuf::new(), script(name, Everywhere::No, OrProgram::No))).collect()
        }
        "turbo" | "lerna" => {
            let names = plain(arguments, &["--filter", "-F", "--scope", "--concurrency"]);
            let names = names.into_iter().filter(|name| *name != "run");
            names.map(|name| (PathBuf::new(), script(name, Everywhere::Yes, OrProgram::Yes))).collect()
        }
        "make" | "gmake" => make(arguments),
        "just" => just(arguments),
        "task" | "go-task" => {
            let names = plain(before_dashes(arguments), &["-d", "--dir", "-t", "--taskfile"]);
            let folder = value(arguments, &["-d", "--dir"]).map(PathBuf::from).unwrap_or_default();
            let names = if names.is_empty() { vec!["default"] } else { names };
            names.into_iter().map(|name| (folder.clone(), ReferenceTarget::Task { name: name.to_owned() })).collect()
        }
        "cargo" => cargo(arguments).map(here).unwrap_or_default(),
        "composer" | "poe" | "pdm" | "hatch" | "rye" | "pixi" | "pipenv" | "deno" => {
            let found = entry(name, arguments).map(here);
            found.unwrap_or_else(|| interpreted(name, arguments, input).map(here).unwrap_or_default())
        }
        "go" if arguments.first().is_some_and(|word| word == "run") => {
            let found = arguments[1..].iter().find(|word| !word.starts_with('-'));
            found
                .filter(|word| word.ends_with(".go"))
                .map(|word| here(file(word, FileRunner::Interpreter)))
                .unwrap_or_default()
        }
        "source" | "." => arguments.first().map(|path| here(file(path, FileRunner::Shell))).unwrap_or_default(),
        _ => match WHOLE.iter().find(|(program, _)| *program == name) {
            Some((_, path)) => here(file(path, FileRunner::ByName)),
            None => interpreted(name, arguments, input).map(here).unwrap_or_default(),
        },
    }
}

/// Programs that run one file of a fixed name, in a language that we cannot read.
const WHOLE: [(&str, &str); 8] = [
    ("rake", "Rakefile"),
    ("nox", "noxfile.py"),
    ("tox", "tox.ini"),
    ("inv", "tasks.py"),
    ("invoke", "tasks.py"),
    ("gulp", "gulpfile.js"),
    ("grunt", "Gruntfile.js"),
    ("pre-commit", ".pre-commit-config.yaml"),
];

enum Everywhere {
    Yes,
    No,
}

enum OrProgram {
    Yes,
    No,
}

fn script(name: &str, everywhere: Everywhere, or_program: OrProgram) -> ReferenceTarget {
    ReferenceTarget::PackageScript {
        name: name.to_owned(),
        everywhere: matches!(everywhere, Everywhere::Yes),
        or_program: matches!(or_program, OrProgram::Yes),
    }
}

fn file(path: &str, run: FileRunner) -> ReferenceTarget {
    ReferenceTarget::File { path: path.into(), run }
}

const FOLDER: [&str; 5] = ["--prefix", "-C", "--cwd", "--dir", "--cwd="];
const WORKSPACE: [&str; 4] = ["-w", "--workspace", "--filter", "-F"];

fn package_scripts(manager: &str, arguments: &[String]) -> Vec<(PathBuf, ReferenceTarget)> {
    let folder = value(arguments, &FOLDER).map(PathBuf::from).unwrap_or_default();
    let everywhere = || {
        let all = ["-r", "--recursive", "--workspaces", "-ws", "-a", "workspaces"];
        let flags = before_dashes(arguments);
        let some = flags.iter().any(|word| {
            all.contains(&word.as_str())
                || WORKSPACE.iter().any(|flag| word == flag || word.starts_with(&format!("{flag}=")))
        });
        if some || flags.first().is_some_and(|word| word == "workspace") { Everywhere::Yes } else { Everywhere::No }
    };
    let valued: Vec<&str> = FOLDER.into_iter().chain(WORKSPACE).collect();
    let mut words = plain(before_dashes(arguments), &valued);
    if words.first() == Some(&"workspace") {
        words.drain(..words.len().min(2));
    }
    if words.starts_with(&["workspaces", "foreach"]) {
        words.drain(..2);
    }
    let found = match (manager, &words[..]) {
        (_, ["run" | "run-script" | "rum" | "urn", name, ..]) if manager == "bun" && looks_like_file(name) => {
            file(name, FileRunner::Interpreter)
        }
        ("bun", ["run", name, ..]) => script(name, everywhere(), OrProgram::Yes),
        ("yarn", ["run", name, ..]) => script(name, everywhere(), OrProgram::Yes),
        (_, ["run" | "run-script" | "rum" | "urn", name, ..]) => script(name, everywhere(), OrProgram::No),
        ("npm", ["t" | "tst" | "it" | "cit" | "install-test" | "install-ci-test", ..]) => {
            script("test", everywhere(), OrProgram::No)
        }
        ("npm", [name @ ("test" | "start" | "stop" | "restart"), ..]) => script(name, everywhere(), OrProgram::No),
        ("pnpm", ["t", ..]) => script("test", everywhere(), OrProgram::No),
        // `bun test` is bun's own test runner, not a script.
        ("npm", _)
        | ("pnpm" | "yarn", ["exec" | "dlx", ..])
        | ("bun", ["x" | "test" | "install" | "i" | "add" | "build", ..])
        | (_, []) => return Vec::new(),
        ("bun", [name, ..]) if looks_like_file(name) => file(name, FileRunner::Interpreter),
        (_, [name @ ("test" | "start"), ..]) => script(name, everywhere(), OrProgram::No),
        (_, [name, ..]) => script(name, everywhere(), OrProgram::Yes),
    };
    vec![(folder, found)]
}

fn looks_like_file(word: &str) -> bool {
    word.contains('/') || [".ts", ".js", ".mjs", ".cjs", ".tsx", ".jsx", ".mts"].iter().any(|end| word.ends_with(end))
}

fn make(arguments: &[String]) -> Vec<(PathBuf, ReferenceTarget)> {
    let folder = value(arguments, &["-C", "--directory"]).map(PathBuf::from).unwrap_or_default();
    let makefile = value(arguments, &["-f", "--file", "--makefile"]).map(PathBuf::from);
    let valued = ["-C", "--directory", "-f", "--file", "--makefile", "-I", "-o", "-W", "-l"];
    let names = plain(arguments, &valued).into_iter().filter(|word| {
        // The number of `-j 4` is not a target.
        !is_assignment(word) && !word.chars().all(|digit| digit.is_ascii_digit())
    });
    let mut names: Vec<Option<String>> = names.map(|name| Some(name.to_owned())).collect();
    if names.is_empty() {
        names.push(None);
    }
    names
        .into_iter()
        .map(|name| (folder.clone(), ReferenceTarget::MakeTarget { file: makefile.clone(), name }))
        .collect()
}

fn just(arguments: &[String]) -> Vec<(PathBuf, ReferenceTarget)> {
    let folder = value(arguments, &["-d", "--working-directory"]).map(PathBuf::from).unwrap_or_default();
    let justfile = value(arguments, &["-f", "--justfile"]).map(PathBuf::from);
    let names = plain(arguments, &["-d", "--working-directory", "-f", "--justfile", "--set", "--shell"]);
    let mut names: Vec<Option<String>> =
        names.into_iter().filter(|word| !is_assignment(word)).map(|name| Some(name.to_owned())).collect();
    if names.is_empty() {
        names.push(None);
    }
    let recipe = |(at, name)| ReferenceTarget::JustRecipe { file: justfile.clone(), name, or_argument: at > 0 };
    names.into_iter().enumerate().map(|found| (folder.clone(), recipe(found))).collect()
}

/// Commands that cargo does not let an alias replace.
const OF_CARGO: [&str; 18] = [
    "test", "build", "check", "clippy", "run", "fmt", "doc", "bench", "clean", "update", "fetch", "install", "publish",
    "add", "remove", "tree", "metadata", "package",
];

fn cargo(arguments: &[String]) -> Option<ReferenceTarget> {
    let arguments = before_dashes(arguments);
    let rest = arguments
        .strip_prefix(&arguments[..usize::from(arguments.first().is_some_and(|word| word.starts_with('+')))])?;
    let name = *plain(rest, &["--config", "-C", "--color", "-Z"]).first()?;
    (!OF_CARGO.contains(&name)).then(|| {
        ReferenceTarget::Entry(ManifestEntry {
            files: &[".cargo/config.toml", ".cargo/config"],
            noun: "alias",
            keys: vec!["alias".to_owned(), name.to_owned()],
            name: name.to_owned(),
            before: "cargo ",
            or_program: true,
        })
    })
}

/// Returns the entries of manifests, by the program that runs them.
fn entry(program: &str, arguments: &[String]) -> Option<ReferenceTarget> {
    let words = plain(before_dashes(arguments), &["-e", "-p", "--project", "-C", "--directory"]);
    let (files, keys, before): (&[&str], Vec<&str>, &str) = match program {
        "composer" => (&["composer.json"], vec!["scripts"], ""),
        "poe" => (&["pyproject.toml", "poe_tasks.toml"], vec!["tool", "poe", "tasks"], ""),
        "pdm" => (&["pyproject.toml"], vec!["tool", "pdm", "scripts"], ""),
        "rye" => (&["pyproject.toml"], vec!["tool", "rye", "scripts"], ""),
        "hatch" => (&["pyproject.toml", "hatch.toml"], vec!["tool", "hatch", "envs", "default", "scripts"], ""),
        "pixi" => (&["pixi.toml", "pyproject.toml"], vec!["tool", "pixi", "tasks"], ""),
        "pipenv" => (&["Pipfile"], vec!["scripts"], ""),
        "deno" => (&["deno.json", "deno.jsonc"], vec!["tasks"], ""),
        _ => return None,
    };
    let (name, or_program) = match (program, &words[..]) {
        ("composer", ["run" | "run-script", name, ..]) | ("deno", ["task", name, ..]) => (*name, false),
        ("composer" | "poe", [name, ..]) => (*name, program != "poe"),
        ("pdm" | "rye" | "hatch" | "pixi" | "pipenv", ["run", name, ..]) => (*name, true),
        ("pdm", [name, ..]) => (*name, true),
        _ => return None,
    };
    let mut keys: Vec<String> = keys.into_iter().map(str::to_owned).collect();
    let mut script = name;
    if let ("hatch", Some((environment, inside))) = (program, name.split_once(':')) {
        environment.clone_into(&mut keys[3]);
        script = inside;
    }
    keys.push(script.to_owned());
    let noun = if matches!(program, "poe" | "pixi" | "deno") { "task" } else { "script" };
    Some(ReferenceTarget::Entry(ManifestEntry { files, noun, keys, name: name.to_owned(), before, or_program }))
}

fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "fish")
}

/// Returns the file that an interpreter runs.
fn interpreted(name: &str, arguments: &[String], input: Option<&str>) -> Option<ReferenceTarget> {
    if is_shell(name) {
        let (flags, rest) = shell_flags(arguments);
        if flags.iter().any(|flag| flag.starts_with('-') && !flag.starts_with("--") && flag.contains('c')) {
            return None;
        }
        return rest.first().map(String::as_str).or(input).map(|path| file(path, FileRunner::Shell));
    }
    let (valued, no_file): (&[&str], &[&str]) = match name {
        // Test files of `node --test` are tests, and the command names them.
        "node" | "nodejs" | "tsx" | "ts-node" | "vite-node" | "babel-node" => (
            &["-r", "--require", "--import", "--loader", "-C", "--env-file", "-P"],
            &["-e", "-p", "--eval", "--print", "--test"],
        ),
        "ruby" | "perl" | "php" | "lua" | "Rscript" | "julia" | "pwsh" | "elixir" => {
            (&["-I", "-r", "-d"], &["-e", "-E", "-c"])
        }
        "deno" => {
            let (run, rest) = arguments.split_first()?;
            return (run == "run").then(|| interpreted("node", rest, input)).flatten();
        }
        _ if name.starts_with("python") || name.starts_with("pypy") => (&["-W", "-X"], &["-m", "-c"]),
        _ => return None,
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if no_file.contains(&word.as_str()) {
            return None;
        }
        if valued.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(file(word, FileRunner::Interpreter));
        }
    }
    input.map(|path| file(path, FileRunner::Interpreter))
}

/// Returns the last part of a path, the usual name of a program.
fn name_of(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn before_dashes(arguments: &[String]) -> &[String] {
    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    &arguments[..end]
}

/// Returns the words that are neither flags nor values of flags.
fn plain<'a>(arguments: &'a [String], valued: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if valued.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') {
            found.push(word.as_str());
        }
    }
    found
}

fn past_flags<'a>(arguments: &'a [String], valued: &[&str]) -> &'a [String] {
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        rest = match word.as_str() {
            "--" => return after,
            flag if valued.contains(&flag) => after.get(1..).unwrap_or_default(),
            flag if flag.starts_with('-') || is_assignment(flag) => after,
            _ => return rest,
        };
    }
    rest
}

/// Returns the value of a flag: `-C x`, `--cwd=x`, `-Cx`.
fn value<'a>(arguments: &'a [String], flags: &[&str]) -> Option<&'a str> {
    let arguments = before_dashes(arguments);
    arguments.iter().enumerate().find_map(|(at, word)| {
        flags.iter().find_map(|flag| match word.strip_prefix(flag)? {
            "" => arguments.get(at + 1).map(String::as_str),
            joined => match joined.strip_prefix('=') {
                Some(value) => Some(value),
                None => (flag.len() == 2 && !flag.starts_with("--")).then_some(joined),
            },
        })
    })
}
