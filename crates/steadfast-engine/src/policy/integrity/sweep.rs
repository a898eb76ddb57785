//! Finds commands that remove files without naming them: `git clean`, `git stash` and shell patterns, if they would
//! remove the settings that contain our hooks.
//!
//! The result depends on what git knows of the file. `git clean -fd` and `git stash -u` keep ignored files; `-x` and
//! `--all` remove them, too; `-X` removes nothing else.

use steadfast_model::WiredFile;
use steadfast_shell::{Argument, Op, Reading};
use steadfast_text::{is_within, quote};

/// The kinds of files that a sweep takes beside tracked ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Untracked,
    Ignored,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Clean,
    Stash,
}

/// A command that removes files without naming them.
#[derive(Debug)]
struct Sweep<'a> {
    verb: Verb,
    takes: Takes,
    /// It removes untracked folders, too.
    folders: bool,
    /// The folder in which git runs.
    cwd: &'a str,
    /// The words after the verb.
    words: Vec<&'a str>,
    /// The options before the verb: `-C folder`, `-c setting`.
    options: Vec<&'a str>,
    /// The patterns of `-e`.
    patterns: Vec<&'a str>,
    paths: Vec<&'a str>,
}

/// Returns true if a command line may contain a sweep; it is not parsed yet.
pub(super) fn may_sweep(command: &str) -> bool {
    let by_git = command.contains("git") && (command.contains("clean") || command.contains("stash"));
    let by_pattern = command.contains(['*', '?', '[']) && (command.contains("rm") || command.contains("mv"));
    by_git || by_pattern || (command.contains("find") && command.contains("-delete"))
}

/// Returns the refusal for a line that removes our settings, with a spelling that keeps them.
pub(super) fn refused(reading: &Reading, wired: &[WiredFile]) -> Option<String> {
    let by_git = by_git(reading, wired);
    by_git.or_else(|| {
        wired.iter().find(|file| is_globbed(reading, file)).map(|file| {
            format!(
                "This removes `{}`, which holds the hooks of Steadfast. Name the files to remove instead.",
                file.path
            )
        })
    })
}

/// Returns true if a shell pattern matches the file or a folder above it. The value of a variable is not known.
fn is_globbed(reading: &Reading, file: &WiredFile) -> bool {
    reading.effects.iter().filter(|effect| matches!(effect.op, Op::Delete | Op::Move)).any(|effect| {
        // `find .claude -delete`
        if effect.via == "find"
            && let Some(folder) = effect.path.as_deref().and_then(|path| path.strip_suffix("/**"))
            && folder.ends_with(file.folder())
        {
            return is_within(&file.path, folder);
        }
        let Some(pattern) = effect.path.as_deref().filter(|path| path.contains(['*', '?']) && !path.contains("**"))
        else {
            return false;
        };
        // A star does not match a leading dot.
        let fits = |(pattern, part): (&str, &str)| {
            is_name(pattern, part) && !(part.starts_with('.') && pattern.starts_with(['*', '?']))
        };
        let (parts, wanted) = (pattern.split('/').count(), file.path.split('/').count());
        parts <= wanted && pattern.split('/').zip(file.path.split('/')).all(fits)
    })
}

fn by_git(reading: &Reading, wired: &[WiredFile]) -> Option<String> {
    sweeps(reading).find_map(|sweep| {
        let lost: Vec<&WiredFile> = wired.iter().filter(|file| sweep.takes_away(file)).collect();
        let first = lost.first()?;
        let mut folders: Vec<&str> = lost.iter().map(|file| file.folder()).collect();
        folders.dedup();
        Some(format!(
            "This removes `{}`, which holds the hooks of Steadfast. `{}` keeps it.",
            first.path,
            sweep.spelling(&folders)
        ))
    })
}

/// Returns true if an effect comes from a sweep, which this module judges.
pub(super) fn is_sweep(effect: &steadfast_shell::CommandEffect) -> bool {
    effect.via == "git" && effect.op == Op::Delete && effect.path.as_deref().is_some_and(|path| path.ends_with("/**"))
}

