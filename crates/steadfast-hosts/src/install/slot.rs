use std::path::PathBuf;

use steadfast_model::Host;
use steadfast_system::Access;

use super::change::FileContent;
use super::error::SettingsError;
use super::json::{Document, Node};
use super::original::{Original, outline};
use super::permissions::{self, PermissionChoice};
use super::scope::InstallPaths;
use super::wiring::Wiring;
use super::{hooks, record, server, server_toml};

/// One place of ours in one file.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) path: PathBuf,
    pub(super) part: Part,
    pub(super) keeper: Keeper,
    /// The host writes this file all the time. So its bytes never stay as we left them, and it contains data that we
    /// must not copy.
    pub(super) living: bool,
}

/// The owner of a file, which decides where its record is kept and who may read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeper {
    Repository,
    User,
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    Hooks(Wiring),
    Server { servers: Vec<String>, program: String },
    ServerToml { program: String },
}

/// The recorded contents of a file: before us, and as we left it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Remembered<'a> {
    pub(super) before: Option<&'a str>,
    pub(super) after: Option<&'a str>,
}

impl Slot {
    pub(super) fn still(path: PathBuf, part: Part, keeper: Keeper) -> Self {
        Self { path, part, keeper, living: false }
    }

    pub(super) fn living(path: PathBuf, part: Part) -> Self {
        Self { path, part, keeper: Keeper::User, living: true }
    }

    pub(super) fn record_file(&self, place: &InstallPaths) -> PathBuf {
        record::file_of(&self.path, &self.part.name(), self.keeper, place)
    }

    /// Returns the lock that Claude Code takes before it writes its file. Codex has none.
    pub(super) fn lock(&self) -> Option<PathBuf> {
        let takes_lock = self.living && matches!(self.part, Part::Server { .. });
        takes_lock.then(|| {
            let mut lock = self.path.clone().into_os_string();
            lock.push(".lock");
            lock.into()
        })
    }
}

impl Keeper {
    pub(super) fn access(self) -> Access {
        match self {
            Self::Repository => Access::Usual,
            Self::User => Access::Private,
        }
    }
}

impl Part {
    pub(super) fn content(&self) -> FileContent {
        match self {
            Self::Hooks(wiring) => FileContent::Hooks(wiring.host),
            Self::Server { .. } | Self::ServerToml { .. } => FileContent::Server,
        }
    }

    /// The user's choice that an installation with this part records. `None` if it offers no choice.
    pub(super) fn permissions(&self) -> Option<PermissionChoice> {
        match self {
            Self::Hooks(wiring) if wiring.host == Host::Claude => Some(match wiring.allow.as_slice() {
                [] => PermissionChoice::Declined,
                _ => PermissionChoice::Allowed,
            }),
            Self::Hooks(_) | Self::Server { .. } | Self::ServerToml { .. } => None,
        }
    }

    /// Identifies our parts within one file.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Hooks(_) => "hooks".to_owned(),
            Self::Server { servers, .. } => servers.join("\n"),
            Self::ServerToml { .. } => "mcp_servers".to_owned(),
        }
    }

    pub(super) fn merge(&self, text: &str, remembered: Remembered<'_>) -> Result<String, SettingsError> {
        match self {
            Self::Hooks(wiring) => {
                let mut document = Document::parse_settings(text)?;
                let original = Original::from_text(remembered.before);
                hooks::merge(&mut document, wiring)?;
                match wiring.stop_block_cap {
                    Some(cap) => hooks::raise_cap(&mut document, cap)?,
                    None => hooks::restore_cap(&mut document, &original, remembered.after)?,
                }
                permissions::merge(&mut document, &wiring.allow, &original, remembered.after)?;
                Ok(document.into_text())
            }
            Self::Server { servers, program } => {
                let mut document = Document::parse_settings(text)?;
                server::merge(&mut document, &keys(servers), program)?;
                Ok(document.into_text())
            }
            Self::ServerToml { program } => server_toml::merge(text, program),
        }
    }

    /// Returns the text without our part. A text without any part of ours is returned unchanged.
    pub(super) fn strip(&self, text: &str, remembered: Remembered<'_>) -> Result<String, SettingsError> {
        if let Self::ServerToml { .. } = self {
            return server_toml::strip(text);
        }
        let original = Original::from_text(remembered.before);
        let mut document = Document::parse_settings(text)?;
        let had_content = !document.root().is_empty();
        match self {
            Self::Hooks(wiring) => {
                hooks::strip(&mut document, wiring.host, &original)?;
                hooks::restore_cap(&mut document, &original, remembered.after)?;
                permissions::strip(&mut document, &original, remembered.after)?;
            }
            Self::Server { servers, .. } => server::strip(&mut document, &keys(servers), &original)?,
            Self::ServerToml { .. } => {}
        }
        match remembered.before {
            _ if !had_content => Ok(text.to_owned()),
            // An empty text is not JSON, but it is the original content.
            Some(before) if before.trim().is_empty() && document.root().is_empty() => Ok(before.to_owned()),
            _ => Ok(document.into_text()),
        }
    }

    /// Returns true if a text has no content.
    pub(super) fn is_bare(&self, text: &str) -> bool {
        match self {
            Self::ServerToml { .. } => text.trim().is_empty(),
            Self::Hooks(_) | Self::Server { .. } => {
                Document::parse_settings(text).is_ok_and(|document| Node::is_empty(document.root()))
            }
        }
    }

    /// Returns the part of a text that `strip` will need.
    pub(super) fn outline(&self, text: &str) -> Result<String, SettingsError> {
        match self {
            Self::Hooks(_) => outline(text, &["hooks"]),
            Self::Server { servers, .. } => outline(text, &keys(servers)),
            Self::ServerToml { .. } => Ok(String::new()),
        }
    }
}

fn keys(servers: &[String]) -> Vec<&str> {
    servers.iter().map(String::as_str).collect()
}
