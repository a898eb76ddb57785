use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970. Events carry their time; a decision never reads a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// Returns the milliseconds since `earlier`, at least 0, because clocks can be set back.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }

    /// Returns the time that many milliseconds earlier.
    #[must_use]
    pub fn before(self, millis: u64) -> Self {
        Self(self.0.saturating_sub_unsigned(millis))
    }
}

/// Formats the time as in RFC 3339, in UTC.
impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(1_000);
        let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Years are counted from March, so that a leap day is the last of its year.
        let from_march = days + 719_468;
        let (era, of_era) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

ids! {
    /// A conversation, with the host's id.
    SessionId,
    /// A subagent inside a session.
    AgentId,
    ToolUseId,
    /// A compiled spec, or the plain list of a worktree.
    PlanId,
    /// A run of a plan: `r-1a2b3c4d`.
    RunId,
    /// A loop from a request to its result: `l-1a2b3c4d`.
    LoopId,
    /// A task inside a plan: `3`, `2.1`, `2.1a`.
    TaskId,
}

/// FNV-1a, 64 bit: the same on every machine and in every version. For names and comparisons, not for secrets.
pub fn fnv<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        // The separator keeps ("ab", "c") and ("a", "bc") apart. UTF-8 never contains this byte.
        for byte in part.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_as_a_date() {
        let dates = [0, 951_782_400_000, 1_795_392_000_123, -1, 4_102_444_799_000].map(|at| Millis(at).to_string());
        assert_eq!(
            dates,
            [
                "1970-01-01T00:00:00Z",
                "2000-02-29T00:00:00Z",
                "2026-11-23T00:00:00Z",
                "1969-12-31T23:59:59Z",
                "2099-12-31T23:59:59Z"
            ]
        );
    }
}
