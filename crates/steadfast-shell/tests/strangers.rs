//! What the guard says of programs that few people meet. The floors lie a little below what it reaches; the figures are
//! printed by `cargo xtask bench guard`.

use steadfast_shell::{Context, GuardDecision, effects, judge};

/// How many of the lines are denied, and how many are denied or asked about.
fn judged(text: &str, protected: &[&str]) -> (usize, usize, usize) {
    let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
    let protected: Vec<String> = protected.iter().map(|path| (*path).to_owned()).collect();
    let lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.replace("%P", "docs/plan.md"));
    let decisions: Vec<GuardDecision> =
        lines.map(|line| judge(&effects(&line, &context), &protected).decision).collect();
    let count = |least: GuardDecision| decisions.iter().filter(|decision| **decision >= least).count();
    (count(GuardDecision::Deny), count(GuardDecision::Ask), decisions.len())
}

#[test]
fn most_writes_are_denied() {
    for (name, text, floor) in [
        ("writes", include_str!("strangers/writes.txt"), 92),
        ("later", include_str!("strangers/later_writes.txt"), 84),
        ("last", include_str!("strangers/last_writes.txt"), 75),
    ] {
        let (denied, _, all) = judged(text, &["docs/"]);
        assert!(denied * 100 >= all * floor, "{name}: {denied} of {all}");
    }
}

#[test]
fn few_harmless_commands_are_disturbed() {
    for (name, text, protected) in [
        ("reads", include_str!("strangers/reads.txt"), ["docs/"].as_slice()),
        ("later", include_str!("strangers/later_reads.txt"), &["docs/"]),
        ("last", include_str!("strangers/last_reads.txt"), &["docs/"]),
        ("harmless", include_str!("strangers/harmless.txt"), &["src/", "tests/"]),
    ] {
        let (_, disturbed, all) = judged(text, protected);
        assert!(disturbed <= 1 + all / 100, "{name}: {disturbed} of {all}");
    }
}
