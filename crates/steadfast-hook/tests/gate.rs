//! A closed gate on a real file system: the marker, the seal, and what is put back.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;

use steadfast_hook::handle_event;
use steadfast_model::{
    Action, Agent, AgentId, Answer, Event, EventKind, Gate, GateScope, Host, Millis, Outcome, PromptOrigin, Ruling,
    SessionId, ToolCall, ToolResult, ToolUseId,
};
use steadfast_store::{
    ConfigFiles, Draft, DraftFormat, Place, SessionFiles, close_gate, gate_before, keep_draft, kept_aside, text_hash,
};

const PROGRESS: &str = ".tdd-progress.md";

/// No process of another test has this session in its environment: a process of the session counts as the agent's work.
fn session() -> SessionId {
    SessionId::new(format!("gate-{}", std::process::id()))
}

struct Repository {
    dir: tempfile::TempDir,
    place: Place,
}

impl Repository {
    /// Its planner just started: the gate is closed.
    fn planning() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        let place = Place::of(dir.path(), None).unwrap();
        place.create().unwrap();
        fs::write(dir.path().join(PROGRESS), "as it was").unwrap();
        let repository = Self { dir, place };
        let planner = Agent { id: AgentId::new("a-1"), agent_type: "planner".into() };
        repository.step(Event { agent: Some(planner), ..repository.event(1, EventKind::SubagentStart) });
        repository
    }

    fn event(&self, at: i64, kind: EventKind) -> Event {
        Event::plain(session(), Host::Claude, self.place.worktree(), Millis(at), kind)
    }

    fn step(&self, event: Event) -> Answer {
        handle_event(&self.place, &ConfigFiles::of(&self.place, None), event).unwrap()
    }

    fn before(&self, id: &str, action: Action) -> Answer {
        let call = ToolCall { id: Some(ToolUseId::new(id)), tool: "Bash".into(), action, words: Vec::new() };
        self.step(self.event(10, EventKind::PreTool(call)))
    }

    fn after(&self, id: &str, action: Action) -> Answer {
        let call = ToolCall { id: Some(ToolUseId::new(id)), tool: "Bash".into(), action, words: Vec::new() };
        let result = ToolResult { call, outcome: Outcome::Ok, millis: None, answers: Vec::new(), names: Vec::new() };
        self.step(self.event(20, EventKind::PostTool(result)))
    }

    /// A call that runs this, while the file becomes that.
    fn runs(&self, command: &str, becomes: impl FnOnce(PathBuf)) -> Answer {
        let said = self.before(command, Action::shell(command));
        assert_eq!(said.ruling, Ruling::Pass, "{command}");
        becomes(self.dir.path().join(PROGRESS));
        self.after(command, Action::shell(command))
    }

    fn prompt(&self) -> Answer {
        self.step(self.event(30, EventKind::prompt("go on", PromptOrigin::Human)))
    }

    fn progress(&self) -> Option<String> {
        fs::read_to_string(self.dir.path().join(PROGRESS)).ok()
    }

    fn kept(&self) -> Vec<String> {
        kept_aside(&self.place).into_iter().map(|path| fs::read_to_string(path).unwrap()).collect()
    }

    fn gate(&self) -> Option<Gate> {
        gate_before(&self.place, Some(&session()), Millis(50))
    }
}

/// A real repository whose `src/` has more files than are sealed one by one.
mod trees {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::process::Command;

    use steadfast_model::{Entry, Fact, Stopping};
    use steadfast_store::{read_lines, read_log, sealed};
    use steadfast_testkit::wait_for;

    use super::*;

    const LAST: &str = "src/79.txt";

    /// Plays a scene. Git has 120 to 600 ms for an answer, and on a busy machine it may need more: a scene that fails is
    /// played again if git came too late in it, and only then.
    fn play(scene: impl Fn(&Repository)) {
        wait_for("a scene in which git is in time", || {
            let repository = Repository::with_many_files();
            let played = catch_unwind(AssertUnwindSafe(|| scene(&repository)));
            played.or_else(|failure| repository.is_git_late().ok_or_else(|| resume_unwind(failure)).and_then(Err))
        });
    }

