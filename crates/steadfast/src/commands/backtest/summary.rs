use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};
use steadfast_engine::POLICIES;
use steadfast_engine::turn::{TurnFinding, TurnKind};
use steadfast_model::PolicyName;
use steadfast_redact::redact;
use steadfast_text::{count, grouped, noun, printable, truncate};
use steadfast_work::replay::{FoundTurn, PolicyExample, PolicyRemark, SessionReport};

/// The verdicts of the policies in all sessions.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub(super) sessions: usize,
    /// The number of examples to show for each kind of finding.
    examples: usize,
    /// Files that were not read, with the reason.
    pub(super) unread: Vec<String>,
    pub(super) actions: u64,
    pub(super) damaged: u64,
    pub(super) policies: Vec<Tally>,
    /// All findings about turns, by file.
    pub(super) turns: Vec<FoundTurn>,
}

/// The verdicts of one policy.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) policy: PolicyName,
    pub(super) said: u64,
    pub(super) verdicts: BTreeMap<&'static str, u64>,
    pub(super) on: BTreeMap<String, u64>,
    /// The tool, the verdict and one example.
    pub(super) examples: Vec<(String, &'static str, PolicyExample)>,
}

impl Summary {
    pub(super) fn of(reports: Vec<SessionReport>, examples: usize) -> Self {
        let tally =
            |policy| Tally { policy, said: 0, verdicts: BTreeMap::new(), on: BTreeMap::new(), examples: Vec::new() };
        let policies = POLICIES.iter().map(|policy| tally(policy.name())).collect();
        let mut summary = Self { policies, examples, ..Self::default() };
        let mut known = HashSet::new();
        for report in reports {
            summary.add(report, examples, &mut known);
        }
        summary
    }

    fn add(&mut self, report: SessionReport, examples: usize, known: &mut HashSet<u64>) {
        let (actions, said, turns, damaged) = match report {
            SessionReport::Read { actions, said, turns, damaged } => (actions, said, turns, damaged),
            SessionReport::Unread(why) => return self.unread.push(why),
        };
        self.sessions += 1;
        for found in turns {
            if known.insert(found.id) {
                self.turns.push(found);
            }
        }
        self.damaged += damaged;
        let fresh: HashSet<u64> = actions.into_iter().filter(|action| known.insert(*action)).collect();
        self.actions += fresh.len() as u64;
        for PolicyRemark { policy, verdict, on, action, example } in said {
            let is_copy = action.is_some_and(|action| !fresh.contains(&action));
            let Some(tally) = self.policies.iter_mut().find(|tally| tally.policy == policy && !is_copy) else {
                continue;
            };
            tally.said += 1;
            *tally.verdicts.entry(verdict).or_default() += 1;
            *tally.on.entry(on.clone()).or_default() += 1;
            let shown = |other: &PolicyExample| tally.examples.iter().any(|(_, _, known)| known.target == other.target);
            if let Some(example) = example.filter(|example| tally.examples.len() < examples && !shown(example)) {
                tally.examples.push((on, verdict, example));
            }
        }
    }

    /// Verdicts of a policy in a thousand actions.
    pub(super) fn per_1000(&self, tally: &Tally) -> f64 {
        if self.actions == 0 { 0.0 } else { tally.said as f64 * 1_000.0 / self.actions as f64 }
    }

    /// The findings of a kind: their number, and examples from different files first.
    pub(super) fn turns_of(&self, kind: TurnKind) -> (u64, Vec<&FoundTurn>) {
        let all: Vec<&FoundTurn> = self.turns.iter().filter(|found| found.finding.kind == kind).collect();
        let mut files = HashSet::new();
        let (first, more): (Vec<_>, Vec<_>) = all.iter().partition(|found| files.insert(&found.file));
        (all.len() as u64, first.into_iter().chain(more).take(self.examples).collect())
    }

    fn turn_json(&self, kind: TurnKind) -> Value {
        let (found, examples) = self.turns_of(kind);
        let example = |found: &&FoundTurn| {
            let TurnFinding { at, turn, quoted, act, .. } = &found.finding;
            json!({
                "file": found.file.display().to_string(),
                "session": found.session,
                "at": at,
                "turn": turn,
                "quoted": redact(quoted),
                "act": redact(act),
            })
        };
        let examples: Vec<Value> = examples.iter().map(example).collect();
        json!({"kind": kind.as_str(), "found": found, "examples": examples})
    }

