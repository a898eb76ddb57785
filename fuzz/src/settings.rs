//! Whatever a settings file holds: no panic, what comes out parses, and doing it again changes nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use steadfast_hosts::install::{Wiring, merge_claude_settings};
use steadfast_model::{Host, Via};

fuzz_target!(|text: &str| {
    let wiring = Wiring {
        host: Host::Claude,
        via: Via::Local,
        program: "/usr/bin/steadfast".into(),
        stop_block_cap: None,
        allow: vec!["Bash(steadfast why:*)".into(), "mcp__steadfast__why".into()],
    };
    if let Ok(merged) = merge_claude_settings(text, &wiring) {
        let plain = merged.trim_start_matches('\u{feff}');
        serde_json::from_str::<serde_json::Value>(plain).expect("the merged settings parse");
        assert_eq!(merge_claude_settings(&merged, &wiring).as_deref(), Ok(merged.as_str()));
    }
});
