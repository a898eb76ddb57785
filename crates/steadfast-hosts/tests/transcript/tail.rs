use std::fs::{self, OpenOptions};
use std::io::Write;

use steadfast_hosts::transcript::{Began, Item, TranscriptCursor, TranscriptTail};

use crate::sample::{File, claude_session, lines, prompt};

/// What a look finds: where it began, the prompts, how many rows were damaged; and where the next look begins.
fn look(file: &File, before: Option<&TranscriptCursor>) -> (Began, Vec<String>, usize, TranscriptCursor) {
    let mut tail = TranscriptTail::open(&file.path(), before).unwrap();
    let (mut prompts, mut damaged) = (Vec::new(), 0);
    while let Some(row) = tail.next() {
        match row {
            Ok(record) => prompts.extend(record.items.iter().filter_map(|item| match item {
                Item::Prompt { text, .. } => Some(text.to_string()),
                _ => None,
            })),
            Err(_) => damaged += 1,
        }
    }
    (tail.began(), prompts, damaged, tail.cursor())
}

fn append(file: &File, bytes: &[u8]) {
    OpenOptions::new().append(true).open(file.path()).unwrap().write_all(bytes).unwrap();
}

#[test]
fn every_row_is_seen_once_however_the_file_grows() {
    let whole = lines(&claude_session());
    let (_, expected, _, _) = look(&File::of(&whole), None);
    for step in [3, 100, 1_000] {
        let file = File::of("");
        let (mut seen, mut cursor) = (Vec::new(), None::<TranscriptCursor>);
        for piece in whole.as_bytes().chunks(step) {
            append(&file, piece);
            let (_, prompts, damaged, next) = look(&file, cursor.as_ref());
            assert_eq!(damaged, 0, "half a line is still being written");
            seen.extend(prompts);
            // It is kept between two looks.
            cursor = Some(serde_json::from_str(&serde_json::to_string(&next).unwrap()).unwrap());
        }
        assert_eq!(seen, expected, "{step} bytes at a time");
        assert_eq!(cursor.unwrap().offset, whole.len() as u64);
    }
}

#[test]
fn a_look_without_news_finds_nothing() {
    let file = File::of(lines(&claude_session()));
    let (began, prompts, _, cursor) = look(&file, None);
    assert_eq!((began, prompts.len()), (Began::First, 2));
    let (began, prompts, _, again) = look(&file, Some(&cursor));
    assert_eq!((began, prompts, &again), (Began::Where, Vec::new(), &cursor));
}

#[test]
fn a_file_that_was_cut_is_read_anew() {
    let file = File::of(lines(&claude_session()));
    let (.., cursor) = look(&file, None);
    file.write(lines(&[prompt(0, "short")]));
    let (began, prompts, ..) = look(&file, Some(&cursor));
    assert_eq!((began, prompts), (Began::Anew, vec!["short".to_owned()]));
}

#[test]
fn half_a_line_that_is_taken_back_is_no_cut() {
    let file = File::of(lines(&[prompt(0, "one")]) + "{\"type\":\"user\",\"mess");
    let (_, prompts, _, cursor) = look(&file, None);
    assert_eq!(prompts, ["one"]);
    file.write(lines(&[prompt(0, "one"), prompt(1, "two")]));
    let (began, prompts, ..) = look(&file, Some(&cursor));
    assert_eq!((began, prompts), (Began::Where, vec!["two".to_owned()]));
}

#[test]
fn another_file_of_that_name_is_read_anew() {
    let file = File::of(lines(&[prompt(0, "one"), prompt(1, "two")]));
    let (.., cursor) = look(&file, None);
    // As long, and in its place: by rename, and by writing over it.
    let other = lines(&[prompt(0, "six"), prompt(1, "ten"), prompt(2, "more")]);
    let beside = file.path().with_extension("new");
    fs::write(&beside, &other).unwrap();
    fs::rename(&beside, file.path()).unwrap();
    let (began, prompts, _, renamed) = look(&file, Some(&cursor));
    assert_eq!((began, prompts), (Began::Anew, ["six", "ten", "more"].map(str::to_owned).to_vec()));

    file.write(lines(&[prompt(0, "one"), prompt(1, "two"), prompt(2, "four")]));
    let (began, prompts, ..) = look(&file, Some(&renamed));
    assert_eq!((began, prompts), (Began::Anew, ["one", "two", "four"].map(str::to_owned).to_vec()));
}
