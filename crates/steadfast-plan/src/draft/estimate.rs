//! The author's estimates of tasks, in milliseconds. They only decide which unit starts first.

use super::{DraftTask, Text};
use crate::problem::{Code, Findings};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
/// One working day.
const DAY: u64 = 8 * HOUR;
/// The length of a story point, and of a small task.
const POINT: u64 = 30 * MINUTE;
/// Longer estimates are cut to this.
const MOST: u64 = 100 * DAY;

/// Sizes in words. Only their order matters.
const SIZES: [(&str, u64); 11] = [
    ("xs", POINT / 2),
    ("s", POINT),
    ("small", POINT),
    ("low", POINT),
    ("m", 2 * POINT),
    ("medium", 2 * POINT),
    ("l", 4 * POINT),
    ("large", 4 * POINT),
    ("high", 4 * POINT),
    ("xl", 8 * POINT),
    ("xxl", 16 * POINT),
];

/// Words before a length in a title. `(5 min)` may be about the work itself, `(~5 min)` is an estimate.
const ABOUT: [&str; 8] = ["~", "≈", "est.", "estimate:", "est:", "about ", "approx. ", "ca. "];

/// Returns the estimate from a field, else from the end of the title.
pub(crate) fn of(task: &DraftTask) -> Option<u64> {
    task.estimate.or_else(|| in_title(&task.title.value))
}

/// Reads the value of a field. `None`: not a length of time; a problem is added.
pub(crate) fn read(text: &Text, findings: &mut Findings) -> Option<u64> {
    let length = length(text.as_str());
    if length.is_none() {
        let message = format!("the estimate `{}` is not a length of time", text.as_str().trim());
        findings.add(Code::UnreadEstimate, &text.span, message, "write `20 min`, `1.5 h`, `1h30m` or `2 days`");
    }
    length
}

/// Reads `20 min`, `~1.5 h`, `1h30m`, `2-3 days`, `45` (minutes), `3 points` or `M`.
pub(crate) fn length(text: &str) -> Option<u64> {
    let text = text.trim().trim_matches(['`', '*', '_', '"']).trim().to_lowercase();
    let text = ABOUT.iter().find_map(|about| text.strip_prefix(about.trim_end())).unwrap_or(&text).trim();
    if let Some((_, size)) = SIZES.iter().find(|(word, _)| *word == text) {
        return Some(*size);
    }
    // A range counts as its middle: `2-3 h`, `20 min – 1 h`, `2 to 3 h`.
    for between in ["–", "—", " to ", " bis ", "-"] {
        if let Some((least, most)) = text.split_once(between) {
            let most_ms = sum(most.trim())?;
            let least = least.trim();
            let least_ms = if least.ends_with(|c: char| c.is_ascii_digit()) {
                let unit = most.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
                sum(&format!("{least}{unit}"))?
            } else {
                sum(least)?
            };
            return Some(least_ms.midpoint(most_ms).clamp(1, MOST));
        }
    }
    sum(text).map(|length| length.clamp(1, MOST))
}

/// Formats a length as a field of a spec.
pub(crate) fn text(length: u64) -> String {
    match length {
        length if length % MINUTE == 0 => format!("{} min", length / MINUTE),
        length => format!("{} s", length as f64 / 1_000.0),
    }
}

/// Reads `1 h 30 min`. A number without a unit is minutes.
fn sum(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut sum = 0_u64;
    let mut parts = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(rest.len());
        let number: f64 = rest[..end].replace(',', ".").parse().ok()?;
        rest = rest[end..].trim_start();
        let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let unit = unit(&rest[..end]).filter(|_| !(rest[..end].is_empty() && parts > 0))?;
        rest = rest[end..].trim_start_matches(['.', ',', ' ']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
        // Whole milliseconds; the cast saturates for large values.
        sum = sum.saturating_add((number * unit as f64) as u64);
        parts += 1;
    }
    (sum > 0).then_some(sum)
}

fn unit(word: &str) -> Option<u64> {
    Some(match word {
        "" | "m" | "min" | "mins" | "minute" | "minutes" | "minuten" | "minuto" | "minutos" => MINUTE,
        "s" | "sec" | "secs" | "second" | "seconds" | "sek" | "sekunden" => 1_000,
        "h" | "hr" | "hrs" | "hour" | "hours" | "std" | "stunde" | "stunden" | "heure" | "heures" | "hora"
        | "horas" => HOUR,
        "d" | "day" | "days" | "tag" | "tage" | "pt" | "jour" | "jours" | "día" | "días" => DAY,
        "w" | "week" | "weeks" | "woche" | "wochen" => 5 * DAY,
        "p" | "pts" | "point" | "points" | "sp" | "story" => POINT,
        _ => return None,
    })
}

/// Reads the estimate in `Write the parser (~20 min)`. The title is not changed.
fn in_title(title: &str) -> Option<u64> {
    let title = title.trim();
    let (open, inner) = match (title.strip_suffix(')'), title.strip_suffix(']')) {
        (Some(inner), _) => ('(', inner),
        (_, Some(inner)) => ('[', inner),
        _ => return None,
    };
    let text = inner.rsplit_once(open)?.1.trim().to_lowercase();
    let is_about = ABOUT.iter().any(|about| text.starts_with(about.trim_end()));
    // In a title a bare number is not a length of time, and a size (`M`) is not an estimate.
    let has_unit = text.contains(|c: char| c.is_ascii_digit()) && text.ends_with(|c: char| !c.is_ascii_digit());
    if is_about && has_unit { length(&text) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_as_people_write_them() {
        for (text, minutes) in [
            ("20 min", 20.0),
            ("~20 min", 20.0),
            ("`45 minutes`", 45.0),
            ("45", 45.0),
            ("1h", 60.0),
            ("1.5 h", 90.0),
            ("1,5 Stunden", 90.0),
            ("1h30m", 90.0),
            ("1 hour 30 minutes", 90.0),
            ("1 hour and 30 min.", 90.0),
            ("90 s", 1.5),
            ("2 days", 960.0),
            ("2-3 h", 150.0),
            ("20 min – 1 h", 40.0),
            ("2 to 4 hours", 180.0),
            ("about 20 min", 20.0),
            ("est. 2h", 120.0),
            ("M", 60.0),
            ("3 points", 90.0),
        ] {
            assert_eq!(length(text), Some((minutes * MINUTE as f64) as u64), "{text}");
        }
        for text in ["", "soon", "h", "a while", "20 apples", "1h 30", "-", "3..4 h", "0", "tbd", "20 min per file"] {
            assert_eq!(length(text), None, "{text}");
        }
        assert_eq!(length("99999999999999999999 weeks"), Some(MOST));
    }

    #[test]
    fn a_title_has_an_estimate_only_where_it_says_about() {
        let minutes = |title: &str| in_title(title).map(|length| length / MINUTE);
        assert_eq!(minutes("Write the parser (~20 min)"), Some(20));
        assert_eq!(minutes("Write the parser [est. 1h]"), Some(60));
        assert_eq!(minutes("Write f(x) (about 2 h)"), Some(120));
        for title in
            ["Expire sessions (30 min)", "Write f(x)", "Keep it small (~3)", "Keep it (~)", "(", ")", "Cut [M]"]
        {
            assert_eq!(minutes(title), None, "{title}");
        }
    }
}
