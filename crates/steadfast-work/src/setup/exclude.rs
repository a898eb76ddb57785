//! Hides files of one user from git with `.git/info/exclude`, so that git does not offer them for a commit.

use std::fs;
use std::path::{Path, PathBuf};

use steadfast_hosts::install::InstallScope;
use steadfast_model::Host;
use steadfast_store::Place;

use super::{Setup, SetupError};
use crate::file;

const HEAD: &str = "# steadfast init";

/// A line that Steadfast writes, and other lines with the same effect.
struct Line {
    text: &'static str,
    also: &'static [&'static str],
}

const SETTINGS: Line = Line {
    text: "/.claude/settings.local.json",
    also: &[".claude", ".claude/*", ".claude/**", "*.local.json", "settings.local.json"],
};
const CLAUDE_SKILLS: Line = Line {
    text: "/.claude/skills/steadfast-*/",
    also: &[".claude", ".claude/*", ".claude/**", ".claude/skills", ".claude/skills/*", "skills"],
};
const CLAUDE_AGENTS: Line = Line {
    text: "/.claude/agents/steadfast-*.md",
    also: &[".claude", ".claude/*", ".claude/**", ".claude/agents", ".claude/agents/*", "agents"],
};
const AGENTS_SKILLS: Line =
    Line { text: "/.agents/skills/steadfast-*/", also: &[".agents", ".agents/*", ".agents/**", ".agents/skills"] };

const ALL: [&Line; 4] = [&SETTINGS, &CLAUDE_SKILLS, &CLAUDE_AGENTS, &AGENTS_SKILLS];

/// The repository's own exclude file, which is not committed.
#[derive(Debug)]
pub struct Exclude {
    path: PathBuf,
    root: PathBuf,
}

/// The files to hide, and the files to show again.
#[derive(Debug, Default)]
pub struct Wanted {
    hidden: Vec<&'static str>,
    shown: Vec<&'static str>,
}

impl Wanted {
    /// The files to hide after `init`: those of this user alone. Shared wiring is meant to be committed.
    pub fn of_install(setup: &Setup, scope: InstallScope, hosts: &[Host]) -> Self {
        let mut wanted = Self::default();
        for host in hosts {
            if scope == InstallScope::Local {
                wanted.hide_settings(*host);
            }
            match scope {
                InstallScope::Shared => wanted.show_skills(*host),
                InstallScope::Local | InstallScope::User if setup.is_shared(*host) => {}
                InstallScope::Local | InstallScope::User => wanted.hide_skills(*host),
            }
        }
        wanted
    }

    /// Local wiring contains a path of this machine.
    fn hide_settings(&mut self, host: Host) {
        self.hidden.extend((host == Host::Claude).then_some(SETTINGS.text));
    }

    /// Hides the skills and agents of a user's own wiring.
    fn hide_skills(&mut self, host: Host) {
        self.hidden.extend(skills(host));
    }

    /// Shows the skills and agents of shared wiring, which are meant to be committed.
    fn show_skills(&mut self, host: Host) {
        self.shown.extend(skills(host));
    }
}

fn skills(host: Host) -> &'static [&'static str] {
    match host {
        Host::Claude => &[CLAUDE_SKILLS.text, CLAUDE_AGENTS.text],
        Host::Codex => &[AGENTS_SKILLS.text],
        Host::Sim => &[],
    }
}

