//! `-----BEGIN … PRIVATE KEY-----` to its `-----END …-----`.

use crate::scan::Scanner;

const LONGEST_LABEL: usize = 64;
/// Shorter bodies are text about keys: `grep -- '-----BEGIN PRIVATE KEY-----' *.pem`.
const SHORTEST_LINE: usize = 16;

/// Finds the block whose `BEGIN ` is at `begin`. A truncated block extends to the end of the text.
pub(crate) fn block(scan: &mut Scanner<'_>, begin: usize) -> Option<(usize, usize)> {
    let start = dashes_before(scan, begin)?;
    let header = &scan.bytes[begin..scan.bytes.len().min(begin + LONGEST_LABEL)];
    let label = header.iter().position(|&b| b == b'-')?;
    if !contains(&header[..label], b"PRIVATE KEY") {
        return None;
    }
    let body = begin + label + header[label..].iter().take_while(|&&b| b == b'-').count();
    let read = key_beginning(&scan.bytes[body..])?;
    // The bytes read so far decide; the end of the block does not, so it may contain a marker.
    scan.untouched(body + read - 1).then(|| (start, block_end(scan.bytes, body).min(scan.ceiling())))
}

fn dashes_before(scan: &Scanner<'_>, begin: usize) -> Option<usize> {
    // SSH2 files write `---- BEGIN`.
    let after = if scan.before(begin) == Some(b' ') { begin - 1 } else { begin };
    let dashes = scan.bytes[scan.floor..after].iter().rev().take(5).take_while(|&&b| b == b'-').count();
    (dashes >= 4).then(|| after - dashes)
}

/// Returns the length of a line break (real or written `\n`) plus the base64 or the `Proc-Type:` header after it.
fn key_beginning(body: &[u8]) -> Option<usize> {
    let breaks = body.iter().take(8).take_while(|&&b| b.is_ascii_whitespace() || b == b'\\').count();
    let letters = &body[breaks..];
    let line = letters.iter().take(SHORTEST_LINE).take_while(|&&b| is_key_byte(b)).count();
    (breaks > 0 && line == SHORTEST_LINE.min(letters.len()) && line > 0).then_some(breaks + line)
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b':' | b',' | b' ' | b'.')
}

fn block_end(bytes: &[u8], body: usize) -> usize {
    let mut at = body;
    while let Some(dash) = bytes[at..].iter().position(|&b| b == b'-') {
        at += dash;
        let dashes = bytes[at..].iter().take_while(|&&b| b == b'-').count();
        let label = at + dashes + usize::from(bytes.get(at + dashes) == Some(&b' '));
        if dashes >= 4 && bytes[label..].starts_with(b"END ") {
            let line = &bytes[label..bytes.len().min(label + LONGEST_LABEL)];
            return match line.iter().position(|&b| b == b'-') {
                Some(close) => label + close + line[close..].iter().take_while(|&&b| b == b'-').count(),
                None => label + "END".len(),
            };
        }
        at += dashes;
    }
    bytes.len()
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
