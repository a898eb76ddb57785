//! State that other versions could leave, but no version does yet: older state, a newer journal, a newer state, a newer
//! ledger. The host continues, commands name the next step, and no data is destroyed.

use std::fs;
use std::io::Write;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;
use steadfast_store::read_lines;

use super::rng::SeededRng;
use super::scene::Scene;
use super::{Figures, inspect};
use crate::Result;

const SESSION: &str = "s-1";

pub(super) fn formats(scene: &Scene, rng: &mut SeededRng) -> Result<Figures> {
    scene.at_work(SESSION, 2)?;
    for n in 0..1 + rng.below(3) {
        scene.tool(SESSION, &format!("call-{n}"))?.silent()?;
    }
    scene.stop(SESSION)?.refused()?;
    older_state(scene)?;
    more_fields(scene)?;
    newer_state(scene)?;
    newer_ledger(scene)?;
    newer_journal(scene, rng)?;
    Ok(vec![("formats", 5)])
}

/// A snapshot from before most fields existed: its fields count, and missing ones have defaults.
fn older_state(scene: &Scene) -> Result<()> {
    let (files, before) = (scene.session(SESSION), inspect::session(&scene.session(SESSION))?);
    scene.tool(SESSION, "older-1")?.silent()?;
    edit(&files.dir().join("state"), |state| {
        if let Some(state) = state.as_object_mut() {
            for field in ["rules", "rules_stamp", "seen", "attended", "subagents"] {
                state.remove(field);
            }
        }
    })?;
    scene.tool(SESSION, "older-2")?.silent()?;
    let after = inspect_loosely(scene)?;
    if (after.sequence, after.stop.refused) != (before.sequence + 2, before.stop.refused) {
        return Err(format!("an older snapshot was misread: {before:?}, {after:?}").into());
    }
    // Without the older snapshot, the fold of the journal counts.
    fs::remove_file(files.dir().join("state"))?;
    Ok(())
}

/// Inspects a session whose snapshot is not the fold of its journal. Only the counters are compared.
fn inspect_loosely(scene: &Scene) -> Result<steadfast_model::State> {
    Ok(scene.session(SESSION).peek().ok_or("the snapshot is gone")?)
}

/// A record with fields that this version does not know.
fn more_fields(scene: &Scene) -> Result<()> {
    let files = scene.session(SESSION);
    let before = inspect::session(&files)?;
    let mut entry = last_entry(files.dir())?;
    entry["record"]["mood"] = "bright".into();
    entry["record"]["event"]["weather"] = serde_json::json!({"rain": true});
    append(files.dir(), before.sequence + 1, &entry)?;
    scene.tool(SESSION, "more-fields")?.silent()?;
    scene.run(&["status"])?.ok()?;
    let after = inspect::session(&files)?;
    if after.sequence != before.sequence + 2 {
        return Err(
            format!("a record with more fields is not counted: {} after {}", after.sequence, before.sequence).into()
        );
    }
    Ok(())
}

/// A state of the next version: Steadfast decides nothing, writes nothing, and the older state can return.
fn newer_state(scene: &Scene) -> Result<()> {
    let files = scene.session(SESSION);
    scene.tool(SESSION, "newer-state")?.silent()?;
    let (path, journal) = (files.dir().join("state"), fs::read(files.dir().join("journal"))?);
    let snapshot = fs::read(&path)?;
    edit(&path, |state| {
        state["version"] = (steadfast_model::STATE_VERSION + 1).into();
        state["mood"] = "bright".into();
    })?;
    let newer = fs::read(&path)?;
    scene.tool(SESSION, "newer-state-1")?.silent()?;
    scene.stop(SESSION)?.silent()?;
    scene.run(&["status"])?.ok()?;
    if fs::read(files.dir().join("journal"))? != journal || fs::read(&path)? != newer {
        return Err("the files of a newer session were written".into());
    }
    fs::write(&path, snapshot)?;
    scene.stop(SESSION)?.refused()?;
    inspect::session(&files)?;
    Ok(())
}

