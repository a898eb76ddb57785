//! The calls of a session that wait for their results, and the corrections in results.
//!
//! The model's thinking and its prompt cache are bound to everything before them. So a correction stands in the result of
//! its call from the first request on, and in each later one, also behind another proxy: it is kept on the disk before it
//! is said. A result that once went to the model without a correction never gets one.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Mutex, MutexGuard};

use steadfast_hosts::ProxiedCall;
use steadfast_model::fnv;
use steadfast_proxy::wire::WireResult;
use steadfast_store::{KeptCorrection, SessionFiles};

use crate::pipeline::lock;

/// The most waiting calls, and the most results without a correction, that are remembered. Their ids come from the agent.
const WAITING: usize = 1024;
const SEEN: usize = 64 << 10;

/// A subagent, if it is one, and the id of its call.
type CallName = (Option<String>, String);

/// A call that was allowed, and what the rules said to it.
#[derive(Clone, Debug)]
pub(crate) struct WaitingCall {
    pub(crate) call: ProxiedCall,
    pub(crate) advice: Option<String>,
}

/// The corrections of one session, and of its subagents.
#[derive(Debug, Default)]
pub(crate) struct ResultCorrections(Mutex<ResultBook>);

#[derive(Debug, Default)]
struct ResultBook {
    /// Calls without a result so far. `None`: it is not judged yet, and its result may come before that.
    waiting: BTreeMap<CallName, Option<WaitingCall>>,
    kept: Vec<KeptCorrection>,
    /// The texts of [`Self::kept`] by result.
    said: BTreeMap<u64, String>,
    /// The ids of the calls with a correction.
    corrected: BTreeSet<String>,
    /// The corrections of other sessions, until the first answer. A session that was forked has their results.
    others: Vec<KeptCorrection>,
    /// Results whose calls no longer wait.
    judged: BTreeSet<u64>,
    /// Results that went to the model without a correction.
    seen: BTreeSet<u64>,
    /// The earlier corrections are unknown, so nothing more is said.
    is_mute: bool,
}

/// A result of a waiting call.
#[derive(Clone, Debug)]
pub(crate) struct NewResult<'a> {
    pub(crate) waiting: WaitingCall,
    pub(crate) result: &'a WireResult,
    pub(crate) hash: u64,
}

impl ResultCorrections {
    /// Reads the corrections of a session.
    pub(crate) fn of(files: &SessionFiles) -> Self {
        let (kept, is_mute) = match files.corrections() {
            Ok(kept) => (kept, false),
            Err(_) => (Vec::new(), true),
        };
        let others = if kept.is_empty() && !is_mute { files.corrections_of_others() } else { Vec::new() };
        let mut book = ResultBook { is_mute, others, ..ResultBook::default() };
        book.say(kept);
        Self(Mutex::new(book))
    }

    /// Expects a call to be judged.
    pub(crate) fn expect(&self, agent: Option<&str>, call: &str) {
        let mut book = self.book();
        // From now on the results are of this session's own calls.
        book.others.clear();
        if book.waiting.len() < WAITING {
            book.waiting.insert(name(agent, call), None);
        }
    }

    /// Ends the judgement of an expected call. `None`: it was refused, or could not be judged.
    pub(crate) fn wait_for(&self, agent: Option<&str>, call: &str, judged: Option<WaitingCall>) {
        let (mut book, name) = (self.book(), name(agent, call));
        if judged.is_none() {
            book.waiting.remove(&name);
        } else if let Some(waiting) = book.waiting.get_mut(&name) {
            *waiting = judged;
        }
    }

    /// Returns whether any call waits for its result or has a correction.
    pub(crate) fn awaits_any(&self) -> bool {
        let book = self.book();
        !(book.waiting.is_empty() && book.kept.is_empty() && book.others.is_empty())
    }

    pub(crate) fn awaits(&self, agent: Option<&str>, call: &str) -> bool {
        let book = self.book();
        let is_others = || book.others.iter().any(|other| other.call == call);
        book.corrected.contains(call) || is_others() || book.waiting.contains_key(&name(agent, call))
    }

    pub(crate) fn has_any(&self) -> bool {
        let book = self.book();
        !(book.kept.is_empty() && book.others.is_empty())
    }

