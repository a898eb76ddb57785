use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use steadfast_model::Host;

/// The user's folders and `PATH`. The caller reads the environment.
#[derive(Clone, Debug)]
pub struct Homes {
    pub home: PathBuf,
    /// `CLAUDE_CONFIG_DIR`
    pub claude_config_dir: Option<PathBuf>,
    /// `CODEX_HOME`
    pub codex_home: Option<PathBuf>,
    /// `PATH`
    pub path: Option<OsString>,
}

impl Homes {
    pub fn claude_dir(&self) -> PathBuf {
        self.claude_config_dir.clone().unwrap_or_else(|| self.home.join(".claude"))
    }

    /// Returns the file in which Claude Code keeps everything except settings, also MCP servers. An old file in the
    /// configuration folder comes first, as in Claude Code.
    pub fn claude_json(&self) -> PathBuf {
        let old = self.claude_dir().join(".config.json");
        if fs::metadata(&old).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
            return old;
        }
        self.claude_config_dir.as_ref().unwrap_or(&self.home).join(".claude.json")
    }

    pub fn codex_dir(&self) -> PathBuf {
        self.codex_home.clone().unwrap_or_else(|| self.home.join(".codex"))
    }
}

/// Returns the hosts in use: the program is on the `PATH`, or its folder exists in the user's home or in the checkout.
pub fn detect(homes: &Homes, root: &Path) -> Vec<Host> {
    let in_use = |program: &str, folders: [PathBuf; 2]| {
        find_on_path(program, homes.path.as_deref(), root).is_some() || folders.iter().any(|folder| folder.is_dir())
    };
    let mut hosts = Vec::new();
    if in_use("claude", [homes.claude_dir(), root.join(".claude")]) {
        hosts.push(Host::Claude);
    }
    if in_use("codex", [homes.codex_dir(), root.join(".codex")]) {
        hosts.push(Host::Codex);
    }
    hosts
}

pub(crate) fn find_on_path(name: &str, path_var: Option<&OsStr>, cwd: &Path) -> Option<PathBuf> {
    std::env::split_paths(path_var?).map(|folder| cwd.join(folder).join(name)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
