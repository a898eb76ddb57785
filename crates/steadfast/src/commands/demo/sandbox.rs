//! The temporary repository of the demo, with its home folder. The demo writes nothing outside.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use steadfast_store::Place;
use steadfast_text::quote;
use tempfile::TempDir;

use super::script::{CHECK, TASKS};
use crate::environment;
use crate::error::CommandError;

#[derive(Debug)]
pub(super) struct Sandbox {
    pub(super) root: PathBuf,
    /// This program, under the name by which agents call it.
    pub(super) steadfast: PathBuf,
    pub(super) repository: PathBuf,
    pub(super) home: PathBuf,
    /// `PATH`, with this program first.
    pub(super) path: OsString,
    pub(super) place: Place,
    // Fields are dropped in order: first the folder, then the process that removes the rest.
    _folder: TempDir,
    _sweeper: Option<Sweeper>,
}

impl Sandbox {
    /// An empty git repository with Steadfast set up, and the tasks in its list.
    pub(super) fn new() -> Result<Self, CommandError> {
        let failed = |error: std::io::Error| temporary(&format!("cannot create a temporary folder: {error}"));
        let folder = tempfile::Builder::new().prefix("steadfast-demo-").tempdir().map_err(failed)?;
        let sweeper = Sweeper::start(folder.path());
        let root = folder.path().canonicalize().map_err(failed)?;
        let [repository, home, bin] = ["durations", "home", "bin"].map(|name| root.join(name));
        for path in [&repository, &home, &bin, &root.join("tmp")] {
            fs::create_dir(path).map_err(failed)?;
        }
        let steadfast = bin.join("steadfast").with_extension(std::env::consts::EXE_EXTENSION);
        std::env::current_exe().and_then(|program| std::os::unix::fs::symlink(&program, &steadfast)).map_err(failed)?;
        let paths = environment::path("PATH").unwrap_or_default();
        let paths = [bin].into_iter().chain(std::env::split_paths(paths.as_os_str()));
        let path = std::env::join_paths(paths)
            .map_err(|error| temporary(&format!("cannot put the temporary folder on the PATH: {error}")))?;
        // A login shell reads the machine's profile, which may set PATH anew.
        let profile = format!("PATH={}:\"$PATH\"\n", quote(&root.join("bin").to_string_lossy()));
        for name in [".profile", ".zprofile"] {
            fs::write(home.join(name), &profile).map_err(failed)?;
        }
        let place = Place { state: repository.join(".git/steadfast"), root: repository.clone() };
        let sandbox = Self { root, steadfast, repository, home, path, place, _folder: folder, _sweeper: sweeper };
        sandbox.fill()?;
        Ok(sandbox)
    }

    fn fill(&self) -> Result<(), CommandError> {
        self.run("git", &["init", "--quiet"])
            .map_err(|error| error.hint("the demo runs in a git repository: install `git`"))?;
        self.place.create().map_err(|error| temporary(&format!("cannot set up the temporary repository: {error}")))?;
        let (name, check) = CHECK;
        fs::write(self.repository.join(name), check)
            .map_err(|error| temporary(&format!("cannot write to the temporary repository: {error}")))?;
        for task in &TASKS {
            self.run(&self.steadfast, &["task", "add", task.title, "--file", task.file, "--verify", task.verify])?;
        }
        Ok(())
    }

    /// A command in the repository, isolated from the user's account and settings, and from an agent around the demo.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = steadfast_system::program(program);
        command
            .current_dir(&self.repository)
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", &self.path)
            .env("TMPDIR", self.root.join("tmp"))
            .env("XDG_CACHE_HOME", self.home.join(".cache"))
            .env("XDG_CONFIG_HOME", self.home.join(".config"))
            .env("XDG_DATA_HOME", self.home.join(".local/share"))
            .env("XDG_STATE_HOME", self.home.join(".local/state"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Result<(), CommandError> {
        let program = program.as_ref();
        let call = format!("`{} {}`", program.display(), arguments.join(" "));
        let output = self
            .command(program)
            .args(arguments)
            .output()
            .map_err(|error| CommandError::failure(format!("cannot run {call}: {error}")))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(CommandError::failure(format!("{call} failed: {}", said.trim())))
    }
}

/// An error about temporary files.
pub(super) fn temporary(message: &str) -> CommandError {
    CommandError::failure(message).hint("set `TMPDIR` to a writable folder with free space and without `:` in its path")
}

/// A process that removes the folder after the demo ended, by Ctrl-C too. It waits for its input to close, which happens
/// when the demo ends for any reason.
#[derive(Debug)]
struct Sweeper {
    process: Child,
    lifeline: Option<ChildStdin>,
}

impl Sweeper {
    fn start(folder: &Path) -> Option<Self> {
        use std::os::unix::process::CommandExt;

        // Without `done`, the demo was killed, and processes of the agent may still write: remove twice.
        let script = r#"read -r _ && exec rm -rf -- "$1"; rm -rf -- "$1"; sleep 1; rm -rf -- "$1""#;
        let mut process = steadfast_system::program("sh")
            .args(["-c", script, "sh"])
            .arg(folder)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .ok()?;
        let lifeline = process.stdin.take();
        Some(Self { process, lifeline })
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        if let Some(mut lifeline) = self.lifeline.take() {
            let _ = lifeline.write_all(b"done\n");
        }
        let _ = self.process.wait();
    }
}
