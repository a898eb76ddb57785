//! The known properties of programs: they only read, or they hand work to a service.

use steadfast_shell::{Argument, Invocation, Reading};

use super::super::target::absolute;

/// The folders of the system's programs. The same name in another folder is another program.
const SYSTEM: [&str; 6] = ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/"];

/// Programs that only read.
const LOOKING: [&str; 36] = [
    "[", "basename", "cat", "cd", "cut", "date", "df", "diff", "dirname", "du", "echo", "false", "file", "find",
    "grep", "head", "jq", "ls", "nl", "printf", "pwd", "realpath", "rg", "sed", "sleep", "sort", "stat", "tail",
    "test", "tr", "tree", "true", "type", "uniq", "wc", "which",
];

const LOOKING_GIT: [&str; 8] = ["status", "log", "diff", "show", "blame", "branch", "rev-parse", "ls-files"];

/// Options with which these programs run another one.
const RUNNING: [&str; 7] =
    ["--pre", "--hostname-bin", "--compress-program", "--ext-diff", "--textconv", "--output", "--files0-from"];

/// Variables that change which program a name means, or make a program run another.
const RENAMING: [&str; 12] = [
    "PATH",
    "alias",
    "hash",
    "enable",
    "LD_",
    "DYLD_",
    "GIT_",
    "PAGER",
    "BASH_ENV",
    "ENV=",
    "SHELLOPTS",
    "RIPGREP_CONFIG",
];

/// Programs that hand work to a service, which runs it in a process of its own.
const SERVICES: [&str; 12] = [
    "at",
    "batch",
    "crontab",
    "systemd-run",
    "systemctl",
    "launchctl",
    "tmux",
    "screen",
    "watchman",
    "docker",
    "podman",
    "kubectl",
];

/// Of these programs, the verbs that start something that stays.
const CONTAINERS: [&str; 3] = ["docker", "podman", "kubectl"];

/// Returns true if every program of a command line only reads. An unknown program may do anything.
pub(super) fn only_looks(command: &str, reading: &Reading) -> bool {
    reading.parsed && !RENAMING.iter().any(|word| command.contains(word)) && reading.runs().all(looks)
}

fn looks(run: &Invocation) -> bool {
    let Some(program) = run.argv.first().and_then(Argument::known).and_then(system_name) else { return false };
    let runs_another = |argument: &Argument| match argument.known() {
        Some(text) => RUNNING.iter().any(|option| text.starts_with(option)),
        None => false,
    };
    if run.arguments().iter().any(runs_another) {
        return false;
    }
    match program {
        "git" => run.arguments().first().and_then(Argument::known).is_some_and(|word| LOOKING_GIT.contains(&word)),
        // A script of `sed` can write files and run programs (`w`, `e`), so only scripts that print are accepted.
        "sed" => run.arguments().iter().all(|argument| argument.known().is_some_and(prints)),
        program => LOOKING.contains(&program),
    }
}

/// Returns true for an option, a file, or a `sed` script that prints lines by number or replaces text in its output.
fn prints(argument: &str) -> bool {
    let by_number =
        argument.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | ';' | '$' | 'p' | 'q' | ' ' | '!' | 'd'));
    let replaces =
        argument.starts_with("s/") && argument.matches('/').count() == 3 && !argument.contains([';', '\n', '\\']) && {
            let flags = argument.rsplit('/').next().unwrap_or_default();
            flags.chars().all(|c| matches!(c, 'g' | 'p' | 'i' | 'I') || c.is_ascii_digit())
        };
    let is_file = !argument.starts_with('-')
        && argument.contains(['.', '/'])
        && !argument.contains([' ', ';', '{', '\n'])
        && !argument.starts_with("s/");
    matches!(argument, "-n" | "-E" | "-r" | "-e" | "-s") || by_number || replaces || is_file
}

/// Returns the name of a program in the system's folders.
fn system_name(program: &str) -> Option<&str> {
    if !program.contains('/') {
        return Some(program);
    }
    let name = SYSTEM.iter().find_map(|folder| program.strip_prefix(folder))?;
    (!name.contains('/')).then_some(name)
}

