//! Recognises commands that write history: commits, pushes, branches, merges, and requests to merge.
//!
//! Commands that `make` or a script would run are not known here; `watch.rs` sees what they did.

use steadfast_model::GitAlias;
use steadfast_shell::Reading;
use steadfast_words::WordList;

use super::program::{asks_help, has, operands, starts};
use super::run::{Run, runs, runs_of};

/// Options of git before its verb that take a value.
const GIT_VALUES: [&str; 8] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source"];

/// Returns the verb of a git command and its arguments. An alias set on the line is replaced by its meaning.
pub(super) fn git(run: &Run) -> Option<(String, Vec<String>)> {
    let program = run.first()?;
    // `git-commit` is `git commit`, run from git's own folder.
    if let Some(verb) = program.strip_prefix("git-") {
        return Some((verb.to_owned(), run[1..].to_vec()));
    }
    // Both pass other commands on to git.
    if !matches!(program.as_str(), "git" | "hub" | "yadm") {
        return None;
    }
    let (mut at, mut aliases) = (1, Vec::new());
    while let Some(word) = run.get(at).filter(|word| word.starts_with('-')) {
        at += 1;
        if GIT_VALUES.contains(&word.as_str()) {
            let alias = run.get(at).filter(|_| word == "-c").and_then(|value| value.strip_prefix("alias."));
            aliases.extend(alias.and_then(|alias| alias.split_once('=')));
            at += 1;
        }
    }
    let verb = run.get(at)?;
    let rest = run[at + 1..].to_vec();
    let Some((_, body)) = aliases.into_iter().find(|(name, _)| name == verb) else {
        return Some((verb.clone(), rest));
    };
    match body.strip_prefix('!') {
        Some(line) => runs_of(line).iter().find_map(|run| if run.len() < 64 { git(run) } else { None }),
        None => {
            let mut words = body.split_whitespace().map(str::to_owned);
            Some((words.next()?, words.chain(rest).collect()))
        }
    }
}

/// The verbs of git and of its usual companions. Any other verb may be an alias.
const COMMANDS: &str = include_str!("git.txt");

pub(crate) fn unknown_git_words(reading: &Reading) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for run in runs(reading) {
        let unknown =
            git(&run).map(|(verb, _)| verb).filter(|verb| !COMMANDS.split_whitespace().any(|known| known == verb));
        found.extend(unknown.filter(|verb| !found.contains(verb)));
    }
    found
}

/// The most levels of aliases.
const DEEP: usize = 4;

/// The most commands that are searched for aliases; an alias may use itself many times.
const MOST: usize = 1_024;

/// The command line that an alias stands for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AliasLine {
    pub(crate) line: String,
    /// It is a shell line, which git runs at the top of the checkout.
    pub(crate) at_top: bool,
}

/// Returns the command lines for the aliases of a line, with their arguments.
pub(crate) fn alias_lines(reading: &Reading, aliases: &[GitAlias]) -> Vec<AliasLine> {
    let mut lines: Vec<AliasLine> = Vec::new();
    let mut runs = runs(reading);
    for _ in 0..DEEP {
        let more: Vec<AliasLine> = runs.iter().filter_map(|run| alias_line(run, aliases)).collect();
        if more.is_empty() || more.len() + lines.len() > MOST {
            break;
        }
        runs = more.iter().flat_map(|more| runs_of(&more.line)).collect();
        lines.extend(more);
    }
    lines
}

fn alias_line(run: &Run, aliases: &[GitAlias]) -> Option<AliasLine> {
    let alias = alias_of(run, aliases)?;
    let (_, rest) = git(run)?;
    let quoted = |words: &[String]| -> String {
        words.iter().map(|word| format!(" '{}'", word.replace('\'', r"'\''"))).collect()
    };
    let options = run.get(1..run.len().checked_sub(rest.len() + 1)?)?;
    Some(match alias.body.strip_prefix('!') {
        Some(line) => AliasLine { line: format!("{line}{}", quoted(&rest)), at_top: true },
        None => AliasLine { line: format!("git{} {}{}", quoted(options), alias.body, quoted(&rest)), at_top: false },
    })
}

