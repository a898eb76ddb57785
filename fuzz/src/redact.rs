//! Whatever text is journalled: no panic, and redacting twice is redacting once.

#![no_main]

use libfuzzer_sys::fuzz_target;
use steadfast_redact::{contains_secret, redact};

fuzz_target!(|text: &str| {
    let once = redact(text);
    assert_eq!(contains_secret(text), once != text);
    assert_eq!(redact(&once), once);
});
