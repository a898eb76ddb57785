//! Time as people read and write it.

use std::str::FromStr;

use steadfast_model::Millis;

/// How long ago something was, in one unit.
pub fn ago(now: Millis, at: Millis) -> String {
    match now.since(at) / 1_000 {
        0 => "just now".to_owned(),
        seconds @ 1..60 => format!("{seconds} s ago"),
        seconds @ 60..3_600 => format!("{} min ago", seconds / 60),
        seconds @ 3_600..172_800 => format!("{} h ago", seconds / 3_600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

/// The beginning of a span that reaches until now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// So many milliseconds before now.
    Ago(i64),
    At(Millis),
}

impl Since {
    pub fn before(self, now: Millis) -> Millis {
        match self {
            Self::Ago(span) => Millis(now.0.saturating_sub(span)),
            Self::At(at) => at,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct NotATime;

impl std::error::Error for NotATime {}

impl std::fmt::Display for NotATime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("expected `30m`, `2h`, `7d`, or a time as in `2026-07-28T09:30:00Z`")
    }
}

impl FromStr for Since {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        span(text).map(Self::Ago).or_else(|| time(text).map(Self::At)).ok_or(NotATime)
    }
}

/// Milliseconds of `30m`, `2h`, `7d`.
pub fn span(text: &str) -> Option<i64> {
    let seconds = match text.chars().next_back()? {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    number(&text[..text.len() - 1])?.checked_mul(seconds * 1_000)
}

/// A time as RFC 3339 writes it, or its day alone, which begins in UTC.
pub fn time(text: &str) -> Option<Millis> {
    let day = day(text.get(..10)?)?;
    let Some(rest) = text.get(10..).filter(|rest| !rest.is_empty()) else { return Some(Millis(day * 86_400_000)) };
    let clock = rest.strip_prefix(['T', 't', ' '])?;
    let (hour, minute, second) = (two(clock, 0)?, two(clock, 3)?, two(clock, 6)?);
    let colons = clock.as_bytes().get(2) == Some(&b':') && clock.as_bytes().get(5) == Some(&b':');
    if !colons || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, zone) = fraction(clock.get(8..)?)?;
    let seconds = day * 86_400 + hour * 3_600 + minute * 60 + second - offset(zone)?;
    Some(Millis(seconds * 1_000 + fraction))
}

/// Days since 1970 of `2026-07-28`.
fn day(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let (year, month, day) = (number(text.get(..4)?)?, two(text, 5)?, two(text, 8)?);
    let long = match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        1..=12 => 31,
        _ => return None,
    };
    if bytes[4] != b'-' || bytes[7] != b'-' || !(1..=long).contains(&day) {
        return None;
    }
    // Years are counted from March, so that a leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468)
}

/// The milliseconds of `.123456`, and what is behind it.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(digits) = text.strip_prefix('.') else { return Some((0, text)) };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let mut three: String = digits[..end].chars().take(3).collect();
    if three.is_empty() {
        return None;
    }
    while three.len() < 3 {
        three.push('0');
    }
    Some((number(&three)?, &digits[end..]))
}

/// The seconds that `+02:00` is ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.chars().next()? {
        'Z' | 'z' if zone.len() == 1 => return Some(0),
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let whole = zone.len() == 6 && zone.as_bytes()[3] == b':';
    let (hours, minutes) = (two(zone, 1)?, two(zone, 4)?);
    (whole && hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

fn two(text: &str, from: usize) -> Option<i64> {
    number(text.get(from..from + 2)?)
}

fn number(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_as_a_time_is_read_back() {
        for seconds in [0, 951_782_400, 951_868_799, 1_795_392_000, 4_102_444_799, 68_169_600, -86_401] {
            let at = Millis(seconds * 1_000);
            assert_eq!(time(&at.to_string()), Some(at), "{at}");
        }
    }

    #[test]
    fn a_time_may_have_a_fraction_a_zone_or_only_a_day() {
        assert_eq!(time("1970-01-01T02:00:00.5+02:00"), Some(Millis(500)));
        assert_eq!(time("1969-12-31T23:30:00-00:30"), Some(Millis(0)));
        assert_eq!(time("1970-01-02"), Some(Millis(86_400_000)));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let wrong = [
            "",
            "2",
            "h",
            "-2h",
            "2x",
            "yesterday",
            "2026-02-30",
            "2026-13-01",
            "2026/01/01",
            "2026-01-01T10:00",
            "2026-01-01T10:00:00",
            "2026-01-01T25:00:00Z",
            "2026-01-01T10:00:00.Z",
            "2026-01-01T10:00:00Zulu",
            "2026-01-01T10.00.00Z",
            "99999999999999999999d",
            "9999999999999999d",
            "äöüäöü",
            "2026-01-0ä",
        ];
        for text in wrong {
            assert_eq!(text.parse::<Since>(), Err(NotATime), "{text}");
        }
    }

    #[test]
    fn a_span_ends_now() {
        let since = |text: &str| text.parse::<Since>().unwrap().before(Millis(1_000_000_000));
        assert_eq!([since("30m"), since("2h"), since("7d")].map(|at| at.0), [998_200_000, 992_800_000, 395_200_000]);
        assert_eq!(since("1970-01-01T00:00:01Z"), Millis(1_000));
    }

    #[test]
    fn how_long_ago_is_said_in_one_unit() {
        let said = [0, 59, 60, 3_599, 7_200, 172_799, 172_800].map(|seconds| ago(Millis(seconds * 1_000), Millis(0)));
        assert_eq!(said, ["just now", "59 s ago", "1 min ago", "59 min ago", "2 h ago", "47 h ago", "2 days ago"]);
        assert_eq!(ago(Millis(0), Millis(5_000)), "just now", "clocks are set back");
    }
}
