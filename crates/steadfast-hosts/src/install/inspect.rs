//! Reads the hooks in a host's settings files, ours and others'. Changes nothing.

mod codex;
mod wired;

use std::fs;
use std::path::{Path, PathBuf};

use steadfast_model::{Host, Via};

use super::error::{InstallError, SettingsError};
use super::file;
use super::homes::{Homes, find_on_path};
use super::hooks::STOP_BLOCK_CAP;
use super::json::{Document, Kind, Member, Node};
use super::links;
use super::permissions::texts;
use super::wiring::{Ours, read_ours};

pub(crate) use codex::codex_document;
pub use codex::{CodexConfig, codex_configs};
pub use wired::{Switches, Way, Wired, switches, watched};

/// The folder of an administrator's settings for Claude Code.
const MANAGED: &str =
    if cfg!(target_os = "macos") { "/Library/Application Support/ClaudeCode" } else { "/etc/claude-code" };

/// The hook settings in one file of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HooksFile {
    pub host: Host,
    pub path: PathBuf,
    /// Set by an administrator; the user cannot override it.
    pub managed: bool,
    pub ours: Vec<OurHook>,
    pub other_stop_hooks: usize,
    /// `disableAllHooks`
    pub disable_all: Option<bool>,
    /// `allowManagedHooksOnly`
    pub managed_only: bool,
    /// `env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`
    pub stop_block_cap: Option<u64>,
    /// `permissions.allow`
    pub allow: Vec<String>,
    /// `permissions.defaultMode`
    pub default_mode: Option<String>,
    /// The other top-level keys.
    pub other_keys: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OurHook {
    /// The event name, as the host spells it.
    pub event: String,
    pub via: Via,
    /// The program, or the base link of the wiring; [`OurHook::started`] returns the link that the host starts.
    pub program: String,
    /// Written by an older version: a host that ignores `args` runs something else.
    pub needs_args: bool,
    /// Index of its group in the event, and index in the group.
    pub place: (usize, usize),
    /// Additions that make the host call it less often, or not wait for it: a matcher, `async`, `if`.
    pub narrowed_by: Vec<String>,
}

impl OurHook {
    /// Returns the path that the host starts: the program, or the link for this event.
    pub fn started(&self) -> String {
        if links::is_base(&self.program) {
            return links::for_event(&self.program, &self.event);
        }
        self.program.clone()
    }
}

/// Reads the files of `host` with hooks for the checkout at `root`, the strongest first. Missing files are left out; a
/// file that cannot be read is an error in the list.
pub fn inspect(host: Host, homes: &Homes, root: &Path) -> Vec<Result<HooksFile, InstallError>> {
    inspect_with(host, homes, root, Path::new(MANAGED))
}

/// The variables that one settings file of Claude Code sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingsEnv {
    pub(crate) path: PathBuf,
    /// Set by an administrator; nothing overrides it.
    pub(crate) managed: bool,
    pub(crate) variables: Vec<(String, String)>,
}

/// Reads the variables in Claude Code's settings for a session in this folder, the strongest file first.
pub(crate) fn claude_env(homes: &Homes, folder: &Path) -> Result<Vec<SettingsEnv>, InstallError> {
    let mut found = Vec::new();
    for (path, managed) in paths(Host::Claude, homes, folder, Path::new(MANAGED)) {
        let Some(content) = file::read(&path)? else { continue };
        let text = file::utf8(&path, &content)?;
        let in_settings = |source: SettingsError| InstallError::Settings { path: path.clone(), source };
        let document = Document::parse_settings(text).map_err(in_settings)?;
        let members = document.root().member("env").and_then(Node::members).unwrap_or_default();
        let pair = |member: &Member| Some((member.key.clone(), member.value.as_str()?.to_owned()));
        let variables = members.iter().filter_map(pair).collect();
        found.push(SettingsEnv { path, managed, variables });
    }
    Ok(found)
}

/// Returns the program that a host starts for `program`: a path unchanged, a bare name from the `PATH`.
pub fn resolve(program: &str, homes: &Homes, cwd: &Path) -> Option<PathBuf> {
    if program.contains(['/', '\\']) {
        return Some(PathBuf::from(program));
    }
    find_on_path(program, homes.path.as_deref(), cwd)
}

pub(super) fn inspect_with(
    host: Host,
    homes: &Homes,
    root: &Path,
    managed: &Path,
) -> Vec<Result<HooksFile, InstallError>> {
    let files = paths(host, homes, root, managed).into_iter();
    files.filter_map(|(path, managed)| inspect_file(host, &path, managed).transpose()).collect()
}

