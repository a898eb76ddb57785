//! The scope of an installation, and the files it selects.

use std::path::{Path, PathBuf};

use steadfast_model::{Host, Via};

use super::error::InstallError;
use super::homes::Homes;
use super::links::Links;
use super::slot::{Keeper, Part, Slot};
use super::wiring::{SHARED_PROGRAM, Wiring};

/// The users that an installation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstallScope {
    /// This user, in this repository. Codex has no such file: there the user's file is edited, and its hooks act only
    /// where state exists.
    Local,
    /// Everyone who works in this repository: the file is committed.
    Shared,
    /// This user, in all repositories.
    User,
}

/// The paths of an installation and of its records.
#[derive(Clone, Debug)]
pub struct InstallPaths {
    pub homes: Homes,
    /// The root of the checkout, links resolved.
    pub root: PathBuf,
    /// The root of the main checkout if `root` is a linked worktree, else the same. Claude Code stores a project's MCP
    /// servers under it.
    pub main_root: PathBuf,
    pub repository_records: PathBuf,
    pub user_records: PathBuf,
}

impl InstallScope {
    pub const ALL: [Self; 3] = [Self::Local, Self::Shared, Self::User];

    pub fn via(self, host: Host) -> Via {
        match (self, host) {
            (Self::Local, Host::Codex) | (Self::User, _) => Via::User,
            (Self::Local, Host::Claude | Host::Sim) => Via::Local,
            (Self::Shared, _) => Via::Project,
        }
    }

    /// A shared file names the program, because a path would be valid on one machine only.
    fn program(self, binary: &Path) -> Result<String, InstallError> {
        match self {
            Self::Shared => Ok(SHARED_PROGRAM.to_owned()),
            Self::Local | Self::User => text(binary),
        }
    }

    pub(super) fn slots(
        self,
        host: Host,
        place: &InstallPaths,
        binary: &Path,
        stop_block_cap: Option<u32>,
        allow: &[String],
    ) -> Result<Vec<Slot>, InstallError> {
        let program = self.program(binary)?;
        let called = match Links::of(host, self, place) {
            Some(links) => text(&links.base)?,
            None => program.clone(),
        };
        let allow = if host == Host::Claude { allow.to_vec() } else { Vec::new() };
        let wiring = Wiring { host, via: self.via(host), program: called, stop_block_cap, allow };
        let hooks = Part::Hooks(wiring);
        let servers = Part::Server { servers: vec!["mcpServers".to_owned()], program: program.clone() };
        let homes = &place.homes;
        Ok(match (host, self) {
            (Host::Claude, Self::Local) => {
                let project = text(&place.main_root)?;
                let servers = vec!["projects".to_owned(), project, "mcpServers".to_owned()];
                vec![
                    Slot::still(place.root.join(".claude/settings.local.json"), hooks, Keeper::Repository),
                    Slot::living(homes.claude_json(), Part::Server { servers, program }),
                ]
            }
            (Host::Claude, Self::Shared) => vec![
                Slot::still(place.root.join(".claude/settings.json"), hooks, Keeper::Repository),
                Slot::still(place.root.join(".mcp.json"), servers, Keeper::Repository),
            ],
            (Host::Claude, Self::User) => vec![
                Slot::still(homes.claude_dir().join("settings.json"), hooks, Keeper::User),
                Slot::living(homes.claude_json(), servers),
            ],
            (Host::Codex, Self::Local | Self::User) => vec![
                Slot::still(homes.codex_dir().join("hooks.json"), hooks, Keeper::User),
                Slot::living(homes.codex_dir().join("config.toml"), Part::ServerToml { program }),
            ],
            (Host::Codex, Self::Shared) => vec![
                Slot::still(place.root.join(".codex/hooks.json"), hooks, Keeper::Repository),
                Slot::still(place.root.join(".codex/config.toml"), Part::ServerToml { program }, Keeper::Repository),
            ],
            (Host::Sim, _) => Vec::new(),
        })
    }
}

fn text(path: &Path) -> Result<String, InstallError> {
    path.to_str().map(str::to_owned).ok_or_else(|| InstallError::Path { path: path.to_owned() })
}