/// A ledger of the next version.
fn newer_ledger(scene: &Scene) -> Result<()> {
    let path = scene.state().join("state.db");
    let version = |connection: &Connection| -> Result<i64> {
        Ok(connection.query_row("PRAGMA user_version", (), |row| row.get(0))?)
    };
    let known = {
        let connection = Connection::open(&path)?;
        let known = version(&connection)?;
        connection.execute_batch("CREATE TABLE mood (bright INTEGER); INSERT INTO mood VALUES (1)")?;
        connection.pragma_update(None, "user_version", known + 1)?;
        known
    };
    scene.tool(SESSION, "newer-ledger")?.silent()?;
    // The slice contains the tasks.
    let said = scene.stop(SESSION)?;
    if said.code != Some(0) {
        return Err(format!("a newer ledger blocks the host: {}", said.told()).into());
    }
    scene.start_hook("SessionStart", "s-2", serde_json::json!({"source": "startup"}))?.end()?.passes()?;
    for command in [&["status"][..], &["task", "list"], &["task", "add", "New"], &["task", "done", "1"]] {
        let said = scene.run(command)?;
        if !said.fails()?.contains("update steadfast") {
            return Err(format!("`{}` does not say what to do: {}", command.join(" "), said.err).into());
        }
    }
    let connection = Connection::open(&path)?;
    let bright: i64 = connection.query_row("SELECT bright FROM mood", (), |row| row.get(0))?;
    if (version(&connection)?, bright) != (known + 1, 1) {
        return Err("a newer ledger was changed".into());
    }
    connection.execute_batch("DROP TABLE mood")?;
    connection.pragma_update(None, "user_version", known)?;
    drop(connection);
    scene.run(&["status"])?.ok()?;
    let state = inspect::session(&scene.session(SESSION))?;
    inspect::drained(scene, &state)?;
    inspect::ledger(scene, &["Task 1".to_owned(), "Task 2".to_owned()])
}

/// A complete line with a checksum, but of an unknown kind; sometimes with known lines after it.
fn newer_journal(scene: &Scene, rng: &mut SeededRng) -> Result<()> {
    let files = scene.session(SESSION);
    let before = inspect::session(&files)?;
    let known = last_entry(files.dir())?;
    append(files.dir(), before.sequence + 1, &serde_json::json!({"epilogue": {"mood": "bright"}}))?;
    for n in 0..rng.below(3) {
        append(files.dir(), before.sequence + 2 + n, &known)?;
    }
    let journal = fs::read(files.dir().join("journal"))?;
    for n in 0..3 {
        scene.tool(SESSION, &format!("newer-journal-{n}"))?.silent()?;
    }
    let said = scene.stop(SESSION)?;
    if said.code != Some(0) {
        return Err(format!("a newer journal blocks the host: {}", said.told()).into());
    }
    scene.run(&["status"])?.ok()?;
    let (kept, damaged) = (fs::read(files.dir().join("journal"))?, fs::read(files.dir().join("journal.damaged")));
    let found = |bytes: &[u8]| bytes.windows(8).any(|window| window == b"epilogue");
    if !kept.starts_with(&journal) && !damaged.is_ok_and(|bytes| found(&bytes)) {
        return Err("a line that only a newer version knows was destroyed".into());
    }
    Ok(())
}

/// Changes the snapshot, as a version without checksums would.
fn edit(path: &Path, change: impl FnOnce(&mut Value)) -> Result<()> {
    let mut cache: Value = serde_json::from_slice(&fs::read(path)?)?;
    cache.as_object_mut().ok_or("the snapshot is not an object")?.remove("checksum");
    change(&mut cache["state"]);
    Ok(fs::write(path, cache.to_string())?)
}

fn last_entry(dir: &Path) -> Result<Value> {
    let (_, lines) = read_lines(dir, 0)?;
    let last = lines.into_iter().next_back().ok_or("the journal is empty")?;
    Ok(serde_json::to_value(last.entry)?)
}

/// Appends a line as another version would.
fn append(dir: &Path, sequence: u64, entry: &Value) -> Result<()> {
    let body = entry.to_string();
    let line = format!("{:08x} {sequence:016x} {:08x} {body}\n", body.len(), checksum(sequence, body.as_bytes()));
    let mut journal = fs::File::options().append(true).open(dir.join("journal"))?;
    Ok(journal.write_all(line.as_bytes())?)
}

/// CRC-32 over the sequence and the body, as in the journal's format.
fn checksum(sequence: u64, body: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in sequence.to_be_bytes().iter().chain(body) {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 };
        }
    }
    !sum
}
