use std::collections::HashSet;
use std::path::Path;

use steadfast_hosts::transcript::{SessionEvents, Transcript};
use steadfast_model::{Content, Event, EventKind, fnv};

use crate::action::{inside, read, written};
use crate::mask::{Mask, ROOT};
use crate::world::Footprint;

/// The half of the corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// For tuning.
    Tune,
    /// For the final judgement.
    Held,
}

impl Half {
    pub(crate) const BOTH: [Self; 2] = [Self::Tune, Self::Held];

    /// Returns the index in a pair of both halves.
    pub(crate) fn column(self) -> usize {
        match self {
            Self::Tune => 0,
            Self::Held => 1,
        }
    }

    /// Chooses the half by name, so that it stays the same when the corpus grows.
    pub(crate) fn of(name: &str) -> Self {
        if (fnv([name.as_bytes()]) >> 32).is_multiple_of(2) { Self::Tune } else { Self::Held }
    }
}

/// A real session as a replay reads it, with masked names.
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) repository: String,
    pub(crate) half: Half,
    pub(crate) events: Vec<Event>,
    pub(crate) footprint: Footprint,
    /// The human stopped the agent, refused a call or complained.
    pub(crate) pushback: bool,
}

impl Session {
    /// Returns `None` for an unsupported host and for a session without actions.
    pub(crate) fn read(folder: &Path, name: &str, repository: &str, pushback: &HashSet<String>) -> Option<Self> {
        let path = folder.join(name);
        let told: Vec<Event> = SessionEvents::of(&path, Transcript::open(&path).ok()?)?.collect();
        let root = told.iter().map(|event| event.cwd.as_str()).find(|cwd| !cwd.is_empty())?;
        let mask = Mask::new(root, repository);
        let events: Vec<Event> = told.iter().filter_map(|event| masked(event, &mask)).collect();
        let footprint = Footprint::of(&events);
        Some(Self {
            name: name.to_owned(),
            repository: repository.to_owned(),
            half: Half::of(name),
            events,
            footprint,
            pushback: pushback.contains(name),
        })
    }

    pub(crate) fn actions(&self) -> usize {
        self.events.iter().filter(|event| matches!(event.kind, EventKind::PreTool(_))).count()
    }

    /// Returns the indexes of successful calls that wrote a file in the session's folder.
    pub(crate) fn writes(&self) -> Vec<usize> {
        let wrote = |(at, event): (usize, &Event)| inside(written(event), ROOT).next().map(|_| at);
        self.events.iter().enumerate().filter_map(wrote).collect()
    }
}

impl Footprint {
    fn of(events: &[Event]) -> Self {
        let inside = |paths: &[String]| -> Vec<String> { inside(paths, ROOT).map(str::to_owned).collect() };
        let mut footprint = Self::default();
        for event in events {
            footprint.seen.extend(inside(read(event)));
            footprint.seen.extend(inside(written(event)));
            footprint.written.extend(inside(written(event)));
        }
        footprint
    }
}

fn masked(event: &Event, mask: &Mask) -> Option<Event> {
    let text = serde_json::to_string(event).ok()?;
    let told: Event = serde_json::from_str(&mask.apply(&text)).ok()?;
    let words = event.content.words().iter().copied().filter(|word| !mask.hides(*word));
    let mut content = Content::of_words(words.collect());
    content.edits.clone_from(&event.content.edits);
    Some(Event { content, ..told })
}
