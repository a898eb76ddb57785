use steadfast_model::{
    Action, Agent, AgentId, Host, Millis, PlanView, PromptOrigin, Ruling, SessionId, ToolCall, ToolResult,
};

use super::*;
use crate::{PolicyDecision, decide, needs};

mod batches;
mod changed;
mod content;
mod human_lines;

const ME: &str = "s";

fn event(kind: EventKind) -> Event {
    Event::plain(SessionId::new(ME), Host::Claude, "/repo", Millis(1), kind)
}

fn prompt(text: &str) -> Event {
    event(EventKind::prompt(text, PromptOrigin::Human))
}

fn call(tool: &str, action: Action) -> ToolCall {
    ToolCall { id: None, tool: tool.into(), action, words: Vec::new() }
}

fn back(call: ToolCall, outcome: Outcome) -> Event {
    event(EventKind::PostTool(ToolResult { call, outcome, millis: None, answers: Vec::new(), names: Vec::new() }))
}

fn read(path: &str) -> Event {
    back(call("Read", Action::Read { paths: vec![format!("/repo/{path}")] }), Outcome::Ok)
}

fn edit(path: &str) -> Event {
    back(call("Edit", Action::Write { paths: vec![format!("/repo/{path}")] }), Outcome::Ok)
}

fn shell(command: &str, outcome: Outcome) -> Event {
    back(call("Bash", Action::shell(command)), outcome)
}

fn failed() -> Outcome {
    Outcome::Failed { error: "exit 1".into() }
}

fn go(state: &mut State, event: &Event) -> PolicyDecision {
    let decision = decide(state, event, &Facts::default());
    let sequence = state.sequence + 1;
    state.advance(sequence, event.at, &decision.changes);
    decision
}

fn steps(decision: &PolicyDecision) -> Vec<&Step> {
    let step = |change: &'_ Change| matches!(change, Change::Drift(DriftChange::Stepped(_)));
    let all = decision.changes.iter().filter(|change| step(change));
    all.filter_map(|change| if let Change::Drift(DriftChange::Stepped(step)) = change { Some(&**step) } else { None })
        .collect()
}

/// The score and the level of a step; what was no step has none.
fn scored(state: &mut State, event: &Event) -> Option<(u8, Level)> {
    let decision = go(state, event);
    steps(&decision).first().map(|step| (step.score.get(), step.level))
}

fn said(state: &mut State, event: &Event) -> Option<String> {
    go(state, event).answer.context
}

/// Asked to fix auth, it read one file and wrote it.
fn at_work() -> State {
    let mut state = State::new(SessionId::new(ME), Host::Claude, Millis(0));
    for event in [prompt("Fix the expiry of tokens."), read("src/auth/token.rs"), edit("src/auth/token.rs")] {
        go(&mut state, &event);
    }
    state
}

#[test]
fn reading_is_free_and_the_first_write_says_where_the_work_is() {
    let mut state = State::new(SessionId::new(ME), Host::Claude, Millis(0));
    go(&mut state, &prompt("Something is broken."));
    assert_eq!(scored(&mut state, &read("deep/down/below.rs")), None);
    assert_eq!(scored(&mut state, &shell("cargo test", Outcome::Ok)), None);
    assert_eq!(scored(&mut state, &edit("elsewhere/entirely.rs")), Some((8, Level::None)));
}

/// Reads a document that names these paths.
fn document(path: &str, names: &[&str]) -> Event {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    let call = call("Read", Action::Read { paths: vec![format!("/repo/{path}")] });
    event(EventKind::PostTool(ToolResult { call, outcome: Outcome::Ok, millis: None, answers: Vec::new(), names }))
}

#[test]
fn what_a_document_names_that_was_read_first_goes_with_the_work() {
    let mut state = State::new(SessionId::new(ME), Host::Claude, Millis(0));
    go(&mut state, &prompt("Do what the plan says."));
    go(&mut state, &document("docs/plan.md", &["web/menu.ts", "/repo/ops/list.yaml", "lib/tax.rs"]));
    go(&mut state, &edit("src/auth/token.rs"));
    let scores = ["web/menu.ts", "ops/list.yaml", "crates/shop/lib/tax.rs"];
    assert_eq!(scores.map(|path| scored(&mut state, &edit(path))), [Some((9, Level::None)); 3]);
    assert_eq!(scored(&mut state, &edit("site/footer.ts")), Some((7, Level::Nudge)));
}

#[test]
fn a_document_that_is_read_on_the_way_makes_nothing_belong() {
    let mut state = at_work();
    go(&mut state, &document("docs/plan.md", &["web/menu.ts"]));
    assert_eq!(scored(&mut state, &edit("web/menu.ts")), Some((7, Level::Nudge)));
}

