//! `steadfast doctor`: runs every check in the table [`checks::CHECKS`] and reports what is wrong.

mod checks;
mod finding;
mod measure;
mod program;

use std::path::{Path, PathBuf};

use steadfast_hosts::install::{self, AllowedCalls, CodexConfig, HooksFile, InstallError, Wired};
use steadfast_model::{Host, Millis, State};
use steadfast_store::ledger::{LedgerError, SliceError};
use steadfast_store::{Place, SessionFiles};

use crate::setup::Setup;
use crate::{Environment, Repository};
use checks::CHECKS;
pub use finding::{Diagnostic, DiagnosticSeverity};
pub use measure::hook_time;

/// Input of every check: the repository as it is set up, and the settings of the hosts.
#[derive(Debug)]
pub struct Installation {
    now: Millis,
    setup: Setup,
    repository: Repository,
    /// Settings files; for each host, the one with the highest precedence first.
    files: Vec<HooksFile>,
    codex: Vec<CodexConfig>,
    /// Settings that could not be read.
    unread: Vec<InstallError>,
    given: Given,
}

/// What the caller knows and the repository does not say.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The cap that the environment sets for Claude Code.
    pub stop_block_cap: Option<u64>,
    /// The permissions that `init` offers.
    pub offered: AllowedCalls,
}

/// Why a finding could not be fixed.
#[derive(Debug, thiserror::Error)]
pub enum FixError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Slice(#[from] SliceError),
    #[error(transparent)]
    Gate(#[from] std::io::Error),
    #[error("{}", .0.join("; "))]
    NotRestored(Vec<String>),
    #[error("`HOME` is not set, so the approval key cannot be found")]
    NoHome,
    #[error("cannot change the permissions of `{}`: {source}", path.display())]
    Key { path: PathBuf, source: std::io::Error },
    #[error("cannot {what} `{}`: {source}", path.display())]
    File { what: &'static str, path: PathBuf, source: std::io::Error },
}

/// The findings, and the fixes that were tried before.
#[derive(Debug, Default)]
pub struct Examined {
    pub findings: Vec<Diagnostic>,
    /// The code of each finding that had a fix, with the result of that fix.
    pub fixes: Vec<(&'static str, Result<String, FixError>)>,
}

/// Runs every check in the repository of this environment. With `fix`, findings that can be fixed without losing anything
/// are fixed.
pub fn examine(mut setup: Setup, environment: Environment, given: Given, fix: bool) -> Examined {
    // Outside git, a parent folder may be the one that was set up.
    let Some(place) = Place::find(&setup.place.root, environment.user_state.as_deref()) else {
        return Examined { findings: vec![checks::not_set_up(&setup.place)], ..Examined::default() };
    };
    setup.install.root.clone_from(&place.root);
    setup.place = place;
    let here = Installation::look(setup, environment, given);
    let mut examined = Examined::default();
    for check in CHECKS {
        let mut found = check(&here);
        let fixes: Vec<_> =
            found.iter().filter(|_| fix).filter_map(|found| Some((found.code, (found.fix?)(&here)))).collect();
        if !fixes.is_empty() {
            found = check(&here);
        }
        examined.findings.extend(found);
        examined.fixes.extend(fixes);
    }
    examined.findings.sort_by_key(|finding| finding.severity);
    examined
}

impl Installation {
    fn look(setup: Setup, environment: Environment, given: Given) -> Self {
        let (homes, root) = (&setup.install.homes, &setup.install.root);
        let mut unread = Vec::new();
        let mut keep = |error| unread.push(error);
        let files = Host::REAL.into_iter().flat_map(|host| install::inspect(host, homes, root));
        let files = files.filter_map(|file| file.map_err(&mut keep).ok()).collect();
        let codex = install::codex_configs(homes, root).into_iter();
        let codex = codex.filter_map(|config| config.map_err(&mut keep).ok()).collect();
        let now = environment.now();
        let repository = Repository::at(setup.place.clone(), environment);
        Self { now, setup, repository, files, codex, unread, given }
    }

    fn place(&self) -> &Place {
        &self.setup.place
    }

    fn files_of(&self, host: Host) -> impl Iterator<Item = &HooksFile> {
        self.files.iter().filter(move |file| file.host == host)
    }

    /// Every wiring of every host, each once.
    fn wired(&self) -> Vec<Wired<'_>> {
        self.files.iter().flat_map(HooksFile::wired).collect()
    }

    fn wired_hosts(&self) -> Vec<Host> {
        let mut hosts: Vec<_> = self.wired().iter().map(|wired| wired.file.host).collect();
        hosts.dedup();
        hosts
    }

    fn sessions(&self) -> Vec<(SessionFiles, State)> {
        let files = SessionFiles::all(self.place()).into_iter();
        files.filter_map(|files| files.peek().map(|state| (files, state))).collect()
    }

    /// The path of the program that a host starts for one of its wirings.
    fn resolve(&self, program: &str) -> Option<PathBuf> {
        install::resolve(program, &self.setup.install.homes, &self.setup.install.root)
    }
}

/// Returns true if other users of this machine may read a file or enter a folder.
fn is_open(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::symlink_metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
}
