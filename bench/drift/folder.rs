use std::collections::HashSet;

use steadfast_model::Event;

use crate::action::{folder, inside, read, written};
use crate::scorer::{Scored, Scorer, Start};

/// The yardstick with one question: was this folder read or written before? The first write is free, and each touched
/// folder is known from then on.
pub(crate) struct Folders<'a> {
    root: &'a str,
    known: HashSet<String>,
}

impl<'a> Folders<'a> {
    pub(crate) fn new(start: &Start<'a>) -> Self {
        Self { root: start.root, known: HashSet::new() }
    }
}

impl Scorer for Folders<'_> {
    fn event(&mut self, event: &Event) -> Option<Scored> {
        let folders = |paths: &[String]| -> Vec<String> {
            inside(paths, self.root).map(|path| folder(path).to_owned()).collect()
        };
        let (looked_at, changed) = (folders(read(event)), folders(written(event)));
        let strange = !self.known.is_empty() && changed.iter().any(|folder| !self.known.contains(folder));
        let scored = (!changed.is_empty()).then_some(if strange { Scored::STRANGE } else { Scored::FINE });
        self.known.extend(looked_at);
        self.known.extend(changed);
        scored
    }
}
