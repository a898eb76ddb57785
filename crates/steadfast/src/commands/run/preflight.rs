//! What has to hold before anything is changed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::{Host, RunSettings};
use steadfast_observe::GitCommand;
use steadfast_store::Place;

use crate::error::CommandError;
use crate::setup;
use crate::surroundings;

const QUICK: Duration = Duration::from_secs(30);

/// Less than this, and a worktree or the ledger is soon torn.
const LEAST_FREE: u64 = 64 << 20;

/// What a run begins with.
#[derive(Debug)]
pub(in crate::commands) struct Ready {
    pub(in crate::commands) host: Host,
    pub(super) program: PathBuf,
    pub(super) steadfast: PathBuf,
    /// The commit it begins at.
    pub(in crate::commands) base: String,
    /// Where the worktrees of this repository's runs go.
    pub(super) worktrees: PathBuf,
}

pub(super) fn preflight(
    place: &Place,
    settings: &RunSettings,
    host: Option<Host>,
    spec: &str,
    from_head: bool,
) -> Result<Ready, CommandError> {
    let root = &place.root;
    if !root.join(".git").exists() {
        return Err(no_repository(root));
    }
    let git = || GitCommand::at(root);
    let base = git().call("rev-parse").args(["--verify", "--quiet", "HEAD^{commit}"]).outcome(&[0, 1], QUICK);
    let base = match base {
        Ok((0, commit)) => commit,
        // A folder of that name is not enough.
        Err(error) if error.to_string().contains("not a git repository") => return Err(no_repository(root)),
        Err(error) => return Err(unusable(&error)),
        Ok(_) => {
            return Err(CommandError::failure("this repository has no commit yet")
                .hint("commit something first: agents begin at the last commit"));
        }
    };
    let branch = git().call("symbolic-ref").args(["--quiet", "HEAD"]).outcome(&[0, 1], QUICK);
    if branch.map_err(|error| unusable(&error))?.0 == 1 {
        return Err(CommandError::failure("HEAD is detached: nobody would know where the result belongs")
            .hint("`git switch BRANCH`, or `git switch --create BRANCH` to begin one here"));
    }
    let merges = git().call("merge-tree").args(["--write-tree", "HEAD", "HEAD"]).answer(QUICK);
    if let Err(error) = merges {
        return Err(CommandError::failure(format!("git cannot merge without a checkout: {error}"))
            .hint("install git 2.38 or newer"));
    }
    let modules = git().call("ls-files").args(["--stage"]).answer(QUICK).map_err(|error| unusable(&error))?;
    if modules.lines().any(|line| line.starts_with("160000 ")) {
        return Err(CommandError::failure("this repository has submodules, and worktrees have no content for them")
            .hint("run it in the submodule itself, or in a repository without"));
    }
    let status = git().call("status").args(["--porcelain", "--untracked-files=normal"]).answer(QUICK);
    let status = status.map_err(|error| unusable(&error))?;
    let changed: Vec<&str> =
        status.lines().filter_map(|line| line.get(3..)).filter(|name| name.trim_matches('"') != spec).collect();
    if !changed.is_empty() && !from_head {
        let some: Vec<&str> = changed.iter().copied().take(3).collect();
        let more = if changed.len() > some.len() { ", …" } else { "" };
        return Err(CommandError::failure(format!(
            "{} not committed: {}{more}",
            match changed.len() {
                1 => "1 file is".to_owned(),
                many => format!("{many} files are"),
            },
            some.join(", ")
        ))
        .hint("commit or stash them: agents begin at the last commit and would not see them")
        .hint("`--from-head` begins there all the same; your files stay as they are"));
    }
    agent_and_folder(place, settings, host, &base)
}

fn no_repository(root: &Path) -> CommandError {
    CommandError::failure(format!("`{}` is no git repository", root.display()))
        .hint("`git init`, and a first commit: agents work in worktrees, and what they did is merged")
}

