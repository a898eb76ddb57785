//! Whatever is in a file: no panic, every row is counted, and what is told is the same every time.

#![no_main]

use libfuzzer_sys::fuzz_target;
use steadfast_hosts::transcript::{Events, Stats, Transcript};

fuzz_target!(|data: &[u8]| {
    let open = || Transcript::of_bytes(data).expect("memory can be read");
    let stats = Stats::of(open());
    assert!(stats.damaged <= stats.records);
    assert_eq!(stats.tool_calls, stats.by_tool.values().sum::<u64>());
    assert_eq!(stats, Stats::of(open()));
    if let Some(events) = Events::of(open()) {
        let kept: usize = events.map(|event| serde_json::to_vec(&event).expect("an event is JSON").len()).sum();
        // A row may be told as a handful of events, each with the bounded circumstances it happened in.
        assert!(kept < 1_000_000 + 10_000 * data.len(), "{} bytes became {kept}", data.len());
    }
});
