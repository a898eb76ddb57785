use steadfast_model::{Attempt, Drift};

use super::deed::mark;

/// How often the same comes to nothing before it is said.
const OFTEN: usize = 3;

/// The same is tried again and comes to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// How often in the window, this time included.
    pub times: usize,
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
    (times >= OFTEN).then_some(Repeated { times })
}

/// What tells one failure from another: its text without the numbers, which are other ones each time.
pub(crate) fn failure(error: &str) -> u32 {
    const LOOKED_AT: usize = 2_000;
    let text: String = error.chars().take(LOOKED_AT).filter(|c| !c.is_ascii_digit()).collect();
    mark(&text)
}
