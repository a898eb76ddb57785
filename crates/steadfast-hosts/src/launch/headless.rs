//! Starts an agent of a run without a human. Our hooks and our MCP server are passed at launch; account and settings
//! come from the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use steadfast_model::{Host, SessionId, Via};

use super::Launch;
use crate::install::{SERVER, Wiring};

/// The actions that an agent may take without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentPermissions {
    /// Edit files in its working folder and call Steadfast. For the rest the user's own settings apply.
    Edit,
    Free,
    /// Read files only. It gets neither our hooks nor our MCP server, because it has no task.
    Read,
}

impl From<steadfast_model::Permissions> for AgentPermissions {
    fn from(permissions: steadfast_model::Permissions) -> Self {
        match permissions {
            steadfast_model::Permissions::Edit => Self::Edit,
            steadfast_model::Permissions::Free => Self::Free,
        }
    }
}

impl AgentPermissions {
    /// Returns the arguments for Claude Code. `steadfast` is our own program.
    pub(super) fn claude(self, steadfast: &Path) -> Vec<OsString> {
        match self {
            Self::Free => words(["--dangerously-skip-permissions"]),
            Self::Edit => {
                let (server, by_path) = (format!("mcp__{SERVER}"), format!("Bash({}:*)", steadfast.display()));
                let allowed = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash(steadfast:*)", &by_path];
                allowed.into_iter().chain([server.as_str()]).map(OsString::from).collect()
            }
            Self::Read => words(["--disallowedTools", WRITING]),
        }
    }

    pub(super) fn codex(self) -> Vec<OsString> {
        match self {
            Self::Free => words(["--dangerously-bypass-approvals-and-sandbox"]),
            Self::Edit => words(["--sandbox", "workspace-write", "-c", "approval_policy=\"never\""]),
            Self::Read => words(["--sandbox", "read-only", "-c", "approval_policy=\"never\""]),
        }
    }
}

/// The tools that are disallowed in read-only mode.
const WRITING: &str = "Edit,Write,NotebookEdit,Bash,Task,Agent,WebFetch,WebSearch";

#[derive(Clone, Debug)]
pub struct Headless {
    pub host: Host,
    /// The host's program; the simulated agent is part of `steadfast`.
    pub program: PathBuf,
    pub prompt: String,
    /// Codex chooses its own session ids.
    pub session: Option<SessionId>,
    pub budget_micro_usd: Option<u64>,
    pub max_turns: Option<u32>,
    /// Our own program, for hooks and the MCP server.
    pub steadfast: PathBuf,
    pub permissions: AgentPermissions,
    /// More arguments for the host.
    pub extra: Vec<String>,
}

pub fn headless(run: &Headless) -> Launch {
    match run.host {
        Host::Claude => claude(run),
        Host::Codex => codex(run),
        Host::Sim => sim(run),
    }
}

fn claude(run: &Headless) -> Launch {
    let mut args = words(["-p", "--output-format", "stream-json", "--verbose"]);
    args.extend(run.permissions.claude(&run.steadfast));
    if run.permissions != AgentPermissions::Read {
        args.extend(words(["--settings", &claude_settings(run), "--mcp-config", &claude_servers(run)]));
    }
    if let Some(session) = &run.session {
        args.extend(words(["--session-id", session.as_str()]));
    }
    if let Some(budget) = run.budget_micro_usd {
        args.extend(words(["--max-budget-usd", &usd(budget)]));
    }
    if let Some(turns) = run.max_turns {
        args.extend(words(["--max-turns", &turns.to_string()]));
    }
    finish(run.program.clone(), args, run)
}

