use std::path::{Path, PathBuf};

use steadfast_engine::turn::{TurnFinding, TurnWatch};
use steadfast_hosts::transcript::{SessionEvents, Transcript, Writer, target};
use steadfast_model::{Millis, PolicyName, Rules, ToolCall, Verdict, fnv};

use super::{Fold, ReplayedEvent};

/// The verdicts of the policies on one session.
#[derive(Debug)]
pub enum SessionReport {
    Read {
        actions: Vec<u64>,
        said: Vec<PolicyRemark>,
        turns: Vec<FoundTurn>,
        damaged: u64,
    },
    /// The reason why the file was not read.
    Unread(String),
}

/// One verdict of one policy on one event.
#[derive(Debug)]
pub struct PolicyRemark {
    pub policy: PolicyName,
    pub verdict: &'static str,
    /// The tool, or the event if no tool is involved.
    pub on: String,
    /// The action that the verdict is about.
    pub action: Option<u64>,
    pub example: Option<PolicyExample>,
}

/// A finding about a turn, with an id that is the same in a copy of the session.
#[derive(Clone, Debug)]
pub struct FoundTurn {
    pub id: u64,
    pub file: PathBuf,
    pub session: String,
    pub finding: TurnFinding,
}

#[derive(Clone, Debug)]
pub struct PolicyExample {
    pub file: PathBuf,
    pub session: String,
    pub at: Millis,
    pub target: String,
    pub reason: String,
}

impl SessionReport {
    pub fn of(file: &Path, rules: &Rules, examples: usize) -> Self {
        let transcript = match Transcript::open(file) {
            Ok(transcript) => transcript,
            Err(error) => return Self::Unread(error.to_string()),
        };
        let writer = transcript.writer();
        let Some(events) = SessionEvents::of(file, transcript) else {
            let file = file.display();
            return Self::Unread(match writer.map(Writer::name) {
                Some(whose) => format!("`{file}` is a session of {whose}, which Steadfast cannot read yet"),
                None => format!("`{file}` is not a Claude Code or Codex transcript"),
            });
        };
        let mut fold = Fold::new(events, rules.clone());
        let (mut actions, mut said, mut turns) = (Vec::new(), Vec::new(), Vec::new());
        let mut watch = TurnWatch::default();
        while let Some(judged) = fold.next() {
            let denied = judged.opinions().iter().any(|opinion| {
                opinion.policy == PolicyName::Constraint && matches!(opinion.verdict, Verdict::Deny { .. })
            });
            let finding = fold.state().and_then(|state| watch.add(&judged.event, state, denied));
            turns.extend(finding.map(|finding| FoundTurn {
                id: id_of(&finding),
                file: file.to_owned(),
                session: judged.event.session.to_string(),
                finding,
            }));
            let action = judged.call().map(|call| name(&judged, call, actions.len()));
            actions.extend(action.filter(|_| judged.action().is_some()));
            for opinion in judged.opinions() {
                let target = judged.call().map(|call| target(&call.action, "", &judged.event.cwd)).unwrap_or_default();
                let mut known = said
                    .iter()
                    .filter(|said: &&PolicyRemark| said.policy == opinion.policy)
                    .filter_map(|said| said.example.as_ref());
                let is_new = known.clone().count() < examples && known.all(|known| known.target != target);
                let example = is_new.then(|| PolicyExample {
                    file: file.to_owned(),
                    session: judged.event.session.to_string(),
                    at: judged.event.at,
                    target,
                    reason: opinion.verdict.text().to_owned(),
                });
                let on = judged.call().map_or(judged.event.kind.label(), |call| &call.tool).to_owned();
                said.push(PolicyRemark {
                    policy: opinion.policy,
                    verdict: opinion.verdict.label(),
                    on,
                    action,
                    example,
                });
            }
        }
        Self::Read { actions, said, turns, damaged: fold.damaged() }
    }
}

fn id_of(finding: &TurnFinding) -> u64 {
    let TurnFinding { kind, at, quoted, call, .. } = finding;
    match call {
        Some(call) => fnv([kind.as_str().as_bytes(), call.as_str().as_bytes()]),
        None => fnv([kind.as_str().as_bytes(), &at.0.to_le_bytes(), quoted.as_bytes()]),
    }
}

/// An id for a call that is the same in a copy of the session.
fn name(judged: &ReplayedEvent, call: &ToolCall, number: usize) -> u64 {
    match &call.id {
        Some(id) => fnv([id.as_str().as_bytes()]),
        None => fnv([judged.event.session.as_str().as_bytes(), &number.to_le_bytes()]),
    }
}
