use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::sample::{File, claude_session, lines};

fn packed(text: &str) -> Vec<u8> {
    compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
}

#[test]
fn a_packed_session_is_read_as_if_it_were_not() {
    let whole = lines(&claude_session());
    let plain = File::of(&whole);
    let file = File::of(packed(&whole));
    assert_eq!(file.stats(), plain.stats());
    assert_eq!(file.events(), plain.events());
}

#[test]
fn a_session_packed_in_pieces_is_whole() {
    let whole = lines(&claude_session());
    let (first, second) = whole.split_at(whole.len() / 2);
    assert_eq!(File::of([packed(first), packed(second)].concat()).stats(), File::of(&whole).stats());
}

#[test]
fn a_packed_session_that_breaks_off_has_its_beginning() {
    let whole = lines(&claude_session()).repeat(2_000);
    let bytes = packed(&whole);
    let whole = File::of(&bytes).stats();
    for length in [0, 3, 4, 10, bytes.len() / 2, bytes.len() - 1] {
        let stats = File::of(&bytes[..length]).stats();
        assert!(stats.records - stats.damaged <= whole.records && stats.damaged <= 1, "{length} bytes: {stats:?}");
    }
    assert!(File::of(&bytes[..bytes.len() / 2]).stats().records > 0);
}
