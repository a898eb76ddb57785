//! Codex: `-c` beats its configuration files. The built-in provider gets another address and keeps its name: a session
//! remembers the provider, and Codex cannot resume one whose provider is gone. That provider tries a WebSocket first, and
//! takes HTTP after the proxy's 426.

use std::ffi::{OsStr, OsString};

use toml_edit::Document;

use super::{BehindError, CodexLogin, OPENAI, Surroundings, take_option};
use crate::install::codex_document;

const CHATGPT: &str = "https://chatgpt.com/backend-api/codex";

/// What the name of every key about providers begins with.
const KEYS: [&str; 2] = ["model_provider", BUILT_IN];

/// The address of the built-in provider.
const BUILT_IN: &str = "openai_base_url";

/// Where Codex would send its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodexProvider {
    pub(super) url: String,
    /// The user's own provider. `None`: the built-in one.
    own: Option<String>,
    /// The user's own `-c` about providers. Ours come after them.
    given: Vec<String>,
}

impl CodexProvider {
    pub(super) fn of(
        program: &OsStr,
        args: &mut Vec<OsString>,
        around: &Surroundings<'_>,
    ) -> Result<Self, BehindError> {
        let no_address = |provider: &str| Err(BehindError::NoAddress { provider: provider.to_owned() });
        let before = args.iter().take_while(|word| *word != "--");
        if before.clone().any(|word| word == "--oss") {
            return no_address("a local model");
        }
        let mut profiles = take_option(&mut args.clone(), &["-p", "--profile"], |_| false);
        let all = take_option(&mut args.clone(), &["-c", "--config"], |_| false);
        let given =
            take_option(args, &["-c", "--config"], |value| !KEYS.iter().any(|key| value.trim_start().starts_with(key)));
        // The last one counts.
        let mut layers: Vec<Document<String>> = all.iter().rev().filter_map(|value| document_of(value)).collect();
        let home = around.homes.codex_dir();
        if let Some(profile) = profiles.pop() {
            layers.extend(codex_document(&home.join(format!("{profile}.config.toml")))?);
        }
        layers.extend(codex_document(&home.join("config.toml"))?);
        let text = |path: &[&str]| {
            let find = |layer: &Document<String>| {
                let item = path.iter().try_fold(layer.as_item(), |item, key| item.get(key))?;
                item.as_str().map(str::to_owned)
            };
            layers.iter().find_map(find).filter(|value| !value.is_empty())
        };
        let own = text(&["model_provider"]).filter(|provider| provider != "openai");
        let url = match &own {
            Some(provider) => match text(&["model_providers", provider, "base_url"]) {
                Some(url) => url,
                None => return no_address(provider),
            },
            None => match text(&[BUILT_IN]) {
                Some(url) => url,
                None if around.upstream.is_some() || (around.variable)("CODEX_API_KEY").is_some() => OPENAI.to_owned(),
                None => match (around.codex_login)(program) {
                    CodexLogin::ApiKey => OPENAI.to_owned(),
                    CodexLogin::ChatGpt => CHATGPT.to_owned(),
                    CodexLogin::None => return Err(BehindError::NotLoggedIn),
                    CodexLogin::Unknown => return Err(BehindError::UnknownLogin),
                },
            },
        };
        Ok(Self { url, own, given })
    }

    /// Returns the arguments that lead Codex to the proxy.
    pub(super) fn behind(&self, url: &str) -> Vec<OsString> {
        let url = toml_edit::Value::from(url);
        let mut settings = self.given.clone();
        match &self.own {
            Some(name) => {
                let provider = format!("model_providers.{}", toml_edit::Key::new(name));
                settings.push(format!("{provider}.base_url={url}"));
                settings.push(format!("{provider}.supports_websockets=false"));
            }
            None => settings.push(format!("{BUILT_IN}={url}")),
        }
        settings.into_iter().flat_map(|setting| ["-c".into(), setting.into()]).collect()
    }
}

/// Reads a value of `-c`: TOML, or a text without quotes.
fn document_of(setting: &str) -> Option<Document<String>> {
    let (key, value) = setting.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    let quoted = || format!("{key}={}", toml_edit::Value::from(value));
    Document::parse(format!("{key}={value}")).or_else(|_| Document::parse(quoted())).ok()
}
