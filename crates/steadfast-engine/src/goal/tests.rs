use proptest::prelude::*;
use steadfast_model::{Agent, AgentId, Host, Millis, SessionId};

use super::*;

fn fresh() -> State {
    State::new(SessionId::new("s"), Host::Claude, Millis(0))
}

fn prompt(text: &str, origin: PromptOrigin) -> Event {
    Event::plain(SessionId::new("s"), Host::Claude, "/repo", Millis(1), EventKind::prompt(text, origin))
}

fn hear(state: &mut State, text: &str) {
    hear_with(state, text, &Facts::default());
}

fn hear_with(state: &mut State, text: &str, facts: &Facts) {
    for change in changes(state, &ParsedEvent::of(&prompt(text, PromptOrigin::Human)), facts) {
        state.apply(&change);
    }
}

fn kinds(state: &State) -> Vec<(ConstraintKind, Vec<String>)> {
    state.constraints().iter().map(|constraint| (constraint.kind, constraint.of.clone())).collect()
}

#[test]
fn the_first_task_is_the_goal_and_later_prompts_add_to_its_scope() {
    let mut state = fresh();
    hear(&mut state, "hi");
    hear(&mut state, "Fix the login in src/auth/token.ts,\n but don't touch src/db.ts");
    hear(&mut state, "see also src/auth/session.ts");
    let goal = state.goal.unwrap();
    assert_eq!(goal.text, "Fix the login in src/auth/token.ts, but don't touch src/db.ts");
    assert_eq!(goal.scope, ["src/auth/token.ts", "src/auth/session.ts"]);
}

fn tree(names: &[&str]) -> Facts {
    let tree = ["src/billing/mod.rs", "src/billing/tax.rs", "src/token_store.rs", "web/theme.css"].map(str::to_owned);
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    Facts { found: Fact::Known(found(&names, &tree)), ..Facts::default() }
}

fn stands_for(state: &State) -> Vec<(&str, &str)> {
    let found = state.goal.iter().flat_map(|goal| &goal.found);
    found.map(|found| (found.name.as_str(), found.path.as_str())).collect()
}

#[test]
fn what_is_called_by_its_name_and_is_in_the_tree_is_scope() {
    let mut state = fresh();
    hear_with(&mut state, "Mend the billing module in src/main.rs", &tree(&["billing"]));
    hear_with(&mut state, "and use TokenStore there", &tree(&["TokenStore"]));
    assert_eq!(state.goal.as_ref().unwrap().scope, ["src/main.rs", "src/billing/", "src/token_store.rs"]);
    assert_eq!(stands_for(&state), [("billing", "src/billing/"), ("TokenStore", "src/token_store.rs")]);
}

#[test]
fn git_is_asked_where_there_is_a_name_to_look_for() {
    let asks = |state: &State, text: &str| needs(state, &ParsedEvent::of(&prompt(text, PromptOrigin::Human))).found;
    let mut state = fresh();
    assert!(asks(&state, "Mend the billing module"));
    for text in ["Mend the login", "Mend src/billing/", "don't touch the billing module", "run `cargo test`"] {
        assert!(!asks(&state, text), "{text}");
    }
    assert!(!needs(&state, &ParsedEvent::of(&prompt("the billing module", PromptOrigin::Notification))).found);
    hear_with(&mut state, "Mend the billing module", &tree(&["billing"]));
    assert!(!asks(&state, "is the billing module done?"), "it was found before");
}

#[test]
fn where_the_tree_is_not_known_a_name_changes_nothing() {
    let mut state = fresh();
    let facts = Facts { found: Fact::Unknown("not a git repository".into()), ..Facts::default() };
    hear_with(&mut state, "Mend the billing module", &facts);
    assert_eq!(state.goal.as_ref().unwrap().scope, Vec::<String>::new());
    assert_eq!(stands_for(&state), []);
}