    pub(super) fn to_json(&self) -> Value {
        let policies: Vec<Value> = self.policies.iter().map(|tally| self.tally_json(tally)).collect();
        json!({
            "sessions": self.sessions,
            "unread": self.unread.len(),
            "actions": self.actions,
            "damaged": self.damaged,
            "policies": policies,
            "turns": TurnKind::ALL.map(|kind| self.turn_json(kind)),
        })
    }

    fn tally_json(&self, tally: &Tally) -> Value {
        let examples: Vec<Value> = tally
            .examples
            .iter()
            .map(|(on, verdict, example)| {
                json!({
                    "file": example.file.display().to_string(),
                    "session": example.session,
                    "at": example.at,
                    "tool": on,
                    "target": redact(&example.target),
                    "verdict": verdict,
                    "reason": redact(&example.reason),
                })
            })
            .collect();
        json!({
            "policy": tally.policy,
            "said": tally.said,
            "per_1000": (self.per_1000(tally) * 1_000.0).round() / 1_000.0,
            "verdicts": tally.verdicts,
            "on": tally.on,
            "examples": examples,
        })
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!(
                "{}, {} {}{}",
                count(self.sessions as u64, "session"),
                grouped(self.actions),
                noun(self.actions, "action"),
                self.left_out()
            ),
            String::new(),
            format!("{:<52} {:>6}", "turns in which the agent", "found"),
        ];
        for kind in TurnKind::ALL {
            lines.push(format!("{:<52} {:>6}", what(kind), grouped(self.turns_of(kind).0)));
        }
        lines.push(String::new());
        lines.push(format!("{:<12} {:>6} {:>10}  {:<34} on", "policy", "said", "per 1,000", "verdicts"));
        for tally in &self.policies {
            let (verdicts, on) = (counted(&tally.verdicts), counted(&tally.on));
            let line = format!(
                "{:<12} {:>6} {:>10.1}  {verdicts:<34} {on}",
                tally.policy.as_str(),
                tally.said,
                self.per_1000(tally)
            );
            lines.push(line.trim_end().to_owned());
        }
        for kind in TurnKind::ALL {
            let (_, examples) = self.turns_of(kind);
            if !examples.is_empty() {
                lines.extend([String::new(), format!("the agent {}:", what(kind))]);
            }
            lines.extend(examples.into_iter().map(|found| format!("  {}", one_line(found))));
        }
        for tally in self.policies.iter().filter(|tally| !tally.examples.is_empty()) {
            lines.extend([String::new(), format!("examples of {}:", tally.policy)]);
            for (on, verdict, example) in &tally.examples {
                lines.push(format!("  {}  {verdict}  {on} {}", example.at, shown(&example.target)));
                lines.push(format!("      {}", shown(&example.reason)));
                lines.push(format!("      {}", example.file.display()));
            }
        }
        lines
    }

    /// The number of unread files and damaged rows in words.
    pub(super) fn left_out(&self) -> String {
        let mut text = String::new();
        if !self.unread.is_empty() {
            text += &format!("; {} not read", count(self.unread.len() as u64, "file"));
        }
        if self.damaged > 0 {
            text += &format!("; {} damaged", count(self.damaged, "row"));
        }
        text
    }
}

/// What the agent did, for a table and its examples.
pub(super) fn what(kind: TurnKind) -> &'static str {
    match kind {
        TurnKind::StoppedEarly => "stopped and offered to go on while work was open",
        TurnKind::UntestedClaim => "said that tests pass and ran none",
        TurnKind::Forbidden => "ran what the human had forbidden",
        TurnKind::OutsideScope => "wrote outside the scope that the human had set",
    }
}

/// A finding in one line: the file, the turn and the quoted words.
fn one_line(found: &FoundTurn) -> String {
    let TurnFinding { turn, .. } = found.finding;
    format!("{}, turn {turn}: {}", found.file.display(), words_of(found))
}

/// The quoted words of a finding, with the act that they forbid.
pub(super) fn words_of(found: &FoundTurn) -> String {
    const QUOTED: usize = 160;
    let TurnFinding { quoted, act, .. } = &found.finding;
    let quoted = truncate(&shown(quoted), QUOTED).into_owned();
    if act.is_empty() { format!("\"{quoted}\"") } else { format!("`{}` after \"{quoted}\"", shown(act)) }
}

/// `deny 3, context 1`, the most frequent first.
pub(super) fn counted<K: AsRef<str> + Ord>(counts: &BTreeMap<K, u64>) -> String {
    let mut counts: Vec<(&str, u64)> = counts.iter().map(|(name, count)| (name.as_ref(), *count)).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}

/// A command or a reason in one line, without secrets: users share reports.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 200;
    truncate(&printable(&redact(text)), LONGEST).into_owned()
}