/// What has to hold for a run that goes on, too.
pub(in crate::commands) fn agent_and_folder(
    place: &Place,
    settings: &RunSettings,
    host: Option<Host>,
    base: &str,
) -> Result<Ready, CommandError> {
    let steadfast = std::env::current_exe().map_err(|error| {
        CommandError::failure(format!("cannot find this program: {error}"))
            .hint("mount `/proc`, which says where it is")
    })?;
    let (host, program) = agent(host, &steadfast)?;
    let worktrees = worktrees(place, settings)?;
    writable(&worktrees)?;
    writable(&place.state)?;
    Ok(Ready { host, program, steadfast, base: base.to_owned(), worktrees })
}

/// The wanted host, else the one that is installed.
fn agent(wanted: Option<Host>, steadfast: &Path) -> Result<(Host, PathBuf), CommandError> {
    let candidates = match wanted {
        Some(host) => vec![host],
        None => vec![Host::Claude, Host::Codex],
    };
    for host in &candidates {
        let found = match host {
            Host::Sim => Some(steadfast.to_owned()),
            Host::Claude => on_path("claude"),
            Host::Codex => on_path("codex"),
        };
        if let Some(program) = found {
            return Ok((*host, program));
        }
    }
    let missing: Vec<String> = candidates.iter().map(|host| format!("`{}`", host.as_str())).collect();
    Err(CommandError::failure(format!("{} is not on the PATH", missing.join(" or ")))
        .hint("install it, or name another with `--host`"))
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = surroundings::path_variable()?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The folder for all worktrees of this repository's runs: never inside the checkout or `.git`, where hosts, builds and
/// our own rules would take them for something else.
pub(super) fn worktrees(place: &Place, settings: &RunSettings) -> Result<PathBuf, CommandError> {
    let said = settings.worktrees.value.as_str();
    let base = match said.strip_prefix("~/") {
        Some(below) => surroundings::home().map(|home| home.join(below)),
        None if said.is_empty() => surroundings::user_state().map(|state| state.join("worktrees")),
        None => Some(place.root.join(said)),
    };
    let base = base.ok_or_else(|| {
        CommandError::failure("`HOME` is not set, so there is nowhere to keep worktrees")
            .hint("set `HOME`, or `run.worktrees` to a folder of yours")
    })?;
    let name = place.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let hash = steadfast_model::fnv([place.state.as_os_str().as_encoded_bytes()]);
    Ok(base.join(format!("{name}-{:08x}", (hash ^ (hash >> 32)) as u32)))
}

fn writable(folder: &Path) -> Result<(), CommandError> {
    let failed = |error: std::io::Error| {
        CommandError::failure(format!("`{}` cannot be written: {error}", folder.display()))
            .hint("make room there, or see to its permissions; `run.worktrees` names another folder for worktrees")
    };
    fs::create_dir_all(folder).map_err(failed)?;
    // Always the same name, and gone before it is written: whoever is killed here leaves nothing that the next one does
    // not take away.
    let probe = folder.join(".probe");
    let mut file = fs::File::create(&probe).map_err(failed)?;
    let _ = fs::remove_file(&probe);
    file.write_all(&[0; 4096]).and_then(|()| file.sync_all()).map_err(failed)?;
    let space = rustix::fs::statvfs(folder).map_err(|error| failed(error.into()))?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    if free < LEAST_FREE {
        return Err(CommandError::failure(format!(
            "`{}` is nearly full: less than {} MiB are left",
            folder.display(),
            LEAST_FREE >> 20
        ))
        .hint("make room there: worktrees and the ledger need it"));
    }
    Ok(())
}

fn unusable(error: &dyn std::error::Error) -> CommandError {
    CommandError::failure(format!("git does not answer: {error}")).hint("`steadfast doctor` looks at this repository")
}

/// For messages: Claude Code, Codex.
pub(super) fn name(host: Host) -> &'static str {
    setup::full_name(host)
}