#[test]
fn only_the_human_in_the_main_thread_is_heard() {
    let mut state = fresh();
    hear(&mut state, "don't commit yet");
    let subagent = Event {
        agent: Some(Agent { id: AgentId::new("a"), agent_type: "worker".into() }),
        ..prompt("ok, commit it", PromptOrigin::Human)
    };
    for event in [
        prompt("ok, commit it", PromptOrigin::Notification),
        prompt("ok, commit it", PromptOrigin::Machine),
        prompt("don't push", PromptOrigin::Notification),
        subagent,
    ] {
        assert_eq!(changes(&state, &ParsedEvent::of(&event), &Facts::default()), [], "{event:?}");
    }
    assert_eq!(kinds(&state), [(ConstraintKind::Commit, vec![])]);
}

#[test]
fn a_lift_takes_what_it_names_and_no_more() {
    let mut state = fresh();
    hear(&mut state, "don't commit, push or open a PR, don't touch the schema or the migrations, and never force push");
    hear(&mut state, "commit it");
    hear(&mut state, "you may touch the schema now");
    hear(&mut state, "go ahead and push");
    assert_eq!(
        kinds(&state),
        [
            (ConstraintKind::PullRequest, vec![]),
            (ConstraintKind::Push, vec!["--force".to_owned()]),
            (ConstraintKind::Touch, vec!["migrations".to_owned()]),
        ]
    );
}

#[test]
fn a_fence_is_replaced_by_the_next_and_widened_by_leave() {
    let mut state = fresh();
    hear(&mut state, "only touch src/auth");
    hear(&mut state, "now only touch src/ui");
    assert_eq!(kinds(&state), [(ConstraintKind::Only, vec!["src/ui".to_owned()])]);
    hear(&mut state, "you can edit src/theme.css too");
    assert_eq!(kinds(&state), [(ConstraintKind::Only, vec!["src/ui".to_owned(), "src/theme.css".to_owned()])]);
}

#[test]
fn nothing_else_is_about_what_was_named() {
    let only = |text: &str| read(text).constraints.into_iter().map(|found| (found.kind, found.of)).collect::<Vec<_>>();
    assert_eq!(
        only("Fix the typo in docs/a.md. Don't touch anything else."),
        [(ConstraintKind::Only, vec!["docs/a.md".to_owned()])]
    );
    assert_eq!(only("Fix the typo. Don't touch anything else."), []);
}

#[test]
fn to_be_read_to_ends_with_the_next_order_to_make_something() {
    let mut state = fresh();
    hear(&mut state, "just look, don't change anything");
    assert_eq!(kinds(&state), [(ConstraintKind::Write, vec![])]);
    hear(&mut state, "what else could it be?");
    assert_eq!(kinds(&state), [(ConstraintKind::Write, vec![])]);
    hear(&mut state, "ok, fix it");
    assert_eq!(kinds(&state), []);
}

#[test]
fn the_plan_that_plan_mode_was_left_with_is_the_agents_own_and_lifts_nothing() {
    let mut state = fresh();
    hear(&mut state, "don't commit");
    hear(&mut state, "Implement the following plan:\n\n# Plan\n\nCommit it.\n");
    assert_eq!(kinds(&state), [(ConstraintKind::Commit, vec![])]);
}

#[test]
fn a_sentence_is_kept_short_and_on_one_line() {
    let long = format!("don't commit, because {}", "x".repeat(500));
    let said = &read(&long).constraints[0].said;
    assert_eq!(said.chars().count(), Goal::SAID);
    assert!(said.ends_with('…'), "{said}");
}

#[test]
fn a_pasted_wall_of_text_hides_neither_its_beginning_nor_its_end() {
    let wall = "lorem ipsum dolor\n".repeat(20_000);
    let said = read(&format!("don't commit\n{wall}\ndon't push"));
    let kinds: Vec<ConstraintKind> = said.constraints.iter().map(|found| found.kind).collect();
    assert_eq!(kinds, [ConstraintKind::Commit, ConstraintKind::Push]);
}