    impl Repository {
        fn with_many_files() -> Self {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir(dir.path().join("src")).unwrap();
            for number in 0..80 {
                fs::write(dir.path().join(format!("src/{number:02}.txt")), "as it was").unwrap();
            }
            let place = Place { root: dir.path().to_owned(), state: dir.path().join(".git/steadfast") };
            let repository = Self { dir, place };
            repository.git(&["init", "--quiet", "."]);
            repository.commit();
            repository.place.create().unwrap();
            let config = "[approval]\nprotected = [\"src/\"]\n";
            fs::write(repository.place.state.join("steadfast.toml"), config).unwrap();
            let planner = Agent { id: AgentId::new("a-1"), agent_type: "planner".into() };
            repository.step(repository.event(1, EventKind::prompt("plan it", PromptOrigin::Human)));
            repository.step(Event { agent: Some(planner), ..repository.event(1, EventKind::SubagentStart) });
            repository
        }

        #[expect(clippy::disallowed_methods, reason = "the tests set repositories up with git")]
        fn git(&self, args: &[&str]) {
            let mut command = Command::new("git");
            command.current_dir(self.dir.path()).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
            assert!(command.output().unwrap().status.success(), "{args:?}");
        }

        fn commit(&self) {
            self.git(&["add", "src"]);
            self.git(&["commit", "--quiet", "--message=x"]);
        }

        fn write(&self, path: &str, text: &str) {
            fs::write(self.dir.path().join(path), text).unwrap();
        }

        fn read(&self, path: &str) -> Option<String> {
            fs::read_to_string(self.dir.path().join(path)).ok()
        }

        /// What git was too late for.
        fn is_git_late(&self) -> Option<String> {
            let session = session();
            if sealed(&self.place, &GateScope::Session(session.clone())).is_none_or(|seal| seal.in_tree.is_empty()) {
                return Some("no tree is sealed".to_owned());
            }
            let (_, lines) = read_lines(SessionFiles::of(&self.place, &session).dir(), 0).unwrap();
            let unknown = lines.into_iter().find_map(|line| match line.entry {
                Entry::Record(record) => match record.facts.tree {
                    Fact::Unknown(why) => Some(why),
                    Fact::Known(_) | Fact::NotAsked => None,
                },
                Entry::Snapshot(_) => None,
            });
            unknown.or_else(|| read_log(&self.place).into_iter().find(|line| line.contains("in time")))
        }

        fn stop(&self) -> Answer {
            let stopping = Stopping { again: false, last_message: None, background: None, wakeups: 0 };
            self.step(self.event(40, EventKind::Stop(stopping)))
        }
    }

    #[test]
    fn what_make_wrote_beyond_the_single_files_is_put_back_and_kept() {
        play(|repository| {
            let at_its_end = repository.runs("make", |_| {
                repository.write(LAST, "intruder");
                repository.write("src/new.txt", "new intruder");
                fs::remove_file(repository.dir.path().join("src/78.txt")).unwrap();
            });
            // Where git is too slow for a tool event, the stop mends it.
            let said = [at_its_end.context, repository.stop().context].into_iter().flatten().collect::<String>();
            assert_eq!(
                [LAST, "src/78.txt"].map(|path| repository.read(path)),
                [const { "as it was" }; 2].map(|t| Some(t.to_owned()))
            );
            assert_eq!(repository.read("src/new.txt"), None);
            let mut kept = repository.kept();
            kept.sort();
            assert_eq!(kept, ["intruder", "new intruder"]);
            assert!(
                said.contains("`src/78.txt` was removed, `src/79.txt` was changed, `src/new.txt` was created"),
                "{said}"
            );
            assert!(said.contains("3 files are put back as they were"), "{said}");
        });
    }

