use steadfast_model::Score;

/// Width of the picture in columns.
const WIDTH: usize = 72;

/// Bars for the scores 1 to 10.
const BARS: [char; 10] = ['▁', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '▇', '█'];

/// The scores of a session as a strip. Each column shows the worst of its scores.
pub(super) fn strip(scores: &[Score]) -> String {
    let columns = scores.len().min(WIDTH);
    (0..columns)
        .filter_map(|column| {
            let from = column * scores.len() / columns;
            let to = (column + 1) * scores.len() / columns;
            scores[from..to.max(from + 1)].iter().min()
        })
        .map(|worst| BARS[usize::from(worst.get()) - 1])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_step_is_seen_among_many() {
        let mut scores = vec![Score::BEST; 1_000];
        scores[500] = Score::WORST;
        let strip = strip(&scores);
        assert_eq!(strip.chars().count(), WIDTH);
        assert_eq!(strip.chars().filter(|bar| *bar == '▁').count(), 1);
    }

    #[test]
    fn few_steps_are_a_short_strip_and_none_is_none() {
        assert_eq!(strip(&[Score::BEST, Score::new(4), Score::new(7)]), "█▃▆");
        assert_eq!(strip(&[]), "");
    }
}
