//! Redacts every text before it is bound to a statement, so that no secret gets into the ledger.
//!
//! The values of a statement come as an array or in `params!`; [`super::connection`] accepts nothing else. Search values are
//! redacted, too, so a row is found by the text under which it was stored.

use std::borrow::Cow;

use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use steadfast_model::{
    AddedBy, AgentId, Course, EvidenceClass, FindingSeverity, Host, Level, LoopEnd, LoopId, Millis, Mode, PlanId,
    PolicyName, RunId, RunState, SessionId, Stage, Status, StepKind, TaskId, TaskKind, TaskType, UnitStatus,
};
use steadfast_redact::redact;

use crate::ledger::learning::{LearningKind, LearningSource, LearningStatus};
use crate::ledger::session::state::SessionStatus;
use crate::ledger::session::step::Key;

/// A value that can be bound to a statement.
pub(crate) trait Bind {
    fn bind(&self) -> rusqlite::Result<ToSqlOutput<'_>>;
}

/// Adapts a [`Bind`] value for rusqlite.
pub(crate) struct Bound<'a, T: Bind + ?Sized> {
    value: &'a T,
}

impl<'a, T: Bind + ?Sized> Bound<'a, T> {
    pub(crate) const fn of(value: &'a T) -> Self {
        Self { value }
    }
}

impl<T: Bind + ?Sized> ToSql for Bound<'_, T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.value.bind()
    }
}

macro_rules! params {
    ($($value:expr),* $(,)?) => {
        $crate::ledger::database::connection::Values {
            values: &[$(&$value as &dyn $crate::ledger::database::bind::Bind),*],
        }
    };
}

pub(crate) use params;

/// A text that is stored unredacted: a path, or something that is executed or compared. It is redacted when it is shown.
#[derive(Debug)]
pub(crate) struct AsGiven<'a>(pub(crate) &'a str);

/// A JSON document from [`super::column::text`], which has redacted its strings, or from [`super::column::exact`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Json(pub(crate) String);

impl Bind for str {
    fn bind(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match redact(self) {
            Cow::Borrowed(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Cow::Owned(text) => ToSqlOutput::Owned(Value::Text(text)),
        })
    }
}

impl Bind for Cow<'_, str> {
    fn bind(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.as_ref().bind()
    }
}

impl<T: Bind + ?Sized> Bind for &T {
    fn bind(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        (**self).bind()
    }
}

impl<T: Bind> Bind for Option<T> {
    fn bind(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Some(value) => value.bind(),
            None => Ok(ToSqlOutput::Owned(Value::Null)),
        }
    }
}

impl Bind for AsGiven<'_> {
    fn bind(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl Bind for Json {
    fn bind(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

/// Implements [`Bind`] for ids and enums, by their text.
macro_rules! by_text {
    ($($kind:ty),*) => {
        $(impl Bind for $kind {
            fn bind(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.as_str().bind()
            }
        })*
    };
}

by_text!(String, AgentId, LoopId, PlanId, RunId, SessionId, TaskId);
by_text!(AddedBy, Course, EvidenceClass, FindingSeverity, Host, Level, LoopEnd, Mode, PolicyName, RunState, Stage);
by_text!(Status, StepKind, TaskKind, TaskType, UnitStatus);
by_text!(Key, LearningKind, LearningSource, LearningStatus, SessionStatus);

/// Implements [`Bind`] for types without text.
macro_rules! plain {
    ($($kind:ty),*) => {
        $(impl Bind for $kind {
            fn bind(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.to_sql()
            }
        })*
    };
}

plain!(bool, u8, u32, i32, i64, f64, Vec<u8>);

impl Bind for Millis {
    fn bind(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

/// Implements [`Bind`] for counts. SQLite's numbers are signed, but our counts never reach the limit.
macro_rules! count {
    ($($kind:ty),*) => {
        $(impl Bind for $kind {
            fn bind(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(i64::try_from(*self).unwrap_or(i64::MAX).into())
            }
        })*
    };
}

count!(u64, usize);