/// Returns the runs, with aliases replaced by the runs that they stand for.
pub(super) fn unaliased(mut runs: Vec<Run>, aliases: &[GitAlias]) -> Vec<Run> {
    let mut from = 0;
    for _ in 0..DEEP {
        if runs.len() > MOST {
            break;
        }
        let mut more: Vec<Run> = Vec::new();
        for (run, alias) in runs[from..].iter().filter_map(|run| Some((run, alias_of(run, aliases)?))) {
            let (_, rest) = git(run).unwrap_or_default();
            match alias.body.strip_prefix('!') {
                Some(line) => more.extend(runs_of(line)),
                None => {
                    let words = alias.body.split_whitespace().map(|word| word.trim_matches(['\'', '"']).to_owned());
                    more.push(std::iter::once("git".to_owned()).chain(words).chain(rest).collect());
                }
            }
        }
        if more.is_empty() {
            break;
        }
        from = runs.len();
        runs.extend(more);
    }
    runs
}

fn alias_of<'a>(run: &Run, aliases: &'a [GitAlias]) -> Option<&'a GitAlias> {
    let (verb, _) = git(run)?;
    aliases.iter().find(|alias| alias.name.eq_ignore_ascii_case(&verb))
}

/// Returns true for finishing a rebase that began before commits were forbidden: it only makes existing commits again.
fn ends_rebase(verb: &str, rest: &[String]) -> bool {
    verb == "rebase" && has(rest, &["--continue", "--skip", "--edit-todo", "--show-current-patch"])
}

fn any(run: &Run, lines: &[&[&str]]) -> bool {
    lines.iter().any(|words| starts(run, words))
}

pub(super) fn commits(run: &Run) -> bool {
    const OTHERS: [&[&str]; 14] = [
        &["hg", "commit"],
        &["hg", "ci"],
        &["hg", "amend"],
        &["jj", "commit"],
        &["jj", "ci"],
        &["sl", "commit"],
        &["sl", "ci"],
        &["sl", "amend"],
        &["svn", "commit"],
        &["svn", "ci"],
        &["gt", "create"],
        &["gt", "modify"],
        &["cz", "commit"],
        &["cz", "c"],
    ];
    if let Some((verb, rest)) = git(run) {
        let shows = rest.iter().any(|word| word.starts_with("--show-current-patch"));
        let stops = has(&rest, &["--abort", "--quit", "--no-commit"]) || shows || asks_help(&rest);
        return match verb.as_str() {
            "commit" => !has(&rest, &["--dry-run"]) && !asks_help(&rest),
            // `--continue` commits the current step, and `--skip` goes to the next commit.
            "cherry-pick" | "revert" => !stops && !has(&rest, &["-n"]),
            "commit-tree" | "citool" | "am" | "cz" => !stops,
            "gui" => rest.first().is_some_and(|word| word == "citool"),
            // Other merges may only move a branch forward.
            "merge" => !stops && has(&rest, &["--no-ff", "--continue"]),
            "subtree" => rest.first().is_some_and(|word| matches!(word.as_str(), "add" | "merge" | "pull")),
            _ => false,
        };
    }
    // A new version makes a commit and a tag.
    let version = any(run, &[&["npm", "version"]])
        && operands(run).nth(2).is_some()
        && !has(run, &["--no-git-tag-version", "--git-tag-version=false"]);
    version || any(run, &OTHERS)
}

/// Returns the arguments of a push.
pub(super) fn pushes(run: &Run) -> Option<Vec<String>> {
    const OTHERS: [&[&str]; 10] = [
        &["hg", "push"],
        &["sl", "push"],
        &["jj", "git", "push"],
        &["svn", "commit"],
        &["svn", "ci"],
        &["gh", "pr", "create"],
        &["gh", "pr", "new"],
        &["gt", "submit"],
        &["gt", "stack", "submit"],
        &["glab", "mr", "create"],
    ];
    match git(run) {
        Some((verb, rest)) => match verb.as_str() {
            "push" if !has(&rest, &["--dry-run", "-n"]) && !asks_help(&rest) => Some(rest),
            "send-pack" => Some(rest),
            "subtree" | "lfs" if rest.first().is_some_and(|word| word == "push") => Some(rest[1..].to_vec()),
            "svn" if rest.first().is_some_and(|word| word == "dcommit") => Some(Vec::new()),
            "sync" if run[0] == "hub" => Some(Vec::new()),
            _ => None,
        },
        None => any(run, &OTHERS).then(Vec::new),
    }
}

pub(super) fn is_forced(rest: &[String]) -> bool {
    rest.iter().any(|word| {
        word.starts_with("--force")
            || word.starts_with('+')
            || (word.starts_with('-') && !word.starts_with("--") && word.contains('f'))
    })
}

