use steadfast_model::{Autonomy, Scores};

use crate::score::{Dimension, SpecScore};

/// Experience with the folders of a request, 0 to 10.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Familiarity(u8);

impl Familiarity {
    const MOST: u8 = 10;

    /// Two points for each run that finished in the same folders.
    pub fn of_runs(completed: u32) -> Self {
        let points = u8::try_from(completed.saturating_mul(2)).unwrap_or(u8::MAX);
        Self(points.min(Self::MOST))
    }

    pub fn points(self) -> u8 {
        self.0
    }
}

/// Rates how ready a request is to run without supervision.
///
/// The fit is five for each point of the spec score, five each for constraints, success and done if they have both
/// points, and the familiarity. A spec score below [`THRESHOLD`](crate::THRESHOLD) blocks the run whatever the rest is.
pub fn fit(score: &SpecScore, familiarity: Familiarity) -> Scores {
    let full = [Dimension::Constraints, Dimension::Success, Dimension::Done];
    let bonus = full.into_iter().filter(|dimension| score.points(*dimension) == 2).count();
    let bonus = u8::try_from(bonus).unwrap_or(0);
    let fit = 5 * score.total() + 5 * bonus + familiarity.points();
    let autonomy = match fit {
        _ if !score.is_clear() => Autonomy::Blocked,
        40.. => Autonomy::Tool,
        30..=39 => Autonomy::ToolReview,
        25..=29 => Autonomy::Colleague,
        _ => Autonomy::Blocked,
    };
    Scores { spec: score.total(), fit, autonomy }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Mark, score};

    fn of(points: [u8; 5]) -> SpecScore {
        let mut number = 0;
        SpecScore {
            marks: Dimension::ALL.map(|dimension| {
                let points = points[number];
                number += 1;
                Mark { dimension, points, because: None, rule: "" }
            }),
        }
    }

    #[test]
    fn the_sum_decides_how_far_it_may_go_alone() {
        let cases = [
            ([2, 2, 2, 2, 2], 5, (10, 75, Autonomy::Tool)),
            ([2, 2, 2, 1, 0], 0, (7, 40, Autonomy::Tool)),
            ([2, 2, 1, 1, 1], 0, (7, 35, Autonomy::ToolReview)),
            ([2, 2, 1, 0, 0], 2, (5, 29, Autonomy::Colleague)),
            ([1, 1, 1, 1, 1], 0, (5, 25, Autonomy::Colleague)),
        ];
        for (points, runs, (spec, fit_score, autonomy)) in cases {
            let scores = fit(&of(points), Familiarity::of_runs(runs));
            assert_eq!(scores, Scores { spec, fit: fit_score, autonomy }, "{points:?}");
        }
    }

    #[test]
    fn an_unclear_request_is_blocked_whatever_is_known_of_the_folders() {
        let scores = fit(&of([0, 0, 0, 2, 2]), Familiarity::of_runs(100));
        assert_eq!(scores, Scores { spec: 4, fit: 40, autonomy: Autonomy::Blocked });
        assert_eq!(fit(&score("Make it faster."), Familiarity::default()).autonomy, Autonomy::Blocked);
    }

    #[test]
    fn familiarity_ends_at_ten() {
        assert_eq!([0, 1, 4, 5, 6, u32::MAX].map(|runs| Familiarity::of_runs(runs).points()), [0, 2, 8, 10, 10, 10]);
    }
}
