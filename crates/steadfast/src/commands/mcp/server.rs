use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ExperimentalCapabilities,
    Implementation, InitializeRequestParams, InitializeResult, JsonObject, ListToolsResult, MetaObject,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use steadfast_hosts::{SANDBOX_CAPABILITY, Sandbox};
use steadfast_model::ToolUseId;
use tokio::task::spawn_blocking;

use super::tool::{Call, Tool};
use super::tools::TOOLS;
use crate::repository::Repository;

const ABOUT: &str = "The list of tasks of this worktree, kept outside the conversation: what is open, in progress, \
                     done or blocked, and what is next.";

/// Where the hosts name the tool call behind a request: Claude Code, Codex.
const CALL_IDS: [&str; 2] = ["claudecode/toolUseId", "callId"];

/// Up to 2025-11-25 a handshake agrees on a revision for the whole connection. Since 2026-07-28 there is none: each
/// request names its own. Both are served in one process, and a request before any handshake too.
#[derive(Debug)]
pub(super) struct Server;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let told = ExperimentalCapabilities::from([(SANDBOX_CAPABILITY.to_owned(), JsonObject::new())]);
        let capabilities = ServerCapabilities::builder().enable_tools().enable_experimental_with(told).build();
        let info = ServerConfig::new(capabilities).with_server_info(ourselves());
        if is_set_up() { info.with_instructions(ABOUT) } else { info }
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        // What was agreed on, not what was asked for, is what later answers are shaped by.
        request.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = if is_set_up() { TOOLS.iter().map(Tool::describe).collect() } else { Vec::new() };
        Ok(ListToolsResult { meta: signature(&context), ..ListToolsResult::with_all_items(tools) })
    }

    /// Each call on a thread of its own: it waits for locks, and may wait for a check.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, .. } = request;
        let tool = TOOLS
            .iter()
            .find(|tool| tool.name == name)
            .ok_or_else(|| ErrorData::invalid_params(format!("there is no tool `{name}`"), None))?;
        let id = CALL_IDS.iter().find_map(|key| context.meta.get(*key)?.as_str()).map(ToolUseId::new);
        let call = Call { id, tool: tool.name, sandbox: Sandbox::of_call(&context.meta) };
        let called = spawn_blocking(move || tool.call(arguments.unwrap_or_default(), &call)).await;
        let mut result =
            called.map_err(|error| ErrorData::internal_error(format!("`{name}` failed: {error}"), None))?;
        result.meta = signature(&context);
        Ok(result.into())
    }

    /// Here comes what the SDK does not know, and also what it knows by its method but cannot read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        Err(match method.as_str() {
            "initialize" | "tools/list" | "tools/call" => {
                ErrorData::invalid_params(format!("these are no `params` of `{method}`"), None)
            }
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"), None),
        })
    }
}

fn ourselves() -> Implementation {
    Implementation::new("steadfast", env!("CARGO_PKG_VERSION")).with_title("Steadfast")
}

/// Without a handshake each result says who gave it.
fn signature(context: &RequestContext<RoleServer>) -> Option<MetaObject> {
    let stateless = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::NO_INITIALIZE);
    stateless.then(|| {
        let mut meta = MetaObject::new();
        meta.insert("io.modelcontextprotocol/serverInfo".to_owned(), json!(ourselves()));
        meta
    })
}

/// Wired into the user's own settings, the server is started everywhere; it offers something only where `init` was.
fn is_set_up() -> bool {
    Repository::here().is_ok()
}