    /// Takes over the corrections of these results from the sessions that they come from.
    pub(crate) fn take_over(&self, agent: Option<&str>, results: &[WireResult]) -> Vec<KeptCorrection> {
        let others = std::mem::take(&mut self.book().others);
        let hashes = hashes(agent, results);
        let mut found: Vec<KeptCorrection> = Vec::new();
        for other in others.into_iter().filter(|other| hashes.contains(&other.result)) {
            if found.iter().all(|known| known.result != other.result) {
                found.push(other);
            }
        }
        found
    }

    /// Takes the waiting calls whose results are here. If an id occurs twice, the call waits for the last one.
    pub(crate) fn take_new<'a>(&self, agent: Option<&str>, results: &'a [WireResult]) -> Vec<NewResult<'a>> {
        let hashes = hashes(agent, results);
        let mut book = self.book();
        let mut new = Vec::new();
        for (at, result) in results.iter().enumerate() {
            let is_last = results[at + 1..].iter().all(|later| later.id != result.id);
            let name = name(agent, &result.id);
            if !is_last || book.judged.contains(&hashes[at]) || book.waiting.get(&name).is_none_or(Option::is_none) {
                continue;
            }
            if let Some(waiting) = book.waiting.remove(&name).flatten() {
                book.judged.insert(hashes[at]);
                new.push(NewResult { waiting, result, hash: hashes[at] });
            }
        }
        new
    }

    /// Keeps corrections, and says those that were kept. Only one thread may call this.
    pub(crate) fn keep(&self, files: &SessionFiles, new: Vec<KeptCorrection>) -> io::Result<()> {
        let (before, new) = {
            let book = self.book();
            let is_open = |correction: &KeptCorrection| !book.is_mute && !book.seen.contains(&correction.result);
            (book.kept.clone(), new.into_iter().filter(is_open).collect::<Vec<_>>())
        };
        if new.is_empty() {
            return Ok(());
        }
        files.keep_corrections(&[before.clone(), new.clone()].concat())?;
        let in_time = self.say_in_time(new.clone());
        if in_time.len() < new.len() {
            // The request went on while the disk was busy.
            files.keep_corrections(&[before, in_time].concat())?;
        }
        Ok(())
    }

    /// Says the corrections whose results did not go to the model meanwhile, and returns them.
    fn say_in_time(&self, new: Vec<KeptCorrection>) -> Vec<KeptCorrection> {
        let mut book = self.book();
        let in_time: Vec<_> = new.into_iter().filter(|correction| !book.seen.contains(&correction.result)).collect();
        book.say(in_time.clone());
        in_time
    }

    /// Returns the correction of each result. The others never get one.
    pub(crate) fn in_results(&self, agent: Option<&str>, results: &[WireResult]) -> Vec<Option<String>> {
        let mut book = self.book();
        let said = |hash| {
            let said = book.said.get(&hash).cloned();
            if said.is_none() && !book.is_mute {
                book.seen.insert(hash);
                // Without a memory of what the model has seen, nothing more can be said.
                book.is_mute = book.seen.len() >= SEEN;
            }
            said
        };
        hashes(agent, results).into_iter().map(said).collect()
    }

    fn book(&self) -> MutexGuard<'_, ResultBook> {
        lock(&self.0)
    }
}

impl ResultBook {
    fn say(&mut self, kept: Vec<KeptCorrection>) {
        for correction in &kept {
            self.said.insert(correction.result, correction.text.clone());
            self.corrected.insert(correction.call.clone());
        }
        self.kept.extend(kept);
    }
}

fn name(agent: Option<&str>, call: &str) -> CallName {
    (agent.map(str::to_owned), call.to_owned())
}

/// Returns the hash of each result: of the subagent, of its call, and of the number of earlier results of the same call.
/// Some models number their calls anew in each answer, and make the same call twice.
fn hashes(agent: Option<&str>, results: &[WireResult]) -> Vec<u64> {
    let mut earlier: BTreeMap<u64, u64> = BTreeMap::new();
    let hash = |WireResult { id, tool, input, .. }: &WireResult| {
        let call = fnv([agent.unwrap_or_default(), id, tool, input].map(str::as_bytes));
        let number = earlier.entry(call).or_default();
        *number += 1;
        fnv([&call.to_le_bytes()[..], &number.to_le_bytes()])
    };
    results.iter().map(hash).collect()
}

#[cfg(test)]
mod tests {
    use steadfast_model::{Host, SessionId};
    use steadfast_proxy::wire::{WireFormat, results};
    use steadfast_store::Place;