    #[test]
    fn what_a_human_saved_or_pulled_between_calls_is_theirs() {
        play(|repository| {
            repository.write(LAST, "by hand");
            let note = repository.prompt().note.unwrap();
            assert!(note.contains("left as it is"), "{note}");
            repository.runs("make", drop);
            // As a pull leaves it: changed and committed, and more than is renewed one by one.
            for number in 0..80 {
                repository.write(&format!("src/{number:02}.txt"), "pulled");
                repository.write(&format!("src/new-{number:02}.txt"), "pulled");
            }
            repository.commit();
            let note = repository.prompt().note.unwrap();
            assert!(note.contains("left as it is"), "{note}");
            repository.runs("make again", drop);
            assert_eq!((repository.read(LAST).as_deref(), repository.kept()), (Some("pulled"), Vec::new()));
            // And from now on that is what is sealed.
            repository.runs("make more", |_| repository.write("src/new-79.txt", "intruder"));
            repository.stop();
            assert_eq!(repository.read("src/new-79.txt").as_deref(), Some("pulled"));
        });
    }

    #[test]
    fn what_only_looks_is_not_made_to_wait_for_git() {
        play(|repository| {
            repository.write(LAST, "by hand");
            let said = repository.runs("grep -rn x src", drop);
            assert_eq!(said, Answer::default());
            assert!(
                repository.stop().note.unwrap().contains("`src/79.txt` was changed by something other than the agent")
            );
        });
    }
}

#[test]
fn what_a_script_wrote_is_put_back_at_the_end_of_its_call_and_kept_aside() {
    let repository = Repository::planning();
    let said = repository.runs("./generated.sh", |path| fs::write(path, "intruder").unwrap());
    assert_eq!((repository.progress().as_deref(), repository.kept()), (Some("as it was"), vec!["intruder".to_owned()]));
    let told = said.context.unwrap();
    assert!(told.contains("`.tdd-progress.md` was changed") && told.contains("It is put back as it was"), "{told}");
}

#[test]
fn what_was_removed_or_replaced_comes_back() {
    let repository = Repository::planning();
    repository.runs("make clean", |path| fs::remove_file(path).unwrap());
    assert_eq!(repository.progress().as_deref(), Some("as it was"));
    repository.runs("make links", |path| {
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", path).unwrap();
    });
    assert_eq!(repository.progress().as_deref(), Some("as it was"));
}

#[test]
fn what_a_human_saved_between_calls_is_theirs() {
    let repository = Repository::planning();
    fs::write(repository.dir.path().join(PROGRESS), "by hand").unwrap();
    let said = repository.before("1", Action::shell("make"));
    let note = said.note.unwrap();
    assert!(note.contains("left as it is"), "{note}");
    repository.after("1", Action::shell("make"));
    assert_eq!((repository.progress().as_deref(), repository.kept()), (Some("by hand"), Vec::new()));
    assert!(repository.gate().is_some(), "the gate stays closed");
}

#[test]
fn a_touch_and_the_same_bytes_again_are_no_break() {
    let repository = Repository::planning();
    let said = repository.runs("make", |path| fs::write(path, "as it was").unwrap());
    assert_eq!((said, repository.kept()), (Answer::default(), Vec::new()));
}

#[test]
fn a_marker_that_was_removed_comes_back_and_a_lost_state_opens_nothing() {
    let repository = Repository::planning();
    let gates = repository.place.state.join("gates");
    fs::remove_dir_all(&gates).unwrap();
    let write = || Action::Write { paths: vec![PROGRESS.into()] };
    assert!(matches!(repository.before("1", write()).ruling, Ruling::Deny { .. }));
    assert!(repository.gate().is_some());

    let files = SessionFiles::of(&repository.place, &session());
    fs::remove_dir_all(files.dir()).unwrap();
    assert!(matches!(repository.before("2", write()).ruling, Ruling::Deny { .. }));
}

