//! What became of the protected paths that were to be put back. The decision says what was found; only who did it knows
//! whether it was done.

use std::io;

use steadfast_model::{Answer, GateScope, Millis, Ruling};
use steadfast_store::{Place, Restored, restore};

#[derive(Debug, Default)]
pub(crate) struct Restoring {
    /// The sealed content is back.
    back: Vec<String>,
    /// Nothing was sealed there, and what came is moved aside.
    taken_away: Vec<String>,
    /// Each with the reason.
    failed: Vec<(String, String)>,
    /// Something of it is kept aside.
    kept: bool,
}

impl Restoring {
    pub(crate) fn put_back(&mut self, place: &Place, scope: &GateScope, path: &str, now: Millis) -> io::Result<()> {
        let done = restore(place, scope, &place.root, path, now);
        let path = path.to_owned();
        match &done {
            // Another hook was faster: it is as it was.
            Ok(Restored::AsSealed) => self.back.push(path),
            Ok(Restored::PutBack { kept }) => {
                self.kept |= kept.is_some();
                self.back.push(path);
            }
            Ok(Restored::MovedAside { .. }) => {
                self.kept = true;
                self.taken_away.push(path);
            }
            Ok(Restored::NoCopy) => self.failed.push((path, "no copy of it is kept".to_owned())),
            Ok(Restored::NotSealed) => self.failed.push((path, "it is not sealed".to_owned())),
            Err(error) => self.failed.push((path, error.to_string())),
        }
        done.map(drop)
    }

    /// Adds the outcome to what agent and human are told.
    pub(crate) fn tell(&self, answer: &mut Answer) {
        let Some(outcome) = self.outcome() else { return };
        match &mut answer.ruling {
            Ruling::Deny { reason } => add(reason, &outcome),
            _ => add(answer.context.get_or_insert_default(), &outcome),
        }
        let note = answer.note.get_or_insert_default();
        add(note, &outcome);
        if let Some(path) = self.back.first().or(self.taken_away.first()).filter(|_| self.kept) {
            add(note, &format!("If it is your own work, `steadfast plan take {path}` takes it."));
        }
    }

    fn outcome(&self) -> Option<String> {
        let aside = if self.kept { "; what was there is kept aside (`steadfast why` says where)" } else { "" };
        let done = match (self.back.len(), self.taken_away.len()) {
            (0, 0) => None,
            (0, 1) => Some(format!("It is taken away again{aside}.")),
            (0, _) => Some(format!("They are taken away again{aside}.")),
            (1, 0) => Some(format!("It is put back as it was{aside}.")),
            (back, away) => Some(format!("{} files are put back as they were{aside}.", back + away)),
        };
        let failed = self.failed.first().map(|(path, why)| {
            let more = match self.failed.len() {
                1 => String::new(),
                count => format!(", and {} more", count - 1),
            };
            format!("`{path}`{more} could not be put back: {why}. The plan gate stays closed.")
        });
        match (done, failed) {
            (Some(done), Some(failed)) => Some(format!("{done} {failed}")),
            (done, failed) => done.or(failed),
        }
    }
}

fn add(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}
