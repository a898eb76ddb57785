//! How an agent comes to its end.

use std::time::Duration;

use steadfast_hosts::stream::AgentEnd;
use steadfast_runner::agent::Departed;

use crate::attendant::Fixture;

/// Short for a limit, and long for a shell that has to start first on a busy machine.
const SHORT: Duration = Duration::from_secs(2);

#[test]
fn an_agent_that_says_nothing_is_ended() {
    let fixture = Fixture::of("echo $$ > pid; echo begun; exec sleep 300").silence(SHORT);
    assert_eq!(fixture.visit().departure.how, Departed::Silent);
    assert!(!fixture.pid("pid").runs());
}

#[test]
fn an_agent_that_says_something_now_and_then_is_not_silent() {
    let often = "i=0; while test $i -lt 25; do echo $i; i=$((i + 1)); sleep 0.1; done; exit 3";
    let visit = Fixture::of(often).silence(SHORT).visit();
    assert!(visit.took > SHORT);
    assert_eq!(visit.departure.how, Departed::Died { status: "exited with 3".to_owned() });
}

#[test]
fn what_it_says_on_stderr_breaks_no_silence() {
    let visit = Fixture::of("while :; do echo more >&2; sleep 0.1; done").silence(SHORT).visit();
    assert_eq!(visit.departure.how, Departed::Silent);
}

#[test]
fn a_heartbeat_of_a_tool_that_hangs_breaks_no_silence() {
    let beat = r#"{"type":"tool_progress","tool_name":"Bash","elapsed_time_seconds":30,"heartbeat":true}"#;
    let mut fixture = Fixture::of(&format!("while :; do echo '{beat}'; sleep 0.1; done")).silence(SHORT);
    fixture.assignment.host = steadfast_model::Host::Claude;
    assert_eq!(fixture.visit().departure.how, Departed::Silent);
}

#[test]
fn an_agent_is_ended_when_its_time_is_up() {
    let visit = Fixture::of("while :; do echo more; sleep 0.1; done").limit(SHORT).visit();
    assert_eq!(visit.departure.how, Departed::TimeUp);
}

#[test]
fn an_agent_is_ended_when_it_is_told_to_stop() {
    let fixture = Fixture::of("sh -c 'echo $$ > pid; exec sleep 300'").stop_at("pid");
    assert_eq!(fixture.visit().departure.how, Departed::Stopped);
    assert!(!fixture.pid("pid").runs());
}

#[test]
fn an_agent_that_does_not_want_to_end_is_ended() {
    let script = "trap '' TERM; echo $$ > pid; sh -c 'trap \"\" TERM; echo $$ > child; while :; do sleep 1; done'";
    let fixture = Fixture::of(script).silence(SHORT);
    assert_eq!(fixture.visit().departure.how, Departed::Silent);
    assert!(!fixture.pid("pid").runs() && !fixture.pid("child").runs());
}

#[test]
fn an_agent_may_say_its_last_word_when_it_is_stopped() {
    let script =
        r#"trap 'echo "{\"moment\":\"spent\",\"usd\":2}"; exit 0' TERM; echo > ready; while :; do sleep 0.1; done"#;
    let visit = Fixture::of(script).stop_at("ready").visit();
    assert_eq!((visit.departure.how, visit.departure.spent.micro_usd), (Departed::Stopped, Some(2_000_000)));
}

#[test]
fn an_agent_that_dies_says_why_if_it_can() {
    let visit = Fixture::of("echo 'no such model' >&2; exit 1").visit();
    assert_eq!(visit.departure.how, Departed::Died { status: "exited with 1".to_owned() });
    assert_eq!(visit.departure.errors, "no such model");
    let visit = Fixture::of("kill -s KILL $$").visit();
    assert_eq!(visit.departure.how, Departed::Died { status: "ended by signal 9".to_owned() });
}

#[test]
fn a_program_that_is_not_there_was_not_started() {
    let mut fixture = Fixture::of("");
    fixture.assignment.launch.program = "/no/such/agent".into();
    let Departed::NotStarted(why) = fixture.visit().departure.how else { panic!("it was started") };
    assert!(why.contains("/no/such/agent"), "{why}");
    let mut fixture = Fixture::of("");
    fixture.assignment.directory = "/no/such/folder".into();
    assert_eq!(fixture.visit().departure.how, Departed::NotStarted("`/no/such/folder` is not a folder".to_owned()));
}

#[test]
fn what_an_agent_said_last_counts_more_than_its_status() {
    let visit = Fixture::of(r#"echo '{"moment":"ended","ending":"budget_spent"}'; exit 1"#).visit();
    assert_eq!(visit.departure.how, Departed::Ended(AgentEnd::BudgetSpent));
}

#[test]
fn an_agent_that_said_its_last_word_and_stays_is_ended_as_one_that_ended() {
    let visit = Fixture::of(r#"echo '{"moment":"ended","ending":"stopped"}'; exec sleep 300"#).silence(SHORT).visit();
    assert_eq!(visit.departure.how, Departed::Ended(AgentEnd::Finished));
    // The limit of silence is shorter than the minute that an agent has after its last word.
    assert!(visit.took < Duration::from_secs(50), "{:?}", visit.took);
}
