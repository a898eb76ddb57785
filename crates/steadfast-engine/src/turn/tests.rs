use steadfast_model::{
    Action, BackgroundTask, Event, EventKind, Goal, Host, ListCall, ListStatus, Listed, Millis, Outcome, PromptOrigin,
    SessionId, State, Stopping, ToolCall, ToolResult, ToolUseId,
};

use super::*;

/// A session, told in a few words.
struct Told {
    watch: TurnWatch,
    state: State,
    at: i64,
    found: Vec<(TurnKind, String, String)>,
}

impl Told {
    fn new(prompt: &str) -> Self {
        let state = State::new(SessionId::new("s"), Host::Claude, Millis(0));
        Self { watch: TurnWatch::default(), state, at: 0, found: Vec::new() }.prompt(prompt)
    }

    fn event(&mut self, kind: EventKind, denied: bool) {
        self.at += 1_000;
        let event = Event::plain(SessionId::new("s"), Host::Claude, "/repo", Millis(self.at), kind);
        let found = self.watch.add(&event, &self.state, denied);
        self.found.extend(found.map(|found| (found.kind, found.quoted, found.act)));
    }

    fn prompt(mut self, text: &str) -> Self {
        let mut goal = self.state.goal.take().unwrap_or_default();
        goal.constraints.extend(goal::understood(text));
        self.state.goal = Some(Goal { text: text.to_owned(), ..goal });
        self.event(EventKind::prompt(text.to_owned(), PromptOrigin::Human), false);
        self
    }

    fn call(mut self, action: Action, outcome: Outcome) -> Self {
        let id = Some(ToolUseId::new(format!("c-{}", self.at)));
        let call = ToolCall { id, tool: "T".into(), action, words: Vec::new() };
        let pre = EventKind::PreTool(call.clone());
        let event = Event::plain(SessionId::new("s"), Host::Claude, "/repo", Millis(self.at), pre.clone());
        let denied = breach(&self.state, &ParsedEvent::of(&event)).is_some();
        self.event(pre, denied);
        let result = ToolResult { call, outcome, millis: None, answers: Vec::new(), names: Vec::new() };
        self.event(EventKind::PostTool(result), false);
        self
    }

    fn shell(self, command: &str) -> Self {
        self.call(Action::shell(command), Outcome::Ok)
    }

    fn write(self, path: &str) -> Self {
        self.call(Action::Write { paths: vec![path.to_owned()] }, Outcome::Ok)
    }

    fn list(self, statuses: &[ListStatus]) -> Self {
        let item = |status: &ListStatus| Listed { subject: "item".into(), status: *status, check: None };
        let call = ListCall::Write { items: statuses.iter().map(item).collect(), beyond: 0 };
        self.call(Action::List(call), Outcome::Ok)
    }

    fn stops(mut self, message: &str) -> Self {
        let stopping = Stopping { again: false, last_message: Some(message.to_owned()), background: None, wakeups: 0 };
        self.event(EventKind::Stop(stopping), false);
        self
    }

    fn kinds(&self) -> Vec<TurnKind> {
        self.found.iter().map(|(kind, ..)| *kind).collect()
    }
}

fn working() -> Told {
    Told::new("Implement the parser, the printer and the tests in src/.").write("/repo/src/parser.rs")
}

#[test]
fn an_offer_to_go_on_ends_a_turn_early() {
    for message in [
        "The parser is done. Would you like me to continue with the printer?",
        "Parser done.\n\nShall I proceed with the remaining two parts?",
        "I finished phase 1. Let me know if I should move on to the next phase.",
        "Two of five files are converted. Want me to keep going?",
        "Half of it works. Should I tackle the printer now?",
        "If you'd like, I can finish the rest.",
        "The printer is not yet implemented. Just say so if you want it.",
    ] {
        let told = working().stops(message);
        assert_eq!(told.kinds(), [TurnKind::StoppedEarly], "{message}");
        assert!(message.contains(&told.found[0].1), "it quotes the message: {:?}", told.found);
    }
}