/// The scores and levels of these writes, one after the other.
fn all_scored<'a>(state: &mut State, paths: impl IntoIterator<Item = &'a str>) -> Vec<(u8, Level)> {
    paths.into_iter().map(|path| scored(state, &edit(path)).unwrap()).collect()
}

#[test]
fn one_step_to_the_side_is_asked_about_and_the_next_is_corrected() {
    let mut state = at_work();
    let paths = ["web/menu.ts", "web/menu.ts", "web/footer.ts", "ops/list.yaml", "src/auth/token.rs", "web/a.ts"];
    assert_eq!(
        all_scored(&mut state, paths),
        [
            (7, Level::Nudge),
            (5, Level::Correct),
            (5, Level::Correct),
            (2, Level::Correct),
            (10, Level::None),
            (7, Level::Nudge)
        ]
    );
}

#[test]
fn twenty_stray_writes_in_a_row_climb_to_a_halt_and_never_back() {
    let scenes: [fn(usize) -> String; 4] = [
        |n| format!("web{n}/menu{n}.ts"),
        |n| format!("web/menu{n}.ts"),
        |_| "web/menu.ts".to_owned(),
        |n| format!("web/part{}/menu.ts", n % 3),
    ];
    for path in scenes {
        let mut state = at_work();
        let mut told = Vec::new();
        let paths: Vec<String> = (0..20).map(path).collect();
        let mut levels = Vec::new();
        for path in &paths {
            let decision = go(&mut state, &edit(path));
            let step = steps(&decision)[0];
            levels.push(step.level);
            told.extend(step.correction.is_some().then_some(step.level));
        }
        assert!(levels.is_sorted(), "{paths:?}: {levels:?}");
        assert_eq!(told[..4], [Level::Nudge, Level::Correct, Level::Intervene, Level::Halt], "{paths:?}: {told:?}");
        assert_ne!(state.drift.course, Course::Normal, "{paths:?}");
        assert_eq!(state.drift.tally.tags(state.drift.course), ["had-drift", "needs-review"]);
    }
}

#[test]
fn the_calls_of_one_answer_are_corrected_once() {
    let mut state = at_work();
    let said: Vec<_> = (0..4).filter_map(|n| said(&mut state, &edit(&format!("web{n}/menu.ts")))).collect();
    assert_eq!(said.len(), 2, "{said:?}");
}

#[test]
fn halted_calls_are_counted_and_what_is_beside_them_is_halted_too() {
    let mut state = at_work();
    state.rules.drift_mode = Mode::Enforce;
    let pre =
        |path: &str| event(EventKind::PreTool(call("Edit", Action::Write { paths: vec![format!("/repo/{path}")] })));
    let mut denied = Vec::new();
    for n in 0..20 {
        let path = format!("web/menu{}.ts", n % 4);
        if matches!(go(&mut state, &pre(&path)).answer.ruling, Ruling::Deny { .. }) {
            denied.push(n);
        } else {
            go(&mut state, &edit(&path));
        }
    }
    // From the first on, all of them.
    assert_eq!(denied, (denied[0]..20).collect::<Vec<_>>());
    assert!((6..=10).contains(&denied[0]), "{denied:?}");
    assert_eq!(state.drift.tally.halts as usize, denied.len());
    assert_eq!(state.drift.tally.tags(state.drift.course), ["had-drift", "needs-review"]);
    // What belongs to the work is not.
    assert_eq!(go(&mut state, &pre("src/auth/token.rs")).answer.ruling, Ruling::Pass);
    assert_eq!(scored(&mut state, &edit("src/auth/token.rs")), Some((10, Level::None)));
}

#[test]
fn a_correction_says_what_led_away_and_what_leads_back() {
    let mut state = at_work();
    assert_eq!(
        said(&mut state, &edit("web/menu.ts")).as_deref(),
        Some(
            "Is this part of the goal? `web/menu.ts` has nothing to do with the work so far. The goal: \"Fix the expiry of \
             tokens\"."
        )
    );
    assert_eq!(
        said(&mut state, &edit("web/footer.ts")).as_deref(),
        Some(
            "This leads away from the goal: `web/footer.ts` has nothing to do with the work so far; the step before \
             led away, too. The goal: \"Fix the expiry of tokens\". The work is in `src/auth`. Back on course: \
             `src/auth/token.rs`. If it is needed, say why in one sentence and continue."
        )
    );
}

