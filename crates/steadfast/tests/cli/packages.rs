//! What people install, from local files and without a network, on a machine that has only Node, only Python, or neither.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use steadfast_testkit::skip;
use xtask_package::{Effort, PackageTarget, Product, SHELLS, ShellCompletions};

use crate::sandbox::{may_mount, program};

mod timing;

/// What a slim image has. The demo plays in a git repository, so git is there too.
const BASICS: &[&str] = &[
    "sh",
    "basename",
    "cat",
    "chmod",
    "cp",
    "date",
    "dirname",
    "echo",
    "env",
    "expr",
    "false",
    "find",
    "git",
    "grep",
    "gzip",
    "head",
    "id",
    "ls",
    "mkdir",
    "mktemp",
    "mv",
    "printf",
    "pwd",
    "rm",
    "rmdir",
    "sed",
    "sha256sum",
    "sleep",
    "sort",
    "tail",
    "tar",
    "test",
    "touch",
    "tr",
    "true",
    "uname",
    "wc",
];

/// An empty machine: a home without files, and a PATH of a few programs.
struct Machine {
    dir: tempfile::TempDir,
}

impl Machine {
    /// Has these programs besides the basics.
    fn with(programs: &[&Path]) -> Self {
        let machine = Self { dir: tempfile::Builder::new().prefix("steadfast-cli").tempdir().unwrap() };
        for folder in ["home", "path", "tmp", "packages"] {
            fs::create_dir(machine.dir.path().join(folder)).unwrap();
        }
        let basics = BASICS.iter().map(|name| on_path(name).unwrap_or_else(|| panic!("there is no `{name}`")));
        for program in basics.chain(programs.iter().map(|path| (*path).to_owned())) {
            std::os::unix::fs::symlink(&program, machine.path("path").join(program.file_name().unwrap())).unwrap();
        }
        machine
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.dir.path().join(inside)
    }

    /// Where packages are written.
    fn packages(&self) -> PathBuf {
        self.path("packages")
    }

    /// A program of this machine, or one that was installed in `bin`.
    fn command(&self, program: impl AsRef<OsStr>, bin: Option<&Path>) -> Command {
        let mut command = Command::new(program);
        self.surround(&mut command, bin);
        command
    }

    /// The same where there is not even a loopback interface. None where that cannot be had; the test is then skipped.
    fn offline(&self, program: impl AsRef<OsStr>, bin: Option<&Path>) -> Option<Command> {
        let mut command = Command::new(on_path("unshare")?);
        command.args(["--map-root-user", "--net"]).arg(program);
        self.surround(&mut command, bin);
        may_mount().then_some(command)
    }

    fn surround(&self, command: &mut Command, bin: Option<&Path>) {
        let path = std::env::join_paths(bin.into_iter().chain([self.path("path").as_path()])).unwrap();
        command.current_dir(self.path("home")).env_clear().env("HOME", self.path("home")).env("PATH", path);
        command.env("TMPDIR", self.path("tmp")).stdin(Stdio::null());
    }

    /// A repository of its user.
    fn repository(&self) -> PathBuf {
        let repository = self.path("home/repository");
        said(self.command("git", None).args(["init", "--quiet"]).arg(&repository));
        repository
    }
}

/// The program of that name on the tester's PATH.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// What a command that must succeed prints.
fn said(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", both(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn both(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The machine that the program under test was built for.
fn target() -> &'static PackageTarget {
    let version = said(Command::new(program()).arg("--version"));
    let triple = version.lines().find_map(|line| line.strip_prefix("target ")).unwrap();
    PackageTarget::of(triple).unwrap_or_else(|| panic!("there are no packages for {triple}"))
}

