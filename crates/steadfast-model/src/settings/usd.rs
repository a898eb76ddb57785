use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::limit::NONE;

/// An amount of US dollars, in millionths. Sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd {
    pub micro: u64,
}

impl Usd {
    /// A limit above any real cost, and below the range where a float loses precision.
    const MOST: u64 = 1_000_000_000;

    pub const fn dollars(dollars: u64) -> Self {
        Self { micro: dollars * 1_000_000 }
    }

    fn of_float(dollars: f64) -> Option<Self> {
        let known = dollars.is_finite() && (0.0..=1e9).contains(&dollars);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 1e15")]
        known.then(|| Self { micro: (dollars * 1e6).round() as u64 })
    }
}

/// Parses an amount as typed: `25`, `2.5`, `$25`.
impl FromStr for Usd {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let dollars = text.strip_prefix('$').unwrap_or(text).parse().ok();
        dollars
            .and_then(Self::of_float)
            .ok_or_else(|| format!("`{text}` is not an amount of US dollars like `25` or `2.5`"))
    }
}

/// Prints `25`, `2.5`, `0.000001`.
impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, parts) = (self.micro / 1_000_000, self.micro % 1_000_000);
        if parts == 0 {
            return write!(f, "{whole}");
        }
        let parts = format!("{parts:06}");
        write!(f, "{whole}.{}", parts.trim_end_matches('0'))
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
        serializer.serialize_f64(self.micro as f64 / 1e6)
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Dollars { may_be_none: false })
    }
}

pub(super) struct Dollars {
    /// A price is never `none`.
    pub(super) may_be_none: bool,
}

impl Visitor<'_> for Dollars {
    type Value = Usd;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount of US dollars like `25` or `2.5`")?;
        if self.may_be_none { write!(f, ", or `{NONE}` for no limit") } else { Ok(()) }
    }

    fn visit_u64<E: de::Error>(self, dollars: u64) -> Result<Usd, E> {
        if dollars > Usd::MOST {
            return Err(E::invalid_value(de::Unexpected::Unsigned(dollars), &self));
        }
        Ok(Usd::dollars(dollars))
    }

    fn visit_i64<E: de::Error>(self, dollars: i64) -> Result<Usd, E> {
        let unsigned = u64::try_from(dollars).map_err(|_| E::invalid_value(de::Unexpected::Signed(dollars), &self))?;
        self.visit_u64(unsigned)
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Usd, E> {
        match word {
            NONE if self.may_be_none => Ok(Usd::default()),
            _ => Err(E::invalid_type(de::Unexpected::Str(word), &self)),
        }
    }

    fn visit_f64<E: de::Error>(self, dollars: f64) -> Result<Usd, E> {
        Usd::of_float(dollars).ok_or_else(|| E::invalid_value(de::Unexpected::Float(dollars), &self))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Usd {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Usd".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "An amount of US dollars.", "type": "number", "minimum": 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_written_as_short_as_it_is_exact() {
        let said = [0, 25_000_000, 2_500_000, 1, 1_000_010].map(|micro| Usd { micro }.to_string());
        assert_eq!(said, ["0", "25", "2.5", "0.000001", "1.00001"]);
        let read = [0.1 + 0.2, 2.5, -0.0, -1.0, f64::NAN, f64::INFINITY, 1e10].map(Usd::of_float);
        let expected = [Some(300_000), Some(2_500_000), Some(0), None, None, None, None];
        assert_eq!(read, expected.map(|micro| micro.map(|micro| Usd { micro })));
    }
}