/// Returns true if a command line hands work to a service. A line that is not plain is searched for the words.
pub(super) fn hands_over(command: &str, reading: &Reading) -> bool {
    if !reading.parsed {
        return SERVICES
            .iter()
            .any(|service| command.split(|c: char| !c.is_alphanumeric() && c != '-').any(|w| w == *service));
    }
    let detached = |run: &Invocation| {
        let mut words = run.arguments().iter().filter_map(Argument::known);
        words.any(|word| matches!(word, "-d" | "--detach" | "start" | "restart" | "-itd" | "-dit" | "-td" | "-di"))
    };
    reading.runs().any(|run| {
        let is = |service: &&&str| run.may_run(service) && run.argv.first().and_then(Argument::known).is_some();
        SERVICES.iter().find(is).is_some_and(|service| !CONTAINERS.contains(service) || detached(run))
    })
}

/// Options of git before its verb that take a value.
const GIT_OPTIONS: [&str; 5] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// The verbs with which git changes a repository or a checkout.
const GIT_CHANGES: [&str; 27] = [
    "add",
    "am",
    "apply",
    "bisect",
    "checkout",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "commit-tree",
    "fast-import",
    "filter-branch",
    "gc",
    "init",
    "merge",
    "mv",
    "notes",
    "pull",
    "push",
    "rebase",
    "replace",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
];

/// Programs that install or publish, with the verbs for it.
const MANAGERS: [(&str, &[&str]); 17] = [
    ("npm", NODE),
    ("pnpm", NODE),
    ("yarn", NODE),
    ("bun", NODE),
    ("pip", &["install", "uninstall"]),
    ("pip3", &["install", "uninstall"]),
    ("uv", &["add", "remove", "sync", "install", "lock", "init"]),
    ("poetry", &["add", "remove", "install", "update", "lock", "init"]),
    ("cargo", &["add", "remove", "install", "uninstall", "publish", "init", "new", "fix", "fmt", "update", "vendor"]),
    ("go", &["get", "install", "generate", "fmt", "tidy", "vendor", "edit"]),
    ("gem", &["install", "uninstall", "update"]),
    ("bundle", &["install", "add", "update", "lock"]),
    ("composer", &["install", "require", "update", "remove"]),
    ("apt", &["install", "remove", "upgrade"]),
    ("apt-get", &["install", "remove", "upgrade"]),
    ("brew", &["install", "uninstall", "upgrade"]),
    ("deno", &["add", "remove", "install", "fmt"]),
];

const NODE: &[&str] = &[
    "install",
    "i",
    "add",
    "ci",
    "remove",
    "rm",
    "uninstall",
    "update",
    "upgrade",
    "publish",
    "link",
    "init",
    "version",
    "dedupe",
    "prune",
    "set",
];

/// Verbs of a package manager that only read, or run a script of the project.
const ASKING: [&str; 16] = [
    "audit", "explain", "help", "info", "list", "ls", "outdated", "run", "search", "show", "test", "tree", "view",
    "why", "exec", "metadata",
];