/// Returns true if a push names that branch as its target.
pub(super) fn names_branch(rest: &[String], branch: &str) -> bool {
    operands(rest).skip(1).any(|word| {
        let target = word.rsplit(':').next().unwrap_or(word).trim_start_matches('+');
        target.strip_prefix("refs/heads/").unwrap_or(target) == branch
    })
}

pub(super) fn branches(run: &Run) -> bool {
    const LOOKS: WordList = words!("git branch looks");
    const OTHERS: [&[&str]; 8] = [
        &["gh", "pr", "checkout"],
        &["gh", "pr", "co"],
        &["gh", "issue", "develop"],
        &["glab", "mr", "checkout"],
        &["jj", "bookmark", "create"],
        &["hg", "branch"],
        &["gt", "create"],
        &["gt", "checkout"],
    ];
    let Some((verb, rest)) = git(run) else { return any(run, &OTHERS) };
    match verb.as_str() {
        "branch" => !has(&rest, LOOKS.0) && operands(&rest).next().is_some(),
        "switch" => !asks_help(&rest),
        "checkout" => {
            let branch = |word: &String| matches!(word.as_str(), "main" | "master" | "develop");
            has(&rest, &["-b", "-B", "--orphan", "-", "-t", "--track", "--detach"])
                || (!has(&rest, &["--"]) && operands(&rest).next().is_some_and(branch))
        }
        "worktree" => rest.first().is_some_and(|word| word == "add"),
        "stash" => rest.first().is_some_and(|word| word == "branch"),
        _ => false,
    }
}

pub(super) fn opens_request(run: &Run) -> bool {
    const LINES: [&[&str]; 9] = [
        &["gh", "pr", "create"],
        &["gh", "pr", "new"],
        &["glab", "mr", "create"],
        &["glab", "mr", "new"],
        &["hub", "pull-request"],
        &["az", "repos", "pr", "create"],
        &["tea", "pr", "create"],
        &["tea", "pulls", "create"],
        &["gt", "submit"],
    ];
    let asked_for = |rest: Vec<String>| rest.iter().any(|word| word.contains("merge_request.create"));
    any(run, &LINES) || pushes(run).is_some_and(asked_for) || posts(run, "/pulls")
}

/// Returns true for a GitHub API call that writes to such an address.
fn posts(run: &Run, address: &str) -> bool {
    let fields = ["-f", "-F", "--field", "--raw-field", "--input"];
    let methods = ["POST", "PUT", "PATCH"];
    let writes = has(run, &fields) || run.iter().any(|word| methods.iter().any(|method| word.ends_with(method)));
    any(run, &[&["gh", "api"]]) && writes && run.iter().any(|word| word.ends_with(address))
}

pub(super) fn merges(run: &Run) -> bool {
    const OTHERS: [&[&str]; 9] = [
        &["gh", "pr", "merge"],
        &["gh", "pr", "update-branch"],
        &["glab", "mr", "merge"],
        &["glab", "mr", "accept"],
        &["glab", "mr", "rebase"],
        &["tea", "pr", "merge"],
        &["hg", "merge"],
        &["hg", "rebase"],
        &["jj", "rebase"],
    ];
    match git(run) {
        Some((verb, rest)) => match verb.as_str() {
            "merge" | "rebase" => {
                !has(&rest, &["--abort", "--quit"]) && !ends_rebase(&verb, &rest) && !asks_help(&rest)
            }
            // A pull that names a branch merges it; a plain pull may only move this one forward.
            "pull" => {
                let rebases = rest.iter().any(|word| word == "-r" || word.starts_with("--rebase"));
                let named = operands(&rest).nth(1).is_some() && !has(&rest, &["--ff-only"]);
                rebases && !has(&rest, &["--rebase=false"]) || named
            }
            "subtree" => rest.first().is_some_and(|word| word == "merge"),
            _ => false,
        },
        None => any(run, &OTHERS) || posts(run, "/merge") || posts(run, "/merges"),
    }
}

/// Returns true for a git command that changes the working tree or the history.
pub(super) fn changes_checkout(run: &Run) -> bool {
    const CHANGING: WordList = words!("git changes checkout");
    git(run).is_some_and(|(verb, rest)| {
        let looks = (verb == "stash" && rest.first().is_some_and(|word| word == "list" || word == "show"))
            || has(&rest, &["--help", "-h", "--dry-run", "--check", "--stat"]);
        CHANGING.contains(&verb) && !looks
    })
}

#[cfg(test)]
mod tests;
