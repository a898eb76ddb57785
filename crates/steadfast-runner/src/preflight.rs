//! The checks before a run changes anything.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use steadfast_hosts::launch::BehindError;
use steadfast_model::{Host, RunSettings};
use steadfast_observe::{GitCommand, GitFailed};
use steadfast_proxied::RunProxies;
use steadfast_store::ConfigError;

use crate::launch::{Launcher, Role, Start, prices};
use crate::worktrees::{Submodule, WorktreeError, has_commit, has_content, submodules};
use steadfast_work::disk::{self, LEAST_FREE, Room};
use steadfast_work::{Cause, Environment, Repository};

const QUICK: Duration = Duration::from_secs(30);

/// The reason why a run cannot start.
#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    #[error("`{}` is not a git repository", .0.display())]
    NoRepository(PathBuf),
    #[error("this repository has no commit yet")]
    NoCommit,
    #[error("HEAD is detached, so the result would belong to no branch")]
    Detached,
    #[error("this git cannot merge without a checkout (`git merge-tree --write-tree`): {0}")]
    OldGit(GitFailed),
    #[error("the submodule `{path}` lacks commit {commit:.12}, which HEAD requires")]
    SubmoduleCommit { path: String, commit: String },
    /// Carries the first few names.
    #[error("{} not committed: {}", files(*count), first.join(", "))]
    NotCommitted { count: usize, first: Vec<String> },
    #[error("git failed: {0}")]
    Git(GitFailed),
    #[error("cannot find the path of the running `steadfast`: {0}")]
    NoProgram(io::Error),
    #[error("{} is not on the PATH", hosts.join(" or "))]
    NoHost { hosts: Vec<String> },
    #[error("`HOME` is not set, so there is no folder for worktrees")]
    NoHome,
    #[error("cannot write to `{}`: {source}", folder.display())]
    NotWritable { folder: PathBuf, source: io::Error },
    #[error("`{}` is nearly full: less than {} MiB are left", .0.display(), LEAST_FREE >> 20)]
    NearlyFull(PathBuf),
    #[error(transparent)]
    Behind(#[from] BehindError),
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl NotReady {
    pub fn cause(&self) -> Cause {
        match self {
            Self::Git(_) | Self::NoProgram(_) | Self::NotWritable { .. } | Self::NearlyFull(_) => Cause::Infrastructure,
            _ => Cause::State,
        }
    }
}

fn files(count: usize) -> String {
    match count {
        1 => "1 file is".to_owned(),
        many => format!("{many} files are"),
    }
}

/// The preconditions of a run, met.
#[derive(Debug)]
pub struct Ready {
    pub host: Host,
    pub program: PathBuf,
    pub steadfast: PathBuf,
    /// The commit that the run starts at.
    pub base: String,
    /// The folder for the worktrees of this repository's runs.
    pub worktrees: PathBuf,
    /// `None`: agents call their model themselves.
    pub proxies: Option<Arc<RunProxies>>,
    /// Claude Code loses functions that it has with Anthropic's own address only.
    leaves_first_party: bool,
}

impl Ready {
    /// Returns what Claude Code lacks behind a proxy, if the user does not know yet.
    pub fn first_party_note(&self, repository: &Repository) -> Option<&'static str> {
        self.leaves_first_party.then(|| repository.environment.first_party_note()).flatten()
    }
}

pub fn preflight(
    repository: &Repository,
    settings: &RunSettings,
    host: Option<Host>,
    spec: &str,
    from_head: bool,
) -> Result<Ready, NotReady> {
    let root = &repository.place.root;
    if !root.join(".git").exists() {
        return Err(NotReady::NoRepository(root.clone()));
    }
    let git = || GitCommand::at(root);
    let base = git().call("rev-parse").args(["--verify", "--quiet", "HEAD^{commit}"]).outcome(&[0, 1], QUICK);
    let base = match base {
        Ok((0, commit)) => commit,
        // A folder named `.git` is not enough.
        Err(error) if error.to_string().contains("not a git repository") => {
            return Err(NotReady::NoRepository(root.clone()));
        }
        Err(error) => return Err(NotReady::Git(error)),
        Ok(_) => return Err(NotReady::NoCommit),
    };
    let branch = git().call("symbolic-ref").args(["--quiet", "HEAD"]).outcome(&[0, 1], QUICK);
    if branch.map_err(NotReady::Git)?.0 == 1 {
        return Err(NotReady::Detached);
    }
    let merges = git().call("merge-tree").args(["--write-tree", "HEAD", "HEAD"]).answer(QUICK);
    if let Err(error) = merges {
        return Err(NotReady::OldGit(error));
    }
    if let Some(Submodule { path, commit }) = lacking(root, &base)? {
        return Err(NotReady::SubmoduleCommit { path, commit });
    }
    let status = git().call("status").args(["--porcelain", "--untracked-files=normal"]).answer(QUICK);
    let status = status.map_err(NotReady::Git)?;
    let changed: Vec<&str> =
        status.lines().filter_map(|line| line.get(3..)).filter(|name| name.trim_matches('"') != spec).collect();
    if !changed.is_empty() && !from_head {
        let mut first: Vec<String> = changed.iter().take(3).map(|name| (*name).to_owned()).collect();
        if changed.len() > first.len() {
            first.push("…".to_owned());
        }
        return Err(NotReady::NotCommitted { count: changed.len(), first });
    }
    agent_and_folder(repository, settings, host, &base)
}

