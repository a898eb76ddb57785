//! The MCP server, spoken to over pipes like a host does.

mod protocol;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use steadfast_testkit::wait_for;

use crate::sandbox::Sandbox;

pub(crate) struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        Self::spawn(sandbox.command())
    }

    fn spawn(mut command: Command) -> Self {
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn write(&mut self, line: &[u8]) {
        self.input.write_all(line).unwrap();
        self.input.write_all(b"\n").unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn send(&mut self, id: &str, method: &str, params: Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(request.to_string().as_bytes());
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send("n-1", method, params);
        let answer = self.read();
        assert_eq!(answer["id"], "n-1");
        answer
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))["result"].clone()
    }

    /// A call that its host names, as Claude Code does.
    fn named_call(&mut self, call: &str, tool: &str, arguments: Value) -> String {
        let meta = json!({"claudecode/toolUseId": call, "progressToken": 2});
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        text(&self.ask("tools/call", params)["result"])
    }

    /// The exit code, and what is still on standard output and error once the host has closed its end.
    fn close(self) -> (Option<i32>, String, String) {
        let Self { mut child, input, mut output } = self;
        drop(input);
        let (mut said, mut complained) = (String::new(), String::new());
        output.read_to_string(&mut said).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut complained).unwrap();
        (child.wait().unwrap().code(), said, complained)
    }
}

/// The text of a result, which must not be an error.
pub(crate) fn text(result: &Value) -> String {
    assert_eq!(result.get("isError"), None, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

/// The text of a result that must be an error.
pub(crate) fn complaint(result: &Value) -> String {
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

fn hello(revision: &str) -> Value {
    json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
}

fn capabilities() -> Value {
    json!({"experimental": {"codex/sandbox-state-meta": {}}, "tools": {}})
}

fn names(list: &Value) -> Vec<&str> {
    list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// What the hook of a host leaves before it makes the call.
fn pre_tool(sandbox: &Sandbox, session: &str, call: &str, tool: &str) {
    let tool = format!("mcp__steadfast__{tool}");
    let said = sandbox.hook("PreToolUse", session, json!({"tool_name": tool, "tool_input": {}, "tool_use_id": call}));
    assert_eq!(said, "");
}

fn owner(sandbox: &Sandbox) -> Value {
    let status: Value = serde_json::from_str(&sandbox.ok(&["status", "--json"])).unwrap();
    status["plan"]["owner"].clone()
}

#[test]
fn the_tools_say_what_they_take_and_that_they_destroy_nothing() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    let list = server.ask("tools/list", json!({}));
    let expected = [
        "task_list",
        "task_ready",
        "task_next",
        "task_add",
        "task_start",
        "task_done",
        "task_check",
        "task_wait",
        "task_note",
        "task_block",
        "decide",
        "plan_propose",
        "plan_status",
        "why",
    ];
    assert_eq!(names(&list), expected);
    for tool in list["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        assert_eq!(tool["annotations"]["destructiveHint"], false);
        assert_eq!(tool["annotations"]["openWorldHint"], false);
        let adds = ["task_add", "task_note", "decide"].iter().any(|name| tool["name"] == *name);
        assert_eq!(tool["annotations"]["idempotentHint"], !adds, "{tool}");
    }
    let reading = list["result"]["tools"].as_array().unwrap().iter();
    let reading = reading.filter(|tool| tool["annotations"]["readOnlyHint"] == true).count();
    assert_eq!(reading, 5);
    assert_eq!(list["result"]["tools"][9]["inputSchema"]["required"], json!(["id", "why"]));
}

#[test]
fn tasks_are_added_started_closed_and_set_aside_in_the_words_of_the_command_line() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    assert_eq!(server.call("task_list", json!({}))["structuredContent"], json!({"tasks": []}));
    assert_eq!(text(&server.call("task_add", json!({"title": " One ", "files": ["a.rs"]}))), "1 One");
    assert_eq!(text(&server.call("task_add", json!({"title": "Two", "after": ["1"]}))), "2 Two");
    assert_eq!(text(&server.call("task_add", json!({"title": "Three"}))), "3 Three");

    let ready = server.call("task_ready", json!({}));
    let ids = |result: &Value| -> Vec<Value> {
        result["structuredContent"]["tasks"].as_array().unwrap().iter().map(|task| task["id"].clone()).collect()
    };
    assert_eq!(ids(&ready), ["1", "3"]);
    let started = text(&server.call("task_start", json!({"id": "3"})));
    assert_eq!(started, "3 Three: in progress\n0 of 3 tasks done, 3 open, 0 blocked.");
    assert_eq!(ids(&server.call("task_next", json!({}))), ["3"]);
    sandbox.write("a.rs", "fn a() {}\n");
    let done = text(&server.call("task_done", json!({"id": 1})));
    assert_eq!(
        done,
        "1 One: done (claimed: it has no check; changed: a.rs)\n1 of 3 tasks done, 2 open, 0 blocked. Next is 3 Three."
    );
    let blocked = text(&server.call("task_block", json!({"id": "2", "why": "no key"})));
    assert_eq!(blocked, "2 Two: blocked\n1 of 3 tasks done, 1 open, 1 blocked. Next is 3 Three.");

    let list = server.call("task_list", json!({}));
    let printed = sandbox.ok(&["task", "list", "--json"]);
    assert_eq!(list["structuredContent"], serde_json::from_str::<Value>(&printed).unwrap());
    assert_eq!(text(&list), printed.trim());
    assert_eq!(sandbox.ok(&["task", "show", "2"]), "2  blocked      Two  (no key)\n");
}

#[test]
fn whoever_starts_a_task_is_told_what_was_learned_of_such_work() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One", "--file", "src/a.rs"]);
    sandbox.ok(&["learn", "add", "It is generated", "--file", "src/a.rs"]);
    let mut server = Server::start(&sandbox);
    assert_eq!(
        text(&server.call("task_start", json!({"id": "1"}))),
        "1 One: in progress\n0 of 1 tasks done, 1 open, 0 blocked.\n\
         learned: It is generated (discovery, confirmed; same file)"
    );
}

#[test]
fn what_cannot_be_done_is_told_to_the_model() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    let mut server = Server::start(&sandbox);
    let unknown = complaint(&server.call("task_done", json!({"id": "9"})));
    assert!(unknown.starts_with("error: there is no task `9`") && unknown.contains("hint: "), "{unknown}");
    server.call("task_block", json!({"id": "1", "why": "no key"}));
    // Nothing around the server says that an agent is behind it; over MCP there always is.
    for tool in ["task_start", "task_done"] {
        let refused = complaint(&server.call(tool, json!({"id": "1"})));
        assert!(refused.starts_with("error: task `1` is blocked; only a human can unblock it"), "{refused}");
    }
    for (tool, arguments, expected) in [
        ("task_done", json!({}), "error: `id` is missing"),
        ("task_block", json!({"id": "1", "why": "  "}), "error: `why` is empty"),
        ("task_add", json!({"title": "a", "check": "true"}), "error: unknown argument `check`"),
        ("task_list", json!({"json": true}), "error: unknown argument `json`"),
    ] {
        let hint = "the schema of the tool lists its arguments";
        assert_eq!(complaint(&server.call(tool, arguments)), format!("{expected}\n\nhint: {hint}"));
    }
    for params in [
        json!({"name": "task_unblock", "arguments": {"id": "1"}}),
        json!({}),
        json!({"name": "task_list", "arguments": 7}),
    ] {
        assert_eq!(server.ask("tools/call", params)["error"]["code"], -32_602);
    }
    assert_eq!(server.ask("initialize", json!({}))["error"]["code"], -32_602);
    assert_eq!(server.ask("tasks/invent", json!({}))["error"]["code"], -32_601);
}

