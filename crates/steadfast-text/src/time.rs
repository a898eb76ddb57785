//! Times and durations as text. Times are milliseconds since 1970.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

const UNITS: [(char, u64); 5] = [('w', 604_800), ('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// Parses an RFC 3339 time with its UTC offset, or a day, which starts at midnight UTC.
#[must_use]
pub fn parse_time(text: &str) -> Option<i64> {
    const DAY: usize = "2026-11-19".len();
    if text.len() == DAY {
        let day: Date = text.parse().ok()?;
        return Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond());
    }
    text.parse().ok().map(Timestamp::as_millisecond)
}

/// Parses `90s`, `8h` or `1h 30m` into milliseconds.
#[must_use]
pub fn parse_span(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut seconds = None;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
        let unit = after.chars().next()?;
        let (_, each) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let part = number.parse::<u64>().ok()?.checked_mul(*each)?;
        seconds = Some(part.checked_add(seconds.unwrap_or(0))?);
        rest = after[unit.len_utf8()..].trim_start();
    }
    seconds?.checked_mul(1_000)
}

/// Formats how long ago something happened, in one unit: `12 min ago`.
#[must_use]
pub fn ago(millis: i64) -> String {
    match millis / 1_000 {
        ..=0 => "just now".to_owned(),
        seconds @ 1..60 => format!("{seconds} s ago"),
        seconds @ 60..3_600 => format!("{} min ago", seconds / 60),
        seconds @ 3_600..172_800 => format!("{} h ago", seconds / 3_600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

/// Formats a length of time in its two largest units: `44 s`, `12 min 5 s`, `1 h 12 min`. Below a second, in tenths.
#[must_use]
pub fn duration(millis: u64) -> String {
    let seconds = millis / 1_000;
    let two = |large: u64, small: u64, names: [&str; 2]| match small {
        0 => format!("{large} {}", names[0]),
        small => format!("{large} {} {small} {}", names[0], names[1]),
    };
    match seconds {
        0 => format!("0.{} s", millis / 100),
        1..60 => format!("{seconds} s"),
        60..3_600 => two(seconds / 60, seconds % 60, ["min", "s"]),
        3_600..86_400 => two(seconds / 3_600, seconds / 60 % 60, ["h", "min"]),
        _ => two(seconds / 86_400, seconds / 3_600 % 24, ["d", "h"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_to_the_second() {
        let written = [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2000-02-29T23:59:59Z", 951_868_799_000),
            ("2026-11-23T00:00:00Z", 1_795_392_000_000),
            ("1969-12-30T23:59:59Z", -86_401_000),
            ("2099-12-31T23:59:59Z", 4_102_444_799_000),
        ];
        for (text, millis) in written {
            assert_eq!(parse_time(text), Some(millis), "{text}");
        }
    }

    #[test]
    fn a_time_may_have_a_fraction_an_offset_or_only_a_day() {
        assert_eq!(parse_time("1970-01-01T02:00:00.5+02:00"), Some(500));
        assert_eq!(parse_time("1970-01-01T00:00:00.858123Z"), Some(858));
        assert_eq!(parse_time("1969-12-31T23:30:00-00:30"), Some(0));
        assert_eq!(parse_time("1970-01-02"), Some(86_400_000));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "2",
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
            "ääääääääää",
            "2026-01-0ä",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn a_span_is_read_with_its_units() {
        let read = ["8h", "90s", " 1h30m ", "24h", "0s", "1d 1s", "060m", "1w"].map(|text| parse_span(text).unwrap());
        assert_eq!(read.map(|millis| millis / 1_000), [28_800, 90, 5_400, 86_400, 0, 86_401, 3_600, 604_800]);
        for text in ["", "8", "h", "8 h", "1.5h", "-1h", "8x", "8ä", "99999999999999999999s", "9999999999999999d"] {
            assert_eq!(parse_span(text), None, "{text}");
        }
    }

    #[test]
    fn how_long_ago_is_said_in_one_unit() {
        let said = [-5, 0, 59, 60, 3_599, 7_200, 172_799, 172_800].map(|seconds| ago(seconds * 1_000));
        let wanted =
            ["just now", "just now", "59 s ago", "1 min ago", "59 min ago", "2 h ago", "47 h ago", "2 days ago"];
        assert_eq!(said, wanted);
    }

    #[test]
    fn a_duration_has_two_units_at_most() {
        let said = [0, 320, 44_999, 60_000, 725_000, 3_600_000, 4_320_000, 90_000_000].map(duration);
        assert_eq!(said, ["0.0 s", "0.3 s", "44 s", "1 min", "12 min 5 s", "1 h", "1 h 12 min", "1 d 1 h"]);
    }
}