/// Finds a submodule that has content in the checkout but not the commit that a worktree needs. A submodule that is
/// empty in the checkout is empty in every worktree, too.
fn lacking(root: &Path, base: &str) -> Result<Option<Submodule>, NotReady> {
    let modules = match submodules(GitCommand::at(root), base) {
        Ok(modules) => modules,
        Err(WorktreeError::Git(error)) => return Err(NotReady::Git(error)),
        Err(_) => return Ok(None),
    };
    Ok(modules.into_iter().find(|module| has_content(root, module) && !has_commit(root, module)))
}

/// Checks the preconditions that also apply to a resumed run.
pub fn agent_and_folder(
    repository: &Repository,
    settings: &RunSettings,
    host: Option<Host>,
    base: &str,
) -> Result<Ready, NotReady> {
    let steadfast = std::env::current_exe().map_err(NotReady::NoProgram)?;
    let (host, program) = agent(host, &steadfast, &repository.environment)?;
    let worktrees = worktrees(repository, settings)?;
    writable(&worktrees)?;
    writable(&repository.place.state)?;
    let ready =
        Ready { host, program, steadfast, base: base.to_owned(), worktrees, proxies: None, leaves_first_party: false };
    if settings.proxy.value { behind_proxies(repository, settings, ready) } else { Ok(ready) }
}

/// Checks that an agent can run behind a proxy. The simulated agent calls no model, so it has none.
fn behind_proxies(repository: &Repository, settings: &RunSettings, mut ready: Ready) -> Result<Ready, NotReady> {
    if ready.host == Host::Sim {
        return Ok(ready);
    }
    let Environment { homes, variable, hook, .. } = &repository.environment;
    let proxies = RunProxies {
        account: Arc::default(),
        mode: repository.config.load()?.proxy.mode.value,
        prices: prices(settings),
        homes: homes.clone().ok_or(NotReady::NoHome)?,
        variable: *variable,
        hook: *hook,
        login: OnceLock::new(),
    };
    // Every agent gets the arguments of this one.
    let any = Start { prompt: "", share: None, spent: Path::new(""), role: Role::Worker };
    let launch = Launcher::new(repository, settings, ready.host, &ready).launch(&any);
    ready.leaves_first_party = proxies.behind(&launch, &repository.place.root)?.leaves_first_party();
    ready.proxies = Some(Arc::new(proxies));
    Ok(ready)
}

/// Returns the requested host, or else the installed one.
fn agent(wanted: Option<Host>, steadfast: &Path, environment: &Environment) -> Result<(Host, PathBuf), NotReady> {
    let candidates = match wanted {
        Some(host) => vec![host],
        None => vec![Host::Claude, Host::Codex],
    };
    for host in &candidates {
        let found = match host {
            Host::Sim => Some(steadfast.to_owned()),
            Host::Claude => on_path("claude", environment),
            Host::Codex => on_path("codex", environment),
        };
        if let Some(program) = found {
            return Ok((*host, program));
        }
    }
    let hosts = candidates.iter().map(|host| format!("`{}`", host.as_str())).collect();
    Err(NotReady::NoHost { hosts })
}

fn on_path(name: &str, environment: &Environment) -> Option<PathBuf> {
    let path = environment.path.as_ref()?;
    std::env::split_paths(path).map(|dir| dir.join(name)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Returns the folder for all worktrees of this repository's runs. It is never inside the checkout or `.git`, where
/// hosts, builds and our own rules would misread them.
pub fn worktrees(repository: &Repository, settings: &RunSettings) -> Result<PathBuf, NotReady> {
    let Repository { place, environment, .. } = repository;
    let said = settings.worktrees.value.as_str();
    let base = match said.strip_prefix("~/") {
        Some(below) => environment.home.as_ref().map(|home| home.join(below)),
        None if said.is_empty() => environment.user_state.as_ref().map(|state| state.join("worktrees")),
        None => Some(place.root.join(said)),
    };
    let base = base.ok_or(NotReady::NoHome)?;
    let name = place.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let hash = steadfast_model::fnv([place.state.as_os_str().as_encoded_bytes()]);
    Ok(base.join(format!("{name}-{:08x}", (hash ^ (hash >> 32)) as u32)))
}

fn writable(folder: &Path) -> Result<(), NotReady> {
    let failed = |source| NotReady::NotWritable { folder: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    // The name never changes and the file is removed before it is written, so a process that is killed here leaves at
    // most one file, which the next probe removes.
    let probe = folder.join(".probe");
    let mut file = fs::File::create(&probe).map_err(failed)?;
    let _ = fs::remove_file(&probe);
    file.write_all(&[0; 4096]).and_then(|()| file.sync_all()).map_err(failed)?;
    match disk::room(folder).map_err(failed)? {
        Room::Enough => Ok(()),
        Room::NearlyFull => Err(NotReady::NearlyFull(folder.to_owned())),
    }
}
