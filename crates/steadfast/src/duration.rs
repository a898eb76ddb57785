//! Lengths of time on the command line. All flags take the same forms: `90s`, `10m`, `1h30m`, `30d`.

use std::time::Duration;

use steadfast_text::parse_span;

/// A length of time of at least a second.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let expected =
        || format!("invalid time `{text}`: expected a number with `s`, `m`, `h`, `d` or `w`, such as `1h30m`");
    // The clock counts milliseconds with a sign.
    let millis = parse_span(text).filter(|millis| (1..i64::MAX as u64).contains(millis));
    millis.map(Duration::from_millis).ok_or_else(expected)
}

/// The same for flags that count seconds: `90` is `90s`.
pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    text.parse().map(Duration::from_secs).or_else(|_| parse(text))
}

/// A length of time in whole days.
pub(crate) fn parse_days(text: &str) -> Result<u32, String> {
    const DAY: u64 = 86_400_000;
    let days = parse_span(text).filter(|millis| millis % DAY == 0).and_then(|millis| u32::try_from(millis / DAY).ok());
    days.ok_or_else(|| format!("invalid age `{text}`: expected whole days, such as `30d`, `6w` or `48h`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_flags_take_the_same_forms() {
        for (text, seconds) in [("90s", 90), ("90m", 5_400), ("1h30m", 5_400), ("1h 30m", 5_400), ("2d", 172_800)] {
            let time = Ok(Duration::from_secs(seconds));
            assert_eq!((parse(text), parse_seconds(text)), (time.clone(), time), "{text}");
        }
        assert_eq!(parse_seconds("0"), Ok(Duration::ZERO));
        for wrong in ["", "90", "0s", "soon", "-1h", "1.5h", "9999999999999999d"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_age_is_in_whole_days() {
        assert_eq!(["30d", "0d", "6w", "1w 1d", "48h"].map(parse_days), [Ok(30), Ok(0), Ok(42), Ok(8), Ok(2)]);
        for wrong in ["", "d", "30", "1h", "-3d", "1.5d", "4294967295w", "5000000000d"] {
            assert!(parse_days(wrong).is_err(), "{wrong}");
        }
    }
}
