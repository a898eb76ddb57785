//! A session's files: the lock, the journal, and the state as its cache.
//!
//! The journal is the truth. Every writer, a hook or a command, goes through [`SessionFiles::update`]: lock, load, step,
//! append, replace the cache. A process may die between any two of these. The next one replays the lines that the cache
//! lacks, and cuts a partial line.

mod cache;
mod corrections;
mod journal;
mod late;
mod lock;
mod removal;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::{Entry, Millis, Record, SessionId, State};
use steadfast_system::{Access, create_private_dir, replace};

use crate::file::{file_name, written_at};
use crate::place::Place;
use cache::Cache;
use journal::Journal;

pub use corrections::KeptCorrection;
pub use journal::{Line, read_lines};
pub use removal::{Keep, Removal, sweep_removed};

const PROCESS: &str = "process";

/// The path of the host's transcript.
const TRANSCRIPT: &str = "transcript";

/// The last known cost.
const COST: &str = "cost";

/// The size after which a drained journal is rotated.
const ROTATE_BYTES: u64 = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("another process holds the lock of session {0}")]
    Locked(SessionId),
    #[error("cannot {what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("session {session} was written by a newer version of steadfast (state {found}, known {known})")]
    Newer { session: SessionId, found: u32, known: u32 },
}

impl SessionError {
    fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, path: path.to_owned(), source }
    }
}

/// A session's state, read without the lock, with its offset in the journal.
#[derive(Debug)]
pub struct Glance(Cache);

impl Glance {
    pub fn state(&self) -> &State {
        &self.0.state
    }
}

/// The folder of one session.
#[derive(Clone, Debug)]
pub struct SessionFiles {
    dir: PathBuf,
    session: SessionId,
}

impl SessionFiles {
    pub fn of(place: &Place, session: &SessionId) -> Self {
        Self { dir: place.session_dir(&file_name(session.as_str())), session: session.clone() }
    }

    /// Lists all sessions with files here.
    pub fn all(place: &Place) -> Vec<Self> {
        Self::some(place, |_| true)
    }

    /// Lists the sessions that may have lines which the ledger lacks. `drained` has the number of drained bytes per journal.
    /// After a night of agents, a repository has thousands of fully drained sessions.
    pub fn undrained(place: &Place, drained: &BTreeMap<SessionId, u64>) -> Vec<Self> {
        let drained: HashMap<String, u64> =
            drained.iter().map(|(session, bytes)| (file_name(session.as_str()), *bytes)).collect();
        let is_drained = |dir: &Path| {
            let known = dir.file_name().and_then(|name| drained.get(name.to_str()?));
            let bytes = fs::metadata(dir.join(journal::FILE)).map(|file| file.len()).ok();
            let is_small = bytes.is_some_and(|bytes| bytes <= ROTATE_BYTES);
            is_small && known.copied() == bytes && !dir.join(late::FOLDER).exists()
        };
        Self::some(place, |dir| !is_drained(dir))
    }

    fn some(place: &Place, wanted: impl Fn(&Path) -> bool) -> Vec<Self> {
        let Ok(folders) = fs::read_dir(place.state.join("sessions")) else { return Vec::new() };
        let mut sessions: Vec<_> = folders
            .flatten()
            .filter(|folder| wanted(&folder.path()))
            .filter_map(|folder| {
                let dir = folder.path();
                let session = Cache::read(&dir).map(|cache| cache.state.session).or_else(|| journal::owner(&dir))?;
                Some(Self { dir, session })
            })
            .collect();
        sessions.sort_by(|a, b| a.session.cmp(&b.session));
        sessions
    }

