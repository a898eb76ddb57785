//! Adds Steadfast to a host and removes it.
//!
//! An [`InstallScope`] selects the files, a [`Wiring`] the hooks in them. [`plan_install`] and [`plan_uninstall`] read
//! and compute, [`apply`] writes. A record keeps the earlier content, so that uninstalling restores it. Nothing here
//! prints or reads the environment.

mod apply;
mod binary;
mod change;
mod error;
mod file;
mod homes;
mod hooks;
mod inspect;
mod json;
mod keeps;
mod links;
mod original;
mod permissions;
mod plan;
mod record;
mod scope;
mod server;
mod server_toml;
mod skills;
mod slot;
mod wiring;

#[cfg(test)]
mod tests;

pub use apply::apply;
pub use binary::{BinaryError, PackageRunner, find_binary, is_on_path};
pub use change::{FileContent, FileEdit, InstallPlan};
pub use error::{InstallError, SettingsError};
pub use homes::{Homes, detect};
pub use hooks::STOP_BLOCK_CAP;
pub use inspect::{
    CodexConfig, HooksFile, OurHook, Switches, Way, Wired, codex_configs, inspect, resolve, switches, watched,
};
pub(crate) use inspect::{SettingsEnv, claude_env, codex_document};
pub use keeps::{is_claude_settings, keeps_hooks};
pub use links::link_call;
pub use permissions::{AllowedCalls, PermissionChoice, is_allowed};
pub use plan::{InstallRequest, permission_choice, plan_install, plan_uninstall};
pub use scope::{InstallPaths, InstallScope};
pub use wiring::{HookLine, SERVER, Wiring, lines, plugin_hooks};

use slot::{Part, Remembered};

/// Returns a settings file of Claude Code (or a hooks file of Codex) with our hooks added. For any input it returns an
/// error or valid JSON; it never panics.
pub fn merge_claude_settings(text: &str, wiring: &Wiring) -> Result<String, SettingsError> {
    Part::Hooks(wiring.clone()).merge(text, Remembered::default())
}