fn sweeps(reading: &Reading) -> impl Iterator<Item = Sweep<'_>> {
    reading.runs().filter(|run| run.may_run("git")).filter_map(|run| {
        let words: Vec<&str> = run.arguments().iter().map(|word| word.known().unwrap_or("?")).collect();
        let at = verb_at(&words)?;
        // Git's effects have the same span in the line, and name its folder.
        let here = reading.effects.iter().find(|effect| {
            effect.via == "git" && effect.span == run.span && effect.path.as_deref().is_some_and(|p| p.ends_with("/**"))
        });
        let cwd = here.and_then(|effect| effect.path.as_deref()).map_or(&*reading.context.cwd, |p| &p[..p.len() - 3]);
        let unknown = run.arguments().iter().any(|word| matches!(word, Argument::Pattern(_)));
        Sweep::read(words[at], &words[..at], &words[at + 1..], cwd).filter(|_| !unknown)
    })
}

fn verb_at(words: &[&str]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if matches!(*word, "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace") { 2 } else { 1 };
    }
    (at < words.len()).then_some(at)
}

impl<'a> Sweep<'a> {
    fn read(verb: &str, options: &[&'a str], words: &[&'a str], cwd: &'a str) -> Option<Self> {
        let verb = match verb {
            "clean" => Verb::Clean,
            "stash" => Verb::Stash,
            _ => return None,
        };
        let (mut patterns, mut paths, mut letters) = (Vec::new(), Vec::new(), String::new());
        let (mut long, mut only_paths) = (Vec::new(), false);
        let mut rest = words.iter().copied();
        while let Some(word) = rest.next() {
            match word {
                _ if only_paths => paths.push(word),
                "--" => only_paths = true,
                "-e" | "--exclude" if verb == Verb::Clean => patterns.extend(rest.next()),
                "-m" | "--message" if verb == Verb::Stash => {
                    rest.next();
                }
                _ if word.starts_with("--") => match word.strip_prefix("--exclude=") {
                    Some(pattern) => patterns.push(pattern),
                    None => long.push(word),
                },
                // `-fdxe pattern` and `-epattern`.
                _ if word.starts_with('-') && word.len() > 1 => match word[1..].split_once('e') {
                    Some((before, pattern)) if verb == Verb::Clean => {
                        letters.push_str(before);
                        if pattern.is_empty() { patterns.extend(rest.next()) } else { patterns.push(pattern) }
                    }
                    _ => letters.push_str(&word[1..]),
                },
                _ => paths.push(word),
            }
        }
        let has = |letter: char, name: &str| letters.contains(letter) || long.contains(&name);
        let takes = match verb {
            Verb::Clean if has('n', "--dry-run") => return None,
            Verb::Clean if !(has('f', "--force") || has('i', "--interactive") || options.iter().any(is_forced)) => {
                return None;
            }
            Verb::Clean if letters.contains('x') => Takes::Both,
            Verb::Clean if letters.contains('X') => Takes::Ignored,
            Verb::Clean => Takes::Untracked,
            Verb::Stash => {
                let made = matches!(paths.first(), None | Some(&("push" | "save"))) || only_paths;
                if matches!(paths.first(), Some(&("push" | "save"))) {
                    paths.remove(0);
                }
                // `save` takes a message where `push` takes paths.
                if words.first() == Some(&"save") {
                    paths.clear();
                }
                match (made, has('a', "--all"), has('u', "--include-untracked")) {
                    (true, true, _) => Takes::Both,
                    (true, false, true) => Takes::Untracked,
                    _ => return None,
                }
            }
        };
        let folders = verb == Verb::Stash || letters.contains('d') || !paths.is_empty() || takes == Takes::Ignored;
        let (words, options) = (words.to_vec(), options.to_vec());
        Some(Self { verb, takes, folders, cwd, words, options, patterns, paths })
    }

