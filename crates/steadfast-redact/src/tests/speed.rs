//! Linear on every input. The bounds are for a busy machine; a square would take hours.

use std::time::{Duration, Instant};

use crate::rule::RULES;
use crate::{name::NAMES, redact};

/// Ten megabytes; one where nothing is optimised.
const LARGE: usize = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };
const LIMIT: Duration = Duration::from_secs(20);

fn takes(text: &str) -> Duration {
    let begin = Instant::now();
    std::hint::black_box(redact(text));
    begin.elapsed()
}

fn repeated(piece: &str, length: usize) -> String {
    piece.repeat(length / piece.len() + 1)
}

#[test]
fn megabytes_of_trouble_take_seconds() {
    for piece in [
        "a",
        "=",
        ":",
        "-",
        "sk-",
        "eyJ-",
        "token=",
        "password='",
        "password=\"\\\"",
        "://a:",
        "://",
        "-----BEGIN ",
        "cookie:a=",
        " -p",
        " -px",
        " -u a:",
        " -u 'a -u b:c1d2'",
        " -u 'a:b1c2[redacted:a]",
        "[redacted:",
        "token='[redacted:a]",
        "\\",
        " ",
        "authorization:bearer ",
        "password:a = ",
        "AA:",
        "a1B2c3D4/",
    ] {
        let time = takes(&repeated(piece, LARGE));
        eprintln!("{piece:?}: {time:?}");
        assert!(time < LIMIT, "{piece:?} took {time:?}");
    }
}

mod timing {
    use super::*;

    #[test]
    fn four_times_the_anchors_take_no_sixteen_times_as_long() {
        let anchors = RULES.iter().map(|rule| rule.anchor.text().to_owned());
        let names = NAMES.iter().flat_map(|name| ["=", ":", "=\"", " = '"].map(|sep| format!("{}{sep}", name.ending)));
        for piece in anchors.chain(names) {
            let (short, long) = (repeated(&piece, 10_000), repeated(&piece, 40_000));
            // A busy machine is slow now and then; a square is slow every time.
            let linear = (0..25).any(|_| takes(&long) < takes(&short) * 10 + Duration::from_millis(20));
            assert!(linear, "{piece:?} takes sixteen times as long");
        }
    }
}
