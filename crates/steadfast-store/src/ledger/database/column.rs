//! Conversions between our types and the columns of a row.

use rusqlite::Row;
use rusqlite::types::Type;
use steadfast_model::{Millis, PlanId, SessionId, StatedCheck, TaskId};
use thiserror::Error;

use super::bind::Json;
use steadfast_redact::redact_json;

#[derive(Debug, Error)]
#[error("unknown value `{0}`")]
struct ForeignWord(String);

/// Reads a column that contains the name of one of `all`.
pub(crate) fn word<T: Copy>(
    row: &Row<'_>,
    index: usize,
    all: &[T],
    name: fn(T) -> &'static str,
) -> rusqlite::Result<T> {
    named(index, row.get(index)?, all, name)
}

pub(crate) fn optional_word<T: Copy>(
    row: &Row<'_>,
    index: usize,
    all: &[T],
    name: fn(T) -> &'static str,
) -> rusqlite::Result<Option<T>> {
    row.get::<_, Option<String>>(index)?.map(|text| named(index, text, all, name)).transpose()
}

fn named<T: Copy>(index: usize, text: String, all: &[T], name: fn(T) -> &'static str) -> rusqlite::Result<T> {
    all.iter()
        .copied()
        .find(|word| name(*word) == text)
        .ok_or_else(|| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(ForeignWord(text))))
}

pub(crate) fn json<T: serde::de::DeserializeOwned>(index: usize, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error)))
}

/// Formats a value as JSON with redacted strings. Our own types always serialise.
pub(crate) fn text<T: serde::Serialize>(value: &T) -> Json {
    Json(redact_json(&exact(value).0).into_owned())
}

/// Formats a value like [`text`], but keeps the commands of its `checks` unredacted: a redacted command would be a different
/// command.
pub(crate) fn with_checks<T: serde::Serialize>(value: &T, checks: &[StatedCheck]) -> Json {
    let clean = text(value);
    let Ok(mut document) = serde_json::from_str::<serde_json::Value>(&clean.0) else { return clean };
    let kept = document.get_mut("checks").and_then(serde_json::Value::as_array_mut);
    for (kept, given) in kept.into_iter().flatten().zip(checks) {
        kept["command"] = given.command.clone().into();
        if let Some(frozen) = &given.frozen {
            kept["frozen"] = frozen.clone().into();
        }
    }
    Json(document.to_string())
}

/// Formats a value as JSON without redacting it, because it is executed.
pub(crate) fn exact<T: serde::Serialize>(value: &T) -> Json {
    Json(serde_json::to_string(value).unwrap_or_default())
}

pub(crate) fn millis(row: &Row<'_>, index: usize) -> rusqlite::Result<Millis> {
    row.get(index).map(Millis)
}

pub(crate) fn task_id(row: &Row<'_>, index: usize) -> rusqlite::Result<TaskId> {
    row.get::<_, String>(index).map(TaskId::new)
}

pub(crate) fn plan_id(row: &Row<'_>, index: usize) -> rusqlite::Result<PlanId> {
    row.get::<_, String>(index).map(PlanId::new)
}

pub(crate) fn session_id(row: &Row<'_>, index: usize) -> rusqlite::Result<SessionId> {
    row.get::<_, String>(index).map(SessionId::new)
}

pub(crate) fn count(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(index)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, number))
}