/// Lists the files that may hold hooks, the strongest first; the flag is true for an administrator's file.
fn paths(host: Host, homes: &Homes, root: &Path, managed: &Path) -> Vec<(PathBuf, bool)> {
    let own = |paths: Vec<PathBuf>| paths.into_iter().map(|path| (path, false));
    let mut files: Vec<_> = match host {
        Host::Claude => {
            let above = managed_files(managed).into_iter().map(|path| (path, true));
            let paths = ["settings.local.json", "settings.json"].map(|name| root.join(".claude").join(name));
            above.chain(own([paths.to_vec(), vec![homes.claude_dir().join("settings.json")]].concat())).collect()
        }
        Host::Codex => own(vec![root.join(".codex/hooks.json"), homes.codex_dir().join("hooks.json")]).collect(),
        Host::Sim => Vec::new(),
    };
    // If the repository is the user's home, its settings and the user's are one file.
    let mut seen: Vec<PathBuf> = Vec::new();
    files.retain(|(path, _)| {
        let is_new = !seen.contains(path);
        seen.push(path.clone());
        is_new
    });
    files
}

/// Lists the administrator's files, the strongest first: later files of the folder override earlier ones, and all of
/// them override the single file.
fn managed_files(folder: &Path) -> Vec<PathBuf> {
    let pieces = fs::read_dir(folder.join("managed-settings.d")).into_iter().flatten().flatten();
    let mut files: Vec<_> = pieces.map(|piece| piece.path()).collect();
    files.retain(|path| path.extension().is_some_and(|kind| kind == "json"));
    files.sort();
    files.reverse();
    files.push(folder.join("managed-settings.json"));
    files
}

fn inspect_file(host: Host, path: &Path, managed: bool) -> Result<Option<HooksFile>, InstallError> {
    let Some(content) = file::read(path)? else { return Ok(None) };
    let text = file::utf8(path, &content)?;
    let in_settings = |source: SettingsError| InstallError::Settings { path: path.to_owned(), source };
    let document = Document::parse_settings(text).map_err(in_settings)?;
    let root = document.root();
    let permissions = root.member("permissions");
    let mut read = HooksFile {
        host,
        path: path.to_owned(),
        managed,
        ours: Vec::new(),
        other_stop_hooks: 0,
        disable_all: root.member("disableAllHooks").and_then(|node| as_bool(&document, node)),
        managed_only: root.member("allowManagedHooksOnly").and_then(|node| as_bool(&document, node)) == Some(true),
        stop_block_cap: root.member("env").and_then(|env| env.member(STOP_BLOCK_CAP)).and_then(Node::as_count),
        allow: permissions.and_then(|node| node.member("allow")).map(permission_rules).unwrap_or_default(),
        default_mode: permissions.and_then(|node| node.member("defaultMode")).and_then(Node::as_str).map(str::to_owned),
        other_keys: keys(root).filter(|key| *key != "hooks").map(str::to_owned).collect(),
    };
    for Member { key: event, value: groups, .. } in root.member("hooks").and_then(Node::members).unwrap_or_default() {
        for (group, node) in groups.elements().unwrap_or_default().iter().enumerate() {
            for (index, handler) in node.member("hooks").and_then(Node::elements).unwrap_or_default().iter().enumerate()
            {
                match read_ours(handler, host) {
                    Some(Ours { via, program, needs_args }) => {
                        let (place, narrowed_by) = ((group, index), narrowed_by(node, handler));
                        read.ours.push(OurHook { event: event.clone(), via, program, needs_args, place, narrowed_by });
                    }
                    None if event == "Stop" => read.other_stop_hooks += 1,
                    None => {}
                }
            }
        }
    }
    Ok(Some(read))
}

fn permission_rules(list: &Node) -> Vec<String> {
    texts(list).map(str::to_owned).collect()
}

/// Lists the keys of our handler, and the matcher of its group, that we do not write.
fn narrowed_by(group: &Node, handler: &Node) -> Vec<String> {
    const OURS: [&str; 5] = ["type", "command", "args", "timeout", "statusMessage"];
    let matcher = group.member("matcher").and_then(Node::as_str).filter(|matcher| !matches!(*matcher, "" | "*" | ".*"));
    let others = keys(handler).filter(|key| !OURS.contains(key)).map(str::to_owned);
    matcher.map(|matcher| format!("matcher {matcher}")).into_iter().chain(others).collect()
}

fn keys(node: &Node) -> impl Iterator<Item = &str> {
    node.members().unwrap_or_default().iter().map(|member| member.key.as_str())
}

fn as_bool(document: &Document, node: &Node) -> Option<bool> {
    matches!(node.kind, Kind::Bool).then(|| document.raw(node) == "true")
}
