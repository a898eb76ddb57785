use std::fmt;
use std::str::FromStr;

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize, Serializer};

use super::limit::NONE;

/// A length of time like `8h`, `90s` or `1h 30m`. Zero means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period {
    pub millis: u64,
}

const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPeriod(String);

impl fmt::Display for InvalidPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a length of time, expected one like `90s`, `10m`, `8h` or `1h 30m`", self.0)
    }
}

impl std::error::Error for InvalidPeriod {}

impl Period {
    pub const fn seconds(seconds: u64) -> Self {
        Self { millis: seconds * 1_000 }
    }

    /// Returns the milliseconds. `None`: no limit.
    pub fn limit(self) -> Option<u64> {
        (self.millis > 0).then_some(self.millis)
    }
}

impl FromStr for Period {
    type Err = InvalidPeriod;

    fn from_str(text: &str) -> Result<Self, InvalidPeriod> {
        let wrong = || InvalidPeriod(text.to_owned());
        let mut rest = text.trim();
        let mut seconds = 0_u64;
        if rest.is_empty() {
            return Err(wrong());
        }
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
            let (number, after) = rest.split_at(end);
            let number: u64 = number.parse().map_err(|_| wrong())?;
            let (name, each) = UNITS.iter().find(|(name, _)| after.starts_with(name)).ok_or_else(wrong)?;
            let part = number.checked_mul(*each).ok_or_else(wrong)?;
            seconds = seconds.checked_add(part).filter(|seconds| *seconds < u64::from(u32::MAX)).ok_or_else(wrong)?;
            rest = after[name.len()..].trim_start();
        }
        Ok(Self::seconds(seconds))
    }
}

/// Prints the largest units first, without zeros.
impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.millis / 1_000;
        if rest == 0 {
            return f.write_str("0s");
        }
        let mut between = "";
        for (name, each) in UNITS {
            if rest >= each {
                write!(f, "{between}{}{name}", rest / each)?;
                rest %= each;
                between = " ";
            }
        }
        Ok(())
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            NONE => Ok(Self::default()),
            text => text.parse().map_err(D::Error::custom),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Period {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Period".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A length of time.",
            "type": "string",
            "examples": ["90s", "10m", "1h 30m"],
            "pattern": r"^(none|\s*([0-9]+[dhms]\s*)+)$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_written_with_its_units() {
        let read = |text: &str| text.parse::<Period>().map(|period| period.to_string());
        let said = ["8h", "90s", " 1h30m ", "24h", "0s", "1d 1s", "060m"].map(|text| read(text).unwrap());
        assert_eq!(said, ["8h", "1m 30s", "1h 30m", "1d", "0s", "1d 1s", "1h"]);
        for text in ["", "8", "h", "8 h", "1.5h", "-1h", "8x", "99999999999h", "99999999999999999999s"] {
            assert_eq!(read(text), Err(InvalidPeriod(text.to_owned())), "{text}");
        }
        assert_eq!("0h".parse::<Period>().unwrap().limit(), None);
        assert_eq!("2s".parse::<Period>().unwrap().limit(), Some(2_000));
    }
}
