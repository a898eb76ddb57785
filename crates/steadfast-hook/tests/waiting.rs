//! A draft that waits for its human keeps its gate closed in its checkout, also when the session that proposed it is over.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use steadfast_hook::handle_event;
use steadfast_model::{
    Action, Answer, Event, EventKind, Gate, GateScope, Host, Millis, PromptOrigin, Ruling, SessionId, StartSource,
    Stopping, ToolCall, ToolUseId, Trigger, Waiting,
};
use steadfast_store::{
    ConfigFiles, Draft, DraftFormat, Place, SessionFiles, close_gate, gates, keep_draft, seal, text_hash,
};

const PLAN: &str = "# Sign in\n\n- one\n";
const HOUR: i64 = 60 * 60 * 1_000;

/// When it was proposed.
const PROPOSED: i64 = 1_000;

struct World {
    dir: tempfile::TempDir,
    user: tempfile::TempDir,
    place: Place,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        let place = Place::of(dir.path(), None).unwrap();
        place.create().unwrap();
        fs::write(place.state.join("steadfast.toml"), "[approval]\nprotected = [\"PLAN.md\", \"src/auth/\"]\n")
            .unwrap();
        Self { dir, user: tempfile::tempdir().unwrap(), place }
    }

    fn gate(&self, session: &str) -> Gate {
        let scope = GateScope::Session(SessionId::new(session));
        Gate {
            trigger: Trigger::Proposal,
            root: self.place.worktree(),
            protected: vec!["PLAN.md".into(), "src/auth/".into()],
            ..Gate::new(scope, "The plan is not approved.", Millis(PROPOSED))
        }
    }

    fn close(&self, gate: &Gate) {
        let GateScope::Session(session) = &gate.scope else { unreachable!() };
        seal(&self.place, gate, std::time::Duration::ZERO).unwrap();
        close_gate(&self.place, gate).unwrap();
        self.step(session.as_str(), PROPOSED, EventKind::GateClosed(gate.clone()));
    }

    /// As `steadfast plan propose` leaves it.
    fn propose(&self, session: &str) -> String {
        let hash = text_hash(PLAN);
        let draft = Draft {
            hash: hash.clone(),
            text: PLAN.into(),
            format: DraftFormat::Markdown,
            title: "Sign in".into(),
            tasks: 1,
            path: "PLAN.md".into(),
            worktree: self.place.worktree(),
            session: Some(SessionId::new(session)),
            proposed_at: Millis(PROPOSED),
            replaces: None,
        };
        keep_draft(&self.place, &draft).unwrap();
        let waiting = Some(Waiting { since: Millis(PROPOSED), until: Some(Millis(PROPOSED + 24 * HOUR)) });
        self.close(&Gate { draft: Some(draft.line()), waiting, ..self.gate(session) });
        hash[..8].to_owned()
    }

    fn step(&self, session: &str, at: i64, kind: EventKind) -> Answer {
        let event = Event::plain(SessionId::new(session), Host::Claude, self.place.worktree(), Millis(at), kind);
        let config = ConfigFiles::of(&self.place, None).beside(Some(self.user.path()));
        handle_event(&self.place, &config, Event { attended: Some(true), ..event }).unwrap()
    }

    fn starts(&self, session: &str, at: i64) -> Answer {
        self.step(session, at, EventKind::SessionStart { source: StartSource::Clear })
    }

    fn types(&self, session: &str, at: i64, text: &str) -> Answer {
        self.step(session, at, EventKind::Prompt { text: text.into(), origin: PromptOrigin::Human, typed: true })
    }

    fn may(&self, session: &str, at: i64, action: Action) -> bool {
        let id = Some(ToolUseId::new(format!("{session}-{at}-{action:?}")));
        let call = ToolCall { id, tool: "Write".into(), action, words: Vec::new() };
        !matches!(self.step(session, at, EventKind::PreTool(call)).ruling, Ruling::Deny { .. })
    }

    fn may_write(&self, session: &str, at: i64, path: &str) -> bool {
        self.may(session, at, Action::Write { paths: vec![path.into()] })
    }
}

fn stop() -> EventKind {
    EventKind::Stop(Stopping { again: false, last_message: None, background: None, wakeups: 0 })
}

#[test]
fn a_later_session_reads_one_line_writes_the_rest_and_stops_freely() {
    let world = World::new();
    world.starts("a", 500);
    let short = world.propose("a");
    let said = world.starts("b", 2_000);
    let note = said.note.unwrap();
    assert_eq!(note.lines().count(), 1);
    assert!(note.contains(&format!("`approve plan {short}` or `reject plan {short}`")), "{note}");
    assert!(note.contains("`PLAN.md`, `src/auth/` cannot be written"), "{note}");
    assert_eq!(world.types("b", 2_100, "make the link red").note, None);
    assert!(!world.may_write("b", 2_200, "PLAN.md") && !world.may_write("b", 2_201, "src/auth/token.ts"));
    assert!(!world.may("b", 2_202, Action::shell("echo v3 > PLAN.md")));
    for path in ["README.md", "src/styles/theme.css", "docs/x.md"] {
        assert!(world.may_write("b", 2_300, path), "{path}");
    }
    assert!(world.may("b", 2_301, Action::shell("git commit -qam x")));
    assert_eq!(world.step("b", 2_400, stop()).ruling, Ruling::Pass);
}