#[test]
fn a_session_learns_why_it_was_refused_and_not_why_another_was() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    let mut server = Server::start(&sandbox);
    let why = |server: &mut Server, session: &str, call: &str| {
        pre_tool(&sandbox, session, call, "why");
        let meta = json!({"claudecode/toolUseId": call});
        server.ask("tools/call", json!({"name": "why", "_meta": meta}))["result"].clone()
    };
    let nothing = why(&mut server, "s-1", "call-1");
    assert!(text(&nothing).starts_with("Nothing was refused in session s-1."), "{nothing}");
    assert_eq!(nothing.get("structuredContent"), None);

    pre_tool(&sandbox, "s-1", "call-2", "task_start");
    server.named_call("call-2", "task_start", json!({"id": "1"}));
    assert!(sandbox.stop_is_refused("s-1"));
    let refused = why(&mut server, "s-1", "call-3");
    assert!(text(&refused).contains("refused to let session s-1 stop"), "{refused}");
    let printed: Value = serde_json::from_str(&sandbox.ok(&["why", "--json", "--session", "s-1"])).unwrap();
    // The rest counts what happens and how long ago it was.
    for key in ["at", "session", "sequence", "verdict", "reason", "told", "budget", "next"] {
        assert_eq!(refused["structuredContent"][key], printed[key], "{key}");
    }
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&refused["structuredContent"]), keys(&printed));

    assert!(text(&why(&mut server, "s-2", "call-4")).starts_with("Nothing was refused in session s-2."));
}

