//! What the programs of a command line are known for: looking, or handing work to a service.

use steadfast_shell::{Argument, Invocation, Reading};

/// Where the system keeps its programs. The same name in another folder is another program.
const SYSTEM: [&str; 6] = ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/"];

/// Programs that only look.
const LOOKING: [&str; 36] = [
    "[", "basename", "cat", "cd", "cut", "date", "df", "diff", "dirname", "du", "echo", "false", "file", "find",
    "grep", "head", "jq", "ls", "nl", "printf", "pwd", "realpath", "rg", "sed", "sleep", "sort", "stat", "tail",
    "test", "tr", "tree", "true", "type", "uniq", "wc", "which",
];

const LOOKING_GIT: [&str; 8] = ["status", "log", "diff", "show", "blame", "branch", "rev-parse", "ls-files"];

/// Options by which a program that looks runs another one.
const RUNNING: [&str; 7] =
    ["--pre", "--hostname-bin", "--compress-program", "--ext-diff", "--textconv", "--output", "--files0-from"];

/// What makes a name mean another program, or a program run one.
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

/// Programs that hand work to a service, which runs it as a process of its own.
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

/// Of these only what stays.
const CONTAINERS: [&str; 3] = ["docker", "podman", "kubectl"];

/// Whether every program of a command line is one that only looks. An unknown one may do anything.
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
        // Its scripts can write files and run programs (`w`, `e`): only those that print are known.
        "sed" => run.arguments().iter().all(|argument| argument.known().is_some_and(prints)),
        program => LOOKING.contains(&program),
    }
}

/// An option, a file, or a script of `sed` that prints lines by their numbers or replaces text on its way out.
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

/// The name of a program that is looked up where the system keeps its programs.
fn system_name(program: &str) -> Option<&str> {
    if !program.contains('/') {
        return Some(program);
    }
    let name = SYSTEM.iter().find_map(|folder| program.strip_prefix(folder))?;
    (!name.contains('/')).then_some(name)
}

/// Whether a command line hands work to a service. What is no plain line is searched for the words.
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
