use crate::document::Document;
use crate::engine::{self, Engine};
use crate::folder::Folders;
use crate::scorer::{Scorer, Start};
use crate::settled::{SIGNALS, Settled};

/// A scorer in the comparison.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// The names of its signals that can be switched off. Each is a row of the ablation.
    pub(crate) signals: &'static [&'static str],
    pub(crate) make: for<'a> fn(&Start<'a>) -> Box<dyn Scorer + 'a>,
}

/// The yardsticks first.
pub(crate) const KINDS: [Kind; 4] = [
    Kind { name: "files named in the first prompt", signals: &[], make: |_| Box::new(Document::default()) },
    Kind { name: "folder touched before", signals: &[], make: |start| Box::new(Folders::new(start)) },
    Kind { name: "folder settled before", signals: &SIGNALS, make: |start| Box::new(Settled::new(start)) },
    Kind { name: "drift", signals: &engine::SIGNALS, make: |start| Box::new(Engine::new(start)) },
];

/// Our score, without and with the measured command.
pub(crate) const REFINED: [Kind; 2] = [
    Kind { name: "drift", signals: &[], make: |start| Box::new(Engine::new(start)) },
    Kind { name: "drift, refined", signals: &[], make: |start| Box::new(Engine::new(start).refined()) },
];
