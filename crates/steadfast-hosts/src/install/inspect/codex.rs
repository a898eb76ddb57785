//! Reads the hook settings in Codex's `config.toml`: the switch, the trust, and hooks defined there.

use std::fs;
use std::path::{Path, PathBuf};

use toml_edit::{Document, Item};

use super::super::error::{InstallError, SettingsError, line_and_column};
use super::super::file;
use super::super::homes::Homes;
use super::{HooksFile, OurHook};

/// The hook settings in one `config.toml` of Codex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodexConfig {
    pub path: PathBuf,
    /// `[features] hooks`
    pub hooks: Option<bool>,
    pub stop_hooks: usize,
    states: Vec<HookState>,
}

/// `[hooks.state."<key>"]`
#[derive(Clone, Debug, PartialEq, Eq)]
struct HookState {
    key: String,
    trusted: bool,
    enabled: bool,
}

/// Reads the project's and the user's file, the strongest first. Only the user's file holds trust.
pub fn codex_configs(homes: &Homes, root: &Path) -> Vec<Result<CodexConfig, InstallError>> {
    paths(homes, root).iter().filter_map(|path| read(path).transpose()).collect()
}

pub(super) fn paths(homes: &Homes, root: &Path) -> Vec<PathBuf> {
    let mut paths = vec![root.join(".codex/config.toml"), homes.codex_dir().join("config.toml")];
    paths.dedup();
    paths
}

impl CodexConfig {
    /// Returns true if a human has trusted this hook. Codex compares a hash of the hook; this does not.
    pub fn trusts(&self, file: &HooksFile, hook: &OurHook) -> bool {
        self.states.iter().any(|state| state.trusted && state.is_of(file, hook))
    }

    /// Returns true if this hook alone is switched off.
    pub fn switches_off(&self, file: &HooksFile, hook: &OurHook) -> bool {
        self.states.iter().any(|state| !state.enabled && state.is_of(file, hook))
    }
}

impl HookState {
    /// The key is `<file>:<event>:<group>:<handler>`; the file may be spelled with links or without.
    fn is_of(&self, file: &HooksFile, hook: &OurHook) -> bool {
        let (group, index) = hook.place;
        let Some(path) = self.key.strip_suffix(&format!(":{}:{group}:{index}", snake_case(&hook.event))) else {
            return false;
        };
        let path = Path::new(path);
        path == file.path
            || fs::canonicalize(path).is_ok_and(|path| fs::canonicalize(&file.path).is_ok_and(|f| f == path))
    }
}

/// Reads a configuration file of Codex. `None`: there is none.
pub(crate) fn codex_document(path: &Path) -> Result<Option<Document<String>>, InstallError> {
    let Some(content) = file::read(path)? else { return Ok(None) };
    let text = file::utf8(path, &content)?;
    let document = Document::parse(text.to_owned()).map_err(|error| {
        let (line, column) = line_and_column(text, error.span().map_or(0, |span| span.start));
        let source = SettingsError::Syntax { line, column, problem: error.message().to_owned() };
        InstallError::Settings { path: path.to_owned(), source }
    })?;
    Ok(Some(document))
}

pub(super) fn read(path: &Path) -> Result<Option<CodexConfig>, InstallError> {
    let Some(document) = codex_document(path)? else { return Ok(None) };
    let hooks = document.get("hooks");
    let states = hooks.and_then(|hooks| hooks.get("state")).and_then(Item::as_table_like);
    let states = states.into_iter().flat_map(|states| states.iter()).map(|(key, state)| HookState {
        key: key.to_owned(),
        trusted: state.get("trusted_hash").and_then(Item::as_str).is_some_and(|hash| !hash.is_empty()),
        enabled: state.get("enabled").and_then(Item::as_bool) != Some(false),
    });
    Ok(Some(CodexConfig {
        path: path.to_owned(),
        hooks: document.get("features").and_then(|features| features.get("hooks")).and_then(Item::as_bool),
        stop_hooks: hooks.and_then(|hooks| hooks.get("Stop")).map_or(0, count),
        states: states.collect(),
    }))
}

/// Counts the groups of an event, written as tables or as an array on one line.
fn count(groups: &Item) -> usize {
    groups
        .as_array_of_tables()
        .map_or_else(|| groups.as_array().map_or(0, toml_edit::Array::len), |tables| tables.len())
}

/// Converts `PreToolUse` to `pre_tool_use`.
fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}
