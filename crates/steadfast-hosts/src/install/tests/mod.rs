mod inspect;
mod lifecycle;
mod links;
mod merge;
mod permissions;
mod refusal;
mod server;
mod sharing;
mod skills;

use std::fs;
use std::path::{Path, PathBuf};

use steadfast_model::{Host, Via};
use tempfile::TempDir;

use super::*;

const LINK: &str = "/opt/hooks/steadfast-hook-claude-local";

fn wiring() -> Wiring {
    Wiring { host: Host::Claude, via: Via::Local, program: LINK.to_owned(), stop_block_cap: None, allow: Vec::new() }
}

/// A user's home and one repository in it.
struct World {
    _folder: TempDir,
    home: PathBuf,
    /// The permission rules that the user accepts.
    allow: Vec<String>,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir(home.join("repo")).unwrap();
        let allow = ["Bash(steadfast task next:*)", "Bash(steadfast why:*)", "mcp__steadfast__task_next"];
        Self { _folder: folder, home, allow: allow.map(str::to_owned).to_vec() }
    }

    fn place(&self) -> InstallPaths {
        self.place_of("repo")
    }

    fn place_of(&self, repository: &str) -> InstallPaths {
        let root = self.home.join(repository);
        let path = None;
        let homes = Homes { home: self.home.clone(), claude_config_dir: None, codex_home: None, path };
        InstallPaths {
            homes,
            main_root: root.clone(),
            repository_records: root.join(".git/steadfast/install"),
            user_records: self.home.join(".local/state/steadfast/install"),
            root,
        }
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.home.join(path)).ok()
    }

    fn plan(&self, scope: InstallScope) -> Result<InstallPlan, InstallError> {
        self.plan_with(scope, "/opt/bin/steadfast", None)
    }

    fn plan_with(
        &self,
        scope: InstallScope,
        binary: &str,
        stop_block_cap: Option<u32>,
    ) -> Result<InstallPlan, InstallError> {
        let place = self.place();
        let (hosts, binary) = ([Host::Claude, Host::Codex], Path::new(binary));
        plan_install(&InstallRequest {
            hosts: &hosts,
            scope,
            place: &place,
            binary,
            stop_block_cap,
            allow: &self.allow,
        })
    }

    fn install(&self, scope: InstallScope) {
        apply(&self.plan(scope).unwrap()).unwrap();
    }

    fn uninstall(&self) {
        apply(&self.plan_out().unwrap()).unwrap();
    }

    fn plan_out(&self) -> Result<InstallPlan, InstallError> {
        plan_uninstall(&[Host::Claude, Host::Codex], &InstallScope::ALL, &self.place(), &Path::exists)
    }

    /// Every file of the world except our records.
    fn files(&self) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        collect(&self.home, &mut files);
        files.retain(|(path, _)| !path.to_string_lossy().contains("steadfast/install"));
        files.sort();
        files
    }
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if let Ok(target) = fs::read_link(&path) {
            files.push((path, target.display().to_string()));
        } else {
            files.push((path.clone(), fs::read_to_string(&path).unwrap()));
        }
    }
}
