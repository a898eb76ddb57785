//! The skills and agents in the binary, which are installed as files of our own.

use std::path::{Path, PathBuf};

use steadfast_model::{Host, fnv};

use super::change::FileContent;
use super::scope::InstallPaths;

/// A file of a skill, from the plugin.
struct Source {
    skill: &'static str,
    file: &'static str,
    text: &'static str,
}

macro_rules! source {
    ($skill:literal, $file:literal) => {
        Source {
            skill: $skill,
            file: $file,
            text: include_str!(concat!("../../../../plugin/skills/", $skill, "/", $file)),
        }
    };
}

const SOURCES: [Source; 7] = [
    source!("counsel", "SKILL.md"),
    source!("implement", "SKILL.md"),
    source!("loop", "SKILL.md"),
    source!("plan", "SKILL.md"),
    source!("read-spec", "SKILL.md"),
    source!("read-spec", "reference.md"),
    source!("run-tasks", "SKILL.md"),
];

/// The agents: name and text, from the plugin.
const AGENTS: [(&str, &str); 5] = [
    ("expert-correctness", include_str!("../../../../plugin/agents/expert-correctness.md")),
    ("expert-security", include_str!("../../../../plugin/agents/expert-security.md")),
    ("expert-simplicity", include_str!("../../../../plugin/agents/expert-simplicity.md")),
    ("expert-tests", include_str!("../../../../plugin/agents/expert-tests.md")),
    ("planner", include_str!("../../../../plugin/agents/planner.md")),
];

/// A plugin adds its name to its skills; installed in a folder, a skill needs this prefix.
pub(super) const PREFIX: &str = "steadfast-";

/// The last line marks the file as ours and tells if it is unchanged. This works without a record too, if a colleague
/// or another version installed the file.
const STAMP: (&str, &str) = ("<!-- written by `steadfast init`, ", " -->");

/// One file to install: part of a skill, or an agent.
#[derive(Clone, Debug)]
pub(super) struct SkillFile {
    pub(super) path: PathBuf,
    pub(super) content: String,
    pub(super) kind: FileContent,
}

/// The owner of a file in the place of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// Ours, unchanged, of this or another version.
    Ours,
    /// Ours, but changed by a user.
    Changed,
    Foreign,
}

/// Returns the files for a host. They are installed in the checkout for every scope, also the user's: a host offers a
/// skill wherever it finds it, and the user asked for it in this repository only.
pub(super) fn files(host: Host, place: &InstallPaths) -> Vec<SkillFile> {
    let folder = match host {
        Host::Claude => place.root.join(".claude/skills"),
        Host::Codex => place.root.join(".agents/skills"),
        Host::Sim => return Vec::new(),
    };
    SOURCES.iter().map(|source| source.file_in(&folder)).chain(agent_files(host, &place.root)).collect()
}

/// Only Claude Code has agents.
fn agent_files(host: Host, root: &Path) -> Vec<SkillFile> {
    if host != Host::Claude {
        return Vec::new();
    }
    let file = |name: &str| root.join(".claude/agents").join(format!("{PREFIX}{name}.md"));
    AGENTS.iter().map(|(name, text)| SkillFile::new(file(name), text, FileContent::Agent)).collect()
}

fn names() -> impl Iterator<Item = &'static str> {
    SOURCES.iter().map(|source| source.skill).chain(AGENTS.iter().map(|(name, _)| *name))
}

impl Source {
    fn file_in(&self, folder: &Path) -> SkillFile {
        let path = folder.join(format!("{PREFIX}{}", self.skill)).join(self.file);
        SkillFile::new(path, self.text, FileContent::Skill)
    }
}

impl SkillFile {
    /// Creates the file to install, with the prefixed name and the stamp.
    pub(super) fn new(path: PathBuf, text: &str, kind: FileContent) -> Self {
        Self { path, content: stamped(&renamed(text)), kind }
    }

