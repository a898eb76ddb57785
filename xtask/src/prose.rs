//! The English of the product: messages, help texts and comments, read from its production source.

mod comments;
mod count;
mod document;
#[cfg(test)]
mod plain;
mod reader;
mod sample;

use std::fs;
use std::path::Path;

use crate::Result;
use crate::process::root;
use crate::sources::{files, production_sources};

pub use count::count;
pub use sample::{Size, sample};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text that a user or an agent sees while the product runs.
    Message,
    /// A text of `--help`, or the description of a setting.
    Help,
    /// Consecutive comment lines, for engineers.
    Comment,
}

impl Kind {
    pub fn label(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Help => "help",
            Self::Comment => "comment",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub kind: Kind,
    /// The file, from the root of the workspace.
    pub path: String,
    pub text: String,
}

/// Crates that are not part of the product.
const OTHER_CRATES: [&str; 2] = ["steadfast-sim", "steadfast-testkit"];

/// Folders whose Markdown agents and users read: it is compiled into the binary or part of the plugin.
const DOCUMENTS: [&str; 2] = ["crates/steadfast/src", "plugin"];

/// Every text of the product, sorted by path and position.
pub fn collect() -> Result<Vec<Text>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(root().join("crates"))? {
        let folder = entry?.path();
        if OTHER_CRATES.iter().any(|name| folder.ends_with(name)) {
            continue;
        }
        for file in production_sources(&folder.join("src"))? {
            let content = fs::read_to_string(&file)?;
            let path = shown(&file);
            let found = reader::texts(&content).map_err(|error| format!("cannot read {path} as Rust: {error}"))?;
            texts.extend(found.into_iter().map(|(kind, text)| Text { kind, path: path.clone(), text }));
        }
    }
    for folder in DOCUMENTS {
        for file in files(&root().join(folder), "md")? {
            let content = fs::read_to_string(&file)?;
            let path = shown(&file);
            let found = document::passages(&content).into_iter();
            texts.extend(found.map(|text| Text { kind: Kind::Message, path: path.clone(), text }));
        }
    }
    // A stable sort: the texts of one file keep their order.
    texts.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(texts)
}

fn shown(file: &Path) -> String {
    file.strip_prefix(root()).unwrap_or(file).display().to_string()
}

/// The content of `xtask/messages.txt`: a line per message and help text, with its path and kind.
pub fn list() -> Result<String> {
    let texts = collect()?;
    let read = texts.iter().filter(|text| text.kind != Kind::Comment);
    Ok(read.map(|Text { kind, path, text }| format!("{path}\t{}\t{}\n", kind.label(), one_line(text))).collect())
}

/// The text with its control characters as escapes: the list stays a text file.
fn one_line(text: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.trim().chars().map(escape).collect()
}
