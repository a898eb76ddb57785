//! Another branch is checked out at a closed gate, with more protected files that differ than are looked at in one go.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "git is another process here")]

use std::fs;
use std::process::Command;

use steadfast_hook::handle_event;
use steadfast_model::{
    Action, Agent, AgentId, Event, EventKind, Host, Millis, Outcome, PromptOrigin, Ruling, SessionId, Stopping,
    ToolCall, ToolResult, ToolUseId,
};
use steadfast_store::{ConfigFiles, Place};

/// More than are sealed one by one (64).
const FILES: usize = 120;
/// Of those, as many differ on the other branch: more than 16.
const DIFFER: usize = 50;

struct World {
    dir: tempfile::TempDir,
    place: Place,
}

impl World {
    /// The gate protects `src/auth/`, of which `DIFFER` files are others on the branch `old`.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { root: dir.path().to_owned(), state: dir.path().join(".git/steadfast") };
        let world = Self { dir, place };
        world.git(&["init", "--quiet", "--initial-branch=old", "."]);
        fs::create_dir_all(world.dir.path().join("src/auth")).unwrap();
        world.write(0..FILES, "old\n");
        world.commit();
        world.git(&["switch", "--quiet", "--create", "main"]);
        world.write(0..DIFFER, "main\n");
        world.commit();
        // Objects from the same moment as the gate count as made behind it.
        let age = "find .git/objects -type f -exec touch -d '1 hour ago' {} +";
        assert!(Command::new("sh").args(["-c", age]).current_dir(world.dir.path()).status().unwrap().success());
        world.place.create().unwrap();
        fs::write(world.place.state.join("steadfast.toml"), "[approval]\nprotected = [\"src/auth/\"]\n").unwrap();
        let planner = Agent { id: AgentId::new("planner"), agent_type: "planner".into() };
        world.step(EventKind::prompt("plan it", PromptOrigin::Human));
        let start = Event { agent: Some(planner), ..world.event(EventKind::SubagentStart) };
        handle_event(&world.place, &ConfigFiles::of(&world.place, None), start).unwrap();
        world
    }

    fn write(&self, numbers: std::ops::Range<usize>, text: &str) {
        for number in numbers {
            fs::write(self.dir.path().join(format!("src/auth/f{number:03}.txt")), text).unwrap();
        }
    }

    fn commit(&self) {
        self.git(&["add", "src"]);
        self.git(&["commit", "--quiet", "--message=x"]);
    }

    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.dir.path()).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn event(&self, kind: EventKind) -> Event {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let at = Millis(i64::try_from(now.as_millis()).unwrap());
        Event::plain(SessionId::new("switches-many"), Host::Claude, self.place.worktree(), at, kind)
    }

    fn step(&self, kind: EventKind) -> steadfast_model::Answer {
        handle_event(&self.place, &ConfigFiles::of(&self.place, None), self.event(kind)).unwrap()
    }

    /// A call of the agent that does this.
    fn runs(&self, id: &str, command: &str, deed: impl FnOnce()) {
        let call = ToolCall {
            id: Some(ToolUseId::new(id)),
            tool: "Bash".into(),
            action: Action::shell(command),
            words: Vec::new(),
        };
        assert_eq!(self.step(EventKind::PreTool(call.clone())).ruling, Ruling::Pass, "{command}");
        deed();
        let (answers, names) = (Vec::new(), Vec::new());
        self.step(EventKind::PostTool(ToolResult { call, outcome: Outcome::Ok, millis: None, answers, names }));
    }

    fn stop(&self) {
        let stopping = Stopping { again: false, last_message: None, background: None, wakeups: 0 };
        self.step(EventKind::Stop(stopping));
    }

    fn differing(&self) -> String {
        self.git(&["status", "--porcelain", "--", "src"])
    }
}

#[test]
fn more_files_than_are_looked_at_at_once_strand_no_checkout() {
    let world = World::new();
    world.runs("1", "git switch old", || drop(world.git(&["switch", "--quiet", "old"])));
    assert_eq!(world.differing(), "", "right after the switch");
    // Each look takes some of them, whoever looks.
    world.runs("2", "make", || {});
    world.stop();
    world.step(EventKind::prompt("go on", PromptOrigin::Human));
    world.runs("3", "make", || {});
    assert_eq!(world.differing(), "", "after more looks");
    world.runs("4", "git switch main", || drop(world.git(&["switch", "--quiet", "main"])));
    world.runs("5", "make", || {});
    world.stop();
    assert_eq!(world.differing(), "", "back again");

    // A write among them is still put back, on either branch: files that were resealed and files that were not.
    for (number, branch) in ["main", "old"].into_iter().enumerate() {
        world.git(&["switch", "--quiet", branch]);
        world.runs(&format!("w-{number}"), "make", || {
            world.write(3..4, "by the agent\n");
            world.write(FILES - 1..FILES, "by the agent\n");
        });
        for _ in 0..(DIFFER / 16 + 2) {
            world.stop();
        }
        assert_eq!(world.differing(), "", "{branch}");
    }
}
