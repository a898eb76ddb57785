//! The packages that people install: an archive, npm, a Python wheel and a `.deb`, from one binary.
//!
//! The same files always give the same bytes, on every machine and at any time: entries are sorted, belong to root, and
//! have the time of the commit. No packager's own program is required. Start with `Product` and the function of each
//! format.

mod archive;
mod debian;
mod format;
mod installer;
mod npm;
mod target;
mod template;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

pub use archive::archive;
pub use debian::debian;
pub use installer::{checksums, installer};
pub use npm::{npm_meta, npm_platform};
pub use target::{PackageTarget, TARGETS};
pub use wheel::wheel;
use xtask::Result;

/// The name in npm and on the Python index, where `steadfast` is another project.
pub const PACKAGE: &str = "steadfast-cli";

/// The source of all packages.
#[derive(Clone, Copy, Debug)]
pub struct Product<'a> {
    /// The workspace: its documents, and the templates in `packaging/`.
    pub sources: &'a Path,
    /// Built for `target`.
    pub binary: &'a Path,
    pub target: &'a PackageTarget,
    pub version: &'a str,
    pub completions: &'a [ShellCompletions],
    /// The time of every file in a package, in seconds since 1970.
    pub seconds: u64,
    pub effort: Effort,
}

/// The completions of one shell.
#[derive(Clone, Debug)]
pub struct ShellCompletions {
    pub shell: &'static str,
    /// The file name that the shell expects.
    pub file: &'static str,
    pub script: Vec<u8>,
}

/// The shells that `steadfast completions` supports, and the name of each completion file.
pub const SHELLS: [(&str, &str); 5] = [
    ("bash", "steadfast.bash"),
    ("zsh", "_steadfast"),
    ("fish", "steadfast.fish"),
    ("powershell", "_steadfast.ps1"),
    ("elvish", "steadfast.elv"),
];

/// The compression level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// For tests: a debug binary has 100 MB.
    Fast,
    Best,
}

/// A file of a package.
#[derive(Clone, Debug)]
struct PackagedFile {
    /// Inside the package, with `/`.
    path: String,
    content: Vec<u8>,
    is_program: bool,
}

impl PackagedFile {
    fn text(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), content: content.into(), is_program: false }
    }

    fn program(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), content: content.into(), is_program: true }
    }

    fn mode(&self) -> u32 {
        if self.is_program { 0o755 } else { 0o644 }
    }
}

impl Product<'_> {
    fn binary(&self) -> Result<Vec<u8>> {
        read(self.binary)
    }

    /// A document of the workspace.
    fn document(&self, name: &str) -> Result<Vec<u8>> {
        read(&self.sources.join(name))
    }

    fn completions(&self, shell: &str) -> Result<Vec<u8>> {
        let found = self.completions.iter().find(|completions| completions.shell == shell);
        found.map(|completions| completions.script.clone()).ok_or_else(|| format!("no completions for {shell}").into())
    }

    /// Returns a template of `packaging/` with its values filled in.
    fn template(&self, name: &str, values: &[(&str, &str)]) -> Result<String> {
        let path = self.sources.join("packaging").join(name);
        let text = fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let common = [("VERSION", self.version), ("PACKAGE", PACKAGE)];
        template::fill(&text, common.iter().chain(values))
            .map_err(|error| format!("{}: {error}", path.display()).into())
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()).into())
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
    let path = folder.join(name);
    fs::write(&path, content).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}
