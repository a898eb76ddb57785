use rusqlite::Row;
use steadfast_model::{Finding, FindingSeverity, LoopId, Millis, Resolution, Review, ReviewKind};

use super::{find_resumed, find_unfinished, keep, row};
use crate::ledger::database::bind::params;
use crate::ledger::database::column::{json, millis, text, word};
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::{Ledger, LedgerError};

/// A review to store.
#[derive(Clone, Copy, Debug)]
pub struct NewReview<'a> {
    pub kind: ReviewKind,
    pub score: Option<u8>,
    /// Their ids are assigned here.
    pub findings: &'a [Finding],
    /// The verdict apart from the findings: a review that no expert answered has not passed.
    pub passed: bool,
    pub now: Millis,
}

const FINDING: &str = "id, severity, file, line, expert, text, must_not, resolution";

impl Ledger {
    /// Adds a review with its findings, and returns it with their ids. A thorough review counts as a round.
    pub fn add_review(&mut self, id: &LoopId, new: &NewReview<'_>) -> Result<Review, LedgerError> {
        self.write(|transaction| {
            let mut looped = find_unfinished(transaction, id)?;
            let first: u32 = next(transaction, "SELECT COALESCE(MAX(id), 0) + 1 FROM finding WHERE loop = ?1", id)?;
            let findings: Vec<Finding> = (first..).zip(new.findings).map(|(id, finding)| kept(id, finding)).collect();
            let remaining = blocking(&findings);
            let review = Review {
                kind: new.kind,
                score: new.score,
                blockers_remaining: remaining,
                passed: new.passed && remaining == 0,
                findings,
                at: new.now,
            };
            insert(transaction, id, &review)?;
            if let ReviewKind::Thorough { round } = new.kind {
                looped.rounds = looped.rounds.max(round);
            }
            looped.updated_at = new.now;
            keep(transaction, &looped)?;
            Ok(review)
        })
    }

    /// Returns the reviews of a loop in their order.
    pub fn reviews_of(&self, id: &LoopId) -> Result<Vec<Review>, LedgerError> {
        self.read(|connection| {
            row::find(connection, id)?;
            let reviews: Vec<(u32, Review)> = connection.rows(
                "SELECT number, wave, round, score, blockers_remaining, passed, at FROM loop_review
                 WHERE loop = ?1 ORDER BY number",
                [id],
                from_row,
            )?;
            let with_findings =
                |(number, review)| Ok(Review { findings: findings_of(connection, id, number)?, ..review });
            reviews.into_iter().map(with_findings).collect()
        })
    }

    /// Resolves a finding. When the last blocker of a review is resolved, the review has passed.
    pub fn resolve_finding(
        &mut self,
        id: &LoopId,
        finding: u32,
        resolution: &Resolution,
        now: Millis,
    ) -> Result<(), LedgerError> {
        self.write(|transaction| {
            let mut looped = match resolution {
                Resolution::Waived { .. } => find_resumed(transaction, id)?,
                Resolution::Open | Resolution::Fixed | Resolution::Deferred { .. } => find_unfinished(transaction, id)?,
            };
            let review: Option<u32> = transaction.first("SELECT review FROM finding WHERE loop = ?1 AND id = ?2", params![id, finding], |row| row.get(0))?;
            let review = review.ok_or_else(|| LedgerError::UnknownFinding { id: id.clone(), finding })?;
            transaction.execute(
                "UPDATE finding SET resolution = ?3 WHERE loop = ?1 AND id = ?2",
                params![id, finding, text(resolution)],
            )?;
            let remaining = blocking(&findings_of(transaction, id, review)?);
            transaction.execute(
                "UPDATE loop_review
                 SET passed = CASE WHEN blockers_remaining > 0 THEN ?3 = 0 ELSE passed AND ?3 = 0 END, blockers_remaining = ?3
                 WHERE loop = ?1 AND number = ?2",
                params![id, review, remaining],
            )?;
            looped.updated_at = now;
            keep(transaction, &looped)
        })
    }
}

fn blocking(findings: &[Finding]) -> u32 {
    u32::try_from(findings.iter().filter(|finding| finding.blocks()).count()).unwrap_or(u32::MAX)
}

fn kept(id: u32, finding: &Finding) -> Finding {
    Finding { id, ..finding.clone() }
}

fn next(transaction: &Transaction<'_>, query: &str, id: &LoopId) -> Result<u32, Fault> {
    transaction.row(query, [id], |row| row.get(0))
}

fn insert(transaction: &Transaction<'_>, id: &LoopId, review: &Review) -> Result<(), Fault> {
    let number = next(transaction, "SELECT COALESCE(MAX(number), 0) + 1 FROM loop_review WHERE loop = ?1", id)?;
    let (wave, round) = match review.kind {
        ReviewKind::Light { wave } => (Some(wave), None),
        ReviewKind::Thorough { round } => (None, Some(round)),
    };
    transaction.execute(
        "INSERT INTO loop_review (loop, number, wave, round, score, blockers_remaining, passed, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![id, number, wave, round, review.score, review.blockers_remaining, review.passed, review.at],
    )?;
    let mut statement = transaction.prepare_cached(&format!(
        "INSERT INTO finding (loop, review, {FINDING}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
    ))?;
    for finding in &review.findings {
        statement.execute(params![
            id,
            number,
            finding.id,
            finding.severity,
            finding.file,
            finding.line,
            finding.expert,
            finding.text,
            finding.must_not,
            text(&finding.resolution),
        ])?;
    }
    Ok(())
}

fn findings_of(connection: &Connection, id: &LoopId, review: u32) -> Result<Vec<Finding>, Fault> {
    connection.rows(
        &format!("SELECT {FINDING} FROM finding WHERE loop = ?1 AND review = ?2 ORDER BY id"),
        params![id, review],
        |row| {
            Ok(Finding {
                id: row.get(0)?,
                severity: word(row, 1, &FindingSeverity::ALL, FindingSeverity::as_str)?,
                file: row.get(2)?,
                line: row.get(3)?,
                expert: row.get(4)?,
                text: row.get(5)?,
                must_not: row.get(6)?,
                resolution: json(7, &row.get::<_, String>(7)?)?,
            })
        },
    )
}

/// Reads a review without its findings.
fn from_row(row: &Row<'_>) -> rusqlite::Result<(u32, Review)> {
    let kind = match row.get::<_, Option<u32>>(1)? {
        Some(wave) => ReviewKind::Light { wave },
        None => ReviewKind::Thorough { round: row.get(2)? },
    };
    let review = Review {
        kind,
        score: row.get(3)?,
        findings: Vec::new(),
        blockers_remaining: row.get(4)?,
        passed: row.get(5)?,
        at: millis(row, 6)?,
    };
    Ok((row.get(0)?, review))
}
