//! A session's files: the lock, the journal, and the state as its cache.
//!
//! The journal is the truth. Whoever writes, hook or command, goes through [`SessionFiles::update`]: lock, load, step,
//! append, replace the cache. A process may die between any two of these; the next one replays what the cache lacks
//! and cuts what was half written.

mod cache;
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

pub use journal::{Line, read_lines};
pub use removal::{Keep, Removal, sweep_removed};

const PROCESS: &str = "process";

/// Where the host writes the session down.
const TRANSCRIPT: &str = "transcript";

/// What was seen of its cost.
const COST: &str = "cost";

/// A drained journal past this size is begun anew.
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

/// A session's state with the place in the journal it is of.
#[derive(Debug)]
pub struct Glance(Cache);

impl Glance {
    pub fn state(&self) -> &State {
        &self.0.state
    }
}

/// Where one session is kept.
#[derive(Clone, Debug)]
pub struct SessionFiles {
    dir: PathBuf,
    session: SessionId,
}

impl SessionFiles {
    pub fn of(place: &Place, session: &SessionId) -> Self {
        Self { dir: place.session_dir(&file_name(session.as_str())), session: session.clone() }
    }

    /// All sessions that left files here.
    pub fn all(place: &Place) -> Vec<Self> {
        Self::some(place, |_| true)
    }

    /// Those of them that may have something the ledger lacks, which has so many bytes of each journal. A repository in
    /// which agents worked for a night has thousands that have nothing.
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

    /// Whether another session did something in the checkout at that time or later.
    pub fn others_since(place: &Place, own: &SessionId, since: Millis) -> bool {
        let own = Self::of(place, own);
        let Ok(folders) = fs::read_dir(place.state.join("sessions")) else { return false };
        let others = folders.flatten().map(|folder| folder.path()).filter(|dir| *dir != own.dir);
        let recent = |dir: &PathBuf| {
            let journal = fs::metadata(dir.join(journal::FILE)).ok();
            journal.and_then(|file| written_at(&file)).is_some_and(|at| at >= since)
        };
        // Of one that says nothing of where it is, nothing is known.
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

    /// Brings the journal to the disk.
    pub fn sync(&self) -> io::Result<()> {
        fs::File::open(self.dir.join(journal::FILE))?.sync_data()
    }

    /// Keeps in a few words which process the session runs in.
    pub fn note_process(&self, words: &str) -> io::Result<()> {
        create_private_dir(&self.dir)?;
        replace(&self.dir.join(PROCESS), words.as_bytes(), Access::Private)
    }

    pub fn noted_process(&self) -> Option<String> {
        fs::read_to_string(self.dir.join(PROCESS)).ok()
    }

    /// Keeps where the host writes this session down.
    pub fn note_transcript(&self, path: &Path) -> io::Result<()> {
        replace(&self.dir.join(TRANSCRIPT), path.as_os_str().as_encoded_bytes(), Access::Private)
    }

    pub fn noted_transcript(&self) -> Option<PathBuf> {
        fs::read_to_string(self.dir.join(TRANSCRIPT)).ok().map(PathBuf::from)
    }

    /// Keeps what was seen of its cost.
    pub fn note_cost(&self, cost: &str) -> io::Result<()> {
        replace(&self.dir.join(COST), cost.as_bytes(), Access::Private)
    }

    pub fn noted_cost(&self) -> Option<String> {
        fs::read_to_string(self.dir.join(COST)).ok()
    }

    pub fn journal_bytes(&self) -> u64 {
        fs::metadata(self.dir.join(journal::FILE)).map_or(0, |file| file.len())
    }

    /// The state as it was a moment ago, read without the lock. Good enough to say what must be known.
    pub fn peek(&self) -> Option<State> {
        self.glance().map(|glance| glance.0.state)
    }

    /// The same, to be handed to [`Self::update`]: if nobody wrote since, it need not be read again.
    pub fn glance(&self) -> Option<Glance> {
        Cache::read(&self.dir).map(Glance)
    }

    /// The state as the journal says, under the lock.
    pub fn load(&self, wait: Duration) -> Result<Option<State>, SessionError> {
        if !self.dir.is_dir() {
            return Ok(None);
        }
        let _lock = lock::take(&self.dir, &self.session, wait)?;
        let mut journal = Journal::open(&self.dir).map_err(SessionError::io("open", &self.dir))?;
        self.catch_up(&mut journal, None)
    }

    /// Takes one step: `step` sees the state and says what goes into the journal. What it returns beside that comes
    /// back with the state after it. Nothing was decided if this fails.
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
        // The journal has it: a cache that could not be replaced is only slower to read.
        let _ = Cache { offset: journal.end(), state: state.clone() }.write(&self.dir);
        drop(lock);
        Ok((state, result))
    }

    /// The lock and the journal under it, made where there are none: a session begins, or was removed just now.
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
                begun => return begun,
            }
        }
    }

    /// Begins the journal anew with a snapshot, if all of it is drained and it has grown large.
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

    /// The cache with the journal's tail folded in, or the whole journal where there is no cache that fits it.
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

/// Folds the next line into a cached state; `false` if it is not the next one.
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