/// Returns true if a program certainly changes the project or its installed packages, whichever files that are.
pub(super) fn changes_project(run: &Invocation) -> bool {
    let Some(program) = run.argv.first().and_then(Argument::known) else { return false };
    let program = program.rsplit('/').next().unwrap_or(program);
    if program == "git" {
        let Some((verb, rest)) = git_verb(run) else { return false };
        let plain = rest.iter().any(|word| !word.starts_with('-'));
        return match verb {
            // Without a name they list.
            "tag" => {
                plain && !rest.iter().any(|word| matches!(*word, "-l" | "--list" | "-n" | "--contains" | "--points-at"))
            }
            "branch" => {
                let lists = |word: &&str| {
                    matches!(*word, "-l" | "--list" | "--contains" | "--merged" | "--no-merged" | "--points-at")
                };
                plain && !rest.iter().any(lists)
            }
            "worktree" => rest.first().is_some_and(|word| *word != "list"),
            "stash" => !rest.first().is_some_and(|word| matches!(*word, "list" | "show")),
            "notes" => !rest.first().is_none_or(|word| matches!(*word, "list" | "show")),
            "bisect" => !rest.first().is_some_and(|word| matches!(*word, "log" | "view" | "visualize")),
            "apply" => !rest.iter().any(|word| matches!(*word, "--check" | "--stat" | "--numstat" | "--summary")),
            verb => GIT_CHANGES.contains(&verb),
        };
    }
    let Some((_, verbs)) = MANAGERS.iter().find(|(name, _)| *name == program) else { return false };
    let words: Vec<&str> =
        run.arguments().iter().filter_map(Argument::known).take_while(|word| *word != "--").collect();
    let first = words.iter().find(|word| !word.starts_with(['-', '+']));
    let asks =
        first.is_some_and(|word| ASKING.contains(word)) || words.iter().any(|word| matches!(*word, "--help" | "-h"));
    !asks && (words.iter().any(|word| verbs.contains(word)) || program == "yarn" && first.is_none())
}

/// Returns the verb of a git call, with the words after it.
fn git_verb(run: &Invocation) -> Option<(&str, Vec<&str>)> {
    let words: Vec<&str> = run.arguments().iter().map(|argument| argument.known().unwrap_or("*")).collect();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if GIT_OPTIONS.contains(word) {
            at += 2;
        } else if word.starts_with('-') {
            at += 1;
        } else {
            return Some((word, words[at + 1..].to_vec()));
        }
    }
    None
}

/// Returns the absolute path if a git call makes another checkout of the repository at `root`.
pub(super) fn copy_of(run: &Invocation, root: &str, cwd: &str) -> Option<String> {
    let program = run.argv.first().and_then(Argument::known)?;
    if program.rsplit('/').next() != Some("git") {
        return None;
    }
    let (verb, rest) = git_verb(run)?;
    let plain = |words: &[&str], valued: &[&str]| -> Vec<String> {
        let mut found = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if valued.contains(word) {
                words.next();
            } else if !word.starts_with('-') {
                found.push((*word).to_owned());
            }
        }
        found
    };
    match (verb, rest.split_first()) {
        ("worktree", Some((&"add", rest))) => {
            let path = plain(rest, &["-b", "-B", "--reason"]).into_iter().next()?;
            Some(absolute(&path, cwd))
        }
        ("clone", _) => {
            let valued = [
                "-b",
                "--branch",
                "-o",
                "--origin",
                "--depth",
                "-c",
                "--config",
                "--reference",
                "-j",
                "--jobs",
                "-u",
                "--upload-pack",
                "--template",
                "--filter",
            ];
            let mut words = plain(&rest, &valued).into_iter();
            let from = words.next()?;
            let local = from.strip_prefix("file://").unwrap_or(&from);
            let is_own = local.contains('*') || {
                let from = absolute(local, cwd);
                let from = from.trim_end_matches('/').trim_end_matches("/.git");
                from == root.trim_end_matches('/')
            };
            let named = words.next().or_else(|| local.trim_end_matches('/').rsplit('/').next().map(str::to_owned))?;
            is_own.then(|| absolute(&named, cwd))
        }
        _ => None,
    }
}

/// Returns true if a git call stashes all uncommitted changes.
pub(super) fn stashes_all(run: &Invocation) -> bool {
    if !run.may_run("git") {
        return false;
    }
    let Some(("stash", rest)) = git_verb(run) else { return false };
    let (verb, options) = match rest.split_first() {
        Some((verb, options)) if !verb.starts_with('-') => (*verb, options),
        _ => ("push", rest.as_slice()),
    };
    // `save` takes a message, and no files.
    let mut words = options.iter().filter(|word| !matches!(**word, "-m" | "--message"));
    verb == "save" || verb == "push" && !words.any(|word| *word == "--" || word.starts_with("--pathspec"))
}