    pub(super) fn whose(&self, present: &[u8]) -> Whose {
        let text = plain(present);
        match text.as_deref().and_then(body) {
            Some((body, stamp)) if stamp == stamp_of(body) => Whose::Ours,
            Some(_) => Whose::Changed,
            None => Whose::Foreign,
        }
    }

    /// Ignores line ends, which git may have converted.
    pub(super) fn is_up_to_date(&self, present: &[u8]) -> bool {
        plain(present).is_some_and(|text| text == self.content)
    }
}

fn renamed(text: &str) -> String {
    names().fold(text.to_owned(), |text, name| {
        let text = text.replacen(&format!("\nname: {name}\n"), &format!("\nname: {PREFIX}{name}\n"), 1);
        // Replace only the plugin's spelling: a bare `plan` may be a key in JSON.
        text.replace(&format!("`steadfast:{name}`"), &format!("`{PREFIX}{name}`"))
    })
}

fn stamped(body: &str) -> String {
    format!("{body}\n{}{}{}\n", STAMP.0, stamp_of(body), STAMP.1)
}

fn stamp_of(body: &str) -> String {
    format!("{:016x}", fnv([body.as_bytes()]))
}

/// Splits a text into the part before the stamp, and the stamp.
fn body(text: &str) -> Option<(&str, &str)> {
    let (body, rest) = text.rsplit_once(STAMP.0)?;
    let (stamp, after) = rest.split_once(STAMP.1)?;
    let body = body.strip_suffix('\n').unwrap_or(body);
    // Text after the stamp is a change too.
    Some((body, if after == "\n" { stamp } else { "" }))
}

fn plain(present: &[u8]) -> Option<String> {
    std::str::from_utf8(present).ok().map(|text| text.replace("\r\n", "\n"))
}

#[cfg(test)]
mod tests {
    use steadfast_model::ApprovalRules;

    use super::*;

    fn all() -> Vec<(&'static Source, SkillFile)> {
        SOURCES.iter().map(|source| (source, source.file_in(Path::new("/skills")))).collect()
    }

    #[test]
    fn a_skill_is_named_as_its_folder_in_the_plugin_and_where_it_is_installed() {
        for (source, file) in all().iter().filter(|(source, _)| source.file == "SKILL.md") {
            assert!(
                source.text.starts_with(&format!("---\nname: {}\ndescription: ", source.skill)),
                "{}",
                source.skill
            );
            let folder = file.path.parent().unwrap().file_name().unwrap().to_str().unwrap();
            assert_eq!(folder, format!("steadfast-{}", source.skill));
            assert!(file.content.starts_with(&format!("---\nname: {folder}\ndescription: ")), "{}", file.content);
        }
    }

    /// Both conventions: three keys at most, one line each, and a description of at most 1,024 characters that needs no
    /// quotes.
    #[test]
    fn the_front_matter_is_plain() {
        for (source, _) in all().iter().filter(|(source, _)| source.file == "SKILL.md") {
            let front = source.text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n")).unwrap().0;
            let keys: Vec<_> = front.lines().map(|line| line.split_once(": ").unwrap()).collect();
            assert_eq!(keys.iter().map(|(key, _)| *key).collect::<Vec<_>>(), ["name", "description"]);
            let (_, description) = keys[1];
            assert!(
                description.len() <= 1_024 && !description.contains([':', '#', '"', '\'', '<', '>']),
                "{description}"
            );
        }
    }

    #[test]
    fn a_skill_that_names_the_other_names_it_as_it_is_installed() {
        for (_, file) in all() {
            assert!(!file.content.contains("`steadfast:"), "{}", file.path.display());
        }
        let text = |skill: &str| all().into_iter().find(|(source, _)| source.skill == skill).unwrap().1.content;
        assert!(text("implement").contains("`steadfast-run-tasks`"));
        assert!(text("plan").contains("`steadfast-planner`"));
        assert!(text("counsel").contains("`steadfast-expert-tests`"));
    }

