//! The agents that come with the binary, for the hosts that have some: files of ours alone, as the skills are.

use std::path::Path;

use steadfast_model::Host;

use super::change::AGENT;
use super::skills::{PREFIX, SkillFile};

/// Name and text, as the plugin has it.
const SOURCES: [(&str, &str); 5] = [
    ("expert-correctness", include_str!("../../../../plugin/agents/expert-correctness.md")),
    ("expert-security", include_str!("../../../../plugin/agents/expert-security.md")),
    ("expert-simplicity", include_str!("../../../../plugin/agents/expert-simplicity.md")),
    ("expert-tests", include_str!("../../../../plugin/agents/expert-tests.md")),
    ("planner", include_str!("../../../../plugin/agents/planner.md")),
];

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SOURCES.iter().map(|(name, _)| *name)
}

/// The files for a host, in the checkout whatever the scope.
pub(super) fn files(host: Host, root: &Path) -> Vec<SkillFile> {
    match host {
        Host::Claude => {
            let folder = root.join(".claude/agents");
            let file = |name: &str| folder.join(format!("{PREFIX}{name}.md"));
            SOURCES.iter().map(|(name, text)| SkillFile::new(file(name), text, AGENT)).collect()
        }
        Host::Codex | Host::Sim => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use steadfast_model::ApprovalRules;

    use super::*;

    fn of(host: Host) -> Vec<SkillFile> {
        files(host, Path::new("/repo"))
    }

    #[test]
    fn an_agent_is_named_as_its_file_and_the_planner_is_one_under_every_name() {
        for (name, text) in SOURCES {
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
        for (name, text) in SOURCES.iter().filter(|(name, _)| name.starts_with("expert-")) {
            assert!(text.contains("\ntools: Read, Grep, Glob\n---\n"), "{name}");
        }
    }

    #[test]
    fn only_a_host_with_agents_gets_them() {
        assert_eq!(of(Host::Codex).len() + of(Host::Sim).len(), 0);
        assert_eq!(of(Host::Claude).len(), SOURCES.len());
    }

    #[test]
    fn no_agent_is_forgotten() {
        let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin/agents");
        let found = std::fs::read_dir(plugin).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut found: Vec<_> = found.collect();
        found.sort();
        assert_eq!(found, SOURCES.map(|(name, _)| format!("{name}.md")));
    }
}
