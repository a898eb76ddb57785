//! Whatever happened to a file: no panic, the good rows survive, the bad ones are counted.

use proptest::prelude::*;
use steadfast_hosts::transcript::Stats;

use crate::sample::{File, claude_session, codex, lines, prompt};

/// Where in a text each line ends, without its newline.
fn ends(text: &str) -> Vec<usize> {
    text.match_indices('\n').map(|(at, _)| at).collect()
}

#[test]
fn cut_at_every_byte_every_whole_row_survives() {
    let whole = lines(&claude_session()[..6]);
    let ends = ends(&whole);
    let file = File::of("");
    for length in 0..=whole.len() {
        file.write(&whole.as_bytes()[..length]);
        let stats = file.stats();
        let rows = ends.iter().filter(|end| length >= **end).count() as u64;
        // The line it was cut in: gone where nothing of it is left, and damaged otherwise.
        let torn = u64::from(!ends.iter().any(|end| length == *end || length == *end + 1) && length > 0);
        assert_eq!((stats.records - stats.damaged, stats.damaged), (rows, torn), "{length} bytes");
        file.events();
    }
}

#[test]
fn the_order_of_the_rows_does_not_change_what_is_counted() {
    let rows = claude_session();
    let straight = File::of(lines(&rows)).stats();
    for from in 0..rows.len() {
        for to in 0..from {
            let mut swapped = rows.clone();
            swapped.swap(from, to);
            let file = File::of(lines(&swapped));
            let stats = file.stats();
            // Which of a compaction's two rows comes first is a matter of order.
            assert_eq!(Stats { compactions: straight.compactions, ..stats }, straight, "{from} and {to}");
            file.events();
        }
    }
}

#[test]
fn a_line_of_100_mb_is_one_row() {
    const LONG: usize = 100 << 20;
    let noise = vec![b'x'; LONG];
    let text = format!(
        "{}\n",
        serde_json::json!({"type": "user", "sessionId": "s-1", "uuid": "long",
        "message": {"role": "user", "content": "y".repeat(LONG)}})
    );
    let (first, last) = (lines(&[prompt(0, "before")]), lines(&[prompt(1, "after")]));
    let file = File::of([first.as_bytes(), &noise, b"\n", text.as_bytes(), last.as_bytes()].concat());
    let stats = file.stats();
    assert_eq!((stats.records, stats.damaged, stats.prompts), (4, 1, 3));
}

#[test]
fn other_encodings_are_damage_and_what_is_readable_is_read() {
    let whole = lines(&claude_session());
    let rows = claude_session().len() as u64;

    let marked = [b"\xef\xbb\xbf", whole.as_bytes()].concat();
    assert_eq!(File::of(marked).stats(), File::of(&whole).stats(), "a byte order mark");
    assert_eq!(File::of(whole.replace('\n', "\r\n")).stats(), File::of(&whole).stats(), "lines of Windows");

    let wide: Vec<u8> = whole.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let stats = File::of([b"\xff\xfe".to_vec(), wide].concat()).stats();
    assert_eq!((stats.host, stats.records - stats.damaged), (None, 0));
    assert!(stats.damaged >= rows);

    // `ä` in one byte: no text of JSON, but for where nobody looks.
    let latin = whole.replace("fix the auth bug", "fix the \u{1}th bug").into_bytes();
    let latin: Vec<u8> = latin.into_iter().map(|byte| if byte == 1 { 0xe4 } else { byte }).collect();
    let stats = File::of(latin).stats();
    assert_eq!((stats.records, stats.damaged, stats.prompts), (rows, 1, 1));
}

#[test]
fn what_is_no_transcript_is_nobodys() {
    for (bytes, records) in
        [(&b""[..], 0), (b"\n\n  \n", 0), (b"hello\n", 1), (b"[1,2]\n\"a\"\n7\nnull\n", 4), (b"\0\0\0", 1)]
    {
        let stats = File::of(bytes).stats();
        assert_eq!(stats, Stats { records, damaged: records, ..Stats::default() }, "{bytes:?}");
    }
}

#[test]
fn deep_nesting_is_damage() {
    let deep = format!("{{\"type\":\"user\",\"message\":{}{}}}\n", "[".repeat(100_000), "]".repeat(100_000));
    let file = File::of(lines(&[prompt(0, "go")]) + &deep + &lines(&[prompt(1, "on")]));
    let stats = file.stats();
    assert_eq!((stats.records, stats.prompts), (3, 2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn noise_between_the_rows_harms_no_row(noise in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 1..6)) {
        let rows = claude_session();
        let mut bytes = Vec::new();
        let mut bad = 0;
        for (number, row) in rows.iter().enumerate() {
            if let Some(noise) = noise.get(number) {
                let noise: Vec<u8> = noise.iter().copied().filter(|byte| *byte != b'\n' && *byte != b'{').collect();
                bad += u64::from(!noise.trim_ascii().is_empty());
                bytes.extend_from_slice(&noise);
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(format!("{row}\n").as_bytes());
        }
        let whole = File::of(lines(&rows)).stats();
        let file = File::of(bytes);
        prop_assert_eq!(file.stats(), Stats { records: whole.records + bad, damaged: bad, ..whole });
        prop_assert_eq!(file.events(), File::of(lines(&rows)).events());
    }

    #[test]
    fn a_byte_that_turned_over_costs_one_row_at_most(at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let mut rows = claude_session();
        rows.push(codex(1, "event_msg", serde_json::json!({"type": "user_message", "message": "of another host"})));
        let whole = lines(&rows);
        let mut bytes = whole.into_bytes();
        let index = at.index(bytes.len());
        bytes[index] ^= 1 << bit;
        let file = File::of(&bytes);
        let stats = file.stats();
        // A newline that is gone joins two rows, one that is new parts one.
        prop_assert!(stats.damaged <= 2, "{}", stats.damaged);
        prop_assert!(stats.records.abs_diff(rows.len() as u64) <= 1);
        file.events();
    }
}