#[test]
fn a_session_that_ran_already_is_not_gated() {
    let world = World::new();
    world.starts("b", 100);
    world.starts("a", 500);
    world.propose("a");
    assert!(world.may_write("b", 2_000, "PLAN.md"));
    assert_eq!(world.types("b", 2_100, "go on").note, None);
    assert!(!world.may_write("a", 2_200, "PLAN.md"));
}

#[test]
fn a_lock_without_a_draft_ends_with_its_session() {
    let world = World::new();
    world.starts("a", 500);
    world.close(&world.gate("a"));
    assert!(!world.may_write("a", 1_500, "PLAN.md"));
    assert_eq!(world.starts("b", 2_000).note, None);
    assert!(world.may_write("b", 2_100, "PLAN.md"));
}

/// What plan mode was to be left with, shown in its dialog and not answered.
#[test]
fn a_plan_that_plan_mode_showed_stands_before_the_next_session() {
    let shown = |attended: Option<bool>| {
        let world = World::new();
        world.starts("a", 500);
        world.close(&Gate { trigger: Trigger::PlanMode, ..world.gate("a") });
        let id = Some(ToolUseId::new("leave"));
        let call = ToolCall { id, tool: "ExitPlanMode".into(), action: Action::LeavePlan, words: vec![PLAN.into()] };
        let kind = EventKind::PreTool(call);
        let event = Event::plain(SessionId::new("a"), Host::Claude, world.place.worktree(), Millis(1_200), kind);
        let config = ConfigFiles::of(&world.place, None).beside(Some(world.user.path()));
        handle_event(&world.place, &config, Event { planning: true, attended, ..event }).unwrap();
        world
    };
    let world = shown(Some(true));
    let short = &text_hash(PLAN)[..8];
    assert!(world.starts("b", 2_000).note.unwrap().contains(&format!("`approve plan {short}`")));
    assert!(!world.may_write("b", 2_200, "PLAN.md") && world.may_write("b", 2_201, "README.md"));
    world.types("b", 2_300, &format!("reject plan {short}"));
    assert!(world.may_write("b", 2_400, "PLAN.md"));
    assert!(shown(Some(true)).may_write("c", 1_200 + 24 * HOUR, "PLAN.md"), "it has waited long enough");
    // Where no human was shown it, it ends with its session.
    let world = shown(Some(false));
    assert_eq!(world.starts("b", 2_000).note, None);
    assert!(world.may_write("b", 2_200, "PLAN.md"));
}

#[test]
fn a_draft_that_waited_long_enough_stands_before_no_later_session() {
    let world = World::new();
    world.starts("a", 500);
    world.propose("a");
    world.starts("b", 2_000);
    let day = PROPOSED + 24 * HOUR;
    assert!(!world.may_write("b", day - 1, "PLAN.md"));
    assert!(world.may_write("b", day, "PLAN.md") && world.may_write("c", day + 1, "PLAN.md"));
}

#[test]
fn a_yes_in_a_later_session_writes_the_plan_and_opens_the_gate_for_good() {
    let world = World::new();
    world.starts("a", 500);
    let short = world.propose("a");
    world.starts("b", 2_000);
    let said = world.types("b", 2_100, &format!("approve plan {short}"));
    assert!(said.context.unwrap().starts_with("The human approved plan"));
    assert!(fs::read_to_string(world.dir.path().join("PLAN.md")).unwrap().contains("**Approved:**"));
    // Nor does the session that proposed it close it again from memory.
    assert!(["a", "b", "c"].iter().all(|session| world.may_write(session, 2_200, "PLAN.md")));
    assert_eq!(gates(&world.place), []);
}

#[test]
fn a_no_in_a_later_session_opens_the_gate_and_approves_nothing() {
    let world = World::new();
    world.starts("a", 500);
    let short = world.propose("a");
    world.starts("b", 2_000);
    assert!(world.types("b", 2_100, &format!("reject plan {short}")).note.unwrap().contains("nothing is approved"));
    assert!(!world.dir.path().join("PLAN.md").exists());
    assert!(world.may_write("a", 2_200, "PLAN.md") && world.may_write("b", 2_200, "PLAN.md"));
    assert_eq!(SessionFiles::of(&world.place, &SessionId::new("b")).peek().unwrap().approved, None);
}
