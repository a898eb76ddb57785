//! The one door to `state.db`.

#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use steadfast_system::create_private_dir;

use rusqlite::{Connection, OpenFlags};

use super::error::Fault;
use super::migration::{self, KNOWN};
use super::{Ledger, LedgerError};

/// How long to wait for another writer. A hook waits for us, and a human behind it.
pub const BUSY: Duration = Duration::from_millis(250);

/// How many statements a connection keeps prepared.
const STATEMENTS: usize = 96;

impl Ledger {
    /// Created when missing, migrated when older.
    pub fn open(state_dir: &Path) -> Result<Self, LedgerError> {
        Self::open_within(state_dir, BUSY)
    }

    /// `None` when there is no ledger yet.
    pub fn open_read_only(state_dir: &Path) -> Result<Option<Self>, LedgerError> {
        let path = state_dir.join("state.db");
        let connection = readable(&path, BUSY).map_err(|fault| fault.at(&path))?;
        Ok(connection.map(|connection| Self::over(connection, state_dir, path, BUSY)))
    }

    /// The same as [`Self::open`], with another time to wait for other writers.
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
    // SQLite opens for reading what it cannot open for writing, and would say so only at the first write. It also does so
    // if another process creates the file between its two attempts; a second connection finds that file.
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        connection = connect(path, flags, busy)?;
    }
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        return Err(LedgerError::ReadOnly { path: path.to_owned() }.into());
    }
    migration::migrate(&mut connection, path, busy)?;
    // In WAL mode a commit that a power cut undoes is undone whole, journal cursor included.
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
        // Somebody is just creating it.
        0 => Ok(None),
        found if found > KNOWN => Err(LedgerError::Newer { path, found, known: KNOWN }.into()),
        found => Err(LedgerError::Older { path, found, known: KNOWN }.into()),
    }
}

fn connect(path: &Path, flags: OpenFlags, busy: Duration) -> Result<Connection, Fault> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(busy)?;
    // More than a run has of them, so that it prepares each once.
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Nothing is in the WAL, so the database file alone is the whole truth.
fn is_quiet(path: &Path) -> bool {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    fs::metadata(PathBuf::from(wal)).map_or(true, |wal| wal.len() == 0)
}

/// In a directory where we may write nothing (a sandbox, another user's) SQLite cannot set up its shared memory. It can
/// then read only what it is told will not change. A writer outside may break that promise: a read is over in a
/// millisecond, and the worst is one answer that says `damaged`.
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

/// SQLite gives its other files the permissions of the first, which is why they are set before anything is written.
///
/// The file is not ours to open, not even to create it: closing any descriptor of it would drop the locks of all
/// connections this process has.
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
