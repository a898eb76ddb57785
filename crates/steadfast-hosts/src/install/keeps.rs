//! Decides whether a write to Claude Code's settings keeps everything that concerns us.

use std::path::Path;

use serde_json::{Map, Value};

/// Switches that disable the hooks of a user or a project.
const SWITCHES: [&str; 2] = ["disableAllHooks", "allowManagedHooksOnly"];

/// Beginnings of environment variables that determine where our state is, what a hook runs, or which host runs it.
const VARIABLES: [&str; 14] = [
    "HOME",
    "PATH",
    "XDG_",
    "CLAUDECODE",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CODE_SESSION",
    "CLAUDE_CODE_STOP_HOOK",
    "CODEX_",
    "STEADFAST",
    "COPILOT_CLI",
    "GEMINI_SESSION",
    "QWEN_CODE_SESSION",
    "LD_",
];

const OURS: &str = "steadfast";

/// Returns true if the path is one of Claude Code's settings files.
pub fn is_claude_settings(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    folder == Some(".claude") && matches!(name, Some("settings.json" | "settings.local.json"))
}

/// Returns true if both texts agree about us: our hooks, the switches of all hooks, variables that hooks depend on, and
/// every other value that names us. Permissions do not count. An unreadable text never agrees.
pub fn keeps_hooks(before: &str, after: &str) -> bool {
    match (read(before), read(after)) {
        (Some(before), Some(after)) => About::of(&before) == About::of(&after),
        _ => false,
    }
}

fn read(text: &str) -> Option<Map<String, Value>> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Some(Map::new());
    }
    serde_json::from_str(text).ok()
}

#[derive(Debug, PartialEq, Eq)]
struct About {
    switches: Vec<Option<Value>>,
    variables: Vec<(String, Value)>,
    /// The hook groups that name us, with their events, in order.
    groups: Vec<(String, Value)>,
    rest: Vec<Value>,
}

impl About {
    fn of(settings: &Map<String, Value>) -> Self {
        let env = settings.get("env").and_then(Value::as_object);
        let counts = |(name, _): &(&String, &Value)| VARIABLES.iter().any(|known| name.starts_with(known));
        let owned = |(name, value): (&String, &Value)| (name.clone(), value.clone());
        let mut variables: Vec<_> = env.into_iter().flatten().filter(counts).map(owned).collect();
        variables.sort_by(|one, other| one.0.cmp(&other.0));
        let events = settings.get("hooks").and_then(Value::as_object).into_iter().flatten();
        let mut groups: Vec<(String, Value)> = events
            .flat_map(|(event, groups)| {
                groups.as_array().into_iter().flatten().map(|group| (event.clone(), group.clone()))
            })
            .filter(|(_, group)| names_us(group))
            .collect();
        groups.sort_by(|one, other| one.0.cmp(&other.0));
        let is_other = |(key, value): &(&String, &Value)| {
            !matches!(key.as_str(), "hooks" | "permissions" | "env") && (has_name(key) || names_us(value))
        };
        let mut rest: Vec<_> = settings.iter().filter(is_other).collect();
        rest.sort_by_key(|(key, _)| key.as_str());
        Self {
            switches: SWITCHES.map(|key| settings.get(key).cloned()).to_vec(),
            variables,
            groups,
            rest: rest.into_iter().map(|(_, value)| value.clone()).collect(),
        }
    }
}

fn names_us(value: &Value) -> bool {
    match value {
        Value::String(text) => has_name(text),
        Value::Array(all) => all.iter().any(names_us),
        Value::Object(all) => all.iter().any(|(key, value)| has_name(key) || names_us(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn has_name(text: &str) -> bool {
    text.to_ascii_lowercase().contains(OURS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wired() -> Value {
        let handler = |command: &str| json!([{"hooks": [{"type": "command", "command": command, "args": []}]}]);
        json!({"permissions": {"allow": ["Bash(ls)"]}, "hooks": {
            "Stop": handler("/x/steadfast-hook-claude-local-Stop"),
            "PreToolUse": handler("/x/steadfast-hook-claude-local-PreToolUse"),
        }})
    }

    fn keeps(change: impl FnOnce(&mut Value)) -> bool {
        let mut after = wired();
        change(&mut after);
        keeps_hooks(&wired().to_string(), &after.to_string())
    }

    #[test]
    fn what_is_not_about_us_may_change() {
        assert!(keeps(|settings| settings["permissions"]["allow"] = json!(["Bash(steadfast task:*)"])));
        assert!(keeps(|settings| settings["model"] = json!("opus")));
        assert!(keeps(|settings| settings["env"] = json!({"NODE_ENV": "test"})));
        assert!(keeps(|settings| settings["hooks"]["PostToolUse"] = json!([{"hooks": [{"command": "prettier"}]}])));
        assert!(keeps(|settings| {
            settings["hooks"]["Stop"].as_array_mut().unwrap().insert(0, json!({"hooks": [{"command": "say"}]}));
        }));
        assert!(keeps_hooks("", r#"{"permissions": {}}"#) && keeps_hooks("{}", "{\n}\n"));
    }

    #[test]
    fn what_is_about_us_may_not() {
        assert!(!keeps(|settings| settings["disableAllHooks"] = json!(true)));
        assert!(!keeps(|settings| settings["allowManagedHooksOnly"] = json!(true)));
        assert!(!keeps(|settings| settings["hooks"] = json!({})));
        assert!(!keeps(|settings| drop(settings["hooks"].as_object_mut().unwrap().remove("Stop"))));
        assert!(!keeps(|settings| settings["hooks"]["Stop"][0]["matcher"] = json!("never")));
        assert!(!keeps(|settings| settings["hooks"]["Stop"][0]["hooks"][0]["timeout"] = json!(0)));
        assert!(!keeps(|settings| settings["hooks"]["Stop"][0]["hooks"][0]["async"] = json!(true)));
        assert!(!keeps(|settings| settings["env"] = json!({"HOME": "/tmp/x"})));
        assert!(!keeps(|settings| settings["env"] = json!({"XDG_STATE_HOME": "/tmp/x"})));
        assert!(!keeps(|settings| settings["hooks"]["Stop"][0]["hooks"][0]["command"] = json!("true")));
        assert!(!keeps(|settings| {
            settings["hooks"]["Notification"] = json!([{"hooks": [{"command": "echo x | steadfast hook"}]}]);
        }));
        assert!(!keeps(|settings| settings["statusLine"] = json!({"command": "Steadfast plan approve"})));
        assert!(!keeps(|settings| settings["enabledPlugins"] = json!({"steadfast@x": false})));
        assert!(!keeps_hooks(&wired().to_string(), "{"));
        assert!(!keeps_hooks("{ // mine\n}", "{}"));
    }

    #[test]
    fn only_claude_codes_settings_are_meant() {
        assert!(is_claude_settings(Path::new("/repo/.claude/settings.json")));
        assert!(is_claude_settings(Path::new(".claude/settings.local.json")));
        assert!(!is_claude_settings(Path::new("/repo/.codex/config.toml")));
        assert!(!is_claude_settings(Path::new("settings.json")));
    }
}