#[test]
fn no_text_is_given_twice_and_none_is_long() {
    let mut state = at_work();
    let mut texts: Vec<String> = Vec::new();
    for n in 0..200 {
        texts.extend(said(&mut state, &edit(&format!("web/part{}/some_file_with_a_long_name{}.ts", n % 7, n % 3))));
    }
    assert!(texts.len() > 3, "{texts:?}");
    let longest = texts.iter().map(|text| text.split_whitespace().count()).max().unwrap();
    assert!(longest < 80, "{longest}");
    for window in texts.windows(Memory::WINDOW) {
        assert!(!window[1..].contains(&window[0]), "{}", window[0]);
    }
}

#[test]
fn ignored_to_the_end_one_action_is_awaited_and_reading_it_is_enough() {
    let mut state = at_work();
    for n in 0..60 {
        go(&mut state, &edit(&format!("web{n}/menu{n}.ts")));
    }
    assert_eq!(
        (state.drift.course, state.drift.escalation, state.drift.awaited.as_deref()),
        (Course::Forced, 3, Some("src/auth/token.rs"))
    );
    assert_eq!(state.drift.tally.tags(state.drift.course), ["had-drift", "needs-review"]);
    let note = go(
        &mut state.clone(),
        &event(EventKind::Stop(steadfast_model::Stopping {
            again: false,
            last_message: None,
            background: None,
            wakeups: 0,
        })),
    );
    assert!(note.answer.note.unwrap().contains("including a halt"));
    go(&mut state, &read("src/auth/token.rs"));
    assert_eq!((state.drift.course, state.drift.escalation), (Course::Normal, 2));
}

#[test]
fn the_human_decides_where_the_work_is() {
    let mut state = at_work();
    go(&mut state, &edit("web/menu.ts"));
    go(&mut state, &edit("web/menu.ts"));
    state.drift.quiet = 0;
    go(&mut state, &edit("web/other/footer.ts"));
    assert_eq!(state.drift.course, Course::Drifted);
    let told = go(&mut state, &prompt("Good. Now do the menu as well."));
    assert!(told.answer.context.unwrap().contains("had drifted"));
    assert_eq!((state.drift.course, state.drift.escalation, state.drift.corrected), (Course::Normal, 0, false));
    assert_eq!(scored(&mut state, &edit("web/menu.ts")), Some((10, Level::None)));
}

#[test]
fn a_subagents_prompt_decides_nothing() {
    let mut state = at_work();
    go(&mut state, &edit("web/menu.ts"));
    let agent = Some(Agent { id: AgentId::new("a"), agent_type: "worker".into() });
    go(&mut state, &Event { agent, ..prompt("Now do the menu.") });
    assert!(state.drift.at_work);
    assert_eq!(state.drift.astray, 1);
}

#[test]
fn what_fails_a_third_time_is_told_whatever_was_between() {
    let mut state = at_work();
    let test = || shell("cargo test -p auth 2>&1 | tail -5", failed());
    assert_eq!([scored(&mut state, &test()), scored(&mut state, &test())], [None, None]);
    go(&mut state, &edit("src/auth/token.rs"));
    let told = go(&mut state, &test());
    assert_eq!(steps(&told)[0].level, Level::Correct);
    assert_eq!(
        told.answer.context.as_deref(),
        Some(
            "The same attempt failed 3 times. Read its error before trying again, or try another way. The goal: \"Fix \
             the expiry of tokens\"."
        )
    );
}

#[test]
fn another_error_is_progress() {
    let mut state = at_work();
    for error in ["line 3: no such name", "line 9: no such name", "line 4: wrong type", "line 5: wrong type"] {
        let outcome = Outcome::Failed { error: error.into() };
        assert_eq!(scored(&mut state, &shell("cargo test", outcome)), None, "{error}");
    }
}

#[test]
fn what_worked_meanwhile_is_no_circle() {
    let mut state = at_work();
    for outcome in [failed(), failed(), Outcome::Ok, failed(), failed()] {
        assert_eq!(scored(&mut state, &shell("cargo test", outcome)), None);
    }
}

#[test]
fn a_score_does_not_see_how_many_there_were() {
    let mean = |rounds: usize| {
        let mut state = at_work();
        let mut all: Vec<f64> = Vec::new();
        for _ in 0..rounds {
            for path in ["src/auth/token.rs"; 4].into_iter().chain(["web/menu.ts"]) {
                all.extend(scored(&mut state, &edit(path)).map(|(score, _)| f64::from(score)));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "some fifty steps")]
        let count = all.len() as f64;
        all.iter().sum::<f64>() / count
    };
    assert!((mean(1) - mean(10)).abs() < f64::EPSILON, "{} and {}", mean(1), mean(10));
}

