use rusqlite::Row;
use steadfast_model::{Loop, LoopEnd, LoopId, PlanId, RunId, SessionId, Stage};

use super::shape_text;
use crate::ledger::LedgerError;
use crate::ledger::database::bind::{AsGiven, params};
use crate::ledger::database::column::{json, millis, optional_word, text, word};
use crate::ledger::database::connection::{Connection, Parameters, Transaction};
use crate::ledger::error::Fault;

const COLUMNS: &str = "id, worktree, stage, request, spec, scores, overridden, asked, shape, recall, plan, run, rounds, ended, started_at, updated_at, base, objections, waived, session, waits, limits, iterations, spent";

pub(super) fn find(connection: &Connection, id: &LoopId) -> Result<Loop, Fault> {
    let found = connection.first(&format!("SELECT {COLUMNS} FROM loop WHERE id = ?1"), [id], from_row)?;
    found.ok_or_else(|| LedgerError::UnknownLoop { id: id.clone() }.into())
}

pub(super) fn select(
    connection: &Connection,
    condition: &str,
    parameters: impl Parameters,
) -> Result<Vec<Loop>, Fault> {
    connection.rows(&format!("SELECT {COLUMNS} FROM loop WHERE {condition}"), parameters, from_row)
}

pub(super) fn unfinished(connection: &Connection, worktree: &str) -> Result<Option<Loop>, Fault> {
    Ok(select(connection, "worktree = ?1 AND ended IS NULL", [AsGiven(worktree)])?.pop())
}

pub(super) fn insert(transaction: &Transaction<'_>, new: &Loop) -> Result<(), Fault> {
    transaction.run(&format!(
            "INSERT INTO loop ({COLUMNS})
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,
                     ?24)"
        ),
        params![
            new.id,
            AsGiven(&new.worktree),
            new.stage,
            new.request,
            new.spec.as_deref().map(AsGiven),
            new.scores.as_ref().map(text),
            new.overridden,
            shape_text(&new.asked),
            new.shape.as_ref().map(shape_text),
            text(&new.recall_surfaced),
            new.plan,
            new.run,
            new.rounds,
            new.ended,
            new.started_at,
            new.updated_at,
            new.base,
            text(&new.objections),
            text(&new.waived),
            new.session,
            new.waits,
            text(&new.limits),
            new.iterations,
            text(&new.spent),
        ])
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Loop> {
    Ok(Loop {
        id: LoopId::new(row.get::<_, String>(0)?),
        worktree: row.get(1)?,
        stage: word(row, 2, &Stage::ALL, Stage::as_str)?,
        request: row.get(3)?,
        spec: row.get(4)?,
        scores: optional(row, 5)?,
        overridden: row.get(6)?,
        asked: json(7, &row.get::<_, String>(7)?)?,
        shape: optional(row, 8)?,
        recall_surfaced: json(9, &row.get::<_, String>(9)?)?,
        plan: row.get::<_, Option<String>>(10)?.map(PlanId::new),
        run: row.get::<_, Option<String>>(11)?.map(RunId::new),
        rounds: row.get(12)?,
        ended: optional_word(row, 13, &LoopEnd::ALL, LoopEnd::as_str)?,
        started_at: millis(row, 14)?,
        updated_at: millis(row, 15)?,
        base: row.get(16)?,
        objections: json(17, &row.get::<_, String>(17)?)?,
        waived: json(18, &row.get::<_, String>(18)?)?,
        session: row.get::<_, Option<String>>(19)?.map(SessionId::new),
        waits: row.get(20)?,
        limits: json(21, &row.get::<_, String>(21)?)?,
        iterations: row.get(22)?,
        spent: json(23, &row.get::<_, String>(23)?)?,
    })
}

fn optional<T: serde::de::DeserializeOwned>(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<T>> {
    row.get::<_, Option<String>>(index)?.map(|text| json(index, &text)).transpose()
}
