//! Facts for constraints before and after a call: small files of git and of package managers, read within limits and
//! without a process.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use steadfast_engine::ParsedEvent;
use steadfast_hosts::install::Homes;
use steadfast_model::{GitAlias, Marks, Needs, fnv};
use steadfast_observe::Checkout;
use steadfast_store::Place;

/// The most bytes of a reflog that are read, from its end.
const TAIL: u64 = 64 << 10;
/// The most branches of remotes that are read.
const BRANCHES: usize = 256;
/// The longest configuration file that is read.
const CONFIG: u64 = 256 << 10;
/// The most configuration files that are read, those included by others among them.
const FILES: usize = 16;
/// The longest manifest that is compared.
const MANIFEST: u64 = 8 << 20;

const MANIFESTS: [&str; 26] = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "deno.json",
    "deno.lock",
    "Cargo.toml",
    "Cargo.lock",
    "go.mod",
    "go.sum",
    "pyproject.toml",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "Pipfile",
    "Pipfile.lock",
    "requirements.txt",
    "Gemfile",
    "Gemfile.lock",
    "composer.json",
    "composer.lock",
    "pom.xml",
    "build.gradle",
];

/// Returns the files of a call that do not exist yet.
pub(super) fn new_files(needs: Needs, event: &ParsedEvent<'_>) -> Vec<String> {
    if !needs.new_files {
        return Vec::new();
    }
    event.targets().into_iter().filter(|path| fs::symlink_metadata(path).is_err()).collect()
}

pub(super) fn marks(place: &Place, needs: Needs, cwd: &str) -> Option<Marks> {
    if !needs.marks {
        return None;
    }
    let repository = Checkout::find(&place.root);
    let commit = repository.git_dir().and_then(last_commit);
    let push = repository.common_dir().map(last_pushes);
    let mut manifests = Vec::new();
    let folders: BTreeSet<&Path> = [place.root.as_path(), Path::new(cwd)].into();
    for folder in folders {
        for name in MANIFESTS {
            let path = folder.join(name);
            if fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= MANIFEST)
                && let Ok(content) = fs::read(&path)
            {
                let shown = path.strip_prefix(&place.root).unwrap_or(&path);
                manifests.push((shown.to_string_lossy().into_owned(), fnv([content.as_slice()])));
            }
        }
    }
    Some(Marks { commit, push, manifests })
}

/// Returns the last commit made here, from the reflog. A checkout or a reset moves `HEAD`, but makes no commit.
fn last_commit(git_dir: &Path) -> Option<u64> {
    let log = tail(&git_dir.join("logs/HEAD"))?;
    let made = ["commit", "cherry-pick", "revert", "am", "merge"];
    let is_made =
        |line: &&str| line.split_once('\t').is_some_and(|(_, what)| made.iter().any(|made| what.starts_with(made)));
    Some(log.lines().rfind(is_made).map_or(0, |line| fnv([line.as_bytes()])))
}

/// Returns the last push of each remote branch. A fetch moves them, too, but its reflog entry differs.
fn last_pushes(common: &Path) -> u64 {
    let mut logs = Vec::new();
    collect(&common.join("logs/refs/remotes"), 0, &mut logs);
    logs.sort();
    let mut pushes: Vec<String> = Vec::new();
    for log in logs {
        let last =
            tail(&log).and_then(|text| text.lines().rfind(|line| line.ends_with("update by push")).map(str::to_owned));
        pushes.extend(last);
    }
    fnv(pushes.iter().map(String::as_bytes))
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    const DEPTH: usize = 6;
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if found.len() >= BRANCHES {
            return;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth < DEPTH => collect(&entry.path(), depth + 1, found),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
}

fn tail(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the definitions of the aliases that a command uses. Files with precedence in git come first.
pub(super) fn aliases(
    place: &Place,
    needs: Needs,
    homes: fn() -> Option<Homes>,
    event: &ParsedEvent<'_>,
) -> Vec<GitAlias> {
    if !needs.aliases {
        return Vec::new();
    }
    let repository = Checkout::find(&place.root);
    let mut files: Vec<PathBuf> = Vec::new();
    files.extend(repository.git_dir().map(|folder| folder.join("config.worktree")));
    files.extend(repository.common_dir().map(|folder| folder.join("config")));
    if let Some(homes) = homes() {
        files.extend([homes.home.join(".gitconfig"), homes.home.join(".config/git/config")]);
    }
    files.push(PathBuf::from("/etc/gitconfig"));
    let mut found: Vec<GitAlias> = Vec::new();
    let mut at = 0;
    while at < files.len().min(FILES) {
        let path = files[at].clone();
        at += 1;
        let Some(text) = config(&path) else { continue };
        let (aliases, includes) = parse(&text);
        found.extend(aliases);
        let home = homes().map(|homes| homes.home);
        for include in includes {
            let included = match include.strip_prefix("~/") {
                Some(rest) => home.as_ref().map(|home| home.join(rest)),
                None => path.parent().map(|folder| folder.join(&include)),
            };
            files.extend(included);
        }
    }
    // An alias may use another one, so all of them are returned.
    let mut wanted: Vec<String> = event.unknown_git_words();
    let mut used: Vec<GitAlias> = Vec::new();
    while let Some(name) = wanted.pop() {
        let alias = found.iter().find(|alias| alias.name.eq_ignore_ascii_case(&name));
        if let Some(alias) = alias.filter(|alias| !used.contains(alias) && used.len() < 8) {
            wanted.extend(alias.body.split_whitespace().next().map(str::to_owned));
            used.push(GitAlias { name: name.clone(), body: alias.body.chars().take(512).collect() });
        }
    }
    used
}

fn config(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    file.metadata().ok().filter(|file| file.is_file() && file.len() <= CONFIG)?;
    let mut bytes = Vec::new();
    file.take(CONFIG).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Parses the aliases of a configuration, later ones first, and the files that it includes.
fn parse(text: &str) -> (Vec<GitAlias>, Vec<String>) {
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    let (mut section, mut aliases, mut includes) = (String::new(), Vec::new(), Vec::new());
    for line in joined.lines().map(str::trim) {
        let line = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((name, rest)) => {
                section = name.trim().to_lowercase();
                rest.trim()
            }
            None => line,
        };
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim(), unquoted(value.trim()));
        if section == "alias" {
            aliases.insert(0, GitAlias { name: key.to_owned(), body: value });
        } else if (section == "include" || section.starts_with("includeif")) && key.eq_ignore_ascii_case("path") {
            includes.push(value);
        } else if let Some(name) = section.strip_prefix("alias \"").and_then(|rest| rest.strip_suffix('"'))
            && key.eq_ignore_ascii_case("command")
        {
            aliases.insert(0, GitAlias { name: name.to_owned(), body: value });
        }
    }
    (aliases, includes)
}

fn unquoted(value: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => out.extend(chars.next()),
            '#' | ';' if !quoted => break,
            c => out.push(c),
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_read_as_git_reads_them() {
        let text = "[user]\n\tname = a\n[alias]\n\tci = commit -v ; a comment\n  up = \"!git push \\\"$@\\\"\"\n\
                    [alias] x = com\\\nmit\n[include]\n\tpath = ~/more\n[alias \"long\"]\n command = push\n";
        let (aliases, includes) = parse(text);
        let body = |name: &str| aliases.iter().find(|alias| alias.name == name).map(|alias| alias.body.as_str());
        assert_eq!(
            [body("ci"), body("up"), body("x"), body("long")],
            [Some("commit -v"), Some("!git push \"$@\""), Some("commit"), Some("push")]
        );
        assert_eq!(includes, ["~/more"]);
    }
}
