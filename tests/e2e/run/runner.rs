//! `steadfast run` in a repository with something that is not committed, and what is to be seen of it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use steadfast_hosts::launch::{LaunchOptions, claude, codex, codex_config};
use steadfast_model::{Dispatch, Host, Loop, Review, RunView};
use steadfast_sim::{Cast, Request, ScriptedModel, Track};
use steadfast_store::ledger::Ledger;
use steadfast_testkit::wait_for;

use crate::agents::Program;
use crate::world::Scene;

/// What takes this long hangs, however busy the machine is.
const LIMIT: Duration = Duration::from_secs(480);

/// Only its own folder is open to the agent: scenes are in `/tmp`, which it would be let write to.
const KEPT_IN: &str = "\n[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n";

/// A file of the human's, changed and not committed.
const THEIRS: (&str, &str) = ("README.md", "A scene.\nAnd a thought that nobody else has seen.\n");

/// A repository, a model, and a spec.
#[derive(Debug)]
pub(super) struct Workshop {
    pub(super) scene: Scene,
    pub(super) model: ScriptedModel,
    before: Theirs,
}

/// What belongs to the human, and has to stay.
#[derive(Debug, PartialEq, Eq)]
struct Theirs {
    head: String,
    branch: String,
    status: String,
    text: String,
}

/// A `steadfast` that runs agents.
#[derive(Debug)]
pub(super) struct Runner<'a> {
    workshop: &'a Workshop,
    child: Child,
    began: Instant,
    said: PathBuf,
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    /// What it said.
    pub(super) said: String,
}

impl Workshop {
    pub(super) fn new(program: &Program, settings: &str, spec: &str, cast: Cast) -> Self {
        Self::with(program, settings, spec, &[], cast)
    }