#[test]
fn another_end_of_a_turn_is_none() {
    for message in [
        "All three parts are done.",
        "Done. Let me know if you have questions.",
        "Which format should the printer use?",
        "Should I proceed with tabs, or would you prefer spaces?",
        "Committed. The remaining modified files were there before.",
        "Ready whenever you want to continue.",
        "The message asks: \"Would you like me to continue?\"",
        "```\nWould you like me to continue?\n```\nThat is the new text.",
    ] {
        assert_eq!(working().stops(message).kinds(), [], "{message}");
    }
    let offer = "Would you like me to continue?";
    assert_eq!(Told::new("How does the parser work?").stops(offer).kinds(), [], "no change was asked for");
    assert_eq!(Told::new("Fix the parser.").stops(offer).kinds(), [], "nothing was done in this turn");
}

#[test]
fn an_open_item_of_the_agents_own_list_makes_any_offer_early() {
    use ListStatus::{Completed, InProgress, Pending};
    let message = "The parser reads all files now. Would you like me to add the printer?";
    assert_eq!(working().list(&[Completed, Pending]).stops(message).kinds(), [TurnKind::StoppedEarly]);
    assert_eq!(working().list(&[InProgress]).stops(message).kinds(), [TurnKind::StoppedEarly]);
    assert_eq!(working().list(&[Pending]).list(&[Completed]).stops(message).kinds(), []);
    assert_eq!(working().stops(message).kinds(), []);
}

#[test]
fn tests_pass_is_a_claim_without_a_test_run_in_the_turn() {
    for message in [
        "All tests pass.",
        "Done, and the whole suite is green.",
        "- ✅ Tests: 1329 pass, 0 fail",
        "The fix works; every unit test passed and lint is clean.",
    ] {
        assert_eq!(working().stops(message).kinds(), [TurnKind::UntestedClaim], "{message}");
        assert_eq!(working().shell("cargo build && git status").stops(message).kinds(), [TurnKind::UntestedClaim]);
        for ran in [
            "cargo test --workspace 2>&1 | tail -3",
            "cd web && npm run test:ci",
            "python3 -m pytest -q",
            "make check",
            "./scripts/ci.sh",
            "git commit -m x",
            "mise run test",
            "gh pr checks 12",
        ] {
            assert_eq!(working().shell(ran).stops(message).kinds(), [], "{ran}");
        }
    }
    let before = working().shell("cargo test").stops("Done.");
    assert_eq!(
        before.prompt("Sum it up.").shell("git log").stops("All tests pass.").kinds(),
        [],
        "nothing changed since"
    );
}

#[test]
fn a_plan_a_wish_or_a_report_of_the_past_is_no_claim() {
    for message in [
        "All tests should pass now.",
        "Run `cargo test` to see that the tests pass.",
        "Two tests do not pass yet.",
        "Once the tests pass, I commit it.",
        "The tests already passed before this change.",
        "Do all tests pass?",
        "I added a test for the pass.",
        "> all tests pass",
        "It checks that the test suite is green.",
    ] {
        assert_eq!(working().stops(message).kinds(), [], "{message}");
    }
}

#[test]
fn a_call_that_did_what_the_human_forbade_is_found_with_their_words() {
    let told = Told::new("Fix the parser in src/parser.rs, but don't commit.")
        .write("/repo/src/parser.rs")
        .shell("git add -A && git commit -m 'Fix the parser'");
    let [(kind, quoted, act)] = &told.found[..] else { panic!("{:?}", told.found) };
    assert_eq!((*kind, act.as_str()), (TurnKind::Forbidden, "git commit"));
    assert!(quoted.contains("don't commit"), "{quoted}");
}

#[test]
fn a_write_outside_the_named_scope_is_found_and_one_that_failed_is_not() {
    let told = Told::new("Only change src/auth/. Fix the login there.").write("/repo/src/auth/login.rs");
    assert_eq!(told.kinds(), []);
    let told = told.write("/repo/theme/dark.css");
    assert_eq!(told.kinds(), [TurnKind::OutsideScope]);
    let failed = Outcome::Failed { error: "refused".into() };
    let action = Action::Write { paths: vec!["/repo/theme/light.css".into()] };
    assert_eq!(told.call(action, failed).kinds(), [TurnKind::OutsideScope], "the human refused the second one");
}

#[test]
fn an_agent_that_waits_for_its_background_work_did_not_stop_early() {
    let mut told = working();
    let running = vec![BackgroundTask { what: "subagent".into(), status: "running".into(), command: None }];
    let stopping = Stopping {
        again: false,
        last_message: Some("Shall I continue with the printer?".into()),
        background: Some(running),
        wakeups: 0,
    };
    told.event(EventKind::Stop(stopping), false);
    assert_eq!(told.kinds(), []);
}
