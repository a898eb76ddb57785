//! JSON-RPC 2.0: what a line says.

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcError, RequestId};
use serde_json::{Map, Value};

/// A message, or what is answered to something that is none.
pub(super) type Read = Result<ClientJsonRpcMessage, JsonRpcError>;

/// A batch is taken apart, and each of its requests answered as soon as it can be.
pub(super) fn read(line: &[u8]) -> Vec<Read> {
    match serde_json::from_slice(line) {
        Err(error) => {
            let error = ErrorData::parse_error(format!("the line is no JSON: {error}"), None);
            vec![Err(JsonRpcError::new(None, error))]
        }
        Ok(Value::Array(batch)) if batch.is_empty() => vec![Err(refuse("the batch is empty"))],
        Ok(Value::Array(batch)) => batch.into_iter().filter_map(read_one).collect(),
        Ok(message) => read_one(message).into_iter().collect(),
    }
}

/// The answer to what is no request, and so has no id to answer to.
pub(super) fn refuse(why: impl Into<String>) -> JsonRpcError {
    JsonRpcError::new(None, ErrorData::invalid_request(why.into(), None))
}

/// Nothing, where nothing is to be said: an answer, since we never ask, or a notification we cannot read.
fn read_one(message: Value) -> Option<Read> {
    let Value::Object(fields) = &message else { return Some(Err(refuse("a message is an object"))) };
    if !fields.contains_key("method") && (fields.contains_key("result") || fields.contains_key("error")) {
        return None;
    }
    let id = match fields.get("id").map(id) {
        None if fields.contains_key("method") => return serde_json::from_value(message).ok().map(Ok),
        Some(Some(id)) => id,
        None | Some(None) => return Some(Err(refuse("the `id` is no text and no whole number"))),
    };
    Some(match fault(fields) {
        Some(fault) => Err(JsonRpcError::new(Some(id), fault)),
        None => serde_json::from_value(message)
            .map_err(|error| JsonRpcError::new(Some(id), ErrorData::invalid_request(error.to_string(), None))),
    })
}

fn id(value: &Value) -> Option<RequestId> {
    serde_json::from_value(value.clone()).ok()
}

/// What the SDK would refuse without a reason.
fn fault(fields: &Map<String, Value>) -> Option<ErrorData> {
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Some(ErrorData::invalid_request("`jsonrpc` is not \"2.0\"", None));
    }
    if !fields.get("method").is_some_and(Value::is_string) {
        return Some(ErrorData::invalid_request("`method` is no text", None));
    }
    let params = fields.get("params");
    params
        .is_some_and(|params| !params.is_object() && !params.is_null())
        .then(|| ErrorData::invalid_params("`params` is no object", None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ErrorCode;
    use serde_json::json;

    /// Id and code of the one refusal.
    fn refused(line: &str) -> (Option<RequestId>, ErrorCode) {
        match read(line.as_bytes()).as_slice() {
            [Err(refusal)] => (refusal.id.clone(), refusal.error.code),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn an_id_is_kept_as_it_was() {
        for id in [json!(1), json!("a"), json!(0), json!(-1), json!(i64::MAX)] {
            let line = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
            match read(line.as_bytes()).as_slice() {
                [Ok(message)] => assert_eq!(json!(message)["id"], id),
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn notifications_are_taken_or_passed_over_and_answers_passed_over() {
        for (line, taken) in [
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 1),
            (r#"{"jsonrpc":"2.0","method":"nonsense","params":{}}"#, 1),
            (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#, 0),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 0),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#, 0),
        ] {
            let read = read(line.as_bytes());
            assert_eq!(read.len(), taken, "{line}");
            assert!(read.iter().all(Result::is_ok), "{line}");
        }
    }

    #[test]
    fn what_is_no_request_is_refused_with_its_id_where_it_has_one() {
        let three = || Some(RequestId::Number(3));
        for (line, expected) in [
            ("hello", (None, ErrorCode::PARSE_ERROR)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1", (None, ErrorCode::PARSE_ERROR)),
            ("7", (None, ErrorCode::INVALID_REQUEST)),
            ("[]", (None, ErrorCode::INVALID_REQUEST)),
            ("{}", (None, ErrorCode::INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, (None, ErrorCode::INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":3}"#, (three(), ErrorCode::INVALID_REQUEST)),
            (r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#, (three(), ErrorCode::INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":3,"method":7}"#, (three(), ErrorCode::INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}"#, (three(), ErrorCode::INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}"#, (three(), ErrorCode::INVALID_PARAMS)),
        ] {
            assert_eq!(refused(line), expected, "{line}");
        }
        assert_eq!(refused(&"[".repeat(200_000)), (None, ErrorCode::PARSE_ERROR));
    }

    #[test]
    fn a_batch_is_taken_apart() {
        let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"result":{}},7]"#;
        let read = read(batch.as_bytes());
        assert!(matches!(read.as_slice(), [Ok(ClientJsonRpcMessage::Request(_)), Err(_)]), "{read:?}");
    }
}
