use serde_json::{Map, Value, json};
use steadfast_model::ToolUseId;

use super::message::{Fault, Request};
use super::revision::Revision;
use super::tool::Tool;
use crate::repository::Repository;

const ABOUT: &str = "The list of tasks of this worktree, kept outside the conversation: what is open, in progress, \
                     done or blocked, and what is next.";

/// Where the hosts name the tool call behind a request: Claude Code, Codex.
const CALL_IDS: [&str; 2] = ["claudecode/toolUseId", "callId"];

pub(super) fn serve(request: &Request) -> Result<Value, Fault> {
    let Request { method, params } = request;
    let revision = Revision::of(params)?;
    let (revision, result) = match method.as_str() {
        "initialize" => (revision, initialize(params)),
        "ping" => (revision, json!({})),
        "tools/list" => (revision, revision.keepable(json!({"tools": tools()}))),
        "tools/call" => (revision, call(params)?),
        // Whoever asks this speaks a revision that has it.
        "server/discover" => (Revision::Stateless, discover()),
        method => return Err(Fault::method_not_found(method)),
    };
    Ok(revision.dress(result, &server()))
}

fn initialize(params: &Map<String, Value>) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    introduce(json!({"protocolVersion": Revision::agree(asked), "serverInfo": server()}))
}

fn discover() -> Value {
    Revision::Stateless.keepable(introduce(json!({"supportedVersions": Revision::all()})))
}

fn introduce(mut result: Value) -> Value {
    result["capabilities"] = json!({"tools": {}});
    if is_set_up() {
        result["instructions"] = ABOUT.into();
    }
    result
}

fn server() -> Value {
    json!({"name": "steadfast", "title": "Steadfast", "version": env!("CARGO_PKG_VERSION")})
}

/// Wired into the user's own settings, the server is started everywhere; it offers something only where `init` was.
fn is_set_up() -> bool {
    Repository::here().is_ok()
}

fn tools() -> Vec<Value> {
    if is_set_up() { Tool::ALL.into_iter().map(Tool::describe).collect() } else { Vec::new() }
}

fn call(params: &Map<String, Value>) -> Result<Value, Fault> {
    let name = params.get("name").and_then(Value::as_str).ok_or_else(|| Fault::invalid_params("`name` is missing"))?;
    let tool = Tool::parse(name).ok_or_else(|| Fault::invalid_params(format!("there is no tool `{name}`")))?;
    let arguments = match params.get("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(_) => return Err(Fault::invalid_params("`arguments` is no object")),
    };
    let meta = params.get("_meta");
    let id = CALL_IDS.iter().find_map(|key| meta?.get(key)?.as_str()).map(ToolUseId::new);
    Ok(tool.call(arguments, id.as_ref()))
}
