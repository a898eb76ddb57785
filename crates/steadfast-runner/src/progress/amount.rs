//! Formats money and numbers for people.

/// Formats a cost, always with cents. An amount below a cent is not shown as zero.
#[must_use]
pub fn cost(micro_usd: u64) -> String {
    let cents = (micro_usd + 5_000) / 10_000;
    if cents == 0 && micro_usd > 0 {
        return "<$0.01".to_owned();
    }
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// Formats a limit: cents only if there are any.
pub(super) fn dollars(micro_usd: u64) -> String {
    if micro_usd.is_multiple_of(1_000_000) { format!("${}", micro_usd / 1_000_000) } else { cost(micro_usd) }
}

/// Formats `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_has_cents_and_large_numbers_have_commas() {
        assert_eq!(
            [0, 1, 4_999, 5_000, 2_500_000, 2_504_999, 25_000_000].map(cost),
            ["$0.00", "<$0.01", "<$0.01", "$0.01", "$2.50", "$2.50", "$25.00"]
        );
        assert_eq!([25_000_000, 2_500_000].map(dollars), ["$25", "$2.50"]);
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