#[test]
fn a_goal_is_written_with_the_state_and_one_that_there_is_not_is_not() {
    let mut state = fresh();
    let written = serde_json::to_string(&state).unwrap();
    assert!(!written.contains("goal") && !written.contains("constraint"), "{written}");
    assert_eq!(serde_json::from_str::<State>(&written).unwrap(), state);
    hear(&mut state, "Mend src/a.rs, don't commit");
    let written = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<State>(&written).unwrap(), state);
}

#[test]
fn a_kind_of_a_newer_version_is_kept_as_unknown() {
    let constraint: Constraint = serde_json::from_str(r#"{"kind":"sing","said":"don't sing"}"#).unwrap();
    assert_eq!(constraint.kind, ConstraintKind::Unknown);
}

#[test]
fn a_list_that_is_used_has_phrases_in_lower_case() {
    let sources = [
        include_str!("action.rs"),
        include_str!("deny.rs"),
        include_str!("fence.rs"),
        include_str!("broken.rs"),
        include_str!("forbid.rs"),
        include_str!("foreign.rs"),
        include_str!("lift.rs"),
        include_str!("mod.rs"),
        include_str!("name.rs"),
        include_str!("noun.rs"),
        include_str!("object.rs"),
        include_str!("order.rs"),
        include_str!("predicate.rs"),
        include_str!("pronoun.rs"),
        include_str!("human_only.rs"),
        include_str!("target.rs"),
    ];
    for source in sources {
        for name in source.split("list(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let mut phrases = list(name).iter().flatten().peekable();
            assert!(phrases.peek().is_some(), "{name}");
            assert!(phrases.all(|word| *word == word.to_lowercase()), "{name}");
        }
    }
}

const FORBIDDING: [&str; 8] = [
    "don't commit",
    "do not push anything",
    "no new dependencies",
    "don't touch the schema",
    "don't run the tests",
    "don't delete anything",
    "don't open a PR",
    "just look, don't change anything",
];
const ALLOWING: [&str; 8] = [
    "commit it",
    "push it",
    "add a dependency",
    "touch the schema",
    "run the tests",
    "delete files",
    "open a PR",
    "make the changes",
];

proptest! {
    #[test]
    fn a_prompt_without_a_negative_word_forbids_nothing(words in proptest::collection::vec(word(), 0..40)) {
        let text = words.join(" ");
        prop_assert_eq!(read(&text).constraints, vec![]);
    }

    #[test]
    fn a_lift_after_a_constraint_leaves_none(at in 0..8_usize, leave in 0..4_usize, asks in any::<bool>()) {
        let leave = ["ok, ", "you can ", "go ahead and ", "you may now "][leave];
        let mut state = fresh();
        hear(&mut state, &format!("Fix the login. Please {}.", FORBIDDING[at]));
        prop_assert_eq!(state.constraints().len(), 1, "{}", FORBIDDING[at]);
        if asks {
            hear(&mut state, &format!("should you {}?", ALLOWING[at]));
            prop_assert_eq!(state.constraints().len(), 1, "{}", ALLOWING[at]);
        }
        hear(&mut state, &format!("{leave}{}", ALLOWING[at]));
        prop_assert_eq!(state.constraints(), &[], "{}{}", leave, ALLOWING[at]);
    }

    #[test]
    fn whatever_is_said_it_is_read(text in "(?s).{0,400}", marks in "([a-z]|[ .!?…;`\"“”'’*(),:/_<>-]|don't |only |no ){0,80}") {
        read(&text);
        read(&marks);
    }
}

/// Words of orders and descriptions, none that denies or limits.
fn word() -> impl Strategy<Value = String> {
    proptest::sample::select(vec![
        "commit",
        "push",
        "the",
        "schema",
        "tests",
        "run",
        "touch",
        "src/a.rs",
        "please",
        "you",
        "can",
        "anything",
        "it",
        "delete",
        "files",
        "a",
        "PR",
        "open",
        "dependency",
        "new",
        "add",
        "install",
        "network",
        "use",
        "npm",
        "to",
        "main",
        "and",
        "or",
        "yet",
        "change",
        "`x`",
        "README.md",
        "should",
        "must",
        "be",
        "changed",
        "fix,",
        "look.",
    ])
    .prop_map(str::to_owned)
}
