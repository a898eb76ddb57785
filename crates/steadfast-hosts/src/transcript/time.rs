use steadfast_model::Millis;

/// A time as both hosts write it: `2026-02-21T04:12:54.858Z`, in UTC, with any number of digits for the fraction.
pub(crate) fn time(text: &str) -> Option<Millis> {
    let bytes = text.as_bytes();
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if separators.iter().any(|(at, separator)| bytes.get(*at) != Some(separator)) {
        return None;
    }
    let number = |from: usize, to: usize| digits(bytes.get(from..to)?);
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = bytes.get(19..)?.strip_suffix(b"Z")?;
    let millis = match rest.strip_prefix(b".") {
        None if rest.is_empty() => 0,
        None => return None,
        Some(fraction) => digits(fraction.get(..fraction.len().min(3))?)? * [0, 100, 10, 1][fraction.len().min(3)],
    };
    // Years are counted from March, so that a leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468;
    Some(Millis((days * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000 + millis))
}

fn digits(bytes: &[u8]) -> Option<i64> {
    let whole = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    whole.then(|| bytes.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_host_writes_is_read_and_nothing_else() {
        for at in [0, 951_782_400_000, 951_868_799_000, 1_795_392_000_000, 4_102_444_799_000] {
            assert_eq!(time(&Millis(at).to_string()), Some(Millis(at)));
        }
        let of = |text| time(text).map(|at| at.0 % 1_000);
        assert_eq!(
            ["1970-01-01T00:00:00.858Z", "1970-01-01T00:00:00.8Z", "1970-01-01T00:00:00.858123Z"].map(of),
            [Some(858), Some(800), Some(858)]
        );
        for wrong in
            ["", "2026-02-21", "2026-02-21T04:12:54", "2026-13-21T04:12:54Z", "2026-02-21T04:12:54.Z", "ääääääääää"]
        {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }
}
