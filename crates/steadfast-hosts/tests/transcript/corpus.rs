//! Real sessions, from the corpora.

use std::collections::HashMap;
use std::path::PathBuf;

use steadfast_hosts::transcript::{Stats, Transcript, Writer};
use steadfast_model::Host;
use steadfast_testkit::{corpus, unpacked_corpus};

/// The sessions unpacked, and what somebody else counted in each.
struct Corpus {
    folder: tempfile::TempDir,
    rows: Vec<HashMap<String, String>>,
}

impl Corpus {
    /// `None` after a skip: they are not there.
    fn unpack() -> Option<Self> {
        let index = std::fs::read_to_string(corpus("transcripts.index.tsv")?).unwrap();
        let folder = unpacked_corpus("transcripts.tar.zst")?;
        let mut lines = index.lines().map(|line| line.split('\t').map(str::to_owned));
        let names: Vec<String> = lines.next().unwrap().collect();
        let rows = lines.map(|values| names.iter().cloned().zip(values).collect()).collect();
        Some(Self { folder, rows })
    }

    fn path(&self, row: &HashMap<String, String>) -> PathBuf {
        self.folder.path().join(&row["local_path"])
    }
}

/// Where the index and the reader differ, and why the reader is right:
///
/// - A compaction of Claude Code is two rows, its boundary and its summary; the index counts both.
/// - What the human typed while a tool ran stands beside its result, a picture may be all they sent, and an editor puts
///   its own text before theirs: the index takes none of these for a prompt. In Codex it takes texts of the host for
///   prompts (`<turn_aborted>`, `<skill>`), in Claude Code what a hook said when it stopped one.
/// - The index takes a quoted interrupt for one, and does not know Codex's.
#[test]
fn every_session_is_read_and_agrees_with_an_independent_count() {
    let Some(corpus) = Corpus::unpack() else { return };
    let mut wrong = Vec::new();
    let (mut read, mut other_prompts, mut other_interrupts) = (0, 0, 0);
    for row in &corpus.rows {
        let host = match row["kind"].as_str() {
            "claude-code" => Host::Claude,
            "codex" => Host::Codex,
            _ => continue,
        };
        read += 1;
        let stats = Stats::of(Transcript::open(&corpus.path(row)).unwrap());
        let counted = |name: &str| row[name].parse::<u64>().unwrap();
        // Its calls in rows of the main thread, and those in rows of subagents in the same file.
        let inline = if counted("n_sidechain_records") > 0 { stats.subagent_calls } else { 0 };
        let compaction_rows = if host == Host::Claude { 2 } else { 1 };
        let theirs = (Some(host), counted("lines"), counted("n_tool_calls"), counted("n_compact_records"));
        let ours = (stats.host, stats.records, stats.tool_calls + inline, stats.compactions * compaction_rows);
        if ours != theirs {
            wrong.push(format!("{}: {ours:?}, the index {theirs:?}", row["local_path"]));
        }
        other_prompts += u32::from(stats.prompts != counted("n_user_prompts"));
        other_interrupts += u32::from(stats.interrupts != counted("n_interrupts"));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!((read, other_prompts, other_interrupts), (292, 19, 7));
}

#[test]
fn the_sessions_of_other_agents_are_recognised() {
    let Some(corpus) = Corpus::unpack() else { return };
    for row in &corpus.rows {
        let writer = match row["kind"].as_str() {
            "copilot" => Writer::Copilot,
            "gemini-json" => Writer::Gemini,
            _ => continue,
        };
        assert_eq!(Transcript::open(&corpus.path(row)).unwrap().writer(), Some(writer), "{}", row["local_path"]);
    }
}
