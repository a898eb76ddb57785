use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use steadfast_model::{Action, Event, EventKind, Outcome, ToolCall, ToolResult};

use crate::corpus::{Corpus, Result, Table};
use crate::kind::Kind;
use crate::mask::ROOT;
use crate::measure::Share;
use crate::scorer::{Start, Variant, steps};
use crate::session::Session;
use crate::world::World;

/// The reason of each refusal, classified by hand from the human's words before the score existed. The hash is the
/// first 16 digits of SHA-256 over `transcript`, a tab and `line_idx`.
const LABELS: &str = include_str!("rejections.tsv");

/// A call that a human refused.
pub(crate) struct Refusal {
    /// The index of its session.
    session: usize,
    call: String,
    /// The human's words name scope or a constraint.
    pub(crate) counts: bool,
}

impl Refusal {
    pub(crate) fn read(transcripts: &Path, rejections: &Table, sessions: &[Session]) -> Result<Vec<Self>> {
        let labels = Table::parse(LABELS);
        let labels: HashMap<&str, &str> = labels.rows().map(|row| (row.get("hash"), row.get("label"))).collect();
        let mut refusals = Vec::new();
        for row in rejections.rows() {
            let (name, line) = (row.get("transcript"), row.get("line_idx"));
            let hash = key(name, line);
            let label = labels.get(hash.as_str()).ok_or_else(|| format!("the refusal {hash} has no label"))?;
            let session = sessions.iter().position(|session| session.name == name);
            let call = call(&transcripts.join(name), line.parse()?);
            if let (Some(session), Some(call)) = (session, call) {
                refusals.push(Self { session, call, counts: *label != "other" });
            }
        }
        Ok(refusals)
    }
}

fn key(name: &str, line: &str) -> String {
    let digest = Sha256::digest(format!("{name}\t{line}"));
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the call of a result row in a transcript.
fn call(file: &Path, line: usize) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let row: serde_json::Value = serde_json::from_str(text.lines().nth(line)?).ok()?;
    let results = row.get("message")?.get("content")?.as_array()?;
    results.iter().find_map(|result| result.get("tool_use_id")?.as_str().map(str::to_owned))
}

/// The scores of refused calls, and of accepted calls in the same sessions.
pub(crate) struct Refused {
    /// Refusals whose words name scope or a constraint. The score should detect these.
    pub(crate) named: [Share; 2],
    /// Other refusals.
    pub(crate) other: [Share; 2],
    /// Accepted writes and commands.
    pub(crate) accepted: [Share; 2],
}

pub(crate) fn refused(corpus: &Corpus, kind: &Kind, variant: Variant<'_>) -> Refused {
    let mut refused = Refused { named: Default::default(), other: Default::default(), accepted: Default::default() };
    let mut seen = HashSet::new();
    for refusal in &corpus.refusals {
        let session = &corpus.sessions[refusal.session];
        let half = session.half.column();
        let (tree, others) = (corpus.tree(&[session]), corpus.others(&[session]));
        let world = World { tree: &tree, others: &others };
        let scorer = || (kind.make)(&Start { root: ROOT, world, variant });
        if let Some(events) = until(&session.events, &refusal.call) {
            let steps = steps(&mut *scorer(), &events);
            let counted = if refusal.counts { &mut refused.named } else { &mut refused.other };
            counted[half].add(steps.last().is_some_and(|step| step.is_corrected()));
        }
        if seen.insert(refusal.session) {
            for step in steps(&mut *scorer(), &session.events) {
                if is_accepted(&session.events, step.at) {
                    refused.accepted[half].add(step.is_corrected());
                }
            }
        }
    }
    refused
}

/// Returns the session up to a call, with an ordinary result for that call. A scorer that works after the action must
/// not read the human's refusal first.
fn until(events: &[Event], id: &str) -> Option<Vec<Event>> {
    let is_it = |event: &Event| matches!(&event.kind, EventKind::PreTool(call) if is_named(call, id));
    let at = events.iter().position(is_it)?;
    let mut before = events[..=at].to_vec();
    let EventKind::PreTool(call) = &events[at].kind else { return None };
    let result =
        ToolResult { call: call.clone(), outcome: Outcome::Ok, millis: None, answers: Vec::new(), names: Vec::new() };
    before.push(Event { kind: EventKind::PostTool(result), ..events[at].clone() });
    Some(before)
}

fn is_accepted(events: &[Event], at: usize) -> bool {
    let EventKind::PreTool(call) = &events[at].kind else { return false };
    let id = call.id.as_ref().map_or("", |id| id.as_str());
    let was_refused = |event: &Event| matches!(&event.kind, EventKind::Permission(asked) if is_named(asked, id));
    matches!(call.action, Action::Write { .. } | Action::Shell { .. }) && !events[at..].iter().any(was_refused)
}

fn is_named(call: &ToolCall, id: &str) -> bool {
    call.id.as_ref().is_some_and(|known| known.as_str() == id)
}
