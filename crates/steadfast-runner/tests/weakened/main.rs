//! Which changes weaken the tests, and which only look like it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bounds;
mod case;
mod mutation;
mod timing;

use case::{Case, cases};
use steadfast_runner::weakened::{WeakeningKind, weakened_by};

fn weakenings() -> Vec<Case> {
    cases(include_str!("weakenings.md"))
}

fn innocent() -> Vec<Case> {
    cases(include_str!("innocent.md"))
}

#[test]
fn what_weakens_a_test_is_found_where_it_is() {
    let mut wrong = Vec::new();
    for case in weakenings() {
        let found = weakened_by(&case.changes());
        let seen: Vec<_> = found.iter().map(|found| (found.kind.as_str(), found.line)).collect();
        if seen != [(case.heading.as_str(), case.marked.unwrap())] {
            wrong.push(format!("{} / {}: line {:?}, {found:#?}", case.heading, case.name, case.marked));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), weakenings().len(), wrong.join("\n"));
}

#[test]
fn what_weakens_nothing_stays_silent() {
    let mut wrong = Vec::new();
    for case in innocent() {
        let found = weakened_by(&case.changes());
        if !found.is_empty() {
            wrong.push(format!("{} / {}: {found:#?}", case.heading, case.name));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), innocent().len(), wrong.join("\n"));
}

#[test]
fn every_kind_has_its_case_and_the_lists_are_long() {
    let mut kinds: Vec<_> = weakenings().into_iter().map(|case| case.heading).collect();
    kinds.dedup();
    assert_eq!(kinds, WeakeningKind::ALL.map(|kind| kind.as_str().to_owned()));
    assert!(weakenings().len() >= 57, "{}", weakenings().len());
    let mut innocent: Vec<_> = innocent().into_iter().map(|case| case.heading).collect();
    innocent.dedup();
    assert!(innocent.len() >= 20, "{}", innocent.len());
}

#[test]
fn a_file_that_did_not_change_is_silent() {
    for case in weakenings().into_iter().chain(innocent()) {
        for file in &case.files {
            for text in [&file.before, &file.after].into_iter().flatten() {
                let path = file.path_after();
                let found = steadfast_runner::weakened::weakened(path, Some(text), Some(text));
                assert!(found.is_empty(), "{} / {}: {found:#?}", case.heading, case.name);
            }
        }
    }
}