/// Writes packages of `binary`.
fn package<T>(binary: &Path, make: impl FnOnce(&Product<'_>) -> xtask::Result<T>) -> T {
    static COMPLETIONS: OnceLock<Vec<ShellCompletions>> = OnceLock::new();
    let completions = COMPLETIONS.get_or_init(|| {
        let script = |shell| said(Command::new(program()).args(["completions", shell])).into_bytes();
        SHELLS.into_iter().map(|(shell, file)| ShellCompletions { shell, file, script: script(shell) }).collect()
    });
    let product = Product {
        sources: &sources(),
        binary,
        target: target(),
        version: env!("CARGO_PKG_VERSION"),
        completions,
        seconds: 1_700_000_000,
        effort: Effort::Fast,
    };
    make(&product).unwrap()
}

/// Writes a program that only says its version: the packages of it are small.
fn stand_in(machine: &Machine) -> PathBuf {
    let path = machine.path("steadfast");
    let version = env!("CARGO_PKG_VERSION");
    crate::sandbox::write_program(&path, &format!("echo 'steadfast {version}'"));
    path
}

/// Writes the archive, its checksums and `install.sh`.
fn write_release(machine: &Machine, binary: &Path) {
    let folder = machine.packages();
    package(binary, |product| {
        let files = [xtask_package::archive(product, &folder)?, xtask_package::installer(product, None, &folder)?];
        xtask_package::checksums(&files, &folder)
    });
}

/// Writes both npm packages and returns their paths.
fn write_npm(machine: &Machine) -> [PathBuf; 2] {
    let folder = machine.packages();
    package(&program(), |product| {
        Ok([xtask_package::npm_meta(product, &folder)?, xtask_package::npm_platform(product, &folder)?])
    })
}

/// A machine with Node and npm; None, and a skip, where the tester has none.
fn with_node() -> Option<Machine> {
    let (Some(node), Some(npm)) = (on_path("node"), on_path("npm")) else {
        skip("npm packages", &"`node` and `npm` are missing");
        return None;
    };
    Some(Machine::with(&[&node, &npm]))
}

fn install_sh(machine: &Machine, arguments: &[&str]) -> Output {
    machine.command("sh", None).arg(machine.packages().join("install.sh")).args(arguments).output().unwrap()
}

#[test]
fn install_sh_says_what_to_add_to_the_path() {
    let machine = Machine::with(&[]);
    write_release(&machine, &stand_in(&machine));
    let prefix = machine.path("a prefix");
    let output = install_sh(&machine, &["--prefix", prefix.to_str().unwrap()]);
    let program = prefix.join("bin/steadfast");
    assert!(output.status.success(), "{}", both(&output));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!(
            "steadfast {} is installed: {}\n\
             Its folder is not on your PATH. Add this line to the profile of your shell (~/.profile, ~/.bashrc, ~/.zshrc):\n  \
             export PATH=\"{}:$PATH\"\n\
             Next: `steadfast demo` shows it, `steadfast init` sets it up in a repository.\n",
            env!("CARGO_PKG_VERSION"),
            program.display(),
            prefix.join("bin").display()
        )
    );
    let left: Vec<_> = fs::read_dir(prefix.join("bin")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["steadfast"]);
    assert_eq!(fs::read_dir(machine.path("tmp")).unwrap().count(), 0);
}

#[test]
fn install_sh_installs_nothing_whose_checksum_differs() {
    let machine = Machine::with(&[]);
    write_release(&machine, &stand_in(&machine));
    let archive = format!("steadfast-{}-{}.tar.gz", env!("CARGO_PKG_VERSION"), target().triple);
    let archive = machine.packages().join(archive);
    let mut bytes = fs::read(&archive).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&archive, bytes).unwrap();
    let output = install_sh(&machine, &[]);
    assert_eq!(output.status.code(), Some(1));
    let text = both(&output);
    assert!(
        text.starts_with("error: the checksum of steadfast-") && text.ends_with(": nothing is installed\n"),
        "{text}"
    );

    fs::write(machine.packages().join("SHA256SUMS"), "").unwrap();
    let output = install_sh(&machine, &[]);
    assert!(both(&output).starts_with("error: SHA256SUMS does not name steadfast-"), "{}", both(&output));
    assert!(!machine.path("home/.local").exists());
}

