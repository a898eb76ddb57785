//! Real transcripts, commands and task files of other projects. They are stored beside the repository, never in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::skip;

/// The environment variable for another folder with the corpora.
const PLACE: &str = "STEADFAST_CORPORA";

/// Returns a file of the corpora. `None` after a [`skip`].
pub fn corpus(name: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the environment may name another folder")]
    let folder = std::env::var_os(PLACE)
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora"), PathBuf::from);
    let file = folder.join(name);
    if file.exists() {
        return Some(file);
    }
    skip("corpora", &format_args!("there is no `{name}` in ../shared/corpora, and `{PLACE}` names no other folder"));
    None
}

/// Returns an unpacked archive of the corpora. `None` after a [`skip`].
pub fn unpacked_corpus(name: &str) -> Option<TempDir> {
    let archive = corpus(name)?;
    let folder = match TempDir::new() {
        Ok(folder) => folder,
        Err(error) => panic!("no folder for {name}: {error}"),
    };
    #[expect(clippy::disallowed_methods, reason = "the corpus is packed")]
    let unpacked = Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(folder.path()).output();
    match unpacked {
        Ok(output) if output.status.success() => Some(folder),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            skip("corpora", &format_args!("`tar` cannot unpack {name}: {}", said.trim()));
            None
        }
        Err(error) => {
            skip("corpora", &format_args!("`tar` cannot be started: {error}"));
            None
        }
    }
}

/// Replaces the escapes in a field of a table: `\n`, `\t`, `\r`, `\\`.
pub fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some('\\') | None) => out.push('\\'),
            ('\\', Some(other)) => out.extend(['\\', other]),
            (c, _) => out.push(c),
        }
    }
    out
}
