//! How a check ends.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use steadfast_model::CheckEnd;

use crate::supervisor::{Fixture, Process};

/// Short for a limit, and long for a shell that has to start first on a busy machine.
const SHORT: Duration = Duration::from_secs(2);
/// Between the request to end and the end, as the supervisor has it.
const GRACE: Duration = Duration::from_secs(2);

#[test]
fn what_exits_with_0_passed() {
    let report = Fixture::of("echo fine").report();
    assert!(report.passed());
    assert_eq!((report.end, report.output_tail.as_str(), report.output_bytes), (CheckEnd::Exited(0), "fine", 5));
    assert_eq!((report.left_behind, report.note), (vec![], None));
}

#[test]
fn what_fails_says_with_which_code() {
    let report = Fixture::of("echo out; echo err >&2; exit 3").report();
    assert_eq!((report.end, report.output_tail.as_str()), (CheckEnd::Exited(3), "out\nerr"));
    assert!(!report.passed());
}

#[test]
fn a_command_that_does_not_exist_exits_as_the_shell_says() {
    assert_eq!(Fixture::of("no-such-program-anywhere").report().end, CheckEnd::Exited(127));
}

#[test]
fn what_kills_itself_was_signalled() {
    assert_eq!(Fixture::of("kill -9 $$").report().end, CheckEnd::Signalled(9));
}

#[test]
fn what_kills_its_group_kills_nobody_else() {
    assert_eq!(Fixture::of("kill -TERM 0; sleep 5").report().end, CheckEnd::Signalled(15));
}

#[test]
fn what_hangs_ends_at_its_limit() {
    let fixture = Fixture::of("echo $$ > pid; echo begun; sleep 300").limit(SHORT);
    let report = fixture.report();
    assert_eq!((report.end, report.output_tail.as_str()), (CheckEnd::TimedOut, "begun"));
    assert_eq!(report.note.as_deref(), Some("ended at its time limit of 2 s"));
    assert!(!fixture.pid("pid").runs());
}

#[test]
fn what_does_not_listen_is_ended_after_its_grace() {
    let fixture = Fixture::of("trap '' TERM; echo $$ > pid; while :; do sleep 1; done").limit(SHORT);
    let began = Instant::now();
    assert_eq!(fixture.report().end, CheckEnd::TimedOut);
    assert!(began.elapsed() >= SHORT + GRACE, "took {:?}", began.elapsed());
    assert!(!fixture.pid("pid").runs());
}

#[test]
fn what_tidies_up_when_asked_to_end_can_do_so() {
    let fixture = Fixture::of("trap 'echo tidy > tidied; exit 0' TERM; sleep 300 & wait").limit(SHORT);
    assert_eq!(fixture.report().end, CheckEnd::TimedOut);
    assert_eq!(fs::read_to_string(fixture.work().join("tidied")).unwrap(), "tidy\n");
}

#[test]
fn what_stops_itself_ends_at_its_limit() {
    let fixture = Fixture::of("echo $$ > pid; kill -STOP $$").limit(SHORT);
    assert_eq!(fixture.report().end, CheckEnd::TimedOut);
    assert!(!fixture.pid("pid").runs());
}

#[test]
fn a_limit_shorter_than_the_start_is_a_limit() {
    let report = Fixture::of("sleep 300").limit(Duration::ZERO).report();
    assert_eq!(report.end, CheckEnd::TimedOut);
}

#[test]
fn without_its_folder_it_does_not_start() {
    let mut fixture = Fixture::of("true");
    fixture.run.directory = fixture.work().join("gone");
    let report = fixture.report();
    assert_eq!(report.end, CheckEnd::NotStarted);
    assert!(report.note.unwrap().ends_with("gone` is not a folder"));
}

#[test]
fn a_command_line_that_no_system_takes_does_not_start() {
    for command in ["echo \0".to_owned(), format!("true {}", "x".repeat(4 << 20))] {
        let report = Fixture::of(&command).report();
        assert_eq!(report.end, CheckEnd::NotStarted);
        assert!(report.note.unwrap().starts_with("cannot start `/bin/sh`: "));
    }
}

#[test]
fn what_changes_its_tree_or_takes_it_away_ends_all_the_same() {
    let fixture = Fixture::of("echo new > file; cd ..; rm -rf work; exit 4");
    assert_eq!(fixture.report().end, CheckEnd::Exited(4));
    assert!(!fixture.work().exists());
}

#[test]
fn a_supervisor_that_is_told_to_stop_ends_its_check() {
    let fixture = Fixture::of("echo $$ > pid; sleep 300").stop_at("pid");
    let report = fixture.report();
    assert_eq!((report.end, report.note.as_deref()), (CheckEnd::Lost, Some("its supervisor was stopped")));
    assert!(!fixture.pid("pid").runs());
}

#[test]
fn a_supervisor_that_is_killed_takes_its_check_with_it() {
    for signal in [Signal::KILL, Signal::TERM] {
        // The second is in the group, and known by nothing else.
        let second = r#"env -i PATH="$PATH" sh -c 'trap "" TERM; echo $$ > second; sleep 300; sleep 300'"#;
        let fixture = Fixture::of(&format!("trap '' TERM; echo $$ > first; {second}; sleep 300"));
        let mut supervisor = fixture.start();
        let (first, second) = (fixture.pid("first"), fixture.pid("second"));
        assert!(first.runs() && second.runs());
        kill_process(Pid::from_child(&supervisor), signal).unwrap();
        supervisor.wait().unwrap();
        first.wait_until_gone();
        second.wait_until_gone();
    }
}

#[test]
fn what_its_supervisor_leaves_alone_can_tidy_up() {
    let fixture = Fixture::of("trap 'echo tidy > tidied; exit 0' TERM; echo $$ > pid; sleep 300 & wait");
    let mut supervisor = fixture.start();
    let check = fixture.pid("pid");
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    check.wait_until_gone();
    assert_eq!(fs::read_to_string(fixture.work().join("tidied")).unwrap(), "tidy\n");
}

#[test]
#[cfg(target_os = "linux")]
fn what_left_the_group_of_a_killed_supervisor_dies_too() {
    let fixture = Fixture::of("setsid sh -c 'echo $$ > pid; exec sleep 300' & sleep 300");
    let mut supervisor = fixture.start();
    let escaped = fixture.pid("pid");
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    escaped.wait_until_gone();
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_watches_when_the_check_is_over() {
    let fixture = Fixture::of("echo $PPID > supervisor");
    assert_eq!(fixture.report().end, CheckEnd::Exited(0));
    let Process(supervisor) = fixture.pid("supervisor");
    let watching = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(&format!("STEADFAST_CHECK_RUN={supervisor}-"))
    });
    assert_eq!(watching.count(), 0);
}
