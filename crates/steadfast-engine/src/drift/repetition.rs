use steadfast_model::{Attempt, Drift};

/// How often the same comes to nothing before it is said.
const OFTEN: usize = 3;

/// The same is tried again and comes to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// How often in the window, this time included.
    pub times: usize,
}

/// Whether an attempt that failed has failed before, in a window that is always the same size: the third time it is
/// said. What succeeded meanwhile ends it, whatever else was done between.
///
/// ```
/// use steadfast_engine::drift::repeated;
/// use steadfast_model::Attempt;
///
/// let failed = |target| Attempt { target, failed: true };
/// // Once more after one failure is trying.
/// assert!(repeated(&[failed(7)], failed(7)).is_none());
/// // A third time, with others between, is circling.
/// assert_eq!(repeated(&[failed(7), failed(8), failed(7)], failed(7)).map(|repeated| repeated.times), Some(3));
/// // What worked in between was progress.
/// let worked = Attempt { target: 7, failed: false };
/// assert!(repeated(&[failed(7), failed(7), worked], failed(7)).is_none());
/// ```
pub fn repeated(window: &[Attempt], attempt: Attempt) -> Option<Repeated> {
    if !attempt.failed {
        return None;
    }
    let recent = &window[window.len().saturating_sub(Drift::WINDOW)..];
    let same = recent.iter().rev().filter(|earlier| earlier.target == attempt.target);
    let times = 1 + same.take_while(|earlier| earlier.failed).count();
    (times >= OFTEN).then_some(Repeated { times })
}
