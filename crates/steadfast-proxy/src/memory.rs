//! The refused calls by their ids, for clients that do not send the whole conversation, or send it in other words.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::wire::Refusal;

/// The number of refusals that are remembered. A client brings a call back in its next request.
const LIMIT: usize = 1024;

/// The longest input that is remembered. A client that sends its conversation brings longer ones itself.
const INPUT_LIMIT: usize = 64 << 10;

#[derive(Debug, Default)]
pub(crate) struct RefusalMemory(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    /// By session and call. Ids of calls are unique within a session at best.
    refusals: BTreeMap<(String, String), Refusal>,
    order: VecDeque<(String, String)>,
}

impl RefusalMemory {
    pub(crate) fn add(&self, session: &str, id: &str, refusal: Refusal) {
        if id.is_empty() || refusal.input.len() > INPUT_LIMIT {
            return;
        }
        let mut remembered = self.remembered();
        let key = (session.to_owned(), id.to_owned());
        if remembered.refusals.insert(key.clone(), refusal).is_none() {
            remembered.order.push_back(key);
        }
        if remembered.order.len() > LIMIT {
            let oldest = remembered.order.pop_front();
            oldest.and_then(|oldest| remembered.refusals.remove(&oldest));
        }
    }

    /// Forgets a refusal, since another call has the same id now.
    pub(crate) fn forget(&self, session: &str, id: &str) {
        let mut remembered = self.remembered();
        if remembered.refusals.is_empty() {
            return;
        }
        let key = (session.to_owned(), id.to_owned());
        if remembered.refusals.remove(&key).is_some() {
            remembered.order.retain(|known| *known != key);
        }
    }

    pub(crate) fn get(&self, session: &str, id: &str) -> Option<Refusal> {
        self.remembered().refusals.get(&(session.to_owned(), id.to_owned())).cloned()
    }

    /// Returns whether a call of this session was refused.
    pub(crate) fn knows(&self, session: &str) -> bool {
        let from = (session.to_owned(), String::new());
        self.remembered().refusals.range(from..).next().is_some_and(|((found, _), _)| found == session)
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(why: &str) -> Refusal {
        Refusal { tool: "Write".to_owned(), namespace: None, input: "{}".to_owned(), why: why.to_owned() }
    }

    #[test]
    fn a_session_has_refusals_of_its_own() {
        let memory = RefusalMemory::default();
        memory.add("b", "1", refusal("no"));
        assert_eq!(memory.get("b", "1"), Some(refusal("no")));
        assert_eq!(memory.get("a", "1"), None);
        assert_eq!(["a", "b", "c"].map(|session| memory.knows(session)), [false, true, false]);
        memory.forget("b", "1");
        assert!(!memory.knows("b"));
    }

    #[test]
    fn the_oldest_refusal_is_forgotten_first() {
        let memory = RefusalMemory::default();
        (0..=LIMIT).for_each(|id| memory.add("a", &id.to_string(), refusal("no")));
        assert_eq!(memory.get("a", "0"), None);
        assert_eq!(memory.get("a", "1"), Some(refusal("no")));
    }
}
