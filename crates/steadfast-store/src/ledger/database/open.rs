//! Opens `state.db`. This is the only place that does.

#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use steadfast_system::create_private_dir;

use rusqlite::{Connection, OpenFlags};

use super::migration::{self, KNOWN};
use crate::ledger::error::Fault;
use crate::ledger::{Ledger, LedgerError};

/// The default time to wait for another writer. A hook, and a human behind it, wait for us meanwhile.
pub const BUSY: Duration = Duration::from_millis(250);

/// The number of prepared statements that a connection caches.
const STATEMENTS: usize = 96;

impl Ledger {
    /// Opens the ledger. Creates it if it is missing, migrates it if it is older.
    pub fn open(state_dir: &Path) -> Result<Self, LedgerError> {
        Self::open_within(state_dir, BUSY)
    }

    /// Opens the ledger for reading. Returns `None` if there is none yet.
    pub fn open_read_only(state_dir: &Path) -> Result<Option<Self>, LedgerError> {
        let path = state_dir.join("state.db");
        let connection = readable(&path, BUSY).map_err(|fault| fault.at(&path))?;
        Ok(connection.map(|connection| Self::over(connection, state_dir, path, BUSY)))
    }

    /// Opens the ledger like [`Self::open`], with another time to wait for other writers.
    pub fn open_within(state_dir: &Path, busy: Duration) -> Result<Self, LedgerError> {
        let path = state_dir.join("state.db");
        let connection = writable(&path, busy).map_err(|fault| fault.at(&path))?;
        Ok(Self::over(connection, state_dir, path, busy))
    }

    fn over(connection: Connection, state_dir: &Path, path: PathBuf, busy: Duration) -> Self {
        let connection = super::connection::Connection::new(connection);
        Self { connection, path, state_dir: state_dir.to_owned(), busy, held_back: None }
    }
}

fn writable(path: &Path, busy: Duration) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = match connect(path, flags, busy) {
        Err(fault) if fault.cannot_open() => create(path, flags, busy)?,
        connection => connection?,
    };
    // SQLite falls back to a read-only connection, and would report that only at the first write. It also does so if another
    // process creates the file between its two attempts; then a second connection succeeds.
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        connection = connect(path, flags, busy)?;
    }
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        return Err(LedgerError::ReadOnly { path: path.to_owned() }.into());
    }
    migration::migrate(&mut connection, path, busy)?;
    // In WAL mode a power cut undoes whole commits only, including the journal cursor.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection)
}

fn readable(path: &Path, busy: Duration) -> Result<Option<Connection>, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let attempt = connect(path, flags, busy).and_then(|connection| Ok((migration::version(&connection)?, connection)));
    let (found, connection) = match attempt {
        Err(fault) if fault.cannot_open() => match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreachable(path, error)),
            Ok(_) if is_quiet(path) => {
                let connection = connect(&immutable(path), flags | OpenFlags::SQLITE_OPEN_URI, busy)?;
                (migration::version(&connection)?, connection)
            }
            Ok(_) => return Err(fault),
        },
        attempt => attempt?,
    };
    let path = path.to_owned();
    match found {
        KNOWN => Ok(Some(connection)),
        // Another process is just creating it.
        0 => Ok(None),
        found if found > KNOWN => Err(LedgerError::Newer { path, found, known: KNOWN }.into()),
        found => Err(LedgerError::Older { path, found, known: KNOWN }.into()),
    }
}

fn connect(path: &Path, flags: OpenFlags, busy: Duration) -> Result<Connection, Fault> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(busy)?;
    // More than a run uses, so that each statement is prepared once.
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Checks that the WAL is empty, so that the database file alone is complete.
fn is_quiet(path: &Path) -> bool {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    fs::metadata(PathBuf::from(wal)).map_or(true, |wal| wal.len() == 0)
}

/// In a folder without write permission (a sandbox, another user's), SQLite cannot create its shared memory, and can read
/// only files that are declared immutable. An outside writer may still change the file. A read takes a millisecond, so at
/// worst one answer says `damaged`.
fn immutable(path: &Path) -> PathBuf {
    let mut uri = String::from(if path.is_absolute() { "file://" } else { "file:" });
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => uri.push(char::from(*byte)),
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    PathBuf::from(uri)
}

/// Creates the database with private permissions. They are set before anything is written, because SQLite gives its other
/// files the same permissions.
///
/// Only SQLite may open this file: closing any other descriptor of it would drop the locks of all connections in this
/// process.
fn create(path: &Path, flags: OpenFlags, busy: Duration) -> Result<Connection, Fault> {
    if let Some(directory) = path.parent() {
        create_private_dir(directory).map_err(|error| unreachable(path, error))?;
    }
    let connection = connect(path, flags | OpenFlags::SQLITE_OPEN_CREATE, busy)?;
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .map_err(|error| unreachable(path, error))?;
    Ok(connection)
}

fn unreachable(path: &Path, error: io::Error) -> Fault {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => LedgerError::Full { path }.into(),
        io::ErrorKind::ReadOnlyFilesystem => LedgerError::ReadOnly { path }.into(),
        _ => LedgerError::Unreachable { path, source: error.into() }.into(),
    }
}
