//! Pages of Markdown, as far as these tests read them: fenced blocks with the comments above them, headings and links.

use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(super) struct Page {
    /// From the root of the repository.
    pub(super) path: String,
    pub(super) text: String,
}

/// A fenced block, or a comment with commands that prepare the sandbox of the page.
pub(super) struct Block {
    /// The line of its fence, from 1.
    pub(super) line: usize,
    /// The first word behind the fence; `setup` for a comment.
    pub(super) kind: String,
    pub(super) text: String,
    marks: Vec<(String, String)>,
}

impl Block {
    /// The text of `<!-- NAME: TEXT -->` directly above the block.
    pub(super) fn mark(&self, name: &str) -> Option<&str> {
        self.marks.iter().find(|(mark, _)| mark == name).map(|(_, text)| text.as_str())
    }

    pub(super) fn marks(&self) -> impl Iterator<Item = &str> {
        self.marks.iter().map(|(name, _)| name.as_str())
    }
}

impl Page {
    pub(super) fn read(path: &str) -> Self {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self { path: path.to_owned(), text }
    }

    pub(super) fn blocks(&self) -> Vec<Block> {
        let mut lines = self.text.lines().enumerate();
        let (mut blocks, mut marks) = (Vec::new(), Vec::new());
        while let Some((at, line)) = lines.next() {
            let text = line.trim();
            if let Some(info) = text.strip_prefix("```") {
                let indent = line.len() - line.trim_start().len();
                let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```");
                let text = inside.map(|line| line.get(indent..).unwrap_or_default().to_owned() + "\n").collect();
                blocks.push(Block {
                    line: at + 1,
                    kind: info.trim().to_owned(),
                    text,
                    marks: std::mem::take(&mut marks),
                });
            } else if text == "<!-- setup" {
                let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "-->");
                let text = inside.map(|line| line.to_owned() + "\n").collect();
                blocks.push(Block { line: at + 1, kind: "setup".to_owned(), text, marks: Vec::new() });
            } else if let Some(mark) = text.strip_prefix("<!-- ").and_then(|text| text.strip_suffix(" -->")) {
                marks.extend(mark.split_once(": ").map(|(name, text)| (name.to_owned(), text.to_owned())));
            } else if !text.is_empty() {
                marks.clear();
            }
        }
        blocks
    }

    /// The lines outside of fenced blocks and comments, with their numbers.
    pub(super) fn prose(&self) -> Vec<(usize, &str)> {
        let (mut is_code, mut is_comment) = (false, false);
        let mut prose = Vec::new();
        for (at, line) in self.text.lines().enumerate() {
            let text = line.trim();
            if text.starts_with("```") {
                is_code = !is_code;
            } else if !is_code && text.starts_with("<!--") {
                is_comment = !text.ends_with("-->");
            } else if is_comment {
                is_comment = text != "-->";
            } else if !is_code {
                prose.push((at + 1, line));
            }
        }
        prose
    }
}

/// README.md and every page below `docs`.
pub(super) fn pages() -> Vec<Page> {
    let mut paths = vec!["README.md".to_owned()];
    markdown_below("docs", &mut paths);
    paths.sort();
    paths.iter().map(|path| Page::read(path)).collect()
}

fn markdown_below(folder: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            markdown_below(&path, found);
        } else if path.ends_with(".md") {
            found.push(path);
        }
    }
}
