//! JSON-RPC 2.0: a message in, its answer out.

use serde_json::{Map, Value, json};

const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;

#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
}

/// Why a request has no result.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl Fault {
    pub(super) fn method_not_found(method: &str) -> Self {
        Self::new(METHOD_NOT_FOUND, format!("there is no method `{method}`"))
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(super) fn with(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}

/// What is said to one line: nothing to a notification, a list to a batch.
pub(super) fn answer(line: &[u8], serve: impl Fn(&Request) -> Result<Value, Fault>) -> Option<Value> {
    match serde_json::from_slice(line) {
        Err(error) => Some(failure(Value::Null, Fault::new(PARSE_ERROR, format!("the line is no JSON: {error}")))),
        Ok(Value::Array(batch)) if batch.is_empty() => Some(refuse("the batch is empty")),
        Ok(Value::Array(batch)) => {
            let answers: Vec<_> = batch.into_iter().filter_map(|message| answer_one(message, &serve)).collect();
            (!answers.is_empty()).then_some(Value::Array(answers))
        }
        Ok(message) => answer_one(message, &serve),
    }
}

/// The answer to what is no request, and so has no id to answer to.
pub(super) fn refuse(why: impl Into<String>) -> Value {
    failure(Value::Null, Fault::new(INVALID_REQUEST, why))
}

fn answer_one(message: Value, serve: &impl Fn(&Request) -> Result<Value, Fault>) -> Option<Value> {
    let Value::Object(fields) = message else { return Some(refuse("a message is an object")) };
    if !fields.contains_key("method") && (fields.contains_key("result") || fields.contains_key("error")) {
        // An answer; we never ask.
        return None;
    }
    let id = match fields.get("id") {
        None if fields.contains_key("method") => return None,
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        None | Some(_) => return Some(refuse("the `id` is no text and no number")),
    };
    Some(match read(fields).and_then(|request| serve(&request)) {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(fault) => failure(id, fault),
    })
}

fn read(mut fields: Map<String, Value>) -> Result<Request, Fault> {
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Fault::new(INVALID_REQUEST, "`jsonrpc` is not \"2.0\""));
    }
    let Some(Value::String(method)) = fields.remove("method") else {
        return Err(Fault::new(INVALID_REQUEST, "`method` is no text"));
    };
    let params = match fields.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(Fault::invalid_params("`params` is no object")),
    };
    Ok(Request { method, params })
}

fn failure(id: Value, Fault { code, message, data }: Fault) -> Value {
    let mut error = json!({"code": code, "message": message});
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Option<Value> {
        answer(line.as_bytes(), |request| match request.method.as_str() {
            "echo" => Ok(Value::Object(request.params.clone())),
            method => Err(Fault::method_not_found(method)),
        })
    }

    /// Id and code of an answer that is an error.
    fn error(line: &str) -> (Value, i64) {
        let said = said(line).unwrap();
        (said["id"].clone(), said["error"]["code"].as_i64().unwrap())
    }

    #[test]
    fn an_id_comes_back_as_it_was() {
        for id in ["1", "\"a\"", "0", "18446744073709551615"] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"echo","params":{{"a":1}}}}"#);
            let expected =
                json!({"jsonrpc": "2.0", "id": serde_json::from_str::<Value>(id).unwrap(), "result": {"a": 1}});
            assert_eq!(said(&line), Some(expected));
        }
    }

    #[test]
    fn notifications_and_answers_are_not_answered() {
        for line in [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"nonsense","params":7}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
            r#"[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]"#,
        ] {
            assert_eq!(said(line), None, "{line}");
        }
    }

    #[test]
    fn what_is_no_request_is_refused_with_its_id_where_it_has_one() {
        for (line, expected) in [
            ("hello", (Value::Null, PARSE_ERROR)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1", (Value::Null, PARSE_ERROR)),
            ("7", (Value::Null, INVALID_REQUEST)),
            ("[]", (Value::Null, INVALID_REQUEST)),
            ("{}", (Value::Null, INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"echo"}"#, (Value::Null, INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":3}"#, (json!(3), INVALID_REQUEST)),
            (r#"{"jsonrpc":"1.0","id":3,"method":"echo"}"#, (json!(3), INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":3,"method":7}"#, (json!(3), INVALID_REQUEST)),
            (r#"{"jsonrpc":"2.0","id":3,"method":"echo","params":[1]}"#, (json!(3), INVALID_PARAMS)),
            (r#"{"jsonrpc":"2.0","id":3,"method":"nonsense"}"#, (json!(3), METHOD_NOT_FOUND)),
        ] {
            assert_eq!(error(line), expected, "{line}");
        }
        assert_eq!(error(&"[".repeat(200_000)), (Value::Null, PARSE_ERROR));
    }

    #[test]
    fn a_batch_is_answered_with_a_list_of_what_asks_for_an_answer() {
        let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","method":"echo"},7]"#;
        let Some(Value::Array(answers)) = said(batch) else { panic!("no list") };
        assert_eq!(answers, [json!({"jsonrpc": "2.0", "id": 1, "result": {}}), refuse("a message is an object")]);
    }
}