impl Exclude {
    /// `None` outside a git repository.
    pub fn of(place: &Place) -> Option<Self> {
        let git = place.state.parent()?;
        let path = git.join("info/exclude");
        (git.join("HEAD").is_file() && git.join("info").is_dir()).then(|| Self { path, root: place.root.clone() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content before and after a change, or `None` if nothing changes.
    pub fn planned(&self, wanted: &Wanted) -> Option<(Option<Vec<u8>>, Vec<u8>)> {
        let before = fs::read(&self.path).ok();
        let text = String::from_utf8(before.clone().unwrap_or_default()).ok()?;
        let block = Block::find(&text);
        let mut lines = block.lines.clone();
        lines.retain(|line| !wanted.shown.contains(line));
        lines.extend(wanted.hidden.iter().filter(|line| !self.is_hidden(&text, line)));
        let changed = lines != block.lines;
        changed.then(|| (before, block.replaced(&text, &lines).into_bytes()))
    }

    pub fn write_planned(&self, wanted: &Wanted) -> Result<(), SetupError> {
        self.planned(wanted).map_or(Ok(()), |(_, after)| self.write(&after))
    }

    pub fn remove(&self) -> Result<(), SetupError> {
        let Ok(text) = fs::read_to_string(&self.path) else { return Ok(()) };
        let block = Block::find(&text);
        if block.lines.is_empty() {
            return Ok(());
        }
        match block.replaced(&text, &[]) {
            rest if rest.is_empty() => fs::remove_file(&self.path).map_err(|error| self.failed(error)),
            rest => self.write(rest.as_bytes()),
        }
    }

    fn is_hidden(&self, own: &str, text: &str) -> bool {
        let Some(wanted) = ALL.into_iter().find(|line| line.text == text) else { return false };
        let others = [self.root.join(".gitignore"), self.root.join(".claude/.gitignore")];
        let others = others.map(|file| fs::read_to_string(file).unwrap_or_default());
        others.iter().map(String::as_str).chain([own]).flat_map(str::lines).any(|line| {
            let bare = |line: &str| line.trim().trim_start_matches('/').trim_end_matches('/').to_owned();
            bare(line) == bare(wanted.text) || wanted.also.contains(&bare(line).as_str())
        })
    }

    fn write(&self, bytes: &[u8]) -> Result<(), SetupError> {
        file::replace(&self.path, bytes).map_err(|error| self.failed(error))
    }

    fn failed(&self, source: std::io::Error) -> SetupError {
        SetupError::Exclude { path: self.path.clone(), source }
    }
}

/// Steadfast's lines in the file, under their heading.
#[derive(Debug)]
struct Block {
    at: std::ops::Range<usize>,
    lines: Vec<&'static str>,
}

impl Block {
    /// Finds the block; if there is none, its place is the end of the file.
    fn find(text: &str) -> Self {
        let head = format!("{HEAD}\n");
        let starts = text.match_indices(&head).map(|(at, _)| at);
        let Some(start) = starts.into_iter().find(|at| *at == 0 || text[..*at].ends_with('\n')) else {
            return Self { at: text.len()..text.len(), lines: Vec::new() };
        };
        let (mut end, mut lines) = (start + head.len(), Vec::new());
        for line in text[end..].split_inclusive('\n') {
            let Some(ours) = ALL.into_iter().find(|ours| line.trim_end() == ours.text) else { break };
            lines.push(ours.text);
            end += line.len();
        }
        Self { at: start..end, lines }
    }

    fn replaced(&self, text: &str, lines: &[&str]) -> String {
        let (before, after) = (&text[..self.at.start], &text[self.at.end..]);
        if lines.is_empty() {
            return format!("{before}{after}");
        }
        let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        let block: String = [HEAD].iter().chain(lines).map(|line| format!("{line}\n")).collect();
        format!("{before}{gap}{block}{after}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "# git's own\n*.tmp\n# steadfast init\n/.claude/settings.local.json\nmine\n";

    fn list(text: &str) -> (tempfile::TempDir, Exclude) {
        let folder = tempfile::tempdir().unwrap();
        let exclude = Exclude { path: folder.path().join("exclude"), root: folder.path().to_owned() };
        fs::write(&exclude.path, text).unwrap();
        (folder, exclude)
    }

    fn local(hosts: &[Host]) -> Wanted {
        let mut wanted = Wanted::default();
        for host in hosts {
            wanted.hide_settings(*host);
            wanted.hide_skills(*host);
        }
        wanted
    }

    fn after(exclude: &Exclude, wanted: &Wanted) -> Option<String> {
        exclude.planned(wanted).map(|(_, after)| String::from_utf8(after).unwrap())
    }

    #[test]
    fn a_list_from_before_there_were_skills_gets_their_lines_under_the_same_heading() {
        let (_folder, exclude) = list(OLD);
        let wanted = local(&Host::REAL);
        exclude.write_planned(&wanted).unwrap();
        let expected = "# git's own\n*.tmp\n# steadfast init\n/.claude/settings.local.json\n\
                        /.claude/skills/steadfast-*/\n/.claude/agents/steadfast-*.md\n\
                        /.agents/skills/steadfast-*/\nmine\n";
        assert_eq!(fs::read_to_string(&exclude.path).unwrap(), expected);
        assert_eq!(after(&exclude, &wanted), None, "a second time changes nothing");
        exclude.remove().unwrap();
        assert_eq!(fs::read_to_string(&exclude.path).unwrap(), "# git's own\n*.tmp\nmine\n");
    }

    #[test]
    fn skills_that_are_shared_from_now_on_are_offered_again() {
        let (_folder, exclude) = list("");
        exclude.write_planned(&local(&Host::REAL)).unwrap();
        let mut wanted = Wanted::default();
        wanted.show_skills(Host::Claude);
        exclude.write_planned(&wanted).unwrap();
        let text = fs::read_to_string(&exclude.path).unwrap();
        assert_eq!(text, "# steadfast init\n/.claude/settings.local.json\n/.agents/skills/steadfast-*/\n");
    }

    #[test]
    fn what_git_passes_over_anyway_is_not_said_again() {
        for ignored in [".claude/\n", "/.claude/*\n"] {
            let (folder, exclude) = list("");
            fs::write(folder.path().join(".gitignore"), ignored).unwrap();
            assert_eq!(after(&exclude, &local(&[Host::Claude])), None, "{ignored}");
            let codex = after(&exclude, &local(&[Host::Codex])).unwrap();
            assert_eq!(codex, "# steadfast init\n/.agents/skills/steadfast-*/\n");
        }
    }

    #[test]
    fn a_line_without_an_end_gets_one() {
        let (_folder, exclude) = list("mine");
        let text = after(&exclude, &local(&[Host::Codex])).unwrap();
        assert_eq!(text, "mine\n# steadfast init\n/.agents/skills/steadfast-*/\n");
    }
}
