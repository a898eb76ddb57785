//! The hosts' programs, pinned, from npm into a cache folder outside the tree.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A version of a host that the tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    Claude2_1_325,
    Claude2_1_197,
    Codex0_166_0,
    /// Runs the hooks of Claude Code's settings in a repository, without their `args`.
    Copilot1_0_102,
}

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("neither `STEADFAST_AGENTS`, `XDG_CACHE_HOME` nor `HOME` says where to keep it")]
    NoCache,
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot start npm: {0}")]
    NoNpm(io::Error),
    #[error("`npm ci` failed: {0}")]
    Npm(String),
    #[error("the package has no program for this machine, looked for {0}")]
    NoProgram(String),
}

/// Holds the lock file it was installed from, so a changed one is installed anew.
const COMPLETE: &str = "complete";

macro_rules! manifest {
    ($name:literal) => {
        Manifest {
            name: $name,
            package: include_str!(concat!("../agents/", $name, "/package.json")),
            lock: include_str!(concat!("../agents/", $name, "/package-lock.json")),
            npmrc: include_str!(concat!("../agents/", $name, "/.npmrc")),
        }
    };
}

struct Manifest {
    name: &'static str,
    package: &'static str,
    lock: &'static str,
    npmrc: &'static str,
}

impl Agent {
    pub const ALL: [Self; 4] = [Self::Claude2_1_325, Self::Claude2_1_197, Self::Codex0_166_0, Self::Copilot1_0_102];

    #[must_use]
    pub fn name(self) -> &'static str {
        self.manifest().name
    }

    /// There is a later version of the same host.
    #[must_use]
    pub fn is_older(self) -> bool {
        matches!(self, Self::Claude2_1_197)
    }

    fn manifest(self) -> Manifest {
        match self {
            Self::Claude2_1_325 => manifest!("claude-2.1.325"),
            Self::Claude2_1_197 => manifest!("claude-2.1.197"),
            Self::Codex0_166_0 => manifest!("codex-0.166.0"),
            Self::Copilot1_0_102 => manifest!("copilot-1.0.102"),
        }
    }

    /// The program itself, not npm's wrapper around it: that one wants the post-install script, or node at every start.
    fn program(self, folder: &Path) -> Option<PathBuf> {
        let modules = folder.join("node_modules");
        match self {
            Self::Claude2_1_325 | Self::Claude2_1_197 => subfolders(&modules.join("@anthropic-ai"))
                .into_iter()
                .map(|package| package.join(format!("claude{}", std::env::consts::EXE_SUFFIX)))
                .find(|program| program.is_file()),
            Self::Codex0_166_0 => subfolders(&modules.join("@openai"))
                .into_iter()
                .flat_map(|package| subfolders(&package.join("vendor")))
                .map(|target| target.join(format!("bin/codex{}", std::env::consts::EXE_SUFFIX)))
                .find(|program| program.is_file()),
            Self::Copilot1_0_102 => subfolders(&modules.join("@github"))
                .into_iter()
                .map(|package| package.join(format!("copilot{}", std::env::consts::EXE_SUFFIX)))
                .find(|program| program.is_file()),
        }
    }
}

/// The program of an agent, installed if it is not there yet.
pub fn install(agent: Agent) -> Result<PathBuf, AgentError> {
    let manifest = agent.manifest();
    let cache = cache().ok_or(AgentError::NoCache)?;
    let folder = cache.join(manifest.name);
    if !is_complete(&folder, &manifest) {
        let draft = cache.join(format!("{}.{}", manifest.name, std::process::id()));
        let fetched = fetch(&draft, &manifest).and_then(|()| put(&draft, &folder, &manifest));
        // What is left here is a failed draft, or one that came second.
        let _ = fs::remove_dir_all(&draft);
        fetched?;
    }
    agent.program(&folder).ok_or_else(|| AgentError::NoProgram(folder.display().to_string()))
}

fn cache() -> Option<PathBuf> {
    let path = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    path("STEADFAST_AGENTS").or_else(|| {
        let base = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")))?;
        Some(base.join("steadfast/agents"))
    })
}

fn is_complete(folder: &Path, manifest: &Manifest) -> bool {
    fs::read_to_string(folder.join(COMPLETE)).is_ok_and(|lock| lock == manifest.lock)
}

fn fetch(draft: &Path, manifest: &Manifest) -> Result<(), AgentError> {
    fs::create_dir_all(draft).map_err(|source| AgentError::Write { path: draft.to_owned(), source })?;
    write(&draft.join("package.json"), manifest.package)?;
    write(&draft.join("package-lock.json"), manifest.lock)?;
    write(&draft.join(".npmrc"), manifest.npmrc)?;
    let npm = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(draft)
        .stdin(Stdio::null())
        .output()
        .map_err(AgentError::NoNpm)?;
    if !npm.status.success() {
        return Err(AgentError::Npm(String::from_utf8_lossy(&npm.stderr).trim().to_owned()));
    }
    write(&draft.join(COMPLETE), manifest.lock)
}

/// Another process may be putting the same there: whoever comes second takes what is there.
fn put(draft: &Path, folder: &Path, manifest: &Manifest) -> Result<(), AgentError> {
    if folder.exists() && !is_complete(folder, manifest) {
        let stale = draft.with_extension("stale");
        if fs::rename(folder, &stale).is_ok() {
            let _ = fs::remove_dir_all(&stale);
        }
    }
    match fs::rename(draft, folder) {
        Err(_) if is_complete(folder, manifest) => Ok(()),
        moved => moved.map_err(|source| AgentError::Write { path: folder.to_owned(), source }),
    }
}

fn write(path: &Path, text: &str) -> Result<(), AgentError> {
    fs::write(path, text).map_err(|source| AgentError::Write { path: path.to_owned(), source })
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_holds_no_download_address() {
        for agent in Agent::ALL {
            let Manifest { name, lock, npmrc, .. } = agent.manifest();
            assert!(!lock.contains("\"resolved\"") && !lock.contains("://"), "{name}");
            assert_eq!(npmrc, "omit-lockfile-registry-resolved=true\n", "{name}");
        }
    }

    #[test]
    fn a_name_says_the_version_that_is_pinned() {
        for agent in Agent::ALL {
            let Manifest { name, package, .. } = agent.manifest();
            let version = name.split_once('-').map(|(_, version)| version).unwrap();
            assert!(package.contains(&format!("\": \"{version}\"")), "{name}: {package}");
        }
    }
}
