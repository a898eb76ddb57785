use std::ffi::OsString;

use super::{Alone, DUMMY_KEY, Launch, LaunchOptions};

const KEY_VARIABLE: &str = "SCRIPTED_KEY";

/// Builds `codex exec` with events as JSON lines on stdout. With `alone`, Codex reads [`codex_config`] from
/// `.codex/config.toml` in its home.
pub fn codex(options: &LaunchOptions) -> Launch {
    let mut args: Vec<OsString> = ["exec", "--json", "--skip-git-repo-check"].map(OsString::from).to_vec();
    if options.alone.is_some() {
        // There is no human to trust the hooks, and they are ours.
        args.push("--dangerously-bypass-hook-trust".into());
    }
    if options.unasked {
        args.push("--dangerously-bypass-approvals-and-sandbox".into());
    }
    if let Some(settings) = &options.settings {
        args.extend(["-c".into(), settings.into()]);
    }
    args.extend(["--".into(), OsString::from(&options.prompt)]);
    let launch = Launch::new(options, args);
    match &options.alone {
        None => launch,
        Some(alone) => launch.with_env("CODEX_HOME", alone.home.join(".codex")).with_env(KEY_VARIABLE, DUMMY_KEY),
    }
}

pub fn codex_config(alone: &Alone) -> String {
    let url = toml_edit::Value::from(format!("{}/v1", alone.model_url.trim_end_matches('/')));
    format!(
        "model = \"gpt-5.5\"\n\
         model_provider = \"scripted\"\n\
         approval_policy = \"never\"\n\
         sandbox_mode = \"danger-full-access\"\n\
         \n\
         [model_providers.scripted]\n\
         name = \"scripted\"\n\
         base_url = {url}\n\
         wire_api = \"responses\"\n\
         env_key = \"{KEY_VARIABLE}\"\n"
    )
}
