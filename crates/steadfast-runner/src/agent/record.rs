//! Follows the session record of a host while it grows. Codex's rollout has the tokens of each answer, but its output
//! has them only at the end.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::lines::Lines;

/// The interval for reading the record, and the interval while the agent is active. An answer is recorded a moment
/// after its first output, and an agent that has spent its share must be stopped before its next call.
const PAUSE: Duration = Duration::from_secs(1);
const SHORT_PAUSE: Duration = Duration::from_millis(20);
/// The time for which an agent counts as active after its last output.
const AT_IT: Duration = Duration::from_millis(500);

/// A session that runs past midnight has its rollout in the previous day's folder. Older folders cannot have it.
const NEWEST_DAYS: usize = 2;

#[derive(Debug)]
pub(super) struct Record {
    sessions: PathBuf,
    /// A part of the file name.
    session: String,
    file: Option<File>,
    lines: Lines,
    read_at: Option<Instant>,
    /// The time of the last output or record.
    active_at: Instant,
}

impl Record {
    /// The rollout of a session, below Codex's home.
    pub(super) fn of_codex(home: &Path, session: &str) -> Self {
        let (sessions, session) = (home.join("sessions"), session.to_owned());
        Self { sessions, session, file: None, lines: Lines::default(), read_at: None, active_at: Instant::now() }
    }

    pub(super) fn is_due(&self) -> bool {
        self.read_at.is_none_or(|read_at| read_at.elapsed() >= self.pause())
    }

    /// The time between two reads.
    pub(super) fn pause(&self) -> Duration {
        if self.active_at.elapsed() < AT_IT { SHORT_PAUSE } else { PAUSE }
    }

    /// Notes that the agent is active.
    pub(super) fn note_activity(&mut self) {
        self.active_at = Instant::now();
    }

    /// Reads the new lines.
    pub(super) fn read(&mut self, each: &mut dyn FnMut(&[u8])) {
        self.read_at = Some(Instant::now());
        if self.file.is_none() {
            self.file = self.find();
        }
        let Some(file) = &mut self.file else { return };
        let mut buffer = [0; 16 << 10];
        while let Ok(read @ 1..) = file.read(&mut buffer) {
            self.active_at = Instant::now();
            self.lines.push(&buffer[..read], each);
        }
    }

    /// Finds `sessions/2026/11/15/rollout-<time>-<session>.jsonl`. A packed rollout is finished, so it is not
    /// searched.
    fn find(&self) -> Option<File> {
        let mut days = vec![self.sessions.clone()];
        for _level in ["year", "month", "day"] {
            days = days.iter().flat_map(|folder| newest(folder)).collect();
        }
        let rollout = days.iter().flat_map(|day| entries(day)).find(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.contains(&self.session) && name.ends_with(".jsonl")
        })?;
        File::open(rollout).ok()
    }
}

fn newest(folder: &Path) -> Vec<PathBuf> {
    let mut inside = entries(folder);
    inside.sort_unstable_by(|one, two| two.cmp(one));
    inside.truncate(NEWEST_DAYS);
    inside
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read(record: &mut Record) -> Vec<String> {
        let mut seen = Vec::new();
        record.read(&mut |line| seen.push(String::from_utf8(line.to_vec()).unwrap()));
        seen
    }

    #[test]
    fn a_rollout_is_found_when_it_appears_and_read_as_it_grows() {
        let home = tempfile::tempdir().unwrap();
        let mut record = Record::of_codex(home.path(), "t-1");
        assert_eq!(read(&mut record), [""; 0]);
        for day in ["2025/12/31", "2026/01/01", "2026/11/14", "2026/11/15"] {
            let day = home.path().join("sessions").join(day);
            fs::create_dir_all(&day).unwrap();
            fs::write(day.join("rollout-x-t-0.jsonl"), "another\n").unwrap();
        }
        let mut file = File::create(home.path().join("sessions/2026/11/14/rollout-x-t-1.jsonl")).unwrap();
        file.write_all(b"one\ntw").unwrap();
        assert_eq!(read(&mut record), ["one"]);
        file.write_all(b"o\nthree\n").unwrap();
        assert_eq!(read(&mut record), ["two", "three"]);
        assert_eq!(read(&mut record), [""; 0]);
    }

    #[test]
    fn it_is_not_looked_at_all_the_time() {
        let home = tempfile::tempdir().unwrap();
        let mut record = Record::of_codex(home.path(), "t-1");
        assert!(record.is_due());
        read(&mut record);
        // The test may be halted between two lines, so it sets the time ahead.
        let (now, ahead) = (Instant::now(), Instant::now() + Duration::from_secs(3_600));
        assert!(record.read_at.is_some_and(|read_at| read_at <= now));
        (record.read_at, record.active_at) = (Some(ahead), ahead);
        assert!(!record.is_due());
        assert_eq!(record.pause(), SHORT_PAUSE);
        record.read_at = now.checked_sub(SHORT_PAUSE);
        assert!(record.is_due());
        record.active_at = now.checked_sub(AT_IT).unwrap();
        assert_eq!(record.pause(), PAUSE);
        let active_at = record.active_at;
        record.note_activity();
        assert!(record.active_at >= active_at + AT_IT);
    }
}
