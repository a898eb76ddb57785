//! The state of all connections: the position in each script, and the requests.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use serde_json::json;

use super::cast::Cast;
use super::http::{Incoming, Outgoing};
use super::request::{Request, Track};
use super::{anthropic, openai};
use crate::ids::Ids;
use crate::scenario::{Fault, Scenario, Script, Turn};

/// Also a summary, in the form that Claude Code expects from a compaction.
const SIDE_ANSWER: &str = "<summary>The work so far, in short.</summary>";

/// No host retries after this status.
const NOBODYS_PART: Fault = Fault { status: 404, times: 1 };

#[derive(Debug)]
pub(super) struct Stage {
    ids: Ids,
    inside: Mutex<Inside>,
}

#[derive(Debug)]
struct Inside {
    cast: Cast,
    /// By session, if sessions have separate parts.
    performances: HashMap<String, Performance>,
    requests: Vec<Request>,
    record: Option<File>,
}

/// A running scenario.
#[derive(Debug)]
struct Performance {
    scenario: Scenario,
    main: Script,
    subagents: HashMap<String, Script>,
}

impl Performance {
    fn of(scenario: Scenario) -> Self {
        Self { main: Script::main(&scenario), subagents: HashMap::new(), scenario }
    }
}

impl Inside {
    fn performance(&mut self, request: &Request) -> Option<&mut Performance> {
        let session = if self.cast.is_several() { request.session() } else { "" };
        if !self.performances.contains_key(session) {
            let scenario = self.cast.next(&request.text())?;
            self.performances.insert(session.to_owned(), Performance::of(scenario));
        }
        self.performances.get_mut(session)
    }
}

impl Stage {
    pub(super) fn new(cast: Cast, record: Option<File>) -> Self {
        let inside = Inside { cast, performances: HashMap::new(), requests: Vec::new(), record };
        Self { ids: Ids::new(), inside: Mutex::new(inside) }
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
        if request.track == Track::Side {
            return Turn::saying(SIDE_ANSWER);
        }
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(performance) = inside.performance(request) else {
            return Turn { fail: Some(NOBODYS_PART), ..Turn::default() };
        };
        let Performance { scenario, main, subagents } = performance;
        let script = match request.track {
            Track::Subagent => {
                subagents.entry(request.agent().to_owned()).or_insert_with(|| Script::subagent(scenario))
            }
            Track::Main | Track::Side => main,
        };
        // A compaction that the human requests arrives as a side request, at any time.
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
            // A failure to write the record must not change the answers to the host.
            drop(writeln!(record, "{line}"));
        }
        inside.requests.push(request);
    }
}
