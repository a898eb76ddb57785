use serde::Serialize;
use steadfast_model::{AgentId, Facts, Millis, PolicyName, PolicyOpinion, Record, SessionId};

use crate::ledger::database::bind::{Json, params};
use crate::ledger::database::column::{count, json, millis, session_id};
use crate::ledger::database::connection::Transaction;
use crate::ledger::error::Fault;
use crate::ledger::{Ledger, LedgerError};
use steadfast_redact::redact_json;
use steadfast_text::truncate_bytes;

/// The maximum length of a stored reason in bytes, more than any host accepts.
const REASON: usize = 10_000;

/// The maximum length of the stored facts: enough for a plan with six long titles. Longer facts are dropped, not cut.
const FACTS: usize = 32 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryFilter {
    pub session: Option<SessionId>,
    pub policy: Option<PolicyName>,
    /// Only these verdicts, by [`steadfast_model::Verdict::label`]. Empty means all.
    pub verdicts: Vec<String>,
    /// Only lines of a session after this sequence.
    pub after: Option<u64>,
    /// Only lines at or after this time.
    pub since: Option<Millis>,
    pub limit: u32,
}

impl Default for HistoryFilter {
    fn default() -> Self {
        Self { session: None, policy: None, verdicts: Vec::new(), after: None, since: None, limit: 100 }
    }
}

impl HistoryFilter {
    /// Checks if a line that is not in the ledger yet matches.
    pub fn takes(&self, line: &HistoryLine) -> bool {
        self.session.as_ref().is_none_or(|session| line.session == *session)
            && self.policy.is_none_or(|policy| line.policy == policy.as_str())
            && (self.verdicts.is_empty() || self.verdicts.contains(&line.verdict))
            && self.after.is_none_or(|after| line.sequence > after)
            && self.since.is_none_or(|since| line.at >= since)
    }
}

/// The verdict of one policy on one event.
///
/// Names are plain text here, so that values from other versions of steadfast are shown unchanged.
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

impl HistoryLine {
    /// Converts a journal record to the lines that draining it adds to the ledger.
    pub fn of(session: &SessionId, sequence: u64, record: &Record) -> Vec<Self> {
        let event = &record.event;
        let facts = facts_text(&record.facts).ok().flatten().and_then(|text| serde_json::from_str(&text).ok());
        let line = |opinion: &PolicyOpinion| Self {
            at: event.at,
            session: session.clone(),
            sequence,
            agent: event.agent.as_ref().map(|agent| agent.id.clone()),
            event: event.kind.label().to_owned(),
            policy: opinion.policy.as_str().to_owned(),
            mode: opinion.mode.as_str().to_owned(),
            verdict: opinion.verdict.label().to_owned(),
            reason: truncate_bytes(opinion.verdict.text(), REASON).into_owned(),
            facts: facts.clone(),
        };
        record.opinions.iter().map(line).collect()
    }
}

impl Ledger {
    /// Returns the matching lines, the newest first.
    pub fn history(&self, filter: &HistoryFilter) -> Result<Vec<HistoryLine>, LedgerError> {
        let verdicts = (!filter.verdicts.is_empty()).then(|| serde_json::json!(filter.verdicts).to_string());
        self.read(|connection| {
            connection.rows(
                "SELECT at, session, sequence, agent, event, policy, mode, verdict, reason, facts FROM history
                 WHERE (?1 IS NULL OR session = ?1) AND (?2 IS NULL OR policy = ?2) AND (?3 IS NULL OR at >= ?3)
                     AND (?5 IS NULL OR verdict IN (SELECT value FROM json_each(?5))) AND (?6 IS NULL OR sequence > ?6)
                 ORDER BY at DESC, sequence DESC, session, policy LIMIT ?4",
                params![filter.session, filter.policy, filter.since, filter.limit, verdicts, filter.after,],
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
            )
        })
    }
}

pub(crate) fn insert(
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
            session,
            sequence,
            event.at,
            event.agent.as_ref().map(|agent| &agent.id),
            event.kind.label(),
            opinion.policy,
            opinion.mode,
            opinion.verdict.label(),
            truncate_bytes(opinion.verdict.text(), REASON),
            facts.as_deref().map(|facts| Json(redact_json(facts).into_owned())),
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
    let bytes = text.len();
    Ok(Some(if bytes > FACTS { format!("\"{bytes} bytes, too long to keep\"") } else { text }))
}
