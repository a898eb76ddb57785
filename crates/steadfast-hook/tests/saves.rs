//! A human's saves at a closed gate, with real processes beside them: none is lost, and none is put back unless a process
//! or a call of the agent could have written it. Whenever something is put back, the human reads it.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "the subject of these tests are real processes")]

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use steadfast_hook::handle_event;
use steadfast_model::{
    Action, Agent, AgentId, Answer, Event, EventKind, GateScope, Host, Millis, Outcome, PromptOrigin, Ruling,
    SessionId, Stopping, ToolCall, ToolResult, ToolUseId,
};
use steadfast_store::{ConfigFiles, Place, kept_aside, take_kept};
use steadfast_testkit::skip_optional;

const FILE: &str = "src/auth/token.ts";
const SAVED: &str = "by the human\n";

struct World {
    dir: tempfile::TempDir,
    place: Place,
    session: SessionId,
    running: Vec<Child>,
}

impl Drop for World {
    fn drop(&mut self) {
        for child in &mut self.running {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl World {
    /// Its gate protects `src/auth/`. What `before` starts runs when it closes.
    fn planning(before: impl FnOnce(&mut Self)) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let dir = tempfile::tempdir().unwrap();
        let place = Place { root: dir.path().to_owned(), state: dir.path().join(".git/steadfast") };
        // The process table is everybody's: no other test has this session.
        let session = format!("saves-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut world = Self { dir, place, session: SessionId::new(session), running: Vec::new() };
        fs::create_dir_all(world.path("src/auth")).unwrap();
        fs::write(world.path(FILE), "as it was\n").unwrap();
        world.git(&["init", "--quiet", "--initial-branch=main", "."]);
        world.git(&["add", "src"]);
        world.git(&["commit", "--quiet", "--message=first"]);
        world.place.create().unwrap();
        fs::write(world.place.state.join("steadfast.toml"), "[approval]\nprotected = [\"src/auth/\"]\n").unwrap();
        before(&mut world);
        let planner = Agent { id: AgentId::new("planner"), agent_type: "planner".into() };
        world.step(world.event(EventKind::prompt("plan it", PromptOrigin::Human)));
        world.step(Event { agent: Some(planner), ..world.event(EventKind::SubagentStart) });
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn git(&self, args: &[&str]) {
        let mut command = Command::new("git");
        command.current_dir(self.dir.path()).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn event(&self, kind: EventKind) -> Event {
        Event::plain(self.session.clone(), Host::Claude, self.place.worktree(), Millis(self.at()), kind)
    }

    /// The clock of the files.
    fn at(&self) -> i64 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        i64::try_from(now.as_millis()).unwrap()
    }

    fn step(&self, event: Event) -> Answer {
        handle_event(&self.place, &ConfigFiles::of(&self.place, None), event).unwrap()
    }

    fn call(id: &str, action: Action) -> ToolCall {
        ToolCall { id: Some(ToolUseId::new(id)), tool: "Tool".into(), action, words: Vec::new() }
    }

    fn before(&self, id: &str, action: Action) -> Answer {
        self.step(self.event(EventKind::PreTool(Self::call(id, action))))
    }

    fn after(&self, id: &str, action: Action) -> Answer {
        self.step(self.event(Self::back(id, action)))
    }

    fn back(id: &str, action: Action) -> EventKind {
        let call = Self::call(id, action);
        EventKind::PostTool(ToolResult {
            call,
            outcome: Outcome::Ok,
            millis: None,
            answers: Vec::new(),
            names: Vec::new(),
        })
    }

    /// A call of the agent, from its beginning to its end.
    fn runs(&self, command: &str) {
        assert_eq!(self.before(command, Action::shell(command)).ruling, Ruling::Pass, "{command}");
        self.after(command, Action::shell(command));
    }

    fn by_subagent(&self, kind: EventKind) -> Answer {
        let agent = Agent { id: AgentId::new("a-1"), agent_type: "general-purpose".into() };
        self.step(Event { agent: Some(agent), ..self.event(kind) })
    }

    fn prompt(&self) -> Answer {
        self.step(self.event(EventKind::prompt("have a look", PromptOrigin::Human)))
    }

    fn stop(&self) -> Answer {
        let stopping = Stopping { again: false, last_message: None, background: None, wakeups: 0 };
        self.step(self.event(EventKind::Stop(stopping)))
    }

    /// A process with the environment that a host gives it.
    fn start(&mut self, environment: &[(&str, &str)], command: &str) {
        let child = Command::new("sh")
            .args(["-c", command])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .envs(environment.iter().copied())
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.running.push(child);
    }

    /// What a tool call leaves running.
    fn start_tool(&mut self, command: &str) {
        let session = self.session.as_str().to_owned();
        let agent = "claude-code_2-1-325_agent";
        self.start(&[("CLAUDECODE", "1"), ("AI_AGENT", agent), ("CLAUDE_CODE_SESSION_ID", &session)], command);
    }

    /// A server or a hook that the host runs.
    fn start_harness(&mut self, command: &str) {
        let session = self.session.as_str().to_owned();
        let agent = "claude-code_2-1-325_harness";
        let project = self.dir.path().to_str().unwrap().to_owned();
        let environment = [("AI_AGENT", agent), ("CLAUDE_CODE_SESSION_ID", &session), ("CLAUDE_PROJECT_DIR", &project)];
        self.start(&environment, command);
    }

    fn end_all(&mut self) {
        for mut child in std::mem::take(&mut self.running) {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    fn save(&self) {
        fs::write(self.path(FILE), SAVED).unwrap();
    }

    fn now(&self) -> String {
        fs::read_to_string(self.path(FILE)).unwrap_or_default()
    }

    fn kept(&self) -> Vec<String> {
        kept_aside(&self.place).into_iter().map(|path| fs::read_to_string(path).unwrap()).collect()
    }
}

/// It stays, nothing is moved aside, and the gate stays closed.
fn stays(name: &str, situation: impl FnOnce(&mut World) -> Vec<Answer>) {
    let mut world = World::planning(|_| {});
    let said = situation(&mut world);
    let told: String = said.into_iter().filter_map(|answer| answer.note).collect();
    assert_eq!((world.now().as_str(), world.kept()), (SAVED, Vec::new()), "{name}: {told}");
    assert!(told.contains("left as it is"), "{name}: {told}");
    let refused = world.before("last", Action::Write { paths: vec![FILE.into()] });
    assert!(matches!(refused.ruling, Ruling::Deny { .. }), "{name}");
}

/// The agent could have written it: it is kept, and the human reads so and how to take it.
fn is_put_back(name: &str, before: impl FnOnce(&mut World), situation: impl FnOnce(&mut World) -> Vec<Answer>) {
    let mut world = World::planning(before);
    let said = situation(&mut world);
    let told: String = said.into_iter().filter_map(|answer| answer.note).collect();
    assert_eq!((world.now().as_str(), world.kept()), ("as it was\n", vec![SAVED.to_owned()]), "{name}: {told}");
    assert!(told.contains("It is put back as it was; what was there is kept aside"), "{name}: {told}");
    assert!(told.contains("`steadfast plan take src/auth/token.ts` accepts it"), "{name}: {told}");
}

#[test]
fn a_save_that_no_process_of_the_agent_could_have_made_stays() {
    stays("in place", |world| {
        world.save();
        vec![world.prompt()]
    });
    stays("by a rename, as editors do", |world| {
        fs::write(world.path("src/auth/.token.ts.swp"), SAVED).unwrap();
        fs::rename(world.path("src/auth/.token.ts.swp"), world.path(FILE)).unwrap();
        vec![world.prompt()]
    });
    stays("removed and made again", |world| {
        fs::remove_file(world.path(FILE)).unwrap();
        world.save();
        vec![world.stop()]
    });
    stays("a formatter on save", |world| {
        fs::write(world.path(FILE), "by  the human").unwrap();
        let first = world.before("1", Action::shell("make"));
        world.after("1", Action::shell("make"));
        world.save();
        vec![first, world.prompt()]
    });
    stays("before a call that could write", |world| {
        world.save();
        let said = world.before("1", Action::shell("make"));
        world.after("1", Action::shell("make"));
        vec![said]
    });
    stays("while a call runs that only looks", |world| {
        world.before("1", Action::shell("grep -rn x src"));
        world.save();
        vec![world.after("1", Action::shell("grep -rn x src"))]
    });
    stays("while the host's own tool reads", |world| {
        let read = || Action::Read { paths: vec![FILE.into()] };
        world.before("1", read());
        world.save();
        world.after("1", read());
        vec![world.prompt()]
    });
    stays("after a call", |world| {
        world.runs("make");
        world.save();
        vec![world.prompt()]
    });
    stays("after a job in the background that has ended", |world| {
        world.before("1", Action::shell("sh nothing.sh >/dev/null 2>&1 &"));
        world.start_tool("true");
        world.end_all();
        world.after("1", Action::shell("sh nothing.sh >/dev/null 2>&1 &"));
        world.save();
        vec![world.prompt()]
    });
    stays("after one that ran for a while", |world| {
        world.before("1", Action::shell("npm run dev &"));
        world.start_tool("exec sleep 60");
        world.after("1", Action::shell("npm run dev &"));
        world.end_all();
        world.stop();
        world.save();
        vec![world.prompt()]
    });
    stays("while a server of the host runs", |world| {
        world.start_harness("exec sleep 60");
        world.runs("make");
        world.save();
        vec![world.prompt()]
    });
    stays("after a call to a server of the host", |world| {
        world.start_harness("exec sleep 60");
        let call = || Action::Mcp { server: "files".into(), tool: "format".into(), paths: Vec::new() };
        world.before("1", call());
        world.after("1", call());
        world.save();
        vec![world.prompt()]
    });
    stays("while the human's editor runs", |world| {
        world.start(&[("EDITOR", "vim"), ("HOME", "/home/user")], "exec sleep 60");
        world.runs("make");
        world.save();
        vec![world.stop()]
    });
    stays("while the agent of another checkout works", |world| {
        let other = [("AI_AGENT", "claude-code_2-1-325_agent"), ("CLAUDE_CODE_SESSION_ID", "of-another-checkout")];
        world.start(&other, "exec sleep 60");
        world.runs("make");
        world.save();
        vec![world.prompt()]
    });
    stays("after a subagent has ended", |world| {
        world.by_subagent(EventKind::SubagentStart);
        world.by_subagent(EventKind::PreTool(World::call("1", Action::shell("make"))));
        world.by_subagent(World::back("1", Action::shell("make")));
        world.by_subagent(EventKind::SubagentStop(Stopping {
            again: false,
            last_message: None,
            background: None,
            wakeups: 0,
        }));
        world.save();
        vec![world.prompt()]
    });
    stays("after a call that the human interrupted", |world| {
        world.before("1", Action::shell("make"));
        world.prompt();
        world.save();
        vec![world.prompt()]
    });
}

#[test]
fn a_pull_in_another_terminal_stays() {
    stays("a pull", |world| {
        let upstream = tempfile::tempdir().unwrap();
        let clone = upstream.path().join("clone");
        let clone = clone.to_str().unwrap();
        world.git(&["clone", "--quiet", ".", clone]);
        fs::write(upstream.path().join("clone").join(FILE), SAVED).unwrap();
        world.git(&["-C", clone, "-c", "user.name=b", "-c", "user.email=b@b", "commit", "--quiet", "-am", "theirs"]);
        world.git(&["pull", "--quiet", clone, "main"]);
        vec![world.prompt()]
    });
}

#[test]
fn what_a_process_of_the_agent_could_have_written_is_put_back_and_the_human_reads_it() {
    is_put_back(
        "while a call runs",
        |_| {},
        |world| {
            world.before("1", Action::shell("make"));
            world.save();
            vec![world.after("1", Action::shell("make"))]
        },
    );
    is_put_back(
        "while a job runs in the background",
        |_| {},
        |world| {
            world.before("1", Action::shell("npm run dev &"));
            world.start_tool("exec sleep 60");
            world.after("1", Action::shell("npm run dev &"));
            world.save();
            vec![world.prompt()]
        },
    );
    is_put_back(
        "before it was seen that the job has ended",
        |_| {},
        |world| {
            world.before("1", Action::shell("npm run dev &"));
            world.start_tool("exec sleep 60");
            world.after("1", Action::shell("npm run dev &"));
            world.save();
            world.end_all();
            vec![world.prompt()]
        },
    );
    is_put_back(
        "while a daemon runs that no line shows",
        |_| {},
        |world| {
            world.before("1", Action::shell("sh start.sh"));
            world.start_tool("exec setsid sleep 60");
            world.after("1", Action::shell("sh start.sh"));
            world.save();
            vec![world.stop()]
        },
    );
    is_put_back(
        "while a job from before the gate runs",
        |world| world.start_tool("exec sleep 60"),
        |world| {
            world.save();
            vec![world.prompt()]
        },
    );
    is_put_back(
        "while a subagent's call runs and the main thread has stopped",
        |_| {},
        |world| {
            world.by_subagent(EventKind::SubagentStart);
            world.by_subagent(EventKind::PreTool(World::call("1", Action::shell("sleep 2; sh w.sh"))));
            world.stop();
            world.save();
            vec![world.by_subagent(World::back("1", Action::shell("sleep 2; sh w.sh")))]
        },
    );
    is_put_back(
        "while a server is called that nobody knows",
        |_| {},
        |world| {
            let call = || Action::Mcp { server: "files".into(), tool: "search_replace".into(), paths: Vec::new() };
            world.before("1", call());
            world.save();
            vec![world.after("1", call())]
        },
    );
}

#[test]
fn what_cannot_be_put_back_is_told_as_such_and_never_taken_for_the_humans() {
    let world = World::planning(|_| {});
    world.before("1", Action::shell("make"));
    // Its copy is lost: there is nothing to put back.
    let seals = world.place.state.join("seals").join(format!("session-{}", world.session.as_str()));
    for copy in fs::read_dir(&seals).unwrap().flatten().filter(|file| file.file_name() != "table") {
        let _ = fs::remove_file(copy.path());
    }
    fs::write(world.path(FILE), "intruder\n").unwrap();
    let said = world.after("1", Action::shell("make"));
    for told in [said.context.unwrap(), said.note.unwrap()] {
        assert!(told.contains("could not be put back: no copy of it is kept"), "{told}");
        assert!(!told.contains("is put back"), "{told}");
    }
    for said in [world.stop(), world.prompt()] {
        assert!(!said.note.unwrap().contains("left as it is"));
    }
}

impl World {
    /// A branch `old` whose file has another text, from before the gate closed.
    fn with_another_branch() -> Self {
        Self::planning(|world| {
            world.git(&["switch", "--quiet", "--create", "old"]);
            fs::write(world.path(FILE), "on the old branch\n").unwrap();
            world.git(&["commit", "--quiet", "--all", "--message=old"]);
            world.git(&["switch", "--quiet", "main"]);
            // Objects from the same moment as the gate count as made behind it.
            let objects =
                format!("find {}/.git/objects -type f -exec touch -d '1 hour ago' {{}} +", world.dir.path().display());
            assert!(Command::new("sh").args(["-c", &objects]).status().unwrap().success());
        })
    }

    fn is_clean(&self) -> bool {
        let mut command = Command::new("git");
        let output =
            command.current_dir(self.dir.path()).args(["status", "--porcelain", "--", "src"]).output().unwrap();
        output.stdout.is_empty()
    }
}

#[test]
fn a_branch_that_is_switched_by_the_agent_leaves_no_checkout_between_two_commits() {
    let world = World::with_another_branch();
    let switches = [("old", "on the old branch\n"), ("main", "as it was\n"), ("old", "on the old branch\n")];
    for (number, (branch, text)) in switches.into_iter().enumerate() {
        let script = format!("./to-{branch}.sh {number}");
        world.before(&script, Action::shell(script.as_str()));
        world.git(&["switch", "--quiet", branch]);
        let said = world.after(&script, Action::shell(script.as_str()));
        for told in [said.context.unwrap(), said.note.unwrap()] {
            assert!(told.contains("another commit was checked out") && !told.contains("put back"), "{told}");
        }
        assert_eq!((world.now().as_str(), world.is_clean(), world.kept()), (text, true, Vec::new()), "{branch}");
    }
    // What the agent writes there is put back to what was checked out.
    world.before("1", Action::shell("make"));
    fs::write(world.path(FILE), "intruder\n").unwrap();
    world.after("1", Action::shell("make"));
    assert_eq!(world.now(), "on the old branch\n");
}

#[test]
fn a_commit_that_was_made_behind_the_gate_brings_nothing_in() {
    let world = World::with_another_branch();
    world.before("1", Action::shell("./sneak.sh"));
    world.git(&["switch", "--quiet", "--create", "sneak"]);
    fs::write(world.path(FILE), "intruder\n").unwrap();
    world.git(&["commit", "--quiet", "--all", "--message=sneak"]);
    let said = world.after("1", Action::shell("./sneak.sh"));
    assert_eq!((world.now().as_str(), world.kept()), ("as it was\n", vec!["intruder\n".to_owned()]));
    assert!(said.note.unwrap().contains("It is put back as it was"));
}

#[test]
fn a_file_that_was_made_immutable_is_told_as_not_put_back_until_it_is() {
    let world = World::planning(|_| {});
    let change = |flag: &str| Command::new("chattr").arg(flag).arg(world.path(FILE)).status();
    world.before("1", Action::shell("./lock.sh"));
    fs::write(world.path(FILE), "intruder\n").unwrap();
    if !change("+i").is_ok_and(|status| status.success()) {
        skip_optional("chattr", &"not allowed here");
        return;
    }
    let said = world.after("1", Action::shell("./lock.sh"));
    let later = world.stop();
    assert!(change("-i").unwrap().success());
    for told in [said.context, said.note, later.note].map(Option::unwrap) {
        assert!(told.contains("`src/auth/token.ts` could not be put back: "), "{told}");
        assert!(!told.contains("is put back") && !told.contains("left as it is"), "{told}");
    }
    assert!(world.prompt().note.unwrap().contains("It is put back as it was"));
    assert_eq!((world.now().as_str(), world.kept()), ("as it was\n", vec!["intruder\n".to_owned()]));
}

#[test]
fn what_was_moved_aside_is_taken_by_its_human_and_stays() {
    let world = World::planning(|_| {});
    let scope = GateScope::Session(world.session.clone());
    let take = || take_kept(&world.place, &scope, &world.place.root, FILE, Millis(world.at())).unwrap();
    assert_eq!(take(), None, "nothing was moved aside");
    world.before("1", Action::shell("make"));
    world.save();
    world.after("1", Action::shell("make"));
    assert_eq!(world.now(), "as it was\n");
    assert!(take().is_some());
    world.runs("make again");
    assert_eq!(world.prompt().note, None);
    assert_eq!(world.now(), SAVED);
}
