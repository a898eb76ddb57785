//! Links on the disk at a closed gate: a command line that writes through one writes what is behind it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::symlink;

use steadfast_hook::handle_event;
use steadfast_model::{
    Action, Agent, AgentId, Event, EventKind, Host, Millis, PromptOrigin, Ruling, SessionId, ToolCall, ToolUseId,
};
use steadfast_store::{ConfigFiles, Place};

/// A repository whose `plans/` and `note` are protected, and the links in it.
struct Repository {
    dir: tempfile::TempDir,
    place: Place,
}

impl Repository {
    fn gated() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in [".git", "plans", "src", "real"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        fs::write(root.join("plans/a.md"), "as it was").unwrap();
        fs::write(root.join("real/b.md"), "as it was").unwrap();
        for (target, link) in [
            ("../plans", "src/way"),
            ("plans/a.md", "short.md"),
            ("plans/new.md", "dangling.md"),
            ("real", "shown"),
            ("..", "src/up"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let place = Place::of(&root, None).unwrap();
        place.create().unwrap();
        let config = "[approval]\nprotected = [\"plans/\", \"shown/\"]\n";
        fs::write(place.state.join("steadfast.toml"), config).unwrap();
        let repository = Self { dir, place };
        let planner = Agent { id: AgentId::new("a-1"), agent_type: "planner".into() };
        repository.step(repository.event(EventKind::prompt("plan it", PromptOrigin::Human)));
        repository.step(Event { agent: Some(planner), ..repository.event(EventKind::SubagentStart) });
        repository
    }

    fn event(&self, kind: EventKind) -> Event {
        let session = SessionId::new(format!("links-{}", std::process::id()));
        Event::plain(session, Host::Claude, self.place.worktree(), Millis(10), kind)
    }

    fn step(&self, event: Event) -> Ruling {
        handle_event(&self.place, &ConfigFiles::of(&self.place, None), event).unwrap().ruling
    }

    fn is_refused(&self, command: &str) -> bool {
        let action = Action::shell(command);
        let call = ToolCall { id: Some(ToolUseId::new(command)), tool: "Bash".into(), action, words: Vec::new() };
        matches!(self.step(self.event(EventKind::PreTool(call))), Ruling::Deny { .. })
    }
}

#[test]
fn a_command_that_writes_through_a_link_is_refused() {
    let repository = Repository::gated();
    let root = repository.dir.path().display().to_string();
    for command in [
        "echo x > short.md".to_owned(),
        "echo x > src/way/a.md".to_owned(),
        "cp src/x src/way/new.md".to_owned(),
        "rm src/way/a.md".to_owned(),
        "rm -rf src/up/plans".to_owned(),
        "echo x > dangling.md".to_owned(),
        "sed -i s/a/b/ ./src/../src//way/a.md".to_owned(),
        format!("tee {root}/src/up/plans/a.md"),
        "rm src/way/*.md".to_owned(),
        // The protected path is the link.
        "echo x > real/b.md".to_owned(),
        "echo x > shown/b.md".to_owned(),
        "frob --output src/way/a.md".to_owned(),
    ] {
        assert!(repository.is_refused(&command), "{command}");
    }
}

#[test]
fn what_leads_elsewhere_or_is_the_link_itself_passes() {
    let repository = Repository::gated();
    for command in
        ["rm short.md", "mv dangling.md gone.md", "echo x > src/up/src/new.rs", "cat src/way/a.md", "ls -la src/way"]
    {
        assert!(!repository.is_refused(command), "{command}");
    }
}