fn codex(run: &Headless) -> Launch {
    let mut args = words(["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]);
    args.extend(run.permissions.codex());
    let wired = run.permissions != AgentPermissions::Read;
    for setting in wired.then(|| codex_settings(run)).into_iter().flatten() {
        args.extend(words(["-c", &setting]));
    }
    finish(run.program.clone(), args, run)
}

fn sim(run: &Headless) -> Launch {
    let mut args = words(["sim", &format!("--prompt={}", run.prompt)]);
    if let Some(session) = &run.session {
        args.extend(words(["--session", session.as_str()]));
    }
    if let Some(budget) = run.budget_micro_usd {
        args.extend(words(["--budget", &usd(budget)]));
    }
    if let Some(turns) = run.max_turns {
        args.extend(words(["--max-turns", &turns.to_string()]));
    }
    if run.permissions == AgentPermissions::Read {
        args.push("--expert".into());
    }
    args.extend(run.extra.iter().map(OsString::from));
    Launch { program: run.steadfast.clone(), args, env: Vec::new(), clear_env: false }
}

/// Adds the user's arguments after ours, so that they win. The prompt comes last, and may begin with a dash.
fn finish(program: PathBuf, mut args: Vec<OsString>, run: &Headless) -> Launch {
    args.extend(run.extra.iter().map(OsString::from));
    args.extend(words(["--", &run.prompt]));
    Launch { program, args, env: Vec::new(), clear_env: false }
}

/// Returns our hooks in the format of Claude Code's settings.
fn claude_settings(run: &Headless) -> String {
    json!({ "hooks": wiring(run).hooks() }).to_string()
}

/// Returns our MCP server in Claude Code's format.
fn claude_servers(run: &Headless) -> String {
    let server = json!({"type": "stdio", "command": run.steadfast.display().to_string(), "args": ["mcp"]});
    json!({ "mcpServers": { SERVER: server } }).to_string()
}

/// Returns our hooks and our MCP server, each as `key=value` in TOML. Each hook is one group of its event, as in
/// settings files.
fn codex_settings(run: &Headless) -> Vec<String> {
    let mut settings = Vec::new();
    for (event, groups) in wiring(run).hooks().as_object().into_iter().flatten() {
        settings.push(format!("hooks.{event}={}", toml(groups)));
    }
    let program = toml(&json!(run.steadfast.display().to_string()));
    settings.push(format!("mcp_servers.{SERVER}.command={program}"));
    settings.push(format!("mcp_servers.{SERVER}.args=[\"mcp\"]"));
    settings
}

fn wiring(run: &Headless) -> Wiring {
    let program = run.steadfast.display().to_string();
    Wiring { host: run.host, via: Via::Run, program, stop_block_cap: None, allow: Vec::new() }
}

/// Formats a value as TOML on one line.
fn toml(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> = members.iter().map(|(key, value)| format!("{key}={}", toml(value))).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(values) => format!("[{}]", values.iter().map(toml).collect::<Vec<_>>().join(",")),
        Value::String(text) => toml_edit::Value::from(text.as_str()).to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn usd(micro: u64) -> String {
    format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000)
}

fn words<const N: usize>(words: [&str; N]) -> Vec<OsString> {
    words.map(OsString::from).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(host: Host, permissions: AgentPermissions) -> Headless {
        Headless {
            host,
            program: "/opt/host".into(),
            prompt: "- do it".to_owned(),
            session: Some(SessionId::new("s-1")),
            budget_micro_usd: Some(1_250_000),
            max_turns: Some(40),
            steadfast: "/my \"tools\"/steadfast".into(),
            permissions,
            extra: ["--model", "m"].map(str::to_owned).to_vec(),
        }
    }

    fn words_of(host: Host, permissions: AgentPermissions) -> Vec<String> {
        let launch = headless(&run(host, permissions));
        launch.args.into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    fn after(words: &[String], name: &str) -> String {
        words[words.iter().position(|word| word == name).unwrap() + 1].clone()
    }

    #[test]
    fn the_users_words_come_last_and_the_prompt_is_never_taken_for_an_option() {
        for host in [Host::Claude, Host::Codex] {
            let words = words_of(host, AgentPermissions::Edit);
            assert_eq!(words[words.len() - 4..], ["--model", "m", "--", "- do it"]);
        }
        let words = words_of(Host::Sim, AgentPermissions::Edit);
        let expected = [
            "sim",
            "--prompt=- do it",
            "--session",
            "s-1",
            "--budget",
            "1.250000",
            "--max-turns",
            "40",
            "--model",
            "m",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn only_a_free_agent_may_do_everything() {
        let all = "--dangerously-skip-permissions";
        assert!(!words_of(Host::Claude, AgentPermissions::Edit).contains(&all.to_owned()));
        assert!(words_of(Host::Claude, AgentPermissions::Free).contains(&all.to_owned()));
        let all = "--dangerously-bypass-approvals-and-sandbox";
        assert!(!words_of(Host::Codex, AgentPermissions::Edit).contains(&all.to_owned()));
        assert!(words_of(Host::Codex, AgentPermissions::Free).contains(&all.to_owned()));
    }

    #[test]
    fn who_may_only_look_has_nothing_to_write_with_and_no_hook_of_ours() {
        let words = words_of(Host::Claude, AgentPermissions::Read);
        assert!(after(&words, "--disallowedTools").contains("Write") && !words.contains(&"--settings".to_owned()));
        let words = words_of(Host::Codex, AgentPermissions::Read);
        assert_eq!(after(&words, "--sandbox"), "read-only");
        assert!(!words.iter().any(|word| word.starts_with("hooks.")));
        assert!(words_of(Host::Sim, AgentPermissions::Read).contains(&"--expert".to_owned()));
    }

    #[test]
    fn claude_is_given_its_limits() {
        let words = words_of(Host::Claude, AgentPermissions::Edit);
        let given = ["--session-id", "--max-budget-usd", "--max-turns"].map(|name| after(&words, name));
        assert_eq!(given, ["s-1", "1.250000", "40"]);
    }

    #[test]
    fn every_hook_of_claude_is_ours_through_the_door_of_a_run() {
        let settings: Value =
            serde_json::from_str(&after(&words_of(Host::Claude, AgentPermissions::Edit), "--settings")).unwrap();
        let hooks = settings["hooks"].as_object().unwrap();
        assert_eq!(hooks.len(), crate::install::lines(Host::Claude).len());
        let expected = json!([{"hooks": [{
            "type": "command",
            "command": "/my \"tools\"/steadfast",
            "args": ["hook", "--host", "claude", "--via", "run", "Stop"],
            "timeout": 10,
        }]}]);
        assert_eq!(hooks["Stop"], expected);
    }

    #[test]
    fn every_setting_for_codex_is_toml() {
        let words = words_of(Host::Codex, AgentPermissions::Edit);
        let settings =
            words.iter().zip(&words[1..]).filter(|(name, _)| *name == "-c").map(|(_, setting)| setting.as_str());
        let settings = settings.collect::<Vec<_>>().join("\n");
        let document: toml_edit::DocumentMut = settings.parse().unwrap();
        assert_eq!(document["mcp_servers"]["steadfast"]["command"].as_str(), Some("/my \"tools\"/steadfast"));
        assert_eq!(document["hooks"].as_table().unwrap().len(), crate::install::lines(Host::Codex).len());
        let handler = &document["hooks"]["SessionEnd"][0]["hooks"][0];
        assert_eq!(handler["timeout"].as_integer(), Some(3));
        let command = "'/my \"tools\"/steadfast' hook --host codex --via run SessionEnd";
        assert_eq!(handler["command"].as_str(), Some(command));
    }
}
