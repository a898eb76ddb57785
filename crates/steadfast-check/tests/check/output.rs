//! What a check says.

use std::time::Duration;

use steadfast_model::CheckEnd;

use crate::supervisor::Fixture;

#[test]
fn of_a_hundred_megabytes_the_end_is_kept() {
    let report = Fixture::of("head -c 104857600 /dev/zero | tr '\\0' 'x'; echo; echo the end").report();
    assert_eq!((report.end, report.output_tail.as_str()), (CheckEnd::Exited(0), "the end"));
    assert_eq!(report.output_bytes, 104_857_600 + 9);
}

#[test]
fn what_prints_without_end_ends_at_its_limit() {
    let fixture = Fixture::of("yes").limit(Duration::from_secs(2));
    let report = fixture.report();
    assert_eq!(report.end, CheckEnd::TimedOut);
    assert!(report.output_tail.ends_with("y\ny"));
    assert!(report.output_tail.len() <= 4096);
}

#[test]
fn what_closes_its_output_and_goes_on_is_waited_for() {
    let report = Fixture::of("echo said; exec >&- 2>&-; sleep 0.4; exit 5").report();
    assert_eq!((report.end, report.output_tail.as_str()), (CheckEnd::Exited(5), "said"));
    assert!(report.seconds >= 0.4);
}

#[test]
fn bytes_that_are_no_text_come_out_as_text() {
    let report = Fixture::of("printf 'a\\000b\\377c\\n\\033[32mgreen\\033[0m 1%%\\r 99%%\\n'").report();
    assert_eq!(report.output_tail, "ab\u{fffd}c\n 99%");
}

#[test]
fn what_is_in_the_pipe_when_it_dies_is_read() {
    let report = Fixture::of("head -c 60000 /dev/zero | tr '\\0' 'x'; echo; echo last words; kill -9 $$").report();
    assert_eq!((report.end, report.output_tail.as_str()), (CheckEnd::Signalled(9), "last words"));
}