    fn takes_away(&self, file: &WiredFile) -> bool {
        let is_taken = !file.tracked
            && match self.takes {
                Takes::Untracked => !file.ignored,
                Takes::Ignored => file.ignored,
                Takes::Both => true,
            };
        let path = file.path.as_str();
        let below = |folder: &str| is_within(path, folder);
        let in_reach = match (self.verb, self.paths.is_empty()) {
            (Verb::Clean, true) => below(self.cwd) && (self.folders || file.folder_tracked),
            // From anywhere in the checkout, git stashes all of it.
            (Verb::Stash, true) => is_within(self.cwd, file.root()),
            (_, false) => {
                let (kept, taken): (Vec<&str>, Vec<&str>) = self.paths.iter().partition(|path| is_excluding(path));
                let kept = kept.iter().filter_map(|path| path.split_once([')', '!', '^']).map(|(_, path)| path));
                taken.iter().any(|path| below(&joined(self.cwd, path)))
                    && !kept.into_iter().any(|path| below(&joined(self.cwd, path)))
            }
        };
        is_taken && in_reach && !self.keeps(file)
    }

    /// Returns true if a pattern of `-e` spares the file. With `-X`, a pattern without `!` does the opposite.
    fn keeps(&self, file: &WiredFile) -> bool {
        let name = file.relative().rsplit('/').next().unwrap_or_default();
        let names = |pattern: &str| {
            let pattern = pattern.trim_start_matches("**/").trim_matches('/');
            let folder = pattern.trim_end_matches("/**").trim_end_matches("/*");
            pattern == file.relative() || folder == file.folder() || is_name(pattern, name)
        };
        self.patterns.iter().any(|pattern| match (self.takes, pattern.strip_prefix('!')) {
            (Takes::Ignored, Some(kept)) => names(kept),
            (Takes::Ignored, None) | (_, Some(_)) => false,
            (_, None) => names(pattern),
        })
    }

    /// Returns the same command without our files.
    fn spelling(&self, folders: &[&str]) -> String {
        let mut line = vec!["git".to_owned()];
        line.extend(self.options.iter().map(|word| quote(word)));
        match self.verb {
            Verb::Clean => {
                line.push("clean".to_owned());
                let kept = folders.iter().flat_map(|folder| match self.takes {
                    Takes::Ignored => vec![format!("-e '!/{folder}'"), format!("-e '!/{folder}/**'")],
                    Takes::Untracked | Takes::Both => vec![format!("-e /{folder}")],
                });
                line.extend(kept);
                line.extend(self.words.iter().map(|word| quote(word)));
            }
            Verb::Stash => {
                let all = if self.takes == Takes::Both { "--all" } else { "--include-untracked" };
                line.extend(["stash", "push", all, "--"].map(str::to_owned));
                let taken = if self.paths.is_empty() { vec!["."] } else { self.paths.clone() };
                line.extend(taken.into_iter().map(quote));
                line.extend(folders.iter().map(|folder| format!("':(exclude,top){folder}'")));
            }
        }
        line.join(" ")
    }
}

/// `-c clean.requireForce=false`
fn is_forced(option: &&str) -> bool {
    option.eq_ignore_ascii_case("clean.requireforce=false")
}

/// `:!path`, `:^path`, `:(exclude)path`.
fn is_excluding(path: &str) -> bool {
    path.starts_with(":!") || path.starts_with(":^") || (path.starts_with(":(") && path.contains("exclude"))
}

fn joined(cwd: &str, path: &str) -> String {
    let path = path.trim_start_matches(":/").trim_start_matches("./").trim_end_matches(['/', '*']);
    match path {
        "" | "." => cwd.to_owned(),
        path if path.starts_with('/') => path.to_owned(),
        path => format!("{}/{path}", cwd.trim_end_matches('/')),
    }
}

/// Returns true if a pattern without a slash matches the file's name: `*.json`, `settings.*`, `*`.
fn is_name(pattern: &str, name: &str) -> bool {
    Argument::Pattern(pattern.to_owned()).may_be(name)
}

#[cfg(test)]
mod tests {
    use steadfast_shell::{Context, effects};

    use super::*;

    fn local() -> WiredFile {
        WiredFile {
            path: "/repo/.claude/settings.local.json".into(),
            within: ".claude/settings.local.json".into(),
            tracked: false,
            folder_tracked: false,
            ignored: true,
        }
    }

    fn said(line: &str, file: &WiredFile) -> Option<String> {
        let context = Context { cwd: "/repo".to_owned(), home: "~".to_owned() };
        refused(&effects(line, &context), std::slice::from_ref(file))
    }

