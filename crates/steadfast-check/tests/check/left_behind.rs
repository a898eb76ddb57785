//! What a check leaves running.

use std::time::Duration;

use steadfast_model::CheckEnd;

use crate::supervisor::Fixture;

/// The check ends when the process that it leaves behind has written its id.
const WHEN_IT_RUNS: &str = "while ! test -s pid; do sleep 0.05; done";

/// The supervisor ends what the check left running. It does not wait for it either: that would take longer than the
/// limit of the check, and leave nothing to name.
fn is_ended(command: &str) {
    let fixture = Fixture::of(&format!("{command} {WHEN_IT_RUNS}"));
    let report = fixture.report();
    let left = fixture.pid("pid");
    assert_eq!(report.end, CheckEnd::Exited(0), "{command}");
    assert!(!left.runs(), "{command}");
    let named: Vec<_> = report.left_behind.iter().map(|entry| (entry.pid, entry.ended)).collect();
    assert!(named.contains(&(left.0, true)), "{command}: {report:?}");
    assert!(report.note.unwrap().starts_with("left `"));
}

#[test]
fn what_goes_on_in_the_background_is_ended() {
    is_ended("(sh -c 'echo $$ > pid; exec sleep 300' &);");
}

#[test]
fn what_goes_on_without_its_output_is_ended() {
    is_ended("(sh -c 'echo $$ > pid; exec sleep 300' >/dev/null 2>&1 &);");
}

#[test]
fn what_does_not_hear_of_the_end_is_ended() {
    is_ended("nohup sh -c 'echo $$ > pid; exec sleep 300' >/dev/null 2>&1 &");
}

#[test]
fn what_does_not_want_to_end_is_ended() {
    is_ended("sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done' &");
}

#[test]
#[cfg(target_os = "linux")]
fn what_left_its_group_is_ended() {
    is_ended("setsid sh -c 'echo $$ > pid; exec sleep 300' &");
}

#[test]
#[cfg(target_os = "linux")]
fn what_left_its_group_and_its_parents_is_ended() {
    is_ended("(setsid sh -c '(setsid sh -c \"echo \\$\\$ > pid; exec sleep 300\" >/dev/null 2>&1 &)' &);");
}

#[test]
#[cfg(target_os = "linux")]
fn what_left_everything_behind_is_ended() {
    is_ended("env -i PATH=\"$PATH\" setsid sh -c 'echo $$ > pid; exec sleep 300' >/dev/null 2>&1 &");
}

#[test]
fn what_goes_on_writing_is_ended() {
    is_ended("sh -c 'echo $$ > pid; while :; do echo more; done' &");
}

#[test]
#[cfg(target_os = "linux")]
fn at_the_limit_what_left_the_group_is_ended_too() {
    let fixture = Fixture::of("setsid sh -c 'echo $$ > pid; exec sleep 300' & sleep 300").limit(Duration::from_secs(2));
    assert_eq!(fixture.report().end, CheckEnd::TimedOut);
    assert!(!fixture.pid("pid").runs());
}

#[test]
fn what_ends_by_itself_in_a_moment_is_not_left_behind() {
    let report = Fixture::of("(sleep 0.1; echo late) & echo first").report();
    assert_eq!((report.end, report.left_behind), (CheckEnd::Exited(0), vec![]));
    assert_eq!(report.output_tail, "first\nlate");
}
