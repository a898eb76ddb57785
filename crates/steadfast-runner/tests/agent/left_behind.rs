//! What an agent started ends with it.

use std::thread;
use std::time::{Duration, Instant};

use steadfast_hosts::stream::AgentEnd;
use steadfast_model::Process as Recorded;
use steadfast_runner::agent::{Departed, end_left_behind};

use crate::attendant::Bench;

const ENDED: &str = r#"echo '{"moment":"ended","ending":"stopped"}'"#;

#[test]
fn what_runs_in_the_background_ends_with_the_agent() {
    let bench = Bench::of(&format!("sh -c 'echo $$ > pid; exec sleep 300' & sleep 0.2; {ENDED}"));
    let visit = bench.visit();
    assert_eq!(visit.departure.how, Departed::Ended(AgentEnd::Finished));
    assert!(visit.took < Duration::from_secs(5), "{:?}", visit.took);
    assert!(!bench.pid("pid").runs());
}

#[test]
#[cfg(target_os = "linux")]
fn what_left_the_group_ends_with_the_agent() {
    let daemon = "(setsid sh -c '(setsid sh -c \"echo \\$\\$ > pid; exec sleep 300\" >/dev/null 2>&1 &)' &)";
    let bench = Bench::of(&format!("{daemon}; while ! test -s pid; do sleep 0.05; done; {ENDED}"));
    bench.visit();
    assert!(!bench.pid("pid").runs());
}

#[test]
#[cfg(target_os = "linux")]
fn what_left_the_group_and_does_not_want_to_end_ends_with_a_silent_agent() {
    let daemon = "setsid sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done' >/dev/null 2>&1 &";
    let bench = Bench::of(&format!("{daemon} exec sleep 300")).silence(Duration::from_secs(1));
    assert_eq!(bench.visit().departure.how, Departed::Silent);
    assert!(!bench.pid("pid").runs());
}

#[test]
fn an_agent_ends_when_whoever_attends_it_is_killed() {
    let bench = Bench::of("");
    let mut attendant = bench.elsewhere("trap '' TERM; echo $$ > pid; while :; do sleep 1; done");
    let agent = bench.pid("pid");
    thread::sleep(Duration::from_millis(100));
    attendant.kill().unwrap();
    attendant.wait().unwrap();
    assert!(agent.is_gone_within(Duration::from_secs(3)));
}

#[test]
#[cfg(target_os = "linux")]
fn what_left_the_group_ends_when_whoever_attends_is_killed() {
    let bench = Bench::of("");
    let mut attendant = bench.elsewhere("setsid sh -c 'echo $$ > pid; exec sleep 300' & exec sleep 300");
    let daemon = bench.pid("pid");
    attendant.kill().unwrap();
    attendant.wait().unwrap();
    assert!(daemon.is_gone_within(Duration::from_secs(3)));
}

/// Which is what a run does that was resumed at once.
#[test]
#[cfg(target_os = "linux")]
fn the_watcher_of_a_killed_attendant_leaves_the_next_agent_with_the_same_mark_alone() {
    let bench = Bench::of("");
    let mut attendant = bench.elsewhere("echo $$ > first; exec sleep 300");
    let first = bench.pid("first");
    attendant.kill().unwrap();
    attendant.wait().unwrap();
    let mut next = bench.elsewhere("echo $$ > second; exec sleep 300");
    let second = bench.pid("second");
    assert!(first.is_gone_within(Duration::from_secs(3)));
    thread::sleep(Duration::from_millis(500));
    assert!(second.runs());
    next.kill().unwrap();
    next.wait().unwrap();
    assert!(second.is_gone_within(Duration::from_secs(3)));
}

/// An agent that nobody attends, as after a crash of all.
#[cfg(target_os = "linux")]
fn orphan(mark: &str, script: &str) -> std::process::Child {
    use std::os::unix::process::CommandExt;
    std::process::Command::new("sh")
        .args(["-c", script])
        .env("STEADFAST_RUN_MARK", mark)
        .process_group(0)
        .spawn()
        .unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn what_carries_the_mark_is_ended_and_what_carries_another_is_not() {
    let mark = format!("r-{}/1", std::process::id());
    let mut ours = orphan(&mark, "setsid sleep 300 & exec sleep 300");
    let mut others = orphan(&format!("{mark}0"), "exec sleep 300");
    thread::sleep(Duration::from_millis(200));
    let reaped = thread::spawn(move || ours.wait());
    assert_eq!(end_left_behind(&mark, None), 2);
    reaped.join().unwrap().unwrap();
    assert_eq!(end_left_behind(&mark, None), 0);
    assert_eq!(others.try_wait().unwrap(), None);
    others.kill().unwrap();
    others.wait().unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn a_recorded_process_is_ended_only_while_it_is_the_same() {
    let mut agent = orphan("no mark of theirs", "trap '' TERM; sleep 300");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", agent.id())).unwrap();
    let started: u64 = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap();
    let recorded = |started| Some(Recorded { pid: agent.id(), started });
    assert_eq!(end_left_behind("another", recorded(started + 1)), 0);
    assert_eq!(end_left_behind("another", recorded(0)), 0);
    let (same, began) = (recorded(started), Instant::now());
    assert_eq!(agent.try_wait().unwrap(), None);
    thread::sleep(Duration::from_millis(100));
    let reaped = thread::spawn(move || agent.wait());
    assert_eq!(end_left_behind("another", same), 2);
    assert!(began.elapsed() < Duration::from_secs(5));
    reaped.join().unwrap().unwrap();
}
