//! Whatever a SPEC.json holds: no panic, and what compiles is sound.

#![no_main]

mod sound;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| sound::check(text, "SPEC.json"));