#[test]
fn with_the_database_gone_the_gate_stands() {
    let repository = Repository::planning();
    fs::write(repository.place.state.join("state.db"), "no database").unwrap();
    let said = repository.before("1", Action::shell("cat x | tee .tdd-progress.md"));
    assert!(matches!(said.ruling, Ruling::Deny { .. }));
}

#[test]
fn a_link_to_a_protected_file_is_that_file() {
    let repository = Repository::planning();
    std::os::unix::fs::symlink(PROGRESS, repository.dir.path().join("notes.md")).unwrap();
    let said = repository.before("1", Action::Write { paths: vec!["notes.md".into()] });
    assert!(matches!(said.ruling, Ruling::Deny { .. }));
}

#[test]
fn the_planner_that_ends_does_not_open_the_gate() {
    let repository = Repository::planning();
    let planner = Agent { id: AgentId::new("a-1"), agent_type: "planner".into() };
    let stopping = steadfast_model::Stopping { again: false, last_message: None, background: None, wakeups: 0 };
    repository.step(Event { agent: Some(planner), ..repository.event(5, EventKind::SubagentStop(stopping)) });
    assert_eq!(repository.gate().map(|gate| gate.scope), Some(GateScope::Session(session())));
}

/// Somebody proposed this through `steadfast plan propose`.
fn propose(repository: &Repository, text: &str) -> String {
    let hash = text_hash(text);
    let draft = Draft {
        hash: hash.clone(),
        text: text.into(),
        format: DraftFormat::Markdown,
        title: "Sign in".into(),
        tasks: 6,
        path: PROGRESS.into(),
        worktree: repository.place.worktree(),
        session: Some(session()),
        proposed_at: Millis(6),
        replaces: None,
    };
    keep_draft(&repository.place, &draft).unwrap();
    let gate = Gate { draft: Some(draft.line()), ..repository.gate().unwrap() };
    close_gate(&repository.place, &gate).unwrap();
    hash
}

impl Repository {
    fn types(&self, text: &str, user_state: &std::path::Path) -> Answer {
        let prompt = EventKind::Prompt { text: text.into(), origin: PromptOrigin::Human, typed: true };
        let event = Event { attended: Some(true), ..self.event(40, prompt) };
        let config = ConfigFiles::of(&self.place, None).beside(Some(user_state));
        handle_event(&self.place, &config, event).unwrap()
    }
}

#[test]
fn a_human_types_yes_and_that_very_plan_is_written_and_the_gate_opens() {
    let repository = Repository::planning();
    let user = tempfile::tempdir().unwrap();
    let hash = propose(&repository, "# Sign in\n\n- one\n");
    repository.types("approve plan 00000000", user.path());
    assert!(repository.gate().is_some());
    let said = repository.types(&format!("approve plan {}", &hash[..8]), user.path());
    assert!(said.context.unwrap().starts_with("The human approved plan"));
    assert_eq!(repository.gate(), None);
    let written = repository.progress().unwrap();
    assert!(written.starts_with("# Sign in\n") && written.contains("**Approved:** 1970-01-01T00:00:00"), "{written}");
    assert!(written.ends_with("- one\n"));
    let write = Action::Write { paths: vec![PROGRESS.into()] };
    assert_eq!(repository.before("9", write).ruling, Ruling::Pass);
}

#[test]
fn a_draft_that_was_exchanged_in_our_state_is_not_what_was_approved() {
    let repository = Repository::planning();
    let user = tempfile::tempdir().unwrap();
    let hash = propose(&repository, "# Sign in\n");
    let kept = repository.place.state.join("drafts").join(&hash);
    let exchanged = fs::read_to_string(&kept).unwrap().replace("# Sign in", "# Sign out");
    fs::write(&kept, exchanged).unwrap();
    repository.types(&format!("approve plan {}", &hash[..8]), user.path());
    assert_eq!(repository.progress().as_deref(), Some("as it was"));
    assert!(repository.gate().is_some(), "the marker stands");
    let write = Action::Write { paths: vec![PROGRESS.into()] };
    assert!(matches!(repository.before("9", write).ruling, Ruling::Deny { .. }));
}
