use rusqlite::{Transaction, params};
use serde::Serialize;
use steadfast_model::{AgentId, Facts, Millis, PolicyName, Record, SessionId};

use super::column::{count, json, millis, session_id, signed};
use super::error::Fault;
use super::{Ledger, LedgerError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryFilter {
    pub session: Option<SessionId>,
    pub policy: Option<PolicyName>,
    /// Not older than this.
    pub since: Option<Millis>,
    pub limit: u32,
}

impl Default for HistoryFilter {
    fn default() -> Self {
        Self { session: None, policy: None, since: None, limit: 100 }
    }
}

/// What one policy said to one event.
///
/// Names are text here: what an older or newer steadfast wrote is shown as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryLine {
    pub at: Millis,
    pub session: SessionId,
    pub sequence: u64,
    pub agent: Option<AgentId>,
    pub event: String,
    pub policy: String,
    pub mode: String,
    pub verdict: String,
    pub reason: String,
    pub facts: Option<serde_json::Value>,
}

impl Ledger {
    /// Newest first.
    pub fn history(&self, filter: &HistoryFilter) -> Result<Vec<HistoryLine>, LedgerError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT at, session, sequence, agent, event, policy, mode, verdict, reason, facts FROM history
                 WHERE (?1 IS NULL OR session = ?1) AND (?2 IS NULL OR policy = ?2) AND (?3 IS NULL OR at >= ?3)
                 ORDER BY at DESC, sequence DESC, session, policy LIMIT ?4",
            )?;
            let rows = statement.query_map(
                params![
                    filter.session.as_ref().map(SessionId::as_str),
                    filter.policy.map(PolicyName::as_str),
                    filter.since.map(|since| since.0),
                    filter.limit
                ],
                |row| {
                    Ok(HistoryLine {
                        at: millis(row, 0)?,
                        session: session_id(row, 1)?,
                        sequence: count(row, 2)?,
                        agent: row.get::<_, Option<String>>(3)?.map(AgentId::new),
                        event: row.get(4)?,
                        policy: row.get(5)?,
                        mode: row.get(6)?,
                        verdict: row.get(7)?,
                        reason: row.get(8)?,
                        facts: row.get::<_, Option<String>>(9)?.map(|text| json(9, &text)).transpose()?,
                    })
                },
            )?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

pub(super) fn insert(
    transaction: &Transaction<'_>,
    session: &SessionId,
    sequence: u64,
    record: &Record,
) -> Result<(), Fault> {
    if record.opinions.is_empty() {
        return Ok(());
    }
    let event = &record.event;
    let facts = facts_text(&record.facts)?;
    let mut statement = transaction.prepare_cached(
        "INSERT INTO history (session, sequence, at, agent, event, policy, mode, verdict, reason, facts)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (session, sequence, policy) DO NOTHING",
    )?;
    for opinion in &record.opinions {
        statement.execute(params![
            session.as_str(),
            signed(sequence),
            event.at.0,
            event.agent.as_ref().map(|agent| agent.id.as_str()),
            event.kind.label(),
            opinion.policy.as_str(),
            opinion.mode.as_str(),
            opinion.verdict.label(),
            opinion.verdict.text(),
            facts,
        ])?;
    }
    Ok(())
}

fn facts_text(facts: &Facts) -> Result<Option<String>, Fault> {
    if *facts == Facts::default() {
        return Ok(None);
    }
    let text =
        serde_json::to_string(facts).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    Ok(Some(text))
}
