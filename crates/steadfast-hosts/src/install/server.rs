//! Our MCP server in a JSON file: `mcpServers.steadfast`, at the top or under a project.

use super::error::SettingsError;
use super::json::{Document, Node, Step, Value};
use super::original::Original;
use super::wiring::{SERVER, is_our_program};

/// Adds our server. `servers` is the path of the object with all servers.
pub(super) fn merge(document: &mut Document, servers: &[&str], program: &str) -> Result<(), SettingsError> {
    let keys = [servers, &[SERVER]].concat();
    let path: Vec<_> = keys.iter().map(|key| Step::Key(key)).collect();
    for (depth, key) in keys.iter().enumerate() {
        document.expect(&path[..depth], "an object", |node| node.members().is_some())?;
        if document.get(&path[..=depth])?.is_none() {
            let missing = keys[depth + 1..].iter().rev();
            let value = missing.fold(server(program), |value, key| Value::object([(*key, value)]));
            return document.insert(&path[..depth], key, &value);
        }
    }
    let Some(node) = document.get(&path)? else { return Ok(()) };
    if !is_ours(node) {
        let (line, column) = document.position(node);
        return Err(SettingsError::Taken { line, column, place: Step::display(&path) });
    }
    let command = [path.as_slice(), &[Step::Key("command")]].concat();
    if document.get(&command)?.is_some_and(|node| node.as_str() == Some(program)) {
        return Ok(());
    }
    document.replace(&command, &Value::text(program))
}

fn server(program: &str) -> Value {
    Value::object([("type", Value::text("stdio")), ("command", Value::text(program)), ("args", Value::texts(["mcp"]))])
}

pub(super) fn strip(document: &mut Document, servers: &[&str], original: &Original) -> Result<(), SettingsError> {
    let steps: Vec<_> = servers.iter().map(|key| Step::Key(key)).collect();
    let path = [steps.as_slice(), &[Step::Key(SERVER)]].concat();
    if !document.get(&path)?.is_some_and(is_ours) {
        return Ok(());
    }
    document.remove(&path)?;
    original.restore(document, &steps)
}

fn is_ours(server: &Node) -> bool {
    let program = server.member("command").and_then(Node::as_str);
    let first = server.member("args").and_then(Node::elements).and_then(|args| args.first()).and_then(Node::as_str);
    program.is_some_and(is_our_program) && first == Some("mcp")
}