#[test]
fn where_steadfast_is_not_set_up_nothing_is_offered() {
    let sandbox = Sandbox::bare();
    let mut server = Server::start(&sandbox);
    let welcome = server.ask("initialize", hello("2025-11-25"));
    assert_eq!(welcome["result"].get("instructions"), None);
    assert_eq!(server.ask("tools/list", json!({}))["result"], json!({"tools": []}));
    let refused = complaint(&server.call("task_list", json!({})));
    assert!(refused.starts_with("error: steadfast is not set up for "), "{refused}");
    assert!(!sandbox.root().join(".git/steadfast").exists());
}

#[test]
fn two_servers_write_to_one_list() {
    let sandbox = Sandbox::new();
    thread::scope(|scope| {
        for name in ["a", "b"] {
            let mut server = Server::start(&sandbox);
            scope.spawn(move || {
                for n in 0..20 {
                    text(&server.call("task_add", json!({"title": format!("{name}{n}")})));
                }
            });
        }
    });
    let mut server = Server::start(&sandbox);
    let list = server.call("task_list", json!({}))["structuredContent"].clone();
    let ids: Vec<_> = list["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
    let expected: Vec<_> = (1..=40).map(|n| n.to_string()).collect();
    assert_eq!(ids, expected);
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_held_open_between_two_calls() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    server.call("task_add", json!({"title": "One"}));
    let open = std::fs::read_dir(format!("/proc/{}/fd", server.child.id())).unwrap();
    let open: Vec<_> = open.filter_map(|file| std::fs::read_link(file.unwrap().path()).ok()).collect();
    assert!(!open.is_empty());
    assert!(!open.iter().any(|file| file.starts_with(sandbox.root())), "{open:?}");
}

#[test]
fn a_call_belongs_to_the_session_whose_hook_saw_it() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    sandbox.ok(&["task", "add", "Two"]);
    let mut server = Server::start(&sandbox);
    // Both are about to call the same tool, and the other one did so last.
    pre_tool(&sandbox, "s-1", "call-1", "task_done");
    pre_tool(&sandbox, "s-2", "call-2", "task_done");
    sandbox.write("work.txt", "work");
    server.named_call("call-1", "task_done", json!({"id": "1"}));
    assert_eq!(owner(&sandbox), "s-1");
    assert!(sandbox.stop_is_refused("s-1"), "task 2 is open, and s-1 works on the list");
    assert!(!sandbox.stop_is_refused("s-2"));
}

#[test]
fn codex_names_its_calls_too() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    let mut server = Server::start(&sandbox);
    pre_tool(&sandbox, "s-1", "call_1", "task_start");
    pre_tool(&sandbox, "s-2", "call_2", "task_start");
    let meta = json!({"callId": "call_1", "threadId": "t", "sessionId": "t"});
    server.ask("tools/call", json!({"name": "task_start", "arguments": {"id": "1"}, "_meta": meta}));
    assert_eq!(owner(&sandbox), "s-1");
}

#[test]
fn a_host_that_does_not_name_its_calls_is_known_by_the_tool() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    let mut server = Server::start(&sandbox);
    pre_tool(&sandbox, "s-1", "call-1", "task_start");
    pre_tool(&sandbox, "s-2", "call-2", "task_list");
    text(&server.call("task_start", json!({"id": "1"})));
    assert_eq!(owner(&sandbox), "s-1");
}

#[test]
fn without_hooks_a_call_works_and_belongs_to_nobody() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    // The session the server was started in may have ended long since.
    let mut command = sandbox.command();
    command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", "s-old");
    let mut server = Server::spawn(command);
    pre_tool(&sandbox, "s-2", "call-2", "task_start");
    assert!(server.named_call("call-1", "task_start", json!({"id": "1"})).starts_with("1 One: in progress"));
    assert_eq!(owner(&sandbox), Value::Null);
}

#[test]
fn a_session_that_went_to_another_worktree_works_on_its_list() {
    let sandbox = Sandbox::new();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(sandbox.root()).args(["-c", "user.name=t", "-c", "user.email=t@localhost"]).args(arguments);
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    git(&["worktree", "add", "--quiet", "../side"]);
    let side = sandbox.root().parent().unwrap().join("side");
    let mut server = Server::start(&sandbox);
    let call = json!({
        "session_id": "s-1", "cwd": side, "tool_name": "mcp__steadfast__task_add", "tool_use_id": "call-1",
        "tool_input": {"title": "One"},
    });
    assert!(sandbox.start_hook("PreToolUse", &call).wait().unwrap().success());
    assert_eq!(server.named_call("call-1", "task_add", json!({"title": "One"})), "1 One");

    let printed = |directory| {
        let output = sandbox.command().current_dir(directory).args(["task", "list"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(printed(side), "1  pending      One\n");
    assert_eq!(printed(sandbox.root()), "");
}
