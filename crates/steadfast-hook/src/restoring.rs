//! The results of restoring protected paths. The decision only names the paths; the code that restores them knows
//! whether it succeeded.

use std::io;
use std::time::{Duration, Instant};

use steadfast_model::{Answer, GateScope, Millis, Ruling};
use steadfast_store::{Place, Restored, restore, restore_later};

/// The time for all paths of one event. Each waits for the disk, and the alarm ends the hook 950 ms after its start,
/// without a report of what it had restored.
const BUDGET: Duration = Duration::from_millis(400);

#[derive(Debug)]
pub(crate) struct Restoring {
    began: Instant,
    budget: Duration,
    /// Left for the next event.
    later: Vec<(GateScope, String)>,
    /// Paths with their sealed content again.
    back: Vec<String>,
    /// Paths that did not exist when the gate was sealed. The new file is moved aside.
    taken_away: Vec<String>,
    /// Each with the reason.
    failed: Vec<(String, String)>,
    /// A copy of some replaced content is kept.
    kept: bool,
}

impl Restoring {
    pub(crate) fn begin() -> Self {
        Self::within(BUDGET)
    }

    fn within(budget: Duration) -> Self {
        Self {
            began: Instant::now(),
            budget,
            later: Vec::new(),
            back: Vec::new(),
            taken_away: Vec::new(),
            failed: Vec::new(),
            kept: false,
        }
    }

    pub(crate) fn put_back(&mut self, place: &Place, scope: &GateScope, path: &str, now: Millis) -> io::Result<()> {
        if self.began.elapsed() > self.budget {
            self.later.push((scope.clone(), path.to_owned()));
            return Ok(());
        }
        let done = restore(place, scope, &place.root, path, now);
        let path = path.to_owned();
        match &done {
            // Another hook was faster.
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

    /// Records the paths that there was no time for. The next event restores them, and does not take their content for
    /// a human's work.
    pub(crate) fn finish(&self, place: &Place) -> io::Result<()> {
        for of_gate in self.later.chunk_by(|(a, _), (b, _)| a == b) {
            let paths: Vec<String> = of_gate.iter().map(|(_, path)| path.clone()).collect();
            restore_later(place, &of_gate[0].0, &place.root, &paths)?;
        }
        Ok(())
    }

    /// Adds the outcome to the texts for the agent and the human.
    pub(crate) fn report(&self, answer: &mut Answer) {
        let Some(outcome) = self.outcome() else { return };
        match &mut answer.ruling {
            Ruling::Deny { reason } => add(reason, &outcome),
            _ => add(answer.context.get_or_insert_default(), &outcome),
        }
        let note = answer.note.get_or_insert_default();
        add(note, &outcome);
        if let Some(path) = self.back.first().or(self.taken_away.first()).filter(|_| self.kept) {
            add(note, &format!("If it is your own work, `steadfast plan take {path}` accepts it."));
        }
    }

    fn outcome(&self) -> Option<String> {
        let aside = if self.kept { "; what was there is kept aside (`steadfast why` says where)" } else { "" };
        let done = match (self.back.len(), self.taken_away.len()) {
            (0, 0) => None,
            (0, 1) => Some(format!("It is removed again{aside}.")),
            (0, _) => Some(format!("They are removed again{aside}.")),
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
        let later = self.later.first().map(|(_, path)| {
            let more = match self.later.len() {
                1 => " follows".to_owned(),
                count => format!(", and {} more follow", count - 1),
            };
            format!("`{path}`{more} at the next event; `steadfast doctor --fix` puts everything back at once.")
        });
        let said: Vec<String> = [done, failed, later].into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(" "))
    }
}

/// Adds a sentence.
pub(crate) fn add(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}

#[cfg(test)]
mod tests {
    use steadfast_model::SessionId;

    use super::*;

    #[test]
    fn what_there_was_no_time_for_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().join("state"), root: dir.path().to_owned() };
        let scope = GateScope::Session(SessionId::new("s"));
        let mut restoring = Restoring::within(Duration::ZERO);
        for path in ["a.md", "b.md", "c.md"] {
            restoring.put_back(&place, &scope, path, Millis(0)).unwrap();
        }
        restoring.finish(&place).unwrap();
        assert_eq!(
            restoring.outcome().as_deref(),
            Some("`a.md`, and 2 more follow at the next event; `steadfast doctor --fix` puts everything back at once.")
        );
    }
}
