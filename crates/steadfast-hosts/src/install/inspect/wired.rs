//! The wirings in a settings file, and how each differs from what `init` writes. A wiring is a host, a file and the
//! program that the hooks in it call.

use std::path::{Path, PathBuf};

use steadfast_model::{Host, Via};

use super::super::error::InstallError;
use super::super::homes::Homes;
use super::super::wiring::lines;
use super::{HooksFile, MANAGED, OurHook, codex, inspect_file, paths};

/// A wiring of ours in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wired<'a> {
    pub file: &'a HooksFile,
    pub via: Via,
    pub program: &'a str,
}

impl HooksFile {
    /// Lists the wirings in this file, each once.
    pub fn wired(&self) -> Vec<Wired<'_>> {
        let mut wired = Vec::new();
        for OurHook { via, program, .. } in &self.ours {
            let one = Wired { file: self, via: *via, program };
            if !wired.contains(&one) {
                wired.push(one);
            }
        }
        wired
    }
}

impl Wired<'_> {
    fn hooks(&self) -> impl Iterator<Item = &OurHook> {
        self.file.ours.iter().filter(|hook| hook.via == self.via && hook.program == self.program)
    }

    /// Lists the programs or links that the host starts, each once.
    pub fn started(&self) -> Vec<String> {
        let mut started: Vec<String> = self.hooks().map(OurHook::started).collect();
        started.dedup();
        started
    }

    /// Returns true if an older version wrote it, in a form that other hosts misread.
    pub fn needs_args(&self) -> bool {
        self.hooks().any(|hook| hook.needs_args)
    }

    /// Lists the events of `init` that have no hook.
    pub fn missing(&self) -> Vec<&'static str> {
        let is_there = |event: &&str| self.hooks().any(|hook| hook.event == *event);
        lines(self.file.host).iter().map(|line| line.event.as_str()).filter(|event| !is_there(event)).collect()
    }

    /// Lists the events whose hooks the host calls less often, with the reasons.
    pub fn narrowed(&self) -> Vec<String> {
        let narrowed = self.hooks().filter(|hook| !hook.narrowed_by.is_empty());
        narrowed.map(|hook| format!("{} ({})", hook.event, hook.narrowed_by.join(", "))).collect()
    }
}

/// The state of our hooks in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    pub ways: Vec<Way>,
    /// `Some(true)`: the file switches all hooks off. `Some(false)`: it says that they are on.
    pub off: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    pub via: Via,
    pub program: String,
    /// The events whose hooks are missing, or called less often than `init` writes them.
    pub lacking: Vec<String>,
}

/// Lists the files that decide if a host calls us, the strongest first. They need not exist.
pub fn watched(host: Host, homes: &Homes, root: &Path) -> Vec<PathBuf> {
    let hooks = paths(host, homes, root, Path::new(MANAGED)).into_iter().map(|(path, _)| path);
    match host {
        Host::Codex => hooks.chain(codex::paths(homes, root)).collect(),
        Host::Claude | Host::Sim => hooks.collect(),
    }
}

/// Reads one of them. A missing file gives the default.
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
