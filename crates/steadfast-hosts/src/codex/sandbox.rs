//! The sandbox of a Codex session. Codex sends it to an MCP server with each tool call; `codex sandbox` runs a command
//! in the same sandbox.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The experimental capability with which an MCP server asks for the sandbox.
pub const SANDBOX_CAPABILITY: &str = "codex/sandbox-state-meta";

const STATE: &str = "codex/sandbox-state";
const LAUNCHER: &str = "codex/sandbox-launcher";

/// Changes to the root of the checkout, where a check runs. Codex starts in the folder of the session.
const ENTER: &str = r#"cd -- "$1" || exit; shift; exec "$@""#;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sandbox {
    /// The `codex` program of the session.
    codex: Option<PathBuf>,
    /// Opaque; only Codex reads it.
    state: Value,
}

impl Sandbox {
    /// Returns `None` if the host reports no sandbox, or if the session has full access.
    pub fn of_call(meta: &Map<String, Value>) -> Option<Self> {
        let state = meta.get(STATE).or_else(|| meta.get(SANDBOX_CAPABILITY))?;
        // Any other value counts as a sandbox, even an unreadable one.
        if state["permissionProfile"]["type"] == "disabled" {
            return None;
        }
        let codex = meta.get(LAUNCHER).and_then(|launcher| launcher["codexExecutable"].as_str());
        Some(Self { codex: codex.map(PathBuf::from), state: state.clone() })
    }

    /// Returns the words that put a command line into this sandbox and this folder.
    ///
    /// Do not call `codexLinuxSandboxExe` from the state: under that name Codex takes other arguments, and the file is
    /// deleted with the session.
    pub fn words(&self, directory: &Path) -> Vec<String> {
        let codex = self.codex.as_deref().unwrap_or(Path::new("codex"));
        let state = self.state.to_string();
        [&codex.to_string_lossy(), "sandbox", "--sandbox-state-json", &state, "--"]
            .into_iter()
            .chain(["/bin/sh", "-c", ENTER, "sh", &directory.to_string_lossy()])
            .map(str::to_owned)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// As Codex 0.166.0 sent it, without the middle of the profile.
    fn told(profile: Value) -> Map<String, Value> {
        let state = json!({
            "permissionProfile": profile,
            "codexLinuxSandboxExe": "/home/me/.codex/tmp/arg0-linux/codex-arg0afxx44/codex-linux-sandbox",
            "sandboxCwd": "file:///work",
            "useLegacyLandlock": false,
            "useMxc": false,
        });
        let meta = json!({
            "callId": "call-2",
            "codex/sandbox-state": state,
            "codex/sandbox-state-meta": state,
            "codex/sandbox-launcher": {"codexExecutable": "/opt/codex/bin/codex"},
        });
        meta.as_object().unwrap().clone()
    }

    fn restricted() -> Value {
        json!({"type": "managed", "file_system": {"type": "restricted", "entries": []}, "network": "restricted"})
    }

    #[test]
    fn the_state_goes_back_to_the_codex_it_came_from() {
        let meta = told(restricted());
        let words = Sandbox::of_call(&meta).unwrap().words(Path::new("/repo/my checkout"));
        assert_eq!(words[..3], ["/opt/codex/bin/codex", "sandbox", "--sandbox-state-json"]);
        assert_eq!(serde_json::from_str::<Value>(&words[3]).unwrap(), meta["codex/sandbox-state"]);
        assert_eq!(words[4..], ["--", "/bin/sh", "-c", ENTER, "sh", "/repo/my checkout"]);
    }

    #[test]
    fn a_codex_that_does_not_say_where_it_is_is_looked_for_on_the_path() {
        let mut meta = told(restricted());
        meta.remove("codex/sandbox-launcher");
        assert_eq!(Sandbox::of_call(&meta).unwrap().words(Path::new("/work"))[0], "codex");
    }

    #[test]
    fn full_access_is_no_sandbox_and_neither_is_silence() {
        assert_eq!(Sandbox::of_call(&told(json!({"type": "disabled"}))), None);
        assert_eq!(Sandbox::of_call(&Map::new()), None);
        let claude = json!({"claudecode/toolUseId": "toolu_1", "progressToken": 2});
        assert_eq!(Sandbox::of_call(claude.as_object().unwrap()), None);
    }

    #[test]
    fn what_cannot_be_read_is_a_sandbox() {
        for state in [json!(null), json!("off"), json!({}), json!({"permissionProfile": "disabled"}), json!([])] {
            let meta = Map::from_iter([(STATE.to_owned(), state.clone())]);
            assert!(Sandbox::of_call(&meta).is_some(), "{state}");
        }
        for profile in [json!({"type": "external"}), json!({"type": "tomorrow's"}), json!({})] {
            assert!(Sandbox::of_call(&told(profile.clone())).is_some(), "{profile}");
        }
    }

    #[test]
    fn it_comes_back_as_it_was_written() {
        let sandbox = Sandbox::of_call(&told(restricted())).unwrap();
        let text = serde_json::to_string(&sandbox).unwrap();
        assert_eq!(serde_json::from_str::<Sandbox>(&text).unwrap(), sandbox);
    }
}
