//! Any stream in any chunks: no byte is lost, and the records are those of the whole stream.

#![no_main]

use libfuzzer_sys::fuzz_target;
use steadfast_splice::sse::{SsePart, SseSplitter};

fuzz_target!(|input: (u8, Vec<u8>)| {
    let (size, stream) = input;
    let whole = split(&stream, stream.len().max(1), usize::MAX);
    let parts = split(&stream, usize::from(size).max(1), usize::MAX);
    assert_eq!(joined(&whole), stream);
    assert_eq!(joined(&parts), stream);
    assert_eq!(messages(&parts), messages(&whole));
    assert_eq!(joined(&split(&stream, usize::from(size).max(1), usize::from(size))), stream);
    for part in &whole {
        if let SsePart::Record(record) = part {
            let Some(data) = record.fields().data else { continue };
            let other = split(&record.with_data(&data), usize::MAX, usize::MAX);
            assert_eq!(messages(&other).first().map(|(_, data)| data), Some(&data.to_vec()));
        }
    }
});

fn split(stream: &[u8], size: usize, limit: usize) -> Vec<SsePart> {
    let mut splitter = SseSplitter::with_limit(limit);
    let mut parts = Vec::new();
    for chunk in stream.chunks(size) {
        splitter.push(chunk.to_vec().into());
        parts.extend(std::iter::from_fn(|| splitter.next_part()));
    }
    parts.extend(splitter.finish());
    parts
}

fn joined(parts: &[SsePart]) -> Vec<u8> {
    parts.iter().flat_map(|part| part.bytes().to_vec()).collect()
}

/// Event and data of each message.
fn messages(parts: &[SsePart]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let of_record = |part: &SsePart| match part {
        SsePart::Record(record) => {
            let fields = record.fields();
            fields.data.map(|data| (fields.event.to_vec(), data.to_vec()))
        }
        SsePart::Fragment(_) => None,
    };
    parts.iter().filter_map(of_record).collect()
}