#[test]
fn install_sh_installs_no_program_that_does_not_run() {
    let machine = Machine::with(&[]);
    let broken = machine.path("steadfast");
    crate::sandbox::write_program(&broken, "exit 1");
    write_release(&machine, &broken);
    let output = install_sh(&machine, &[]);
    assert_eq!(both(&output), "error: the program does not run on this machine: nothing is installed\n");
    assert_eq!(fs::read_dir(machine.path("home/.local/bin")).unwrap().count(), 0);
}

#[test]
fn install_sh_answers_a_wrong_call() {
    let machine = Machine::with(&[]);
    write_release(&machine, &stand_in(&machine));
    for (arguments, expected) in [
        (&["--prefix"][..], "error: `--prefix` requires a value\n"),
        (&["--root"], "error: unknown option `--root`\n\nhint: `--help` lists the options\n"),
        (&["--from", "http://localhost"], "error: http://localhost is no https address\n"),
    ] {
        assert_eq!(both(&install_sh(&machine, arguments)), expected);
    }
}

/// Where npm runs no scripts of packages, the command is a script of Node.
#[test]
fn the_script_that_npm_leaves_without_postinstall_starts_the_program_and_init_wires_that() {
    let Some(machine) = with_node() else { return };
    let packages = write_npm(&machine);
    let prefix = machine.path("home/prefix");
    let Some(mut npm) = machine.offline("npm", None) else { return };
    said(npm.args(["install", "--global", "--offline", "--ignore-scripts", "--prefix"]).arg(&prefix).args(&packages));
    let bin = prefix.join("bin");
    let script = bin.join("steadfast");
    assert!(fs::read(&script).unwrap().starts_with(b"#!/usr/bin/env node\n"));
    assert_eq!(
        said(machine.command(&script, Some(&bin)).arg("-V")),
        format!("steadfast {}\n", env!("CARGO_PKG_VERSION"))
    );
    let output = machine.command(&script, Some(&bin)).arg("no-such-command").output().unwrap();
    assert_eq!(output.status.code(), Some(64), "{}", both(&output));

    let repository = machine.repository();
    let mut init = machine.command(&script, Some(&bin));
    said(init.args(["init", "--host", "claude", "--yes"]).current_dir(&repository));
    assert_eq!(wired(&machine, &repository), native(&prefix).canonicalize().unwrap());
}

/// The program in the package of this machine.
fn native(prefix: &Path) -> PathBuf {
    let (os, cpu) = target().npm;
    prefix.join(format!("lib/node_modules/{}-{os}-{cpu}/bin/steadfast", xtask_package::PACKAGE))
}

/// The program that the hooks of a repository start.
fn wired(machine: &Machine, repository: &Path) -> PathBuf {
    let settings = fs::read(repository.join(".claude/settings.local.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_slice(&settings).unwrap();
    let hook = settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    let program = Path::new(hook).canonicalize().unwrap();
    assert!(program.starts_with(machine.dir.path().canonicalize().unwrap()), "{}", program.display());
    program
}

#[test]
fn init_refuses_to_wire_the_cache_of_npx() {
    let Some(machine) = with_node() else { return };
    let packages = write_npm(&machine);
    let repository = machine.repository();
    let Some(mut npx) = machine.offline("npm", None) else { return };
    npx.args(["exec", "--offline", "--yes"]);
    for package in &packages {
        npx.arg("--package").arg(package);
    }
    npx.args(["--", "steadfast", "init", "--host", "claude", "--yes"]).current_dir(&repository);
    let output = npx.output().unwrap();
    let text = both(&output);
    assert!(
        text.contains("is in the cache of `npx`, which deletes it later: hooks would name a missing file"),
        "{text}"
    );
    assert!(text.contains("hint: run `npm install --global steadfast-cli` to install it"), "{text}");
    assert_eq!(output.status.code(), Some(1));
    assert!(!repository.join(".claude").exists());
}