#[test]
fn what_a_task_or_the_settings_name_is_in_scope() {
    let mut state = at_work();
    state.rules.drift.scope = vec!["web/".into()];
    assert_eq!(scored(&mut state, &edit("web/menu.ts")), Some((10, Level::None)));

    let state = at_work();
    assert!(Drift.needs(&state, &ParsedEvent::of(&edit("ops/list.yaml"))).plan);
    assert!(!Drift.needs(&state, &ParsedEvent::of(&edit("src/auth/token.rs"))).plan);
    let mut plan: PlanView = serde_json::from_value(serde_json::json!({
        "id": "p", "title": "T", "worktree": "/repo", "owner": ME,
        "counts": {"pending": 1, "in_progress": 0, "done": 0, "blocked": 0}, "open": [],
    }))
    .unwrap();
    plan.brief.current = Some(steadfast_model::Current { files: vec!["ops/list.yaml".into()], ..Default::default() });
    let facts = Facts { plan: Fact::Known(Some(plan)), ..Facts::default() };
    let decision = decide(&state, &edit("ops/list.yaml"), &facts);
    assert_eq!(steps(&decision)[0].score, Score::BEST);
}

#[test]
fn an_undeclared_scope_is_said_once_and_to_the_human() {
    let mut state = State::new(SessionId::new(ME), Host::Claude, Millis(0));
    go(&mut state, &prompt("Something is broken."));
    go(&mut state, &read("src/auth/token.rs"));
    let first = go(&mut state, &edit("src/auth/token.rs"));
    assert_eq!(
        first.answer.note.as_deref(),
        Some(
            "No path was named for this work, so Steadfast assumes the folders that the agent read first: src/auth. \
             `steadfast goal set` names other paths."
        )
    );
    assert_eq!(go(&mut state, &edit("src/auth/other.rs")).answer.note, None);

    let mut state = State::new(SessionId::new(ME), Host::Claude, Millis(0));
    go(&mut state, &prompt("Fix src/auth/token.rs, please."));
    assert_eq!(go(&mut state, &edit("src/auth/token.rs")).answer.note, None);

    let mut state = State::new(SessionId::new(ME), Host::Claude, Millis(0));
    go(&mut state, &prompt("Something is broken."));
    let note = go(&mut state, &edit("main.py")).answer.note.unwrap();
    assert!(note.contains("that the agent read first: the root of the project. `steadfast"), "{note}");
}

#[test]
fn with_enforce_the_last_level_does_not_happen() {
    let mut state = at_work();
    state.rules.drift_mode = Mode::Enforce;
    let refused = |state: &State, n: usize| {
        let pre =
            event(EventKind::PreTool(call("Edit", Action::Write { paths: vec![format!("/repo/web{n}/menu.ts")] })));
        matches!(decide(state, &pre, &Facts::default()).answer.ruling, Ruling::Deny { .. })
    };
    let first = (0..60).find(|n| {
        let is = refused(&state, *n);
        go(&mut state, &edit(&format!("web{n}/menu{n}.ts")));
        is
    });
    assert!(first.is_some_and(|n| n > 2), "{first:?}");
    state.rules.drift_mode = Mode::Advise;
    assert!(!refused(&state, 99));
}

#[test]
fn who_wants_to_hear_less_hears_less_and_all_is_recorded() {
    let mut state = at_work();
    state.rules.drift.quiet_below = Some(Level::Halt);
    assert_eq!(said(&mut state, &edit("web/menu.ts")), None);
    assert_eq!(said(&mut state, &edit("web/footer.ts")), None);
    assert_eq!((state.drift.tally.nudges, state.drift.tally.corrections), (1, 1));
}

#[test]
fn what_a_command_writes_is_seen_and_what_tools_make_is_not() {
    let mut state = at_work();
    assert_eq!(scored(&mut state, &shell("echo x > web/menu.ts", Outcome::Ok)), Some((7, Level::Nudge)));
    for command in
        ["cargo build > /dev/null", "mkdir -p target/x && touch target/x/y", "rm -rf node_modules", "git status"]
    {
        assert_eq!(scored(&mut state, &shell(command, Outcome::Ok)), None, "{command}");
    }
}

#[test]
fn what_led_away_may_be_taken_away_again() {
    let mut state = at_work();
    go(&mut state, &edit("web/menu.ts"));
    go(&mut state, &edit("web/footer.ts"));
    state.drift.quiet = 0;
    assert_eq!(scored(&mut state.clone(), &shell("rm -r ops", Outcome::Ok)), Some((3, Level::Intervene)));
    assert_eq!(scored(&mut state, &shell("rm -r web", Outcome::Ok)), Some((10, Level::None)));
    assert_eq!((state.drift.course, state.drift.corrected), (Course::Normal, false));
}
