//! The files that decide whether a host calls us, for who only wants to know whether that changed.

use std::path::{Path, PathBuf};

use steadfast_model::{Host, Via};

use super::super::error::InstallError;
use super::super::homes::Homes;
use super::{MANAGED, Wired, codex, inspect_file, paths};

/// What one of these files says of our hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    pub ways: Vec<Way>,
    /// It switches all hooks off, or says that they are on.
    pub off: Option<bool>,
}

/// A way in which it calls us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    pub via: Via,
    pub program: String,
    /// The events for which it does not as `init` writes it: not at all, or for less.
    pub lacking: Vec<String>,
}

/// The files of a host that say whether it calls us, there or not, the strongest first.
pub fn watched(host: Host, homes: &Homes, root: &Path) -> Vec<PathBuf> {
    let hooks = paths(host, homes, root, Path::new(MANAGED)).into_iter().map(|(path, _)| path);
    match host {
        Host::Codex => hooks.chain(codex::paths(homes, root)).collect(),
        Host::Claude | Host::Sim => hooks.collect(),
    }
}

/// What one of them says now. One that is not there says nothing.
pub fn switches(host: Host, path: &Path) -> Result<Switches, InstallError> {
    if path.extension().is_some_and(|kind| kind == "toml") {
        let config = codex::read(path)?;
        return Ok(Switches { off: config.and_then(|config| config.hooks).map(|on| !on), ..Switches::default() });
    }
    let Some(file) = inspect_file(host, path, false)? else { return Ok(Switches::default()) };
    let way = |wired: Wired<'_>| Way {
        via: wired.via,
        program: wired.program.to_owned(),
        lacking: wired.missing().into_iter().map(str::to_owned).chain(wired.narrowed()).collect(),
    };
    Ok(Switches { ways: file.wired().into_iter().map(way).collect(), off: file.disable_all })
}