    #[test]
    fn a_word_that_is_no_skill_here_stays_as_it_is() {
        let content = |end: &str| all().into_iter().find(|(_, file)| file.path.ends_with(end)).unwrap().1.content;
        assert!(content("steadfast-read-spec/reference.md").contains("| `loop` of a phase | `items` and `tasks`"));
        assert!(content("steadfast-implement/SKILL.md").contains("`plan` in that answer is empty"));
    }

    #[test]
    fn no_text_names_a_skill_without_its_plugin() {
        let alone = |text: &str| {
            let names = names();
            let named = names.filter(|name| !["loop", "plan"].contains(name));
            named.filter(|name| text.contains(&format!("`{name}`"))).collect::<Vec<_>>()
        };
        for source in &SOURCES {
            assert!(alone(source.text).is_empty(), "{} {}: {:?}", source.skill, source.file, alone(source.text));
        }
    }

    #[test]
    fn a_file_of_ours_is_known_until_somebody_changes_it() {
        for (_, file) in all() {
            let text = &file.content;
            assert_eq!(file.whose(text.as_bytes()), Whose::Ours);
            assert_eq!(file.whose(text.replace('\n', "\r\n").as_bytes()), Whose::Ours);
            assert_eq!(file.whose(stamped("another version\n").as_bytes()), Whose::Ours);
            for changed in [text.replacen("the", "teh", 1), format!("{text}more\n"), text.replace(" -->", " --> ")] {
                assert_eq!(file.whose(changed.as_bytes()), Whose::Changed);
            }
            for foreign in ["", "---\nname: steadfast-read-spec\n---\n", "\u{0}"] {
                assert_eq!(file.whose(foreign.as_bytes()), Whose::Foreign);
            }
            assert_eq!(file.whose(b"\xff"), Whose::Foreign);
        }
    }

    #[test]
    fn no_file_of_a_skill_is_forgotten() {
        let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin/skills");
        let mut found = Vec::new();
        for skill in std::fs::read_dir(plugin).unwrap() {
            let skill = skill.unwrap().path();
            for file in std::fs::read_dir(&skill).unwrap() {
                let name = file.unwrap().file_name().into_string().unwrap();
                found.push((skill.file_name().unwrap().to_str().unwrap().to_owned(), name));
            }
        }
        found.sort();
        assert_eq!(found, SOURCES.map(|source| (source.skill.to_owned(), source.file.to_owned())));
    }

    fn of(host: Host) -> Vec<SkillFile> {
        agent_files(host, Path::new("/repo"))
    }

    #[test]
    fn an_agent_is_named_as_its_file_and_the_planner_is_one_under_every_name() {
        for (name, text) in AGENTS {
            assert!(text.starts_with(&format!("---\nname: {name}\ndescription: ")), "{name}");
            let rules = ApprovalRules::default();
            for known in [name.to_owned(), format!("steadfast:{name}"), format!("{PREFIX}{name}")] {
                assert_eq!(rules.is_planner(&known), name == "planner", "{known}");
            }
        }
        for file in of(Host::Claude) {
            let name = file.path.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(file.content.starts_with(&format!("---\nname: {name}\ndescription: ")), "{}", file.content);
        }
    }

    #[test]
    fn an_expert_has_no_tool_that_writes() {
        for (name, text) in AGENTS.iter().filter(|(name, _)| name.starts_with("expert-")) {
            assert!(text.contains("\ntools: Read, Grep, Glob\n---\n"), "{name}");
        }
    }

    #[test]
    fn only_a_host_with_agents_gets_them() {
        assert_eq!(of(Host::Codex).len() + of(Host::Sim).len(), 0);
        assert_eq!(of(Host::Claude).len(), AGENTS.len());
    }

    #[test]
    fn no_agent_is_forgotten() {
        let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin/agents");
        let found = std::fs::read_dir(plugin).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut found: Vec<_> = found.collect();
        found.sort();
        assert_eq!(found, AGENTS.map(|(name, _)| format!("{name}.md")));
    }
}
