//! The events and answers of Steadfast, from the journal of the session: the same for every host.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use steadfast_model::{
    Action, Change, Counts, Effect, Entry, EventKind, Fact, Millis, PolicyName, Record, Ruling, ToolCall, Verdict,
};
use steadfast_store::{Place, SessionFiles, read_lines};

use super::scene::{Attempt, Scene};

#[derive(Debug)]
pub(super) struct Journal {
    place: Place,
    /// The offset up to which each journal was read.
    read: BTreeMap<PathBuf, u64>,
    records: VecDeque<Record>,
    pub(super) attempts: Vec<Attempt>,
    /// Number of refused writes of an unapproved plan.
    pub(super) denied: usize,
    /// Number of calls that a constraint of the human refused.
    pub(super) forbidden: usize,
    /// Number of corrections about drift.
    pub(super) corrected: usize,
    /// Number of new files that Steadfast removed again.
    pub(super) restored: usize,
}

impl Journal {
    pub(super) fn new(place: Place) -> Self {
        Self {
            place,
            read: BTreeMap::new(),
            records: VecDeque::new(),
            attempts: Vec::new(),
            denied: 0,
            forbidden: 0,
            corrected: 0,
            restored: 0,
        }
    }

    /// The scenes up to `until`. A stop waits for its message, which the host may print late.
    pub(super) fn scenes(&mut self, until: Millis, said: Option<&str>) -> Vec<(Millis, Scene)> {
        self.read_new();
        let mut scenes = Vec::new();
        while let Some(record) = self.records.pop_front() {
            let early = match &record.event.kind {
                EventKind::Stop(stopping) => stopping.last_message.as_deref().is_some_and(|last| said != Some(last)),
                _ => false,
            };
            if record.event.at > until || (early && until != Millis(i64::MAX)) {
                self.records.push_front(record);
                break;
            }
            self.tell(&record, &mut scenes);
        }
        scenes
    }

    /// The remaining scenes.
    pub(super) fn rest(&mut self) -> Vec<(Millis, Scene)> {
        self.scenes(Millis(i64::MAX), None)
    }

    fn read_new(&mut self) {
        for files in SessionFiles::all(&self.place) {
            let offset = self.read.entry(files.dir().to_owned()).or_default();
            // An unreadable journal is read the next time.
            let Ok((_, lines)) = read_lines(files.dir(), *offset) else { continue };
            for line in lines {
                *offset = line.end;
                if let Entry::Record(record) = line.entry {
                    self.records.push_back(*record);
                }
            }
        }
    }

    /// Returns true if a new file was removed again. Waits for it, because the journal is written before the removal.
    fn is_removed(&self, path: &str) -> bool {
        let is_gone = || !self.place.root.join(path).exists();
        (0..100).any(|_| {
            is_gone() || {
                thread::sleep(Duration::from_millis(10));
                false
            }
        })
    }

    fn tell(&mut self, record: &Record, scenes: &mut Vec<(Millis, Scene)>) {
        let at = record.event.at;
        let mut show = |scene| scenes.push((at, scene));
        let answer = &record.answer;
        match &record.event.kind {
            EventKind::Prompt { text, .. } => show(Scene::Asked { text: text.clone() }),
            EventKind::Stop(stopping) if record.event.agent.is_none() => {
                show(Scene::WantsToStop);
                let release = record.changes.iter().find_map(|change| match change {
                    Change::StopReleased(release) => Some(*release),
                    _ => None,
                });
                let refusal = match &answer.ruling {
                    Ruling::Continue { reason } => Some(reason.clone()),
                    Ruling::Pass | Ruling::Ask { .. } | Ruling::AskInstead(_) | Ruling::Deny { .. } => None,
                };
                show(match &refusal {
                    Some(reason) => Scene::Refused { reason: reason.clone() },
                    None => Scene::Released { release },
                });
                let message = stopping.last_message.clone().unwrap_or_default();
                self.attempts.push(Attempt { message, counts: counts(record), refusal });
            }
            EventKind::PreTool(call) => {
                if let Ruling::Deny { reason } = &answer.ruling {
                    show(Scene::Tried { what: wanted(call, &self.place) });
                    show(Scene::Refused { reason: reason.clone() });
                    let by = |policy| record.opinions.iter().any(|opinion| opinion.policy == policy);
                    self.denied += usize::from(by(PolicyName::Approval));
                    self.forbidden += usize::from(by(PolicyName::Constraint));
                }
            }
            _ => {}
        }
        let broken: Vec<&str> = record.effects.iter().filter_map(restores).collect();
        let removed = broken.iter().filter(|path| self.is_removed(path)).count();
        self.restored += removed;
        let corrections = record.opinions.iter().filter(|opinion| opinion.policy == PolicyName::Drift);
        self.corrected += corrections.filter(|opinion| matches!(opinion.verdict, Verdict::Context(_))).count();
        if let Some(text) = &answer.context {
            let outcome = if removed > 0 { " It is removed again." } else { "" };
            show(Scene::Informed { text: format!("{text}{outcome}") });
        }
        if let Some(text) = &answer.note {
            show(Scene::Noted { text: text.clone() });
        }
    }
}

/// The path that an effect restores.
fn restores(effect: &Effect) -> Option<&str> {
    match effect {
        Effect::Restore { path, .. } => Some(path),
        _ => None,
    }
}

fn wanted(call: &ToolCall, place: &Place) -> String {
    match &call.action {
        Action::Shell { command, .. } => format!("run `{command}`"),
        Action::Write { paths } => {
            let path = paths.first().map_or(Path::new(""), Path::new);
            format!("write {}", path.strip_prefix(&place.root).unwrap_or(path).display())
        }
        _ => format!("use {}", call.tool),
    }
}

fn counts(record: &Record) -> Counts {
    match &record.facts.plan {
        Fact::Known(Some(plan)) => plan.counts,
        Fact::Known(None) | Fact::NotAsked | Fact::Unknown(_) => Counts::default(),
    }
}