    /// Checks if another session was active in the checkout since that time.
    pub fn others_since(place: &Place, own: &SessionId, since: Millis) -> bool {
        let own = Self::of(place, own);
        let Ok(folders) = fs::read_dir(place.state.join("sessions")) else { return false };
        let others = folders.flatten().map(|folder| folder.path()).filter(|dir| *dir != own.dir);
        let recent = |dir: &PathBuf| {
            let journal = fs::metadata(dir.join(journal::FILE)).ok();
            journal.and_then(|file| written_at(&file)).is_some_and(|at| at >= since)
        };
        // A session without a known root may be anywhere, so it counts.
        let here = |dir: PathBuf| {
            let root = Cache::read(&dir).map(|cache| cache.state.drift.root).unwrap_or_default();
            root.is_empty() || Path::new(&root).starts_with(&place.root)
        };
        others.filter(recent).any(here)
    }

    pub fn session(&self) -> &SessionId {
        &self.session
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Flushes the journal to the disk.
    pub fn sync(&self) -> io::Result<()> {
        fs::File::open(self.dir.join(journal::FILE))?.sync_data()
    }

    /// Stores a short description of the process in which the session runs.
    pub fn note_process(&self, words: &str) -> io::Result<()> {
        create_private_dir(&self.dir)?;
        replace(&self.dir.join(PROCESS), words.as_bytes(), Access::Private)
    }

    pub fn noted_process(&self) -> Option<String> {
        fs::read_to_string(self.dir.join(PROCESS)).ok()
    }

    /// Stores the path of the host's transcript.
    pub fn note_transcript(&self, path: &Path) -> io::Result<()> {
        replace(&self.dir.join(TRANSCRIPT), path.as_os_str().as_encoded_bytes(), Access::Private)
    }

    pub fn noted_transcript(&self) -> Option<PathBuf> {
        fs::read_to_string(self.dir.join(TRANSCRIPT)).ok().map(PathBuf::from)
    }

    /// Stores the last known cost.
    pub fn note_cost(&self, cost: &str) -> io::Result<()> {
        replace(&self.dir.join(COST), cost.as_bytes(), Access::Private)
    }

    pub fn noted_cost(&self) -> Option<String> {
        fs::read_to_string(self.dir.join(COST)).ok()
    }

    pub fn journal_bytes(&self) -> u64 {
        fs::metadata(self.dir.join(journal::FILE)).map_or(0, |file| file.len())
    }

    /// Reads the state without the lock. It may be slightly old, which is enough to find out which facts are needed.
    pub fn peek(&self) -> Option<State> {
        self.glance().map(|glance| glance.0.state)
    }

    /// Reads like [`Self::peek`]. [`Self::update`] can use the result instead of reading again, if nothing changed since.
    pub fn glance(&self) -> Option<Glance> {
        Cache::read(&self.dir).map(Glance)
    }

    /// Reads the state from the journal, under the lock.
    pub fn load(&self, wait: Duration) -> Result<Option<State>, SessionError> {
        if !self.dir.is_dir() {
            return Ok(None);
        }
        let _lock = lock::take(&self.dir, &self.session, wait)?;
        let mut journal = Journal::open(&self.dir).map_err(SessionError::io("open", &self.dir))?;
        self.catch_up(&mut journal, None)
    }

    /// Makes one step: `step` gets the state and returns the record for the journal. Returns the new state, and the second
    /// result of `step`. If this fails, nothing was decided.
    pub fn update<T>(
        &self,
        wait: Duration,
        glance: Option<Glance>,
        fresh: impl FnOnce() -> State,
        step: impl FnOnce(&State) -> (Record, T),
    ) -> Result<(State, T), SessionError> {
        let (lock, mut journal) = self.begin(wait)?;
        let mut state = self.catch_up(&mut journal, glance)?.unwrap_or_else(fresh);

        let (record, result) = step(&state);
        let sequence = state.sequence + 1;
        let mut entry = Entry::Record(Box::new(record));
        let redacted =
            journal.append(sequence, &entry).map_err(SessionError::io("append to the journal in", &self.dir))?;
        entry = redacted.unwrap_or(entry);
        if let Entry::Record(record) = &entry {
            state.advance(sequence, record.event.at, &record.changes);
        }
        // The journal has the step: without a new cache the next read is only slower.
        let _ = Cache { offset: journal.end(), state: state.clone() }.write(&self.dir);
        drop(lock);
        Ok((state, result))
    }

    /// Takes the lock and opens the journal. Creates the folder for a new session, or for one that was just removed.
    fn begin(&self, wait: Duration) -> Result<(lock::Lock, Journal<'_>), SessionError> {
        let missing = |error: &SessionError| matches!(error, SessionError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound);
        let attempt = || {
            let lock = lock::take(&self.dir, &self.session, wait)?;
            if lock.is_of_the_removed() {
                return Err(SessionError::io("lock", &self.dir)(io::ErrorKind::NotFound.into()));
            }
            let journal = Journal::open(&self.dir).map_err(SessionError::io("open", &self.dir))?;
            Ok((lock, journal))
        };
        let mut tries = 0;
        loop {
            match attempt() {
                Err(error) if missing(&error) && tries < 3 => {
                    tries += 1;
                    create_private_dir(&self.dir).map_err(SessionError::io("create", &self.dir))?;
                }
                result => return result,
            }
        }
    }

    /// Replaces a large, completely drained journal by a snapshot.
    pub fn rotate(&self, drained: u64, wait: Duration) -> Result<bool, SessionError> {
        if self.journal_bytes() <= ROTATE_BYTES {
            return Ok(false);
        }
        let _lock = lock::take(&self.dir, &self.session, wait)?;
        let mut journal = Journal::open(&self.dir).map_err(SessionError::io("open", &self.dir))?;
        let Some(state) = self.catch_up(&mut journal, None)? else { return Ok(false) };
        if state.sequence != drained {
            return Ok(false);
        }
        let end = journal::begin(&self.dir, &state).map_err(SessionError::io("rotate the journal in", &self.dir))?;
        let _ = Cache { offset: end, state }.write(&self.dir);
        Ok(true)
    }

    /// Applies the end of the journal to the cache, or reads the whole journal if the cache is missing or does not fit.
    fn catch_up(&self, journal: &mut Journal<'_>, glance: Option<Glance>) -> Result<Option<State>, SessionError> {
        let io = |error| SessionError::io("read the journal in", &self.dir)(error);
        let cached = match glance {
            Some(Glance(cache)) if cache.offset == journal.end() => Some(cache),
            _ => Cache::read(&self.dir).filter(|cache| cache.offset <= journal.end()),
        };
        if let Some(cache) = cached {
            let (mut state, mut fits) = (cache.state, true);
            journal
                .tail(cache.offset, |sequence, entry| fits &= fits && fold_next(&mut state, sequence, entry))
                .map_err(io)?;
            if fits {
                return self.known_version(state).map(Some);
            }
        }
        let mut state: Option<State> = None;
        journal
            .tail(0, |sequence, entry| match (entry, &mut state) {
                (Entry::Snapshot(snapshot), _) => state = Some(*snapshot),
                (Entry::Record(record), Some(state)) => {
                    state.advance(sequence, record.event.at, &record.changes);
                }
                (Entry::Record(record), None) => {
                    let mut first = State::new(record.event.session.clone(), record.event.host, record.event.at);
                    first.advance(sequence, record.event.at, &record.changes);
                    state = Some(first);
                }
            })
            .map_err(io)?;
        state.map(|state| self.known_version(state)).transpose()
    }

    fn known_version(&self, state: State) -> Result<State, SessionError> {
        let (found, known) = (state.version, steadfast_model::STATE_VERSION);
        if found > known {
            return Err(SessionError::Newer { session: self.session.clone(), found, known });
        }
        Ok(state)
    }
}

/// Applies the next line to a cached state. Returns `false` if another line is expected.
fn fold_next(state: &mut State, sequence: u64, entry: Entry) -> bool {
    match entry {
        Entry::Record(record) if sequence == state.sequence + 1 => {
            state.advance(sequence, record.event.at, &record.changes);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
