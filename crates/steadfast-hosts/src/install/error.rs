use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// The reason why a settings text was not edited. The message begins with line and column, to follow a path and a
/// colon.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    #[error("{line}:{column}: {problem}")]
    Syntax { line: usize, column: usize, problem: String },
    #[error("{line}:{column}: `{place}` is {found}, expected {expected}")]
    Shape { line: usize, column: usize, place: String, found: &'static str, expected: &'static str },
    #[error("{line}:{column}: duplicate key `{key}`")]
    Duplicate { line: usize, column: usize, key: String },
    #[error("{line}:{column}: `{place}` belongs to another program")]
    Taken { line: usize, column: usize, place: String },
}

/// The reason why an installation or removal failed or is incomplete.
#[derive(Debug, Error)]
pub enum InstallError {
    #[error("{}:{source}", path.display())]
    Settings { path: PathBuf, source: SettingsError },
    #[error("{}: not valid UTF-8 at byte {at}", path.display())]
    Encoding { path: PathBuf, at: usize },
    #[error("{}: not a file", path.display())]
    NotAFile { path: PathBuf },
    #[error("{}: the file is read-only", path.display())]
    ReadOnly { path: PathBuf },
    #[error("{}: the path is not valid UTF-8, so settings cannot contain it", path.display())]
    Path { path: PathBuf },
    #[error("{}: cannot read: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}: invalid install record: {source}", path.display())]
    Record { path: PathBuf, source: serde_json::Error },
    #[error("{}: changed since it was read", path.display())]
    Changed { path: PathBuf },
    #[error("{}: locked by another program for more than {seconds} s", path.display())]
    Locked { path: PathBuf, seconds: u64 },
    #[error("{}: cannot write: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{source}; {}", put_back(unrestored))]
    Undone { source: Box<Self>, unrestored: Vec<PathBuf> },
}

fn put_back(unrestored: &[PathBuf]) -> String {
    if unrestored.is_empty() {
        return "earlier changes were undone".to_owned();
    }
    let names: Vec<_> = unrestored.iter().map(|path| path.display().to_string()).collect();
    format!("earlier changes that could not be undone: {}", names.join(", "))
}

/// Returns line and column of a byte in a text, both from 1, the column in characters.
pub(super) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[line_start..].chars().filter(|c| *c != '\u{feff}').count() + 1;
    (before.matches('\n').count() + 1, column)
}
