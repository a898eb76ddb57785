//! JSON-RPC 2.0: the messages of a line, and the answers to them.

use serde_json::{Map, Value, json};

/// A request of the host. Its id is a text or a whole number.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
}

#[derive(Debug, PartialEq)]
pub(super) struct RpcError {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl RpcError {
    fn parse_error(message: impl Into<String>) -> Self {
        Self { code: -32_700, message: message.into(), data: None }
    }

    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self { code: -32_600, message: message.into(), data: None }
    }

    pub(super) fn method_not_found(method: &str) -> Self {
        Self { code: -32_601, message: format!("unknown method `{method}`"), data: None }
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self { code: -32_602, message: message.into(), data: None }
    }

    pub(super) fn internal_error(message: impl Into<String>) -> Self {
        Self { code: -32_603, message: message.into(), data: None }
    }

    pub(super) fn unsupported_version(requested: &str, supported: &[&str]) -> Self {
        let data = json!({"requested": requested, "supported": supported});
        Self { code: -32_022, message: format!("unsupported protocol version `{requested}`"), data: Some(data) }
    }
}

/// The answer to the request with this id; `Value::Null` if the id could not be read.
pub(super) fn answer(id: Value, result: Result<Value, RpcError>) -> Value {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(RpcError { code, message, data: None }) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        }
        Err(RpcError { code, message, data: Some(data) }) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, "data": data}})
        }
    }
}

/// A request, or the id and error to answer with.
pub(super) type Read = Result<Request, (Value, RpcError)>;

/// The requests of a line. Each request of a batch is answered on its own.
pub(super) fn read(line: &[u8]) -> Vec<Read> {
    match serde_json::from_slice(line) {
        Err(error) => vec![Err((Value::Null, RpcError::parse_error(format!("the line is not valid JSON: {error}"))))],
        Ok(Value::Array(batch)) if batch.is_empty() => vec![refuse("the batch is empty")],
        Ok(Value::Array(batch)) => batch.into_iter().filter_map(read_one).collect(),
        Ok(message) => read_one(message).into_iter().collect(),
    }
}

/// Refuses a message without an id to answer to.
fn refuse(why: &str) -> Read {
    Err((Value::Null, RpcError::invalid_request(why)))
}

/// `None` for messages that get no answer: notifications, and answers, since this server never asks.
fn read_one(message: Value) -> Option<Read> {
    let Value::Object(mut fields) = message else { return Some(refuse("the message is not an object")) };
    let has_method = fields.contains_key("method");
    let is_answer = fields.contains_key("result") || fields.contains_key("error");
    let id = match fields.remove("id") {
        _ if !has_method && is_answer => return None,
        None if has_method => return None,
        Some(id) if id.is_string() || id.is_i64() || id.is_u64() => id,
        _ => return Some(refuse("`id` is neither a text nor a whole number")),
    };
    let fault = |error| Some(Err((id.clone(), error)));
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return fault(RpcError::invalid_request("`jsonrpc` is not \"2.0\""));
    }
    let Some(Value::String(method)) = fields.remove("method") else {
        return fault(RpcError::invalid_request("`method` is not a text"));
    };
    if is_answer {
        return fault(RpcError::invalid_request("a message has either a `method` or a `result`"));
    }
    let params = match fields.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return fault(RpcError::invalid_params("`params` is not an object")),
    };
    Some(Ok(Request { id, method, params }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Id and code of the one refusal.
    fn refused(line: &str) -> (Value, i64) {
        match read(line.as_bytes()).as_slice() {
            [Err((id, error))] => (id.clone(), error.code),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn an_id_is_kept_as_it_was() {
        for id in [json!(1), json!("a"), json!(0), json!(-1), json!(i64::MAX)] {
            let line = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
            let expected = Request { id, method: "ping".to_owned(), params: Map::new() };
            assert_eq!(read(line.as_bytes()), [Ok(expected)]);
        }
    }

    #[test]
    fn notifications_and_answers_get_no_answer() {
        for line in [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"nonsense","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
        ] {
            assert_eq!(read(line.as_bytes()), [], "{line}");
        }
    }

    #[test]
    fn what_is_no_request_is_refused_with_its_id_where_it_has_one() {
        let (parse_error, invalid_request, invalid_params) = (-32_700, -32_600, -32_602);
        for (line, expected) in [
            ("hello", (Value::Null, parse_error)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1", (Value::Null, parse_error)),
            ("7", (Value::Null, invalid_request)),
            ("[]", (Value::Null, invalid_request)),
            ("{}", (Value::Null, invalid_request)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, (Value::Null, invalid_request)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, (Value::Null, invalid_request)),
            (r#"{"jsonrpc":"2.0","id":3}"#, (json!(3), invalid_request)),
            (r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#, (json!(3), invalid_request)),
            (r#"{"jsonrpc":"2.0","id":3,"method":7}"#, (json!(3), invalid_request)),
            (r#"{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}"#, (json!(3), invalid_request)),
            (r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}"#, (json!(3), invalid_params)),
        ] {
            assert_eq!(refused(line), expected, "{line}");
        }
        assert_eq!(refused(&"[".repeat(200_000)), (Value::Null, parse_error));
    }

    #[test]
    fn a_batch_is_taken_apart() {
        let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"result":{}},7]"#;
        let read = read(batch.as_bytes());
        assert!(matches!(read.as_slice(), [Ok(_), Err(_)]), "{read:?}");
    }
}
