//! Limits that can be turned off with `none`.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use super::Usd;
use super::usd::Dollars;
use crate::Limits;

/// The word for no limit, in a file and on the command line.
pub(super) const NONE: &str = "none";

/// The number of agents that a run starts: at least 1, or `none`, which is [`Limits::NO_LIMIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Iterations(pub u32);

/// The number of tokens that a run may use. 0 or `none`: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tokens(pub u64);

/// The cost limit of a run. 0 or `none`: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Budget(pub Usd);

impl<'de> Deserialize<'de> for Iterations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let none = u64::from(Limits::NO_LIMIT);
        let number = deserializer.deserialize_any(Count { least: 1, most: none - 1, none })?;
        Ok(Self(u32::try_from(number).unwrap_or(Limits::NO_LIMIT)))
    }
}

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Count { least: 0, most: u64::MAX, none: 0 }).map(Self)
    }
}

impl<'de> Deserialize<'de> for Budget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Dollars { may_be_none: true }).map(Self)
    }
}

#[cfg(feature = "schema")]
macro_rules! limit_schema {
    ($($kind:ident $number:literal $least:literal),+) => {$(
        impl schemars::JsonSchema for $kind {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($kind).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "anyOf": [{ "type": $number, "minimum": $least }, { "const": NONE }] })
            }
        }
    )+};
}

#[cfg(feature = "schema")]
limit_schema!(Iterations "integer" 1, Tokens "integer" 0, Budget "number" 0);

struct Count {
    least: u64,
    most: u64,
    none: u64,
}

impl Visitor<'_> for Count {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number from {} on, or `{NONE}` for no limit", self.least)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<u64, E> {
        if !(self.least..=self.most).contains(&number) {
            return Err(E::invalid_value(de::Unexpected::Unsigned(number), &self));
        }
        Ok(number)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<u64, E> {
        let unsigned = u64::try_from(number).map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))?;
        self.visit_u64(unsigned)
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<u64, E> {
        if word == NONE { Ok(self.none) } else { Err(E::invalid_value(de::Unexpected::Str(word), &self)) }
    }
}
