//! Claude Code: a variable in its settings beats the environment, and `--settings` beats the settings files.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::{ANTHROPIC_VARIABLE, BehindError, Surroundings, take_option};
use crate::install::{SettingsEnv, claude_env};

/// Variables with which Claude Code calls another service, in a format of its own.
const CLOUDS: [&str; 3] = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"];

/// Functions that Claude Code keeps with a custom address only if it is asked to.
const KEPT: [&str; 2] = ["ENABLE_TOOL_SEARCH", "CLAUDE_CODE_ENABLE_FINE_GRAINED_TOOL_STREAMING"];

/// The settings of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaudeSettings {
    /// Those of `--settings`, which are passed on.
    given: Map<String, Value>,
    /// All variables, the strongest first.
    variables: Vec<(String, String)>,
}

impl ClaudeSettings {
    /// Takes `--settings` out of the command line: Claude Code reads only one of them.
    pub(super) fn of(args: &mut Vec<OsString>, around: &Surroundings<'_>) -> Result<Self, BehindError> {
        let given = match take_option(args, &["--settings"], |_| false).pop() {
            Some(given) => read(&given, around.folder).map_err(BehindError::SettingsArgument)?,
            None => Map::new(),
        };
        let files = claude_env(around.homes, around.folder)?;
        if let Some(file) = files.iter().find(|file| file.managed && file.has(ANTHROPIC_VARIABLE)) {
            return Err(BehindError::Managed { path: file.path.clone() });
        }
        let of_given = given.get("env").and_then(Value::as_object).into_iter().flatten();
        let of_given = of_given.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        let (managed, own): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| file.managed);
        let of_files = |files: Vec<SettingsEnv>| files.into_iter().flat_map(|file| file.variables);
        let mut variables: Vec<(String, String)> = of_files(managed).chain(of_given).chain(of_files(own)).collect();
        let names = super::COMPANY_PROXIES.iter().chain(&super::EXCEPTIONS).chain(&CLOUDS).chain(&KEPT);
        let names = names.chain(&[ANTHROPIC_VARIABLE, "NODE_EXTRA_CA_CERTS"]);
        variables.extend(names.filter_map(|name| Some(((*name).to_owned(), (around.variable)(name)?))));
        let settings = Self { given, variables };
        let is_on = |name: &str| settings.variable(name).is_some_and(|value| !matches!(value.as_str(), "0" | "false"));
        match CLOUDS.into_iter().find(|name| is_on(name)) {
            Some(variable) => Err(BehindError::Cloud { variable }),
            None => Ok(settings),
        }
    }

    pub(super) fn variable(&self, name: &str) -> Option<String> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
    }

    /// Returns the value of `--settings` with the proxy's address.
    pub(super) fn behind(&self, url: &str, more: &[(String, String)], leaves_first_party: bool) -> String {
        let mut settings = self.given.clone();
        let env = settings.entry("env").or_insert_with(|| Value::Object(Map::new()));
        if !env.is_object() {
            *env = Value::Object(Map::new());
        }
        if let Value::Object(env) = env {
            env.insert(ANTHROPIC_VARIABLE.to_owned(), url.into());
            let more = more.iter().map(|(name, value)| (name.clone(), value.as_str().into()));
            env.extend(more);
            let kept = KEPT.into_iter().filter(|name| leaves_first_party && self.variable(name).is_none());
            env.extend(kept.map(|name| (name.to_owned(), if name == KEPT[0] { "true" } else { "1" }.into())));
        }
        Value::Object(settings).to_string()
    }
}

impl SettingsEnv {
    fn has(&self, name: &str) -> bool {
        self.variables.iter().any(|(known, _)| known == name)
    }
}

/// Reads a value of `--settings`: JSON, or a file with it.
fn read(given: &str, folder: &Path) -> io::Result<Map<String, Value>> {
    let text = if given.trim_start().starts_with('{') {
        given.to_owned()
    } else {
        let path = folder.join(given);
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        fs::read_to_string(&path).map_err(named)?
    };
    Ok(serde_json::from_str(&text)?)
}

/// Returns whether this is Anthropic's own address.
pub(super) fn is_first_party(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest).split(['/', '?']).next().unwrap_or_default();
    host == "api.anthropic.com"
}
