//! The corrections that the proxy put into the results of calls. Each later request has to repeat them, also behind
//! another proxy.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use steadfast_redact::redact;

use super::SessionFiles;
use crate::file::replace_in_folder;

const FILE: &str = "corrections";

/// A correction in the result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCorrection {
    /// The id of the call.
    pub call: String,
    /// The hash that tells this result from others with the same id.
    pub result: u64,
    pub text: String,
}

impl KeptCorrection {
    /// The most bytes of a text. Our texts are shorter, unless they quote a long goal.
    const TEXT: usize = 8 << 10;

    /// Makes a correction without secrets.
    pub fn new(call: impl Into<String>, result: u64, text: &str) -> Self {
        let mut text = redact(text).into_owned();
        text.truncate(text.floor_char_boundary(Self::TEXT));
        Self { call: call.into(), result, text }
    }
}

impl SessionFiles {
    /// The most bytes of all corrections of a session.
    const CORRECTIONS: usize = 1 << 20;

    /// The most other sessions that are read.
    const OTHERS: usize = 64;

    /// Returns the corrections of the session, the oldest first.
    pub fn corrections(&self) -> io::Result<Vec<KeptCorrection>> {
        read(&self.dir.join(FILE))
    }

    /// Returns the corrections of the other sessions here. A session that was forked from one of them has its results.
    pub fn corrections_of_others(&self) -> Vec<KeptCorrection> {
        let Some(folders) = self.dir.parent().and_then(|sessions| fs::read_dir(sessions).ok()) else {
            return Vec::new();
        };
        let others = folders.flatten().map(|folder| folder.path()).filter(|dir| *dir != self.dir);
        let mut files: Vec<_> = others
            .map(|dir| dir.join(FILE))
            .filter_map(|file| Some((fs::metadata(&file).ok()?.modified().ok()?, file)))
            .collect();
        files.sort();
        let newest = files.into_iter().rev().take(Self::OTHERS);
        newest.filter_map(|(_, file)| read(&file).ok()).flatten().collect()
    }

    /// Stores all corrections of the session. When this returns, they are on the disk. An earlier correction is never
    /// dropped for a newer one, so the file has a limit.
    pub fn keep_corrections(&self, all: &[KeptCorrection]) -> io::Result<()> {
        let mut text = String::new();
        for correction in all {
            text.push_str(&serde_json::to_string(correction)?);
            text.push('\n');
        }
        if text.len() > Self::CORRECTIONS {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the session has too many corrections"));
        }
        replace_in_folder(&self.dir.join(FILE), text.as_bytes())
    }
}

fn read(file: &Path) -> io::Result<Vec<KeptCorrection>> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text?,
    };
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use steadfast_model::SessionId;

    use super::*;
    use crate::Place;

    fn files(dir: &tempfile::TempDir) -> SessionFiles {
        let place = Place { state: dir.path().join("state"), root: dir.path().to_owned() };
        SessionFiles::of(&place, &SessionId::new("s"))
    }

    #[test]
    fn kept_corrections_come_back_word_for_word() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(&dir);
        assert_eq!(files.corrections().unwrap(), []);
        let all = [KeptCorrection::new("a", u64::MAX, "not\n\"asked\" for"), KeptCorrection::new("", 0, "")];
        files.keep_corrections(&all).unwrap();
        assert_eq!(files.corrections().unwrap(), all);
    }

    #[test]
    fn a_correction_has_no_secret_and_a_limit() {
        let said = KeptCorrection::new("a", 1, "with AKIAIOSFODNN7EXAMPLF and more");
        assert!(!said.text.contains("AKIAIOSFODNN7"), "{said:?}");
        let long = KeptCorrection::new("a", 1, &"é ".repeat(8 << 10));
        assert!(long.text.len() <= 8 << 10 && long.text.ends_with([' ', 'é']), "{}", long.text.len());
    }

    #[test]
    fn the_corrections_of_other_sessions_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(&dir);
        let place = Place { state: dir.path().join("state"), root: dir.path().to_owned() };
        let other = SessionFiles::of(&place, &SessionId::new("other"));
        assert_eq!(files.corrections_of_others(), []);
        let one = KeptCorrection::new("a", 1, "kept");
        other.keep_corrections(std::slice::from_ref(&one)).unwrap();
        files.keep_corrections(&[KeptCorrection::new("b", 2, "own")]).unwrap();
        assert_eq!(files.corrections_of_others(), [one]);
    }

    #[test]
    fn too_many_and_damaged_corrections_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(&dir);
        let one = KeptCorrection::new("a", 1, "kept");
        files.keep_corrections(std::slice::from_ref(&one)).unwrap();
        let many = vec![KeptCorrection::new("a", 1, &"x".repeat(8 << 10)); 200];
        assert_eq!(files.keep_corrections(&many).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(files.corrections().unwrap(), [one]);
        fs::write(files.dir().join(FILE), "{").unwrap();
        assert!(files.corrections().is_err());
    }
}
