//! What is heard of an agent.

use steadfast_hosts::stream::{AgentEnd, AgentEvent};
use steadfast_model::SessionId;
use steadfast_model::Spent;
use steadfast_runner::agent::{Departed, Departure};

use crate::attendant::Fixture;

const ENDED: &str = r#"echo '{"moment":"ended","ending":"stopped"}'"#;

#[test]
fn an_agent_is_heard_to_its_end() {
    let script = format!(
        r#"echo '{{"moment":"session_started","session":"s-1"}}'
        echo '{{"moment":"said","who":"main","text":"first"}}'
        echo '{{"moment":"spent","usd":0.5}}'; echo oh >&2
        echo '{{"moment":"said","who":"main","text":"last"}}'
        echo '{{"moment":"spent","usd":0.75}}'
        {ENDED}"#
    );
    let fixture = Fixture::of(&script);
    let visit = fixture.visit();
    let spent = |micro| Spent { micro_usd: Some(micro), ..Spent::default() };
    let expected = Departure {
        how: Departed::Ended(AgentEnd::Finished),
        session: Some(SessionId::new("s-1")),
        spent: spent(750_000),
        said: Some("last".to_owned()),
        errors: "oh".to_owned(),
    };
    assert_eq!(visit.departure, expected);
    assert_eq!(visit.events.len(), 6);
    assert!(visit.events.contains(&AgentEvent::Spent(spent(500_000))));
    assert!(fixture.log().contains("session_started") && fixture.log().contains("oh\n"));
}

#[test]
fn a_torn_line_says_nothing_and_the_next_one_does() {
    let visit =
        Fixture::of(&format!("printf '{{\"moment\":\"sa\\nnonsense\\n\\377\\n'; {ENDED}; printf '{{\"mom'")).visit();
    assert_eq!(visit.departure.how, Departed::Ended(AgentEnd::Finished));
    assert_eq!(visit.events.len(), 1);
}

#[test]
fn a_last_line_without_an_end_is_heard() {
    let visit = Fixture::of(r#"printf '{"moment":"ended","ending":"turn_limit"}'"#).visit();
    assert_eq!(visit.departure.how, Departed::Ended(AgentEnd::TurnLimit));
}

#[test]
fn a_flood_is_heard_to_its_end_in_little_memory_and_the_log_stays_small() {
    let lines = r#"yes '{"moment":"said","who":"main","text":"again"}' | head -n 100000"#;
    let endless = "head -c 150000000 /dev/zero | tr '\\0' x; echo";
    let fixture = Fixture::of(&format!("{lines}; {endless}; {ENDED}"));
    let visit = fixture.visit();
    assert_eq!(visit.departure.how, Departed::Ended(AgentEnd::Finished));
    assert_eq!(visit.events.len(), 100_001);
    assert!(fixture.log().len() < 70 << 20, "{} bytes", fixture.log().len());
    assert!(fixture.log().ends_with("is not kept)\n"));
}

#[test]
fn the_prompt_of_an_agent_may_hold_anything() {
    let mut fixture = Fixture::of("");
    let said = "a\n'\"$(touch broken) \\ `x` --";
    let script = r#"printf %s "$1" > heard"#;
    fixture.assignment.launch.args = ["-c", script, "sh", said].map(Into::into).to_vec();
    fixture.visit();
    assert_eq!(std::fs::read_to_string(fixture.work().join("heard")).unwrap(), said);
}

#[test]
fn an_agent_has_no_input_and_git_finds_its_own_folder() {
    let mut fixture = Fixture::of(r#"cat; env > environment; pwd > place"#);
    fixture.assignment.launch.env.push(("STEADFAST_RUN_SPENT".to_owned(), "x".into()));
    fixture.visit();
    let read = |name: &str| std::fs::read_to_string(fixture.work().join(name)).unwrap();
    assert_eq!(read("place").trim(), fixture.work().canonicalize().unwrap().to_str().unwrap());
    assert!(read("environment").contains(&format!("STEADFAST_RUN_MARK={}\n", fixture.assignment.mark)));
    assert!(read("environment").contains("STEADFAST_RUN_SPENT=x\n"));
}