    use super::*;

    fn files(dir: &tempfile::TempDir) -> SessionFiles {
        let place = Place { state: dir.path().join("state"), root: dir.path().to_owned() };
        SessionFiles::of(&place, &SessionId::new("s"))
    }

    fn waiting(id: &str) -> WaitingCall {
        let [session, id, tool, input] = ["s", id, "Bash", "{}"].map(str::to_owned);
        let call = ProxiedCall {
            host: Host::Sim,
            session,
            agent: None,
            id,
            tool,
            namespace: None,
            input,
            thinking: String::new(),
        };
        WaitingCall { call, advice: None }
    }

    /// A conversation in which the same call was made so often, always with the same id.
    fn same_calls(count: usize) -> Vec<WireResult> {
        let both = r#"{"role":"assistant","tool_calls":[{"id":"call_0","function":{"name":"Bash","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"call_0","content":"ok"}"#;
        let body = format!(r#"{{"messages":[{}]}}"#, vec![both; count].join(","));
        results(WireFormat::Chat, body.as_bytes(), |_| true)
    }

    fn judged(
        corrections: &ResultCorrections,
        files: &SessionFiles,
        results: &[WireResult],
        text: Option<&str>,
    ) -> usize {
        let new = corrections.take_new(None, results);
        let said = text.map(|text| new.iter().map(|new| KeptCorrection::new("call_0", new.hash, text)).collect());
        corrections.keep(files, said.unwrap_or_default()).unwrap();
        new.len()
    }

    #[test]
    fn the_same_call_again_under_the_same_id_has_a_result_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let (files, corrections) = (files(&dir), ResultCorrections::default());
        for (count, text) in [(1, None), (2, Some("why")), (3, None)] {
            corrections.expect(None, "call_0");
            corrections.wait_for(None, "call_0", Some(waiting("call_0")));
            if count > 1 {
                // A request of before, such as a token count, brings an old result only.
                assert_eq!(judged(&corrections, &files, &same_calls(count - 1), Some("wrong")), 0);
            }
            let results = same_calls(count);
            assert_eq!(judged(&corrections, &files, &results, text), 1);
            let said = corrections.in_results(None, &results);
            let expected = [None, Some("why".to_owned()), None];
            assert_eq!(said, expected[..count]);
        }
    }

    #[test]
    fn a_result_before_the_end_of_its_judgement_is_awaited() {
        let dir = tempfile::tempdir().unwrap();
        let (files, corrections) = (files(&dir), ResultCorrections::default());
        corrections.expect(None, "call_0");
        assert!(
            corrections.awaits_any() && corrections.awaits(None, "call_0") && !corrections.awaits(Some("x"), "call_0")
        );
        assert_eq!(judged(&corrections, &files, &same_calls(1), Some("why")), 0);
        assert_eq!(corrections.in_results(None, &same_calls(1)), [None]);
        corrections.wait_for(None, "call_0", Some(waiting("call_0")));
        assert_eq!(judged(&corrections, &files, &same_calls(1), Some("too late")), 1);
        assert_eq!(corrections.in_results(None, &same_calls(1)), [None]);
        assert_eq!(files.corrections().unwrap(), []);
        // A refused call waits for nothing.
        corrections.expect(None, "call_1");
        corrections.wait_for(None, "call_1", None);
        assert!(!corrections.awaits_any());
    }

    #[test]
    fn a_correction_that_the_request_did_not_wait_for_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let (files, corrections) = (files(&dir), ResultCorrections::default());
        let [early, late] = [KeptCorrection::new("a", 1, "in time"), KeptCorrection::new("b", 2, "too late")];
        corrections.book().seen.insert(2);
        let said = corrections.say_in_time(vec![early.clone(), late.clone()]);
        assert_eq!(said.as_slice(), std::slice::from_ref(&early));
        corrections.keep(&files, vec![late]).unwrap();
        assert_eq!(corrections.book().kept, [early]);
    }

    #[test]
    fn without_a_memory_of_what_was_seen_nothing_more_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let (files, corrections) = (files(&dir), ResultCorrections::default());
        corrections.book().seen.extend(10..10 + SEEN as u64 - 1);
        assert_eq!(corrections.in_results(None, &same_calls(1)), [None]);
        corrections.keep(&files, vec![KeptCorrection::new("a", 1, "more")]).unwrap();
        assert_eq!(files.corrections().unwrap(), []);
    }
}
