use std::path::PathBuf;

use steadfast_hosts::install::{self, CodexConfig, HooksFile, InstallError, Wired};
use steadfast_model::{Host, Millis, State};
use steadfast_store::{Place, SessionFiles};
use steadfast_work::Repository;

use crate::setup::Setup;
use crate::surroundings;

/// What every check looks at: the repository as it was set up, and what the hosts' settings say.
#[derive(Debug)]
pub(super) struct Here {
    pub(super) now: Millis,
    pub(super) setup: Setup,
    pub(super) repository: Repository,
    /// The strongest of each host first.
    pub(super) files: Vec<HooksFile>,
    pub(super) codex: Vec<CodexConfig>,
    /// Settings that could not be read.
    pub(super) unread: Vec<InstallError>,
}

impl Here {
    pub(super) fn look(setup: Setup) -> Self {
        let (homes, root) = (&setup.install.homes, &setup.install.root);
        let mut unread = Vec::new();
        let mut keep = |error| unread.push(error);
        let files = [Host::Claude, Host::Codex].into_iter().flat_map(|host| install::inspect(host, homes, root));
        let files = files.filter_map(|file| file.map_err(&mut keep).ok()).collect();
        let codex = install::codex_configs(homes, root).into_iter();
        let codex = codex.filter_map(|config| config.map_err(&mut keep).ok()).collect();
        let repository = Repository::at(setup.place.clone(), surroundings::environment());
        Self { now: surroundings::now(), setup, repository, files, codex, unread }
    }

    pub(super) fn place(&self) -> &Place {
        &self.setup.place
    }

    /// The files of one host.
    pub(super) fn files_of(&self, host: Host) -> impl Iterator<Item = &HooksFile> {
        self.files.iter().filter(move |file| file.host == host)
    }

    /// Every way in which a host is wired, once.
    pub(super) fn wired(&self) -> Vec<Wired<'_>> {
        self.files.iter().flat_map(HooksFile::wired).collect()
    }

    pub(super) fn wired_hosts(&self) -> Vec<Host> {
        let mut hosts: Vec<_> = self.wired().iter().map(|wired| wired.file.host).collect();
        hosts.dedup();
        hosts
    }

    pub(super) fn sessions(&self) -> Vec<(SessionFiles, State)> {
        let files = SessionFiles::all(self.place()).into_iter();
        files.filter_map(|files| files.peek().map(|state| (files, state))).collect()
    }

    /// The program a host starts for one of its wirings.
    pub(super) fn resolve(&self, program: &str) -> Option<PathBuf> {
        install::resolve(program, &self.setup.install.homes, &self.setup.install.root)
    }
}
