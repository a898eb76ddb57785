//! The methods of the Model Context Protocol for a server with tools.
//!
//! Written by hand: the SDK (`rmcp`) and its runtime need 39 packages and 50 of 260 CPU seconds of a cold release build,
//! for four methods on a transport that we already have.

use serde_json::{Map, Value, json};
use steadfast_hosts::{SANDBOX_CAPABILITY, Sandbox};
use steadfast_model::ToolUseId;

use super::message::{Request, RpcError};
use super::tool::{Call, Tool};
use super::tools::TOOLS;
use crate::here;

const ABOUT: &str = "The tasks of this worktree, stored outside the conversation: which are open, in progress, done or \
                     blocked, and which is next.";

/// The revisions of the protocol, the oldest first. Up to 2025-11-25 a handshake agrees on one for the connection.
/// Since 2026-07-28 there is no handshake: each request names its revision. This server answers both kinds of client,
/// and a request before any handshake too.
const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", WITHOUT_HANDSHAKE];
const LAST_WITH_HANDSHAKE: &str = "2025-11-25";
const WITHOUT_HANDSHAKE: &str = "2026-07-28";

/// Keys of a request's or a result's `_meta`.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Keys under which Claude Code and Codex send the id of the tool call.
const CALL_IDS: [&str; 2] = ["claudecode/toolUseId", "callId"];

/// The shape of a result: since revision 2026-07-28 it includes `resultType` and the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Handshake,
    SelfContained,
}

/// A tool call takes as long as its check; everything else is answered at once.
pub(super) fn is_slow(request: &Request) -> bool {
    request.method == "tools/call"
}

/// The result of a request.
pub(super) fn handle(request: Request) -> Result<Value, RpcError> {
    let Request { method, mut params, .. } = request;
    let meta = match params.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    if method == "initialize" {
        return initialize(&params);
    }
    let shape = shape(&meta)?;
    let result = match method.as_str() {
        "ping" if shape == Shape::Handshake => return Ok(json!({})),
        "server/discover" if shape == Shape::Handshake => {
            return Err(RpcError::invalid_params(format!("`_meta` has no `{REVISION}`")));
        }
        "server/discover" => cacheable(
            with_instructions(json!({
                "supportedVersions": REVISIONS,
                "capabilities": capabilities(),
            })),
            shape,
        ),
        "tools/list" => {
            let tools: Vec<_> = if is_set_up() { TOOLS.iter().map(Tool::describe).collect() } else { Vec::new() };
            cacheable(json!({"tools": tools}), shape)
        }
        "tools/call" => call(params, &meta)?,
        _ => return Err(RpcError::method_not_found(&method)),
    };
    Ok(match shape {
        Shape::Handshake => result,
        Shape::SelfContained => with(result, json!({"resultType": "complete", "_meta": {SERVER_INFO: server_info()}})),
    })
}

/// Returns the shape that the `_meta` of a request asks for.
fn shape(meta: &Map<String, Value>) -> Result<Shape, RpcError> {
    let Some(revision) = meta.get(REVISION).and_then(Value::as_str) else { return Ok(Shape::Handshake) };
    if !REVISIONS.contains(&revision) {
        return Err(RpcError::unsupported_version(revision, &REVISIONS));
    }
    if revision < WITHOUT_HANDSHAKE {
        return Ok(Shape::Handshake);
    }
    if !meta.get(CLIENT_CAPABILITIES).is_some_and(Value::is_object) {
        return Err(RpcError::invalid_params(format!("`_meta` has no `{CLIENT_CAPABILITIES}`")));
    }
    Ok(Shape::SelfContained)
}

/// Agrees on the revision the client asked for if it has a handshake, else on the last that has one.
fn initialize(params: &Map<String, Value>) -> Result<Value, RpcError> {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let is_complete = params.get("capabilities").is_some_and(Value::is_object)
        && params.get("clientInfo").is_some_and(Value::is_object);
    let Some(asked) = asked.filter(|_| is_complete) else { return Err(misused("initialize")) };
    let known = REVISIONS.iter().find(|known| **known == asked && **known < WITHOUT_HANDSHAKE);
    Ok(with_instructions(json!({
        "protocolVersion": known.unwrap_or(&LAST_WITH_HANDSHAKE),
        "capabilities": capabilities(),
        "serverInfo": server_info(),
    })))
}

fn call(mut params: Map<String, Value>, meta: &Map<String, Value>) -> Result<Value, RpcError> {
    let Some(Value::String(name)) = params.remove("name") else { return Err(misused("tools/call")) };
    let arguments = match params.remove("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(misused("tools/call")),
    };
    let tool = TOOLS
        .iter()
        .find(|tool| tool.name == name)
        .ok_or_else(|| RpcError::invalid_params(format!("unknown tool `{name}`")))?;
    let id = CALL_IDS.iter().find_map(|key| meta.get(*key)?.as_str()).map(ToolUseId::new);
    Ok(tool.call(arguments, &Call { id, tool: tool.name, sandbox: Sandbox::of_call(meta) }))
}

fn misused(method: &str) -> RpcError {
    RpcError::invalid_params(format!("invalid `params` for `{method}`"))
}

fn capabilities() -> Value {
    json!({"tools": {}, "experimental": {SANDBOX_CAPABILITY: {}}})
}

fn server_info() -> Value {
    json!({"name": "steadfast", "title": "Steadfast", "version": env!("CARGO_PKG_VERSION")})
}

fn with_instructions(result: Value) -> Value {
    if is_set_up() { with(result, json!({"instructions": ABOUT})) } else { result }
}

/// Lists change when `init` runs, so no client may keep them.
fn cacheable(result: Value, shape: Shape) -> Value {
    match shape {
        Shape::Handshake => result,
        Shape::SelfContained => with(result, json!({"ttlMs": 0, "cacheScope": "private"})),
    }
}

/// Merges two objects.
fn with(mut result: Value, more: Value) -> Value {
    if let (Value::Object(result), Value::Object(more)) = (&mut result, more) {
        result.extend(more);
    }
    result
}

/// True if `init` ran in this repository. With user settings the host starts the server everywhere, and elsewhere it offers
/// no tools.
fn is_set_up() -> bool {
    here::repository().is_ok()
}
