use steadfast_model::{Attempt, Drift};

use super::tool_effects::mark;

/// How often the same comes to nothing before it is said.
const OFTEN: usize = 3;

/// The same is tried again and comes to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    pub what: Repetition,
    /// How often in the window, this time included.
    pub times: usize,
}

/// What comes again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// The same failed.
    Failure,
    /// The same lines were changed to and fro.
    ToAndFro,
}

/// Whether an attempt has failed before in the same way, in a window that is always the same size: the third time it is
/// said. Another error is progress, and so is success.
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

/// Whether a text is replaced that was put there and taken back before: the third change is said. `replaced` has each
/// text of a call, and what would put it back.
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

/// What tells one failure from another: its text without the numbers, which are other ones each time.
pub(crate) fn failure(error: &str) -> u32 {
    const LOOKED_AT: usize = 2_000;
    let text: String = error.chars().take(LOOKED_AT).filter(|c| !c.is_ascii_digit()).collect();
    mark(&text)
}
