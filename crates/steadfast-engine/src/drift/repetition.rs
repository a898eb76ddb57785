use steadfast_model::{Attempt, Drift};

use super::tool_effects::mark;

/// How often the same failure is allowed before the agent hears of it.
const OFTEN: usize = 3;

/// An attempt that failed again in the same way, or an edit that was undone again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    pub what: Repetition,
    /// The number of occurrences in the window, this one included.
    pub times: usize,
}

/// The kind of repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// The same attempt failed.
    Failure,
    /// The same lines were changed back and forth.
    ToAndFro,
}

/// Returns the repetition if an attempt failed in the same way before, within a window of fixed size. The third time is
/// reported. Another error counts as progress, and so does success.
///
/// ```
/// use steadfast_engine::drift::repeated;
/// use steadfast_model::Attempt;
///
/// let failed = |target, error| Attempt { target, error: Some(error) };
/// // Once more after one failure is trying.
/// assert!(repeated(&[failed(7, 1)], failed(7, 1)).is_none());
/// // The same a third time, with others between, is circling.
/// let window = [failed(7, 1), failed(8, 5), failed(7, 1)];
/// assert_eq!(repeated(&window, failed(7, 1)).map(|repeated| repeated.times), Some(3));
/// // Another error was progress, and what worked in between is.
/// assert!(repeated(&[failed(7, 1), failed(7, 1)], failed(7, 2)).is_none());
/// let worked = Attempt { target: 7, error: None };
/// assert!(repeated(&[failed(7, 1), failed(7, 1), worked], failed(7, 1)).is_none());
/// ```
pub fn repeated(window: &[Attempt], attempt: Attempt) -> Option<Repeated> {
    attempt.error?;
    let recent = &window[window.len().saturating_sub(Drift::WINDOW)..];
    let same = recent.iter().rev().filter(|earlier| earlier.target == attempt.target);
    let times = 1 + same.take_while(|earlier| earlier.error == attempt.error).count();
    (times >= OFTEN).then_some(Repeated { what: Repetition::Failure, times })
}

/// Returns the repetition if a text is replaced that was inserted and taken back before. The third change is reported.
/// `replaced` has each text of a call, and the text that would restore it.
///
/// ```
/// use steadfast_engine::drift::to_and_fro;
///
/// let (there, back) = ((1, 2), (2, 1));
/// assert!(to_and_fro(&[1], &[back]).is_none());
/// assert_eq!(to_and_fro(&[1, 7, 2], &[there]).map(|repeated| repeated.times), Some(3));
/// assert_eq!(to_and_fro(&[1, 2, 1], &[back]).map(|repeated| repeated.times), Some(4));
/// // The same again without having been taken back is another place of the same text.
/// assert!(to_and_fro(&[1, 1], &[there]).is_none());
/// ```
pub fn to_and_fro(before: &[u32], replaced: &[(u32, u32)]) -> Option<Repeated> {
    let times = |(there, back): &(u32, u32)| {
        let mut expected = *back;
        let turns = before.iter().rev().filter(|mark| {
            let is = **mark == expected;
            if is {
                expected = if expected == *back { *there } else { *back };
            }
            is
        });
        1 + turns.count()
    };
    let times = replaced.iter().filter(|(there, back)| there != back).map(times).max()?;
    (times >= OFTEN).then_some(Repeated { what: Repetition::ToAndFro, times })
}

/// Returns a number that identifies a failure: the hash of its text without numbers, which differ each time.
pub(crate) fn failure(error: &str) -> u32 {
    const LOOKED_AT: usize = 2_000;
    let text: String = error.chars().take(LOOKED_AT).filter(|c| !c.is_ascii_digit()).collect();
    mark(&text)
}
