//! A scene: a home, a repository and the built binary on the path, away from everything else on this machine.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use steadfast_hosts::launch::{Alone, codex_config};
use steadfast_sim::Scenario;
use tempfile::TempDir;

use crate::agents::Program;
use crate::session::{Run, Session};

/// What a human says to an agent that shall do what is in the ledger.
pub(crate) const PROMPT: &str = "Work through the tasks.";

#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) program: Program,
    dir: TempDir,
}

impl Scene {
    /// A repository that Steadfast was never in.
    pub(crate) fn bare(program: &Program) -> Self {
        let dir = tempfile::Builder::new().prefix("steadfast-e2e-").tempdir().unwrap();
        let scene = Self { program: program.clone(), dir };
        for folder in
            [scene.home(), scene.root(), scene.bin(), scene.home().join(".codex"), scene.home().join(".local/state")]
        {
            fs::create_dir_all(folder).unwrap();
        }
        let installed = scene.bin().join("steadfast");
        // A copy of our own would be open for writing while another test forks, and then could not be started.
        if fs::hard_link(binary(), &installed).is_err() {
            assert!(Command::new("cp").arg(binary()).arg(&installed).status().unwrap().success());
        }
        // Codex runs commands in a login shell, which sets the path anew.
        fs::write(scene.home().join(".profile"), format!("export PATH='{}':\"$PATH\"\n", scene.bin().display()))
            .unwrap();
        if !program.is_claude() {
            fs::write(scene.home().join(".codex/config.toml"), codex_config(&scene.alone(String::new()))).unwrap();
        }
        scene.git(["init", "--quiet"]);
        scene.write("README.md", "A scene.\n");
        scene.git(["add", "."]);
        scene.git(["-c", "user.name=e2e", "-c", "user.email=e2e@localhost", "commit", "--quiet", "-m", "first"]);
        scene
    }

    /// The usual: wired by `init`, with so many tasks of the human.
    pub(crate) fn with_tasks(program: &Program, count: usize) -> Self {
        Self::configured(program, "", count)
    }

    /// With a `steadfast.toml`.
    pub(crate) fn configured(program: &Program, config: &str, count: usize) -> Self {
        let scene = Self::bare(program);
        if !config.is_empty() {
            scene.write("steadfast.toml", config);
        }
        scene.init(&[]);
        for number in 1..=count {
            scene.steadfast(&["task", "add", &format!("piece {number}"), "--file", "README.md", "--verify", "true"]);
        }
        scene
    }

    pub(crate) fn init(&self, more: &[&str]) {
        let host = self.program.host();
        self.steadfast(&[&["init", "--host", host.as_str(), "--yes"], more].concat());
    }

    /// What a human types, which must go well.
    pub(crate) fn steadfast(&self, arguments: &[&str]) -> String {
        let output = self.try_steadfast(arguments);
        assert!(output.status.success(), "steadfast {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn try_steadfast(&self, arguments: &[&str]) -> Output {
        self.command(&self.bin().join("steadfast"), arguments)
    }

    pub(crate) fn status(&self) -> Value {
        serde_json::from_str(&self.steadfast(&["status", "--json"])).unwrap()
    }

    /// The status of every task, in order.
    pub(crate) fn tasks(&self) -> Vec<String> {
        let list: Value = serde_json::from_str(&self.steadfast(&["task", "list", "--json"])).unwrap();
        list["tasks"].as_array().unwrap().iter().map(|task| task["status"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn session(&self, scenario: Scenario) -> Session<'_> {
        Session::new(self, scenario)
    }

    pub(crate) fn run(&self, scenario: Scenario) -> Run {
        self.session(scenario).run()
    }

    pub(crate) fn git<const N: usize>(&self, arguments: [&str; N]) {
        let output = self.command(Path::new("git"), &arguments);
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn command(&self, program: &Path, arguments: &[&str]) -> Output {
        Command::new(program)
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", self.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    pub(crate) fn alone(&self, model_url: String) -> Alone {
        Alone { home: self.home(), model_url, path: self.path() }
    }

    pub(crate) fn path(&self) -> OsString {
        let others = std::env::var_os("PATH").unwrap_or_default();
        std::env::join_paths(std::iter::once(self.bin()).chain(std::env::split_paths(&others))).unwrap()
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("repository")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.root().join(".git/steadfast")
    }

    /// The key of every agent in these tests is in nothing that Steadfast wrote.
    pub(crate) fn assert_no_credential(&self) {
        let mut folders = vec![self.state(), self.home().join(".local/state/steadfast")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let (path, kind) = (entry.path(), entry.file_type().unwrap());
                // The program has the key of the demo in it.
                if kind.is_dir() && entry.file_name() != "install" {
                    folders.push(path);
                } else if let Some(bytes) = kind.is_file().then(|| fs::read(&path).ok()).flatten() {
                    let key = b"dummy-key";
                    assert!(!bytes.windows(key.len()).any(|window| window == key), "a key is in {}", path.display());
                }
            }
        }
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.dir.path().join("bin")
    }
}

/// The binary of this workspace: `STEADFAST_BINARY`, or built now.
fn binary() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| std::env::var_os("STEADFAST_BINARY").map_or_else(build, PathBuf::from))
}

fn build() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--quiet", "--package", "steadfast", "--message-format", "json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "the binary does not build");
    let messages = String::from_utf8(output.stdout).unwrap();
    let mut executables = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executables.next_back().unwrap()
}
