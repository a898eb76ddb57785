//! One session of a real host, and what came out of it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use steadfast_hosts::launch::{LaunchOptions, claude, codex};
use steadfast_model::Host;
use steadfast_sim::{Request, Scenario, ScriptedModel, Track};

use crate::journal::Journal;
use crate::world::Scene;

/// A scripted session takes three to five seconds; what takes this long hangs.
const LIMIT: Duration = Duration::from_secs(180);

/// A session that is about to be started.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    scene: &'a Scene,
    model: ScriptedModel,
    prompt: String,
    cwd: PathBuf,
    unasked: bool,
    args: Vec<String>,
    env: Vec<(String, String)>,
    /// What stands between the host and the model.
    proxy: Option<String>,
    /// What starts the host, with its arguments.
    starter: Vec<String>,
}

/// A session under way.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    scene: &'a Scene,
    model: ScriptedModel,
    child: Child,
    started: Instant,
    output: String,
}

/// What came out.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) status: ExitStatus,
    /// What the host printed, one JSON object a line.
    pub(crate) printed: Vec<Value>,
    /// What it printed on standard error.
    pub(crate) errors: String,
    pub(crate) requests: Vec<Request>,
    pub(crate) journal: Journal,
}

impl<'a> Session<'a> {
    pub(crate) fn new(scene: &'a Scene, scenario: Scenario) -> Self {
        let prompt = scenario.prompt.clone();
        assert!(!prompt.is_empty(), "a host wants a prompt");
        scenario.check().unwrap();
        let model = ScriptedModel::start(scenario).unwrap();
        let (args, env, starter) = (Vec::new(), Vec::new(), Vec::new());
        Self { scene, model, prompt, cwd: scene.root(), unasked: true, args, env, proxy: None, starter }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// More of the host's own command line.
    pub(crate) fn args<const N: usize>(mut self, args: [&str; N]) -> Self {
        self.args.extend(args.map(str::to_owned));
        self
    }

    /// Elsewhere than in the scene's own checkout.
    pub(crate) fn at(mut self, cwd: PathBuf) -> Self {
        self.cwd = cwd;
        self
    }

    /// With the host's own permissions and sandbox.
    pub(crate) fn guarded(mut self) -> Self {
        self.unasked = false;
        self
    }

    pub(crate) fn model_url(&self) -> String {
        self.model.url()
    }

    /// With a proxy at this address between the host and the model.
    pub(crate) fn behind(mut self, url: String) -> Self {
        self.proxy = Some(url);
        self
    }

    /// Started by our own binary, which gets these arguments and then the host's command line.
    pub(crate) fn started_by<const N: usize>(mut self, args: [&str; N]) -> Self {
        let steadfast = self.scene.bin().join("steadfast");
        self.starter = [steadfast.to_str().unwrap()].into_iter().chain(args).map(str::to_owned).collect();
        self
    }

    pub(crate) fn run(self) -> Run {
        self.start().finish()
    }

    pub(crate) fn start(self) -> Running<'a> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let Self { scene, model, prompt, cwd, unasked, args, env, proxy, starter } = self;
        let url = proxy.unwrap_or_else(|| model.url());
        // `init` merges into a configuration that was there before the model had a port.
        let settings = match scene.program.host() {
            Host::Codex => Some(format!("model_providers.scripted.base_url=\"{url}/v1\"")),
            Host::Claude | Host::Sim => None,
        };
        let alone = Some(scene.alone(url));
        let options = LaunchOptions { program: scene.program.path.clone(), prompt, unasked, settings, alone };
        let launch = if scene.program.is_claude() { claude(&options) } else { codex(&options) };
        // The prompt and the `--` before it come last.
        let (before, last) = launch.args.split_at(launch.args.len() - 2);

        let output = format!("session-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let file = |kind: &str| File::create(scene.dir().join(format!("{output}.{kind}"))).unwrap();
        let mut line = starter.iter().map(OsString::from).chain([launch.program.clone().into()]);
        let mut command = Command::new(line.next().unwrap());
        command
            .args(line)
            .args(before)
            .args(args)
            .args(last)
            .current_dir(cwd)
            .env_clear()
            .envs(launch.env)
            .envs(env)
            .stdin(Stdio::null())
            .stdout(file("stdout"))
            .stderr(file("stderr"));
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().unwrap();
        Running { scene, model, child, started: Instant::now(), output }
    }
}

impl Running<'_> {
    /// Waits until the main thread has asked the model so often.
    pub(crate) fn until_requests(&mut self, count: usize) {
        let main = |request: &Request| request.track == Track::Main;
        while self.model.requests().iter().filter(|request| main(request)).count() < count {
            assert!(self.is_running(), "it ended early: {}", self.read("stderr"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn is_running(&mut self) -> bool {
        if self.started.elapsed() > LIMIT {
            self.end();
            panic!("no end after {LIMIT:?}: {}\n{}", self.read("stdout"), self.read("stderr"));
        }
        self.child.try_wait().unwrap().is_none()
    }

    /// The session as the host names it.
    pub(crate) fn id(&self) -> String {
        let printed = printed(&self.read("stdout"));
        let named = printed.iter().find_map(|line| line["session_id"].as_str().or_else(|| line["thread_id"].as_str()));
        named.unwrap_or_else(|| panic!("it named no session: {}", self.read("stderr"))).to_owned()
    }

    pub(crate) fn finish(mut self) -> Run {
        while self.is_running() {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.scene.assert_no_credential();
        let id = self.id();
        let journal = Journal::of(&self.scene.state(), &id);
        Run {
            id,
            status: self.child.wait().unwrap(),
            printed: printed(&self.read("stdout")),
            errors: self.read("stderr"),
            requests: self.model.requests(),
            journal,
        }
    }

    /// As a power cut would: no farewell.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// The host and what it started, and nothing else: it leads a process group of its own.
    fn end(&mut self) {
        let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.child.id())]).status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn read(&self, kind: &str) -> String {
        fs::read_to_string(self.scene.dir().join(format!("{}.{kind}", self.output))).unwrap_or_default()
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.end();
        }
    }
}

impl Run {
    /// What the model was told on the main thread, one text per request.
    pub(crate) fn told(&self) -> Vec<String> {
        self.requests.iter().filter(|request| request.track == Track::Main).map(Request::text).collect()
    }

    /// How the session ended, as `steadfast status` has it: the refusals, and why it was let go.
    pub(crate) fn outcome(&self, scene: &Scene) -> (u64, Option<String>) {
        let status = scene.status();
        let sessions = status["sessions"].as_array().unwrap();
        let session = sessions.iter().find(|session| session["id"] == self.id.as_str());
        let session = session.unwrap_or_else(|| panic!("session {} is not in {status}", self.id));
        (session["refusals"].as_u64().unwrap(), session["released"].as_str().map(str::to_owned))
    }
}

fn printed(stdout: &str) -> Vec<Value> {
    stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
