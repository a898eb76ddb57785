use proptest::prelude::*;
use steadfast_model::Current;

use super::brief::{CONTEXT, SUBAGENT, orchestration};
use super::tokens::{real_tokens, tokens};
use super::*;

/// A plan that was compiled from a spec.
fn spec() -> PlanView {
    let mut plan = plan(Some(ME), 3, 4, 1);
    plan.brief = Brief {
        spec: Some("SPEC.md".into()),
        objective: Some("Sign in with a one-time code instead of a password.".into()),
        constraints: vec!["No new dependency".into(), "The old endpoint stays until March".into()],
        criteria: vec!["An old code is refused".into()],
        must_nots: Vec::new(),
        taking_back: Vec::new(),
        promise: None,
        phase: Some("Backend".into()),
        decisions: vec!["Codes live in Redis: they expire by themselves".into(), "Six digits: people type them".into()],
        checkpoints: 0,
        current: Some(Current {
            files: vec!["src/auth/code.rs".into(), "src/auth/mod.rs".into()],
            notes: Some("The clock is injected.".into()),
            check: Some("`cargo test -p auth`".into()),
            stuck_count: 2,
            counted: false,
        }),
    };
    plan
}

fn started(source: StartSource, plan: PlanView) -> String {
    let Verdict::Context(text) = verdict(&fresh(), &event(EventKind::SessionStart { source }), &knowing(plan)) else {
        panic!("nothing is said");
    };
    text
}

#[test]
fn the_orchestration_prompt_is_constant_and_under_200_tokens() {
    let (mut early, mut late) = (spec(), spec());
    early.counts.done = 0;
    late.brief.objective = None;
    for host in Host::ALL {
        let said = orchestration(&early, &StopRules::default(), host);
        assert_eq!(said, orchestration(&late, &StopRules::default(), host));
        let usual = (said.chars().count() as f64 / 3.5).max(said.split_whitespace().count() as f64 * 1.4);
        // Tokenizers differ by a sixth.
        let real = real_tokens(&said) as f64 * 7.0 / 6.0;
        assert!(usual < 200.0 && real < 200.0, "{host}: {usual}, {real}\n{said}");
    }
}

#[test]
fn the_orchestration_prompt_names_the_loop_and_the_promises_that_exist() {
    assert_eq!(
        orchestration(&spec(), &StopRules::default(), Host::Claude),
        "Steadfast keeps the tasks of this session. `steadfast task next` shows one; after the work `steadfast task \
         done ID` runs its check and closes it if that passes. This repeats until none is ready. `steadfast task block \
         ID --why REASON` sets aside what is stuck. The turn can end when no task is open or the rest is blocked. \
         Valid at the end of a message: `<promise>ALL TASKS COMPLETE</promise>` (compared with the tasks), \
         `<promise>BLOCKED - NEEDS USER</promise>` (blocks the task and asks the user), `<promise>CONTEXT LIMIT - \
         CHECKPOINT</promise>` (a fresh session continues)."
    );
    let rules = StopRules { promises: Some(vec![]), ..StopRules::default() };
    assert!(!orchestration(&spec(), &rules, Host::Claude).contains("promise"));
    let rules = StopRules { exits: Some(vec![ExitOn::AllComplete]), ..StopRules::default() };
    let said = orchestration(&spec(), &rules, Host::Claude);
    assert!(said.contains("ALL TASKS") && !said.contains("BLOCKED -") && !said.contains("CONTEXT LIMIT"), "{said}");
}

#[test]
fn after_a_compaction_the_agent_knows_again_where_it_stands() {
    let all = started(StartSource::Compact, spec());
    let (_, standing) = all.split_once('\n').unwrap();
    assert_eq!(
        standing,
        "3 of 8 tasks are open of SPEC.md.\n\
         Objective: Sign in with a one-time code instead of a password.\n\
         Constraints: No new dependency; The old endpoint stays until March.\n\
         Done when: An old code is refused.\n\
         Phase: Backend. Decided: Six digits: people type them; Codes live in Redis: they expire by themselves.\n\
         Current: 1 Task 1 (in progress). Stuck 2 times before. Check: `cargo test -p auth`. Files: src/auth/code.rs, \
         src/auth/mod.rs. Notes: The clock is injected.\n\
         Then: 2 Task 2."
    );
    assert!(real_tokens(&all) < tokens(&all) && tokens(&all) <= CONTEXT, "{}", tokens(&all));
    for source in [StartSource::Startup, StartSource::Resume, StartSource::Clear] {
        assert_eq!(started(source, spec()), all);
    }
}

