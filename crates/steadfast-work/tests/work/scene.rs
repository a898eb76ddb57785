use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use rusqlite::Connection;
use steadfast_hosts::install::Homes;
use steadfast_model::{
    AddedBy, Check, Evidence, EvidenceClass, Host, Limits, Millis, Phase, Plan, PlannedTask, Run, RunId, RunState,
    SessionId, Status, Task, TaskId, TaskKind,
};
use steadfast_store::ledger::{Ledger, NewTask};
use steadfast_store::{Place, SessionFiles};
use steadfast_text::Zone;
use steadfast_work::task_list::{CloseOptions, CloseOutcome};
use steadfast_work::{Cause, Environment, Repository, TaskList, WorkError};

pub(crate) const HOUR_MS: i64 = 60 * 60 * 1_000;

static UTC: Zone = Zone::UTC;

thread_local! {
    static NOW: Cell<i64> = const { Cell::new(1_800_000_000_000) };
}

/// The clock of a test: a millisecond later each time somebody asks.
pub(crate) fn clock() -> Millis {
    pass(1);
    Millis(NOW.get())
}

pub(crate) fn pass(millis: i64) {
    NOW.set(NOW.get() + millis);
}

/// Every file of a repository with a commit and an empty ledger. Git and the migrations take longer than most tests, so they
/// run once.
static FILES: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| {
    let scene = Scene::empty();
    scene.git(&["init", "--quiet", "--template=", "--initial-branch=main", "."]);
    scene.write("README.md", "A project.\n");
    scene.commit();
    scene.place().create().unwrap();
    drop(scene.ledger());
    let (mut files, mut folders) = (Vec::new(), vec![scene.root()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.strip_prefix(scene.root()).unwrap().to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    files
});

/// Something that happens to a repository.
pub(crate) type Change = fn(&Scene);

/// A repository with a commit, set up as `steadfast init` leaves it, and a home.
pub(crate) struct Scene {
    dir: tempfile::TempDir,
    /// Held until the folder is gone: the last connection that closes waits for the disk.
    held: Option<Ledger>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let mut scene = Self::empty();
        for (path, bytes) in &*FILES {
            write(&scene.root().join(path), bytes);
        }
        scene.held = Some(scene.ledger());
        scene
    }

    /// One whose ledger nobody has open.
    pub(crate) fn with_closed_ledger() -> Self {
        let mut scene = Self::new();
        scene.held = None;
        scene
    }

    fn empty() -> Self {
        let dir = tempfile::Builder::new().prefix("steadfast-work").tempdir().unwrap();
        let scene = Self { dir, held: None };
        fs::create_dir(scene.root()).unwrap();
        scene
    }

    /// One whose project file says this.
    pub(crate) fn with_settings(settings: &str) -> Self {
        let scene = Self::new();
        scene.write("steadfast.toml", settings);
        scene
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    /// A folder beside the repository.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn place(&self) -> Place {
        Place::of(&self.root(), None).unwrap()
    }

    pub(crate) fn ledger(&self) -> Ledger {
        Ledger::open(&self.place().state).unwrap()
    }

    /// Another process at the ledger.
    #[expect(clippy::disallowed_methods, reason = "the test is another process at the database")]
    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.place().state.join("state.db")).unwrap()
    }

    /// What a process that a human started knows.
    pub(crate) fn environment(&self) -> Environment {
        Environment {
            zone: || &UTC,
            variable: |_| None,
            hook: || panic!("nothing here starts a proxy"),
            clock,
            cwd: self.root(),
            home: Some(self.beside("home")),
            homes: Some(Homes { home: self.beside("home"), claude_config_dir: None, codex_home: None, path: None }),
            path: None,
            user_state: Some(self.beside("home/state")),
            user_config: None,
            session: None,
            inside_agent: false,
            check: None,
            in_run: false,
        }
    }

    /// A skill of the user.
    pub(crate) fn install_skill(&self, name: &str) {
        let folder = self.beside("home/.claude/skills").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), "").unwrap();
    }

    pub(crate) fn repository(&self) -> Repository {
        Repository::at(self.place(), self.environment())
    }

    /// A human's list. Not by [`TaskList::here`], which would find an agent where these tests run below a host.
    pub(crate) fn human(&self) -> TaskList {
        self.human_with(self.environment())
    }

    pub(crate) fn human_with(&self, environment: Environment) -> TaskList {
        TaskList::of_run(self.place(), environment, "mark", None).unwrap()
    }

    /// The list of an agent in this session.
    pub(crate) fn agent(&self, session: &str) -> TaskList {
        TaskList::here(self.agent_environment(session), "").unwrap()
    }

    pub(crate) fn agent_environment(&self, session: &str) -> Environment {
        Environment { session: Some(SessionId::new(session)), inside_agent: true, ..self.environment() }
    }

    pub(crate) fn session(&self, session: &str) -> SessionFiles {
        SessionFiles::of(&self.place(), &SessionId::new(session))
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.root().join(path), text);
    }

    pub(crate) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root().join(path)).ok()
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.root().join(path)).unwrap();
    }

    pub(crate) fn git(&self, args: &[&str]) {
        git(&self.root(), args);
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message=x"]);
    }

    /// Begins a run of the plan of this worktree.
    pub(crate) fn begin_run(&self, state: RunState) -> RunId {
        let mut ledger = self.ledger();
        let worktree = self.place().worktree();
        let run = Run {
            id: RunId::new("r-1"),
            plan: ledger.plan(&worktree).unwrap().unwrap().id,
            worktree,
            spec: "SPEC.md".into(),
            host: Host::Claude,
            base: "main".into(),
            branch: "steadfast/r-1".into(),
            state,
            reason: None,
            limits: Limits::default(),
            started_at: clock(),
            updated_at: clock(),
            ended_at: None,
            runner: None,
        };
        ledger.create_run(&run).unwrap();
        run.id
    }
}

pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "the tests set repositories up with git")]
pub(crate) fn git(root: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(root).args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
    let output = command.args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

pub(crate) fn id(text: &str) -> TaskId {
    TaskId::new(text)
}

/// Adds a task with this check and these files.
pub(crate) fn add(list: &mut TaskList, verify: Option<Check>, files: &[&str]) -> Task {
    let files = files.iter().map(|&file| file.to_owned()).collect();
    list.add(|added_by| NewTask { files, verify, ..NewTask::new("Do it", added_by) }).unwrap()
}

/// Adds a task that nothing checks.
pub(crate) fn add_plain(list: &mut TaskList) -> TaskId {
    add(list, None, &[]).id
}

/// A task of a plan, by its id.
pub(crate) fn planned(number: &str, verify: Option<Check>, files: &[&str]) -> PlannedTask {
    PlannedTask {
        id: id(number),
        title: format!("Task {number}"),
        kind: TaskKind::Main,
        task_type: None,
        phase: Some("1".into()),
        item: None,
        files: files.iter().map(|&file| file.to_owned()).collect(),
        notes: None,
        verify,
        blocked_by: Vec::new(),
    }
}

/// A plan of one phase.
pub(crate) fn plan(tasks: Vec<PlannedTask>) -> Plan {
    let phase = Phase { id: "1".into(), name: "First".into(), items: Vec::new() };
    Plan { feature: "Login".into(), phases: vec![phase], tasks, ..Plan::default() }
}

/// A plan of tasks that nothing checks.
pub(crate) fn plain_plan(ids: &[&str]) -> Plan {
    plan(ids.iter().map(|id| planned(id, None, &[])).collect())
}

pub(crate) fn status(list: &TaskList, task: &TaskId) -> Status {
    list.find(task).unwrap().status
}

pub(crate) fn done(list: &mut TaskList, task: &TaskId) -> Result<CloseOutcome, WorkError> {
    list.done(task, &CloseOptions::default())
}

/// What a closing that ran nothing looked at: its class, whether it passed, and its note.
pub(crate) fn looked(closing: Result<CloseOutcome, WorkError>) -> (EvidenceClass, bool, String) {
    let evidence: Evidence = match closing.unwrap() {
        CloseOutcome::Done { evidence, .. } => evidence.unwrap(),
        CloseOutcome::Failed { evidence, .. } => evidence,
        CloseOutcome::Running { task, .. } => panic!("a check of {} runs", task.id),
    };
    (evidence.class, evidence.passed, evidence.note.unwrap_or_default())
}

/// What kind of no it is.
pub(crate) fn cause<T: std::fmt::Debug>(result: Result<T, WorkError>) -> Cause {
    result.unwrap_err().cause()
}

/// A task as it is added by a human, with this id.
pub(crate) fn new_task(number: &str) -> NewTask {
    NewTask { id: Some(id(number)), ..NewTask::new("Do it", AddedBy::Human) }
}
