//! Limits that `none` lifts.

use std::fmt;
use std::num::NonZeroU32;

use serde::de::{self, Deserializer, Visitor};

use crate::Limits;

/// What lifts a limit, in a file as on the command line.
pub(super) const NONE: &str = "none";

/// How many iterations: a number from 1 on, or `none`.
pub(super) fn iterations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NonZeroU32>, D::Error> {
    let most = u64::from(Limits::NO_LIMIT);
    let number = deserializer.deserialize_any(Count { least: 1, most: most - 1, none: most })?;
    Ok(u32::try_from(number).ok().and_then(NonZeroU32::new))
}

/// How many tokens: 0 or `none` is as many as it takes.
pub(super) fn tokens<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    deserializer.deserialize_any(Count { least: 0, most: u64::MAX, none: 0 }).map(Some)
}

#[cfg(feature = "schema")]
pub(super) fn iterations_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": NONE }] })
}

#[cfg(feature = "schema")]
pub(super) fn tokens_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "anyOf": [{ "type": "integer", "minimum": 0 }, { "const": NONE }] })
}

#[cfg(feature = "schema")]
pub(super) fn budget_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "anyOf": [{ "type": "number", "minimum": 0 }, { "const": NONE }] })
}

struct Count {
    least: u64,
    most: u64,
    /// What `none` is kept as.
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