    #[test]
    fn what_sweeps_ignored_files_away_is_refused_with_the_spelling_that_keeps_them() {
        for (line, keeps) in [
            ("git clean -fdx", "git clean -e /.claude -fdx"),
            ("git clean -xdf", "git clean -e /.claude -xdf"),
            ("git clean -f -d -x .", "git clean -e /.claude -f -d -x ."),
            ("cd src && git -C .. clean -ffdx", "git -C .. clean -e /.claude -ffdx"),
            ("sudo git clean --force -dx && npm ci", "git clean -e /.claude --force -dx"),
            ("git clean -fdx -e node_modules", "git clean -e /.claude -fdx -e node_modules"),
            ("git -c clean.requireForce=false clean -dx", "git -c 'clean.requireForce=false' clean -e /.claude -dx"),
            ("git clean -fX", "git clean -e '!/.claude' -e '!/.claude/**' -fX"),
            ("git clean -fdX -e .claude", "git clean -e '!/.claude' -e '!/.claude/**' -fdX -e .claude"),
            ("git stash --all", "git stash push --all -- . ':(exclude,top).claude'"),
            ("git stash push -a -m 'my work'", "git stash push --all -- . ':(exclude,top).claude'"),
            ("git stash save -a wip", "git stash push --all -- . ':(exclude,top).claude'"),
            ("bash -c 'git clean -dfx'", "git clean -e /.claude -dfx"),
        ] {
            let said = said(line, &local()).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(
                said,
                format!(
                    "This removes `/repo/.claude/settings.local.json`, which holds the hooks of Steadfast. `{keeps}` keeps it."
                )
            );
        }
    }

    #[test]
    fn what_leaves_them_alone_passes_and_so_does_the_spelling_that_is_named() {
        for line in [
            "git clean -fd",
            "git clean -fd src",
            "git clean -ndx",
            "git clean -fdxn",
            "git clean -dx",
            "git clean -fx",
            "cd src && git clean -fdx",
            "git clean -fdx src dist",
            "git clean -fdx -e .claude",
            "git clean -fdx -e /.claude",
            "git clean -fdxe .claude/",
            "git clean -fdx --exclude=.claude/settings.local.json",
            "git clean -fdx -e '*.local.json'",
            "git clean -fdX -e '!/.claude' -e '!/.claude/**'",
            "git stash",
            "git stash -u",
            "git stash pop",
            "git stash list --all",
            "git stash push --all -- src",
            "git stash push --all -- . ':(exclude,top).claude'",
            "rm -rf node_modules dist",
            "git commit -m 'clean up the stash --all'",
        ] {
            assert_eq!(said(line, &local()), None, "{line}");
        }
    }

    #[test]
    fn a_pattern_that_stands_for_them_is_refused() {
        for line in [
            "rm -rf .claude/*",
            "rm .claude/*.json",
            "rm -rf .c*",
            "cd .claude && rm -f settings.*",
            "mv .cl* /tmp",
            "find .claude -delete",
        ] {
            assert!(said(line, &local()).is_some_and(|text| text.contains("Name the files to remove")), "{line}");
        }
        for line in [
            "rm -rf *",
            "rm -rf dist/*",
            "rm *.json",
            "rm -rf .claude/*.md",
            "rm -f $FILE",
            "rm .c*/agents/*",
            "find . -name '*.orig' -delete",
            "find .claude -name '*.md' -delete",
        ] {
            assert_eq!(said(line, &local()), None, "{line}");
        }
    }

    #[test]
    fn what_git_knows_of_the_file_decides() {
        let committed = WiredFile { tracked: true, folder_tracked: true, ..local() };
        let new = WiredFile { ignored: false, ..local() };
        let among_tracked = WiredFile { folder_tracked: true, ..local() };
        for line in ["git clean -fdx", "git clean -fdX", "git stash -a", "git stash -u"] {
            assert_eq!(said(line, &committed), None, "{line}");
        }
        for line in ["git clean -fd", "git stash -u", "git clean -fdx"] {
            assert!(said(line, &new).is_some(), "{line}");
        }
        assert_eq!(said("git clean -fdX", &new), None);
        assert!(said("git clean -fx", &among_tracked).is_some());
    }
}
