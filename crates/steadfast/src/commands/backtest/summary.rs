use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};
use steadfast_engine::POLICIES;
use steadfast_model::PolicyName;
use steadfast_redact::redact;
use steadfast_text::{count, printable, truncate};
use steadfast_work::replay::{PolicyExample, PolicyRemark, SessionReport};

/// The verdicts of the policies in all sessions.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub(super) sessions: usize,
    /// Files that were not read, with the reason.
    pub(super) unread: Vec<String>,
    pub(super) actions: u64,
    pub(super) damaged: u64,
    pub(super) policies: Vec<Tally>,
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
        let mut summary = Self { policies, ..Self::default() };
        let mut known = HashSet::new();
        for report in reports {
            summary.add(report, examples, &mut known);
        }
        summary
    }

    fn add(&mut self, report: SessionReport, examples: usize, known: &mut HashSet<u64>) {
        let (actions, said, damaged) = match report {
            SessionReport::Read { actions, said, damaged } => (actions, said, damaged),
            SessionReport::Unread(why) => return self.unread.push(why),
        };
        self.sessions += 1;
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

    pub(super) fn to_json(&self) -> Value {
        let policies: Vec<Value> = self.policies.iter().map(|tally| self.tally_json(tally)).collect();
        json!({
            "sessions": self.sessions,
            "unread": self.unread.len(),
            "actions": self.actions,
            "damaged": self.damaged,
            "policies": policies,
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
            format!("{}, {}{}", count(self.sessions as u64, "session"), count(self.actions, "action"), self.left_out()),
            String::new(),
            format!("{:<12} {:>6} {:>10}  {:<34} on", "policy", "said", "per 1,000", "verdicts"),
        ];
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
