//! The ways in which a settings file calls us, and what of a way is not as `init` writes it.

use steadfast_model::Via;

use super::super::wiring::lines;
use super::{HooksFile, OurHook};

/// A host that calls us, through one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wired<'a> {
    pub file: &'a HooksFile,
    pub via: Via,
    pub program: &'a str,
}

impl HooksFile {
    /// Every way in which it calls us, once.
    pub fn wired(&self) -> Vec<Wired<'_>> {
        let mut wired = Vec::new();
        for OurHook { via, program, .. } in &self.ours {
            let one = Wired { file: self, via: *via, program };
            if !wired.contains(&one) {
                wired.push(one);
            }
        }
        wired
    }
}

impl Wired<'_> {
    fn hooks(&self) -> impl Iterator<Item = &OurHook> {
        self.file.ours.iter().filter(|hook| hook.via == self.via && hook.program == self.program)
    }

    /// What the host starts, each once.
    pub fn started(&self) -> Vec<String> {
        let mut started: Vec<String> = self.hooks().map(OurHook::started).collect();
        started.dedup();
        started
    }

    /// Whether an older version wrote it, in a form that other hosts misread.
    pub fn needs_args(&self) -> bool {
        self.hooks().any(|hook| hook.needs_args)
    }

    /// The events that `init` writes and that we are not called for.
    pub fn missing(&self) -> Vec<&'static str> {
        let is_there = |event: &&str| self.hooks().any(|hook| hook.event == *event);
        lines(self.file.host).iter().map(|line| line.event.as_str()).filter(|event| !is_there(event)).collect()
    }

    /// The events that somebody lets us be called for less, with what says so.
    pub fn narrowed(&self) -> Vec<String> {
        let narrowed = self.hooks().filter(|hook| !hook.narrowed_by.is_empty());
        narrowed.map(|hook| format!("{} ({})", hook.event, hook.narrowed_by.join(", "))).collect()
    }
}
