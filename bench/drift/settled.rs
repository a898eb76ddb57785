use std::collections::HashSet;

use steadfast_model::{Event, EventKind, PromptOrigin};

use crate::action::{folder, inside, name, read, written};
use crate::scorer::{Scored, Scorer, Start};

/// The signals that can be switched off.
pub(crate) const SIGNALS: [&str; 3] = ["read", "named", "together"];
/// The least number of other sessions that wrote both files.
const OFTEN: usize = 2;

/// The strictest yardstick. A folder is known if it was read before the first write after a human prompt, or written
/// without being strange. A strange folder becomes known if the human's next prompt does not object.
pub(crate) struct Settled<'a> {
    start: Start<'a>,
    folders: HashSet<String>,
    /// The strange folders since the last prompt.
    strange: HashSet<String>,
    files: Vec<String>,
    exploring: bool,
}

impl<'a> Settled<'a> {
    pub(crate) fn new(start: &Start<'a>) -> Self {
        Self { start: *start, folders: HashSet::new(), strange: HashSet::new(), files: Vec::new(), exploring: true }
    }

    fn prompt(&mut self, text: &str) {
        self.exploring = true;
        self.folders.extend(self.strange.drain());
        if self.start.uses("named") {
            let words: HashSet<&str> =
                text.split(|c: char| c.is_whitespace() || "`'\"(),:@".contains(c)).filter(|w| w.len() > 3).collect();
            let is_named = |path: &&String| words.contains(path.as_str()) || words.contains(name(path));
            let named = self.start.world.tree.iter().filter(is_named);
            self.folders.extend(named.map(|path| folder(path).to_owned()));
        }
    }

    /// Returns true if other sessions usually wrote the file together with a file that was written here.
    fn is_neighbour(&self, file: &str) -> bool {
        let is_one = |own: &String| {
            let (both, all) = self.start.world.together(file, own);
            all >= OFTEN && 2 * both >= all
        };
        self.start.uses("together") && self.files.iter().any(is_one)
    }
}

impl Scorer for Settled<'_> {
    fn event(&mut self, event: &Event) -> Option<Scored> {
        if let EventKind::Prompt { text, origin: PromptOrigin::Human, .. } = &event.kind {
            self.prompt(text);
        }
        if self.exploring && self.start.uses("read") {
            self.folders.extend(inside(read(event), self.start.root).map(|path| folder(path).to_owned()));
        }
        let changed: Vec<&str> = inside(written(event), self.start.root).collect();
        if changed.is_empty() {
            return None;
        }
        let is_strange = |path: &&&str| !self.folders.contains(folder(path)) && !self.is_neighbour(path);
        let strange = changed.iter().filter(is_strange).count() > 0 && !self.files.is_empty();
        let known = if strange { &mut self.strange } else { &mut self.folders };
        known.extend(changed.iter().map(|path| folder(path).to_owned()));
        if !strange {
            self.files.extend(changed.iter().map(|path| (*path).to_owned()));
        }
        self.exploring = false;
        Some(if strange { Scored::STRANGE } else { Scored::FINE })
    }
}