#[test]
fn only_the_session_that_works_on_it_is_told() {
    let mut other = spec();
    other.owner = Some(SessionId::new("session-2"));
    let start = event(EventKind::SessionStart { source: StartSource::Compact });
    assert_eq!(verdict(&fresh(), &start, &knowing(other.clone())), Verdict::Pass);
    let agent = Some(Agent { id: AgentId::new("a1"), agent_type: "Explore".into() });
    let begins = Event { agent, ..event(EventKind::SubagentStart) };
    assert_eq!(verdict(&fresh(), &begins, &knowing(other)), Verdict::Pass);
}

#[test]
fn a_subagent_is_told_what_the_work_is_for_and_nothing_about_the_loop() {
    let agent = |kind: &str| Event {
        agent: Some(Agent { id: AgentId::new("a1"), agent_type: kind.into() }),
        ..event(EventKind::SubagentStart)
    };
    assert_eq!(
        verdict(&fresh(), &agent("Explore"), &knowing(spec())),
        Verdict::Context(
            "Steadfast: the session that started this agent works on a plan.\n\
             Objective: Sign in with a one-time code instead of a password.\n\
             Constraints: No new dependency; The old endpoint stays until March.\n\
             Decided: Six digits: people type them; Codes live in Redis: they expire by themselves."
                .into()
        )
    );
    assert_eq!(verdict(&fresh(), &agent("Explore"), &knowing(plan(Some(ME), 2, 0, 0))), Verdict::Pass);
    assert!(!Completion.needs(&fresh(), &ParsedEvent::of(&agent(""))).plan, "the host's own errands are left alone");
}

#[test]
fn a_plain_list_stays_short() {
    let mut list = plan(Some(ME), 2, 1, 0);
    list.brief.current = spec().brief.current;
    let said = started(StartSource::Compact, list);
    assert!(said.starts_with("Steadfast holds the tasks of this session: 2 of 3 tasks are open: "), "{said}");
    assert!(!said.contains("promise"), "{said}");
}

#[test]
fn taking_a_plan_tells_the_same() {
    let mut free = spec();
    free.owner = None;
    let told = decide(&fresh(), &prompted("run SPEC.md"), &knowing(free.clone())).answer.context.unwrap();
    free.owner = Some(SessionId::new(ME));
    assert_eq!(told, started(StartSource::Startup, free));
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prop_oneof!["[a-z ,.]{0,600}", "\\PC{0,300}", "[a-zA-Z0-9/_]{0,2000}"], 0..7)
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    texts().prop_map(|texts| texts.into_iter().next())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// However long the spec is, what is said stays within its bound, and each part of it is there.
    #[test]
    fn what_is_said_at_a_start_is_bounded(
        (spec, objective, promise, phase, notes) in (maybe(), maybe(), maybe(), maybe(), maybe()),
        (constraints, decisions, files) in (texts(), texts(), texts()),
        title in "\\PC{0,300}",
        host in prop_oneof![Just(Host::Claude), Just(Host::Codex)],
    ) {
        let mut long = plan(Some(ME), 3, 4, 1);
        long.open.iter_mut().for_each(|task| task.title.clone_from(&title));
        let current = Some(Current { files, notes, check: phase.clone(), stuck_count: 7, counted: false });
        let spec = Some(spec.unwrap_or_else(|| "SPEC.md".into()));
        let must_nots = constraints.clone();
        let criteria = decisions.clone();
        long.brief = Brief {
            spec,
            objective,
            constraints,
            criteria,
            must_nots,
            promise,
            phase,
            decisions,
            current,
            ..Brief::default()
        };
        let start = Event { host, ..event(EventKind::SessionStart { source: StartSource::Compact }) };
        let said = verdict(&fresh(), &start, &knowing(long.clone())).text().to_owned();
        prop_assert!(tokens(&said) <= CONTEXT, "{}\n{}", tokens(&said), said);
        prop_assert!(said.contains("\nCurrent: 1 "), "{}", said);
        prop_assert!(said.contains("\nThen: 2"), "{}", said);
        prop_assert_eq!(said.contains("\nObjective: "), long.brief.objective.is_some());
        let agent = Some(Agent { id: AgentId::new("a1"), agent_type: "worker".into() });
        let begins = Event { agent, ..event(EventKind::SubagentStart) };
        prop_assert!(tokens(verdict(&fresh(), &begins, &knowing(long)).text()) <= SUBAGENT);
    }
}
