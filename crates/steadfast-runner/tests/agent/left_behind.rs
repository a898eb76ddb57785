//! What an agent started ends with it.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;
use std::{fs, thread};

use steadfast_hosts::stream::AgentEnd;
use steadfast_model::Process as Recorded;
use steadfast_runner::agent::{Departed, end_left_behind};
use steadfast_testkit::wait_for;

use crate::attendant::{Fixture, Process};

const ENDED: &str = r#"echo '{"moment":"ended","ending":"stopped"}'"#;

#[test]
fn what_runs_in_the_background_ends_with_the_agent() {
    let fixture = Fixture::of(&format!(
        "sh -c 'echo $$ > pid; exec sleep 300' & while ! test -s pid; do sleep 0.05; done; {ENDED}"
    ));
    assert_eq!(fixture.visit().departure.how, Departed::Ended(AgentEnd::Finished));
    assert!(!fixture.pid("pid").runs());
}

#[test]
#[cfg(target_os = "linux")]
fn what_left_the_group_ends_with_the_agent() {
    let daemon = "(setsid sh -c '(setsid sh -c \"echo \\$\\$ > pid; exec sleep 300\" >/dev/null 2>&1 &)' &)";
    let fixture = Fixture::of(&format!("{daemon}; while ! test -s pid; do sleep 0.05; done; {ENDED}"));
    fixture.visit();
    assert!(!fixture.pid("pid").runs());
}

#[test]
#[cfg(target_os = "linux")]
fn what_left_the_group_and_does_not_want_to_end_ends_with_a_silent_agent() {
    let daemon = "setsid sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done' >/dev/null 2>&1 &";
    let until_it_runs = "while ! test -s pid; do echo waiting; sleep 0.05; done";
    let fixture = Fixture::of(&format!("{daemon} {until_it_runs}; exec sleep 300")).silence(Duration::from_secs(1));
    assert_eq!(fixture.visit().departure.how, Departed::Silent);
    assert!(!fixture.pid("pid").runs());
}

#[test]
fn an_agent_ends_when_whoever_attends_it_is_killed() {
    let fixture = Fixture::of("");
    let mut attendant = fixture.elsewhere("trap '' TERM; echo $$ > pid; while :; do sleep 1; done");
    let agent = fixture.pid("pid");
    attendant.kill().unwrap();
    attendant.wait().unwrap();
    agent.wait_until_gone();
}

#[test]
#[cfg(target_os = "linux")]
fn what_left_the_group_ends_when_whoever_attends_is_killed() {
    let fixture = Fixture::of("");
    let mut attendant = fixture.elsewhere("setsid sh -c 'echo $$ > pid; exec sleep 300' & exec sleep 300");
    let daemon = fixture.pid("pid");
    attendant.kill().unwrap();
    attendant.wait().unwrap();
    daemon.wait_until_gone();
}

/// The process that ends the agent when whoever attends it is gone.
#[cfg(target_os = "linux")]
fn watcher_of(attendant: &std::process::Child) -> Process {
    let parent = format!(" {} ", attendant.id());
    let found = processes().into_iter().find(|(_, stat, words)| {
        // After the name: its status, and its parent.
        stat.rsplit_once(')').is_some_and(|(_, rest)| rest.get(2..).is_some_and(|rest| rest.starts_with(&parent)))
            && words.contains("read -r over")
    });
    found.unwrap().0
}

/// All that run, with their `stat` and their words.
#[cfg(target_os = "linux")]
fn processes() -> Vec<(Process, String, String)> {
    let read = |entry: fs::DirEntry| {
        let pid = Process(entry.file_name().to_str()?.parse().ok()?);
        let text =
            |name: &str| fs::read(entry.path().join(name)).ok().map(|text| String::from_utf8_lossy(&text).into());
        Some((pid, text("stat")?, text("cmdline")?))
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(read).collect()
}

/// Waits until so many that were started with this variable sleep.
#[cfg(target_os = "linux")]
fn wait_for_sleepers(count: usize, variable: &str) {
    wait_for("processes that sleep", || {
        let sleepers = processes().into_iter().filter(|(Process(pid), _, words)| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            words.split_terminator('\0').eq(["sleep", "300"])
                && environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
        });
        let seen = sleepers.count();
        if seen == count { Ok(()) } else { Err(format!("{seen} of {count}")) }
    });
}

/// Which is what a run does that was resumed at once.
#[test]
#[cfg(target_os = "linux")]
fn the_watcher_of_a_killed_attendant_leaves_the_next_agent_with_the_same_mark_alone() {
    let fixture = Fixture::of("");
    let mut attendant = fixture.elsewhere("echo $$ > first; exec sleep 300");
    let first = fixture.pid("first");
    let watcher = watcher_of(&attendant);
    attendant.kill().unwrap();
    attendant.wait().unwrap();
    let mut next = fixture.elsewhere("echo $$ > second; exec sleep 300");
    let second = fixture.pid("second");
    first.wait_until_gone();
    watcher.wait_until_gone();
    assert!(second.runs());
    next.kill().unwrap();
    next.wait().unwrap();
    second.wait_until_gone();
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
    wait_for_sleepers(2, &format!("STEADFAST_RUN_MARK={mark}"));
    wait_for_sleepers(1, &format!("STEADFAST_RUN_MARK={mark}0"));
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
    let mark = format!("no mark of theirs, {}", std::process::id());
    let mut agent = orphan(&mark, "trap '' TERM; sleep 300; :");
    let stat = fs::read_to_string(format!("/proc/{}/stat", agent.id())).unwrap();
    let started: u64 = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap();
    let recorded = |started| Some(Recorded { pid: agent.id(), started });
    assert_eq!(end_left_behind("another", recorded(started + 1)), 0);
    assert_eq!(end_left_behind("another", recorded(0)), 0);
    let same = recorded(started);
    assert_eq!(agent.try_wait().unwrap(), None);
    wait_for_sleepers(1, &format!("STEADFAST_RUN_MARK={mark}"));
    let reaped = thread::spawn(move || agent.wait());
    assert_eq!(end_left_behind("another", same), 2);
    assert_eq!(reaped.join().unwrap().unwrap().signal(), Some(9), "it does not end by itself");
}