    /// With these files in it.
    pub(super) fn with(program: &Program, settings: &str, spec: &str, files: &[(&str, &str)], cast: Cast) -> Self {
        cast.check().unwrap();
        let model = ScriptedModel::start(cast).unwrap();
        let scene = Scene::bare(program);
        symlink(&program.path, scene.bin().join(program.host().as_str())).unwrap();
        if program.host() == Host::Codex {
            let config = codex_config(&scene.alone(model.url())) + KEPT_IN;
            fs::write(scene.home().join(".codex/config.toml"), config).unwrap();
        }
        scene.init(&[]);
        // Which model is asked is not the project's to say.
        fs::write(scene.state().join("steadfast.toml"), settings).unwrap();
        scene.write("SPEC.json", spec);
        scene.write("INDEX.md", "# Index\n\nnothing yet\n");
        for (file, text) in files {
            let path = scene.root().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        scene.git(["add", "."]);
        scene.git(["-c", "user.name=e2e", "-c", "user.email=e2e@localhost", "commit", "--quiet", "-m", "a spec"]);
        scene.write(THEIRS.0, THEIRS.1);
        let before = Theirs::of(&scene);
        Self { scene, model, before }
    }

    pub(super) fn start(&self, arguments: &[&str]) -> Runner<'_> {
        let said = self.scene.dir().join("said");
        let mut command = Command::new(self.scene.bin().join("steadfast"));
        command
            .args(arguments)
            .current_dir(self.scene.root())
            .env_clear()
            .envs(self.environment())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&said).unwrap());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Runner { workshop: self, child: command.spawn().unwrap(), began: Instant::now(), said }
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Ended {
        self.start(arguments).finish()
    }

    /// What a host that works against the scripted model is started with; agents of a run inherit it.
    fn environment(&self) -> Vec<(String, std::ffi::OsString)> {
        let Program { path, .. } = &self.scene.program;
        let alone = Some(self.scene.alone(self.model.url()));
        let options =
            LaunchOptions { program: path.clone(), prompt: String::new(), unasked: false, settings: None, alone };
        if self.scene.program.is_claude() { claude(&options).env } else { codex(&options).env }
    }

    fn ledger(&self) -> Ledger {
        Ledger::open_read_only(&self.scene.state()).unwrap().expect("nothing was begun")
    }

    /// The only run there is.
    pub(super) fn view(&self) -> RunView {
        let ledger = self.ledger();
        let runs = ledger.runs_of(&self.scene.root().canonicalize().unwrap().to_string_lossy()).unwrap();
        let [run] = runs.as_slice() else { panic!("{} runs", runs.len()) };
        ledger.run_view(&run.id).unwrap()
    }

    /// The only loop there is, with what was said of it.
    pub(super) fn find_loop(&self) -> (Loop, Vec<Review>) {
        let ledger = self.ledger();
        let loops = ledger.loops_of(&self.scene.root().canonicalize().unwrap().to_string_lossy()).unwrap();
        let [looped] = loops.as_slice() else { panic!("{} loops", loops.len()) };
        (looped.clone(), ledger.reviews_of(&looped.id).unwrap())
    }

    pub(super) fn dispatches(&self) -> Vec<Dispatch> {
        self.ledger().dispatches(&self.view().run.id).unwrap()
    }

    /// Who did what when, for people: seconds since the run began.
    pub(super) fn timeline(&self) -> String {
        let view = self.view();
        let since = |at: steadfast_model::Millis| at.since(view.run.started_at) as f64 / 1_000.0;
        let mut attempts: BTreeMap<String, u32> = BTreeMap::new();
        let mut lines = String::new();
        for dispatch in self.dispatches() {
            let attempt = attempts.entry(dispatch.unit.to_string()).or_default();
            *attempt += 1;
            let wave = view.units.iter().find(|unit| unit.unit == dispatch.unit).map_or(0, |unit| unit.wave);
            lines.push_str(&format!(
                "{:>6.1} {:>6.1}  wave {wave}  {:<5} #{attempt}  {:>2} turns {:>6} micro-dollars {:>5} tokens  {}\n",
                since(dispatch.started_at),
                dispatch.ended_at.map_or(-1.0, since),
                dispatch.unit.as_str(),
                dispatch.turns,
                dispatch.spent.micro_usd.map_or_else(|| "?".to_owned(), |micro| micro.to_string()),
                dispatch.spent.tokens(),
                dispatch.ending.unwrap_or_default(),
            ));
        }
        lines
    }

    /// How often the model was asked, by whomever.
    pub(super) fn calls(&self) -> usize {
        let asks = |request: &&Request| matches!(request.route(), "/v1/messages" | "/v1/responses");
        self.model.requests().iter().filter(asks).count()
    }

    /// What the session of a dispatch was told at first.
    pub(super) fn told(&self, dispatch: &Dispatch) -> String {
        let session = dispatch.session.as_ref().expect("it began no session").as_str();
        let requests = self.model.requests();
        let first = requests.iter().find(|request| request.track == Track::Main && request.session() == session);
        first.unwrap_or_else(|| panic!("{session} asked nothing")).text()
    }

    /// What `git` says, in the human's checkout.
    pub(super) fn git(&self, arguments: &[&str]) -> String {
        ask(&self.scene, arguments)
    }

    /// The human's branch and files are as they were; of the run there is its branch, and nothing else.
    pub(super) fn assert_only_the_branch_is_left(&self) {
        let view = self.view();
        assert_eq!(Theirs::of(&self.scene), self.before);
        let branches = self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        let mut expected = [self.before.branch.as_str(), view.run.branch.as_str()];
        expected.sort_unstable();
        assert_eq!(branches.lines().collect::<Vec<_>>(), expected);
        assert_eq!(self.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
        let worktrees = self.scene.home().join(".local/state/steadfast/worktrees");
        let left: Vec<PathBuf> =
            fs::read_dir(worktrees).unwrap().flat_map(|folder| entries(folder.unwrap().path())).collect();
        assert!(left.is_empty(), "{left:?}");
        self.assert_nobody_is_left();
    }

    /// No process works in the scene any more. What a hook started beside it is not the run's, and soon gone.
    pub(super) fn assert_nobody_is_left(&self) {
        wait_for("the end of every process of the scene", || match self.processes() {
            left if left.is_empty() => Ok(()),
            left => Err(format!("{left:#?}")),
        });
    }

    /// The command lines of those that were started with this scene's home.
    pub(super) fn processes(&self) -> Vec<String> {
        self.process_folders().into_iter().map(|(_, line)| line).collect()
    }

    /// Kills the agent whose command line holds this text, and nothing that it started. Returns that line.
    pub(super) fn kill_an_agent(&self, text: &str) -> String {
        let found = self.process_folders().into_iter().find(|(_, line)| line.contains(text));
        let (folder, line) = found.unwrap_or_else(|| panic!("no process has {text}"));
        let pid = folder.file_name().unwrap();
        assert!(Command::new("kill").arg("-KILL").arg(pid).status().unwrap().success());
        line
    }

    fn process_folders(&self) -> Vec<(PathBuf, String)> {
        let home = format!("HOME={}", self.scene.home().display());
        let read = |process: &PathBuf, name: &str| fs::read(process.join(name)).unwrap_or_default();
        let all = entries(PathBuf::from("/proc"));
        let ours = all.into_iter().filter(|process| {
            read(process, "environ").split(|byte| *byte == 0).any(|variable| variable == home.as_bytes())
        });
        let line = |process: &PathBuf| String::from_utf8_lossy(&read(process, "cmdline")).replace('\0', " ");
        ours.map(|process| (process.clone(), line(&process))).collect()
    }
}

impl Theirs {
    fn of(scene: &Scene) -> Self {
        Self {
            head: ask(scene, &["rev-parse", "HEAD"]),
            branch: ask(scene, &["symbolic-ref", "--short", "HEAD"]).trim_end().to_owned(),
            status: ask(scene, &["status", "--porcelain"]),
            text: fs::read_to_string(scene.root().join(THEIRS.0)).unwrap(),
        }
    }
}

impl Runner<'_> {
    pub(super) fn is_running(&mut self) -> bool {
        if self.began.elapsed() > LIMIT {
            panic!("no end after {LIMIT:?}:\n{}\n{}", self.said(), self.workshop.timeline());
        }
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits until something is so.
    pub(super) fn until(&mut self, holds: impl Fn(&Workshop) -> bool) {
        while !holds(self.workshop) {
            assert!(self.is_running(), "it ended early:\n{}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// As Ctrl-C does.
    pub(super) fn interrupt(&self) {
        assert!(Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap().success());
    }

    pub(super) fn finish(mut self) -> Ended {
        while self.is_running() {
            std::thread::sleep(Duration::from_millis(20));
        }
        Ended { code: self.child.wait().unwrap().code(), said: self.said() }
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.said).unwrap_or_default()
    }
}

impl Drop for Runner<'_> {
    /// Its agents notice, and end.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn entries(folder: PathBuf) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

fn ask(scene: &Scene, arguments: &[&str]) -> String {
    let output = scene.command(std::path::Path::new("git"), arguments);
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
