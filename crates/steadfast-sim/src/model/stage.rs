//! The state all connections share: where each script stands, and what was asked.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use serde_json::json;

use super::http::{Incoming, Outgoing};
use super::request::{Request, Track};
use super::{anthropic, openai};
use crate::ids::Ids;
use crate::scenario::{Scenario, Script, Turn};

/// Also a summary, in the shape in which Claude Code asks for one when it compacts.
const SIDE_ANSWER: &str = "<summary>The work so far, in short.</summary>";

#[derive(Debug)]
pub(super) struct Stage {
    scenario: Scenario,
    ids: Ids,
    inside: Mutex<Inside>,
}

#[derive(Debug)]
struct Inside {
    main: Script,
    subagents: HashMap<String, Script>,
    requests: Vec<Request>,
    record: Option<File>,
}

impl Stage {
    pub(super) fn new(scenario: Scenario, record: Option<File>) -> Self {
        let inside = Inside { main: Script::main(&scenario), subagents: HashMap::new(), requests: Vec::new(), record };
        Self { scenario, ids: Ids::new(), inside: Mutex::new(inside) }
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }

    pub(super) fn answer(&self, incoming: Incoming) -> Outgoing {
        let encoding = incoming.header("content-encoding").map(str::to_owned);
        let request = Request::new(incoming);
        let outgoing = match encoding {
            Some(encoding) => Outgoing::json(
                415,
                &json!({"error": {"message": format!("cannot read `{encoding}`; switch the compression of requests off")}}),
            ),
            None => self.route(&request),
        };
        self.keep(request);
        outgoing
    }

    fn route(&self, request: &Request) -> Outgoing {
        match (request.method.as_str(), request.route()) {
            ("POST", "/v1/messages") => {
                let turn = self.turn(request);
                match turn.fail {
                    Some(fault) => anthropic::failure(fault, &self.ids),
                    None => anthropic::answer(request, &turn, &self.ids),
                }
            }
            ("POST", "/v1/messages/count_tokens") => anthropic::count_tokens(request),
            ("POST", "/v1/responses") => {
                let turn = self.turn(request);
                match turn.fail {
                    Some(fault) => openai::failure(fault),
                    None => openai::answer(request, &turn, &self.ids),
                }
            }
            ("GET", "/v1/models") => openai::models(),
            ("HEAD" | "GET", "/") => Outgoing::json(200, &json!({})),
            (_, path) => {
                Outgoing::json(404, &json!({"error": {"message": format!("the scripted model has no `{path}`")}}))
            }
        }
    }

    fn turn(&self, request: &Request) -> Turn {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let script = match request.track {
            Track::Side => return Turn::saying(SIDE_ANSWER),
            Track::Main => &mut inside.main,
            Track::Subagent => {
                inside.subagents.entry(request.agent().to_owned()).or_insert_with(|| Script::subagent(&self.scenario))
            }
        };
        // A compaction that the human asks for comes as a side request, at its own time.
        while script.peek().is_some_and(Turn::only_compacts) {
            let _compaction = script.advance();
        }
        script.advance()
    }

    fn keep(&self, request: Request) {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(record) = &mut inside.record {
            let at = request.at.duration_since(UNIX_EPOCH);
            let line = json!({
                "at_ms": at.map_or(0, |time| time.as_millis() as u64),
                "track": request.track,
                "method": request.method,
                "path": request.path,
                "headers": request.headers,
                "body": request.body,
            });
            // A record that cannot be written must not change what the host sees.
            drop(writeln!(record, "{line}"));
        }
        inside.requests.push(request);
    }
}
