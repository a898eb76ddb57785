//! One write, dressed in many ways.

#[path = "list/dressings.rs"]
mod list;

use list::DRESSINGS;
use steadfast_shell::{Context, GuardDecision, effects, judge};

#[test]
fn every_dressing_is_seen() {
    let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
    let protected = [".claude/".to_owned()];
    let missed: Vec<_> = DRESSINGS
        .iter()
        .map(|command| (judge(&effects(command, &context), &protected).decision, command))
        .filter(|(decision, _)| *decision != GuardDecision::Deny)
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_copy_of_a_protected_file_is_no_write_to_it() {
    let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
    let protected = ["SPEC.md".to_owned(), ".claude/".to_owned()];
    for command in [
        "cp SPEC.md /tmp/",
        "cp SPEC.md old",
        "cp -r .claude /tmp/x",
        "tar czf a.tgz .claude",
        "rm *.log",
        "ls > $TMPDIR/a",
    ] {
        assert_eq!(judge(&effects(command, &context), &protected).decision, GuardDecision::Allow, "{command}");
    }
}

#[test]
fn the_word_that_writes_is_pointed_at() {
    let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
    let command = "echo é && cp a SPEC.md";
    let verdict = judge(&effects(command, &context), &["SPEC.md".to_owned()]);
    assert_eq!(verdict.span.map(|span| &command[span]), Some("SPEC.md"));
}
