//! Whatever is given to a shell: no panic, an answer soon, spans within the text, and what is plain is allowed when read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use steadfast_shell::{Context, GuardDecision, effects, is_plain, judge};

fuzz_target!(|text: &str| {
    let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
    let protected = [".claude/".to_owned(), "SPEC.md".to_owned()];
    let reading = effects(text, &context);
    let verdict = judge(&reading, &protected);
    let spans = reading.effects.iter().map(|effect| &effect.span).chain(reading.runs().map(|run| &run.span));
    for span in spans {
        assert!(text.get(span.clone()).is_some(), "{span:?} is not in the text");
    }
    if is_plain(text, &context, &[".claude", "SPEC.md"]) {
        assert_eq!(verdict.decision, GuardDecision::Allow, "{text}");
    }
});
