//! Whatever a list of somebody else's holds: no panic, what compiles is sound, and it comes back from every export.

#![no_main]

mod sound;

use libfuzzer_sys::fuzz_target;
use steadfast_plan::{CompileOptions, ExportTarget, Outgoing, compile, export};

const NAMES: [&str; 5] = ["issues.jsonl", "openspec/changes/c/tasks.md", "tasks.json", "PLAN.md", "TODO.md"];

fuzz_target!(|text: &str| {
    for name in NAMES {
        sound::check(text, name);
        let Ok(compiled) = compile(text, name, &CompileOptions::default()) else { continue };
        for to in [ExportTarget::Beads, ExportTarget::Markdown, ExportTarget::Json] {
            let outgoing = Outgoing { plan: &compiled.plan, reported: &compiled.reported, at: "2026-01-01T00:00:00Z" };
            let _ = export(outgoing, to);
        }
    }
});
