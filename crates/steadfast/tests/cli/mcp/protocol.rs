//! What holds on the wire, whatever is asked.

use super::*;

#[test]
fn a_handshake_agrees_on_a_revision_both_know() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    for (asked, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("2026-07-28", "2025-11-25"),
        ("tomorrow", "2025-11-25"),
    ] {
        let result = server.ask("initialize", hello(asked))["result"].clone();
        assert_eq!(result["protocolVersion"], agreed);
        assert_eq!(result["capabilities"], capabilities());
        assert_eq!(result["serverInfo"]["name"], "steadfast");
        assert_eq!(result.get("resultType"), None);
        server.write(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
        // Only what was agreed on has these.
        let list = server.ask("tools/list", json!({}))["result"].clone();
        assert_eq!((list.get("resultType"), list.get("ttlMs"), list.get("_meta")), (None, None, None), "{asked}");
    }
}

#[test]
fn a_client_without_a_handshake_is_served_too() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    let meta = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let found = server.ask("server/discover", meta.clone())["result"].clone();
    let revisions = json!(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    assert_eq!(found["supportedVersions"], revisions);
    assert_eq!(found["capabilities"], capabilities());
    let list = server.ask("tools/list", meta.clone());
    assert_eq!(names(&list).len(), 14);
    let call = server.ask("tools/call", json!({"name": "task_list", "_meta": meta["_meta"]}));
    assert_eq!(call["result"]["structuredContent"], json!({"tasks": []}));
    for result in [&found, &list["result"], &call["result"]] {
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "steadfast");
    }
    for result in [&found, &list["result"]] {
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
    }
    let unknown = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "1900-01-01"}});
    let error = server.ask("tools/list", unknown)["error"].clone();
    assert_eq!(error["code"], -32_022);
    assert_eq!(error["data"]["requested"], "1900-01-01");
    assert_eq!(error["data"]["supported"], found["supportedVersions"]);
}

#[test]
fn garbage_is_refused_and_the_next_request_answered() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    let deep = "[".repeat(100_000).into_bytes();
    let long = vec![b' '; (4 << 20) + 1];
    let cases: [(&[u8], i64); 6] = [
        (b"hello", -32_700),
        (b"\xff\xfe", -32_700),
        (b"{", -32_700),
        (&deep, -32_700),
        (b"[]", -32_600),
        (&long, -32_600),
    ];
    for (line, code) in cases {
        server.write(line);
        let answer = server.read();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(code)));
        assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
    }
    server.write(br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"x"}]"#);
    let mut answers = [server.read(), server.read()];
    answers.sort_by_key(|answer| answer["id"].as_i64());
    assert_eq!(answers[0], json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&json!(2), &json!(-32_601)));
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
}

#[test]
fn what_is_no_request_is_told_why() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    let long = " ".repeat((4 << 20) + 1);
    let mut all = String::new();
    for line in [
        "hello",
        "[]",
        "7",
        r#"{"jsonrpc": "2.0", "id": {}, "method": "ping"}"#,
        r#"{"id": 1, "method": "ping"}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "method": 7}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "task_unblock"}}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "method": "tasks/invent"}"#,
        &long,
    ] {
        server.write(line.as_bytes());
        let answer = server.read();
        all += &format!("{} {}\n", answer["error"]["code"], answer["error"]["message"].as_str().unwrap());
    }
    insta::assert_snapshot!(all, @r#"
    -32700 the line is not valid JSON: expected value at line 1 column 1
    -32600 the batch is empty
    -32600 the message is not an object
    -32600 `id` is neither a text nor a whole number
    -32600 `jsonrpc` is not "2.0"
    -32600 `method` is not a text
    -32602 `params` is not an object
    -32602 invalid `params` for `tools/call`
    -32602 unknown tool `task_unblock`
    -32601 unknown method `tasks/invent`
    -32600 the message is longer than 4194304 bytes
    "#);
}

#[test]
fn the_end_of_input_is_the_end_and_nothing_else_is_said() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    server.write(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    server.write(br#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#);
    server.write(b"");
    // The last line without its end.
    server.input.write_all(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap();
    let (code, said, complained) = server.close();
    assert_eq!((code, complained.as_str()), (Some(0), ""));
    // One line; the order of its keys means nothing.
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
}

#[test]
fn what_was_asked_before_the_end_is_answered() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    server.send("n-1", "tools/call", json!({"name": "task_add", "arguments": {"title": "One"}}));
    let (code, said, complained) = server.close();
    assert_eq!((code, complained.as_str()), (Some(0), ""));
    assert_eq!(text(&serde_json::from_str::<Value>(&said).unwrap()["result"]), "1 One");
}

#[test]
fn when_nobody_listens_any_more_it_ends() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    server.ask("ping", json!({}));
    let Server { mut child, mut input, output } = server;
    drop(output);
    // Its standard input stays open. It is asked more than once: a child that another test just forked may still have
    // the other end of its output.
    let ended = wait_for("the end of the server", || {
        let _ = input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
        child.try_wait().unwrap().ok_or_else(|| "it is still there".to_owned())
    });
    assert_eq!(ended.code(), Some(0));
    drop(input);
}

#[test]
fn a_call_that_waits_holds_up_no_other() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    let mut server = Server::start(&sandbox);
    pre_tool(&sandbox, "s-1", "call-1", "task_start");
    server.named_call("call-1", "task_start", json!({"id": "1"}));
    // The session is told of the task, and cannot be.
    let lock = File::open(sandbox.session("s-1").dir().join("lock")).unwrap();
    lock.lock().unwrap();
    server.send("slow", "tools/call", json!({"name": "task_done", "arguments": {"id": "1"}}));
    server.send("quick", "ping", json!({}));
    assert_eq!([server.read()["id"].clone(), server.read()["id"].clone()], ["quick", "slow"]);
}

#[test]
fn calls_at_once_are_all_answered() {
    let sandbox = Sandbox::new();
    let mut server = Server::start(&sandbox);
    for n in 0..300 {
        server.send(&n.to_string(), "tools/call", json!({"name": "task_add", "arguments": {"title": "One"}}));
    }
    let mut ids: Vec<_> = (0..300).map(|_| text(&server.read()["result"])).collect();
    ids.sort_by_key(|said| said.split(' ').next().unwrap().parse::<u32>().unwrap());
    assert_eq!(ids, (1..=300).map(|n| format!("{n} One")).collect::<Vec<_>>());
}
