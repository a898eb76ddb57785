//! Drafts, where they go, and a human's yes to them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use steadfast_model::{AddedBy, Approval, Gate, GateScope, Opening, SessionId, Status};
use steadfast_store::ledger::Loaded;
use steadfast_store::{Draft, draft, drafts, has_marker, keep_draft, without_marker};
use steadfast_work::task_list::{Proposal, Proposed, short_of};
use steadfast_work::{ApprovalError, Cause, Environment, PlanError, SpecError, TaskList, WorkError, spec_file};

use crate::scene::{Scene, add_plain, cause, done, id, plain_plan, status};

const SPEC: &str = "SPEC.md";
const REQUIRED: &str = "[approval]\nrequired = true\n";

fn spec(title: &str) -> String {
    format!("# {title}\n\n## Phase 1: Codes\n\n- [ ] 1.1 Make codes\n  - Files: src/code.rs\n  - Verify: `true`\n")
}

/// Proposes a text for `SPEC.md`.
fn propose(list: &mut TaskList, text: String) -> Result<Proposed, WorkError> {
    list.propose(Proposal { text, file: Path::new("-"), path: Some(SPEC) })
}

/// Loads the text of a draft as an agent reads it from its file.
fn load(scene: &Scene, list: &mut TaskList, text: &str) -> Result<Loaded, WorkError> {
    let compiled = spec_file::compile_as(&scene.environment(), text, Path::new(SPEC), Path::new(SPEC))?;
    list.load(&compiled.plan, SPEC)
}

fn approval(list: &TaskList) -> Approval {
    list.position().unwrap().approval
}

#[test]
fn a_proposal_closes_a_gate_keeps_the_draft_and_writes_no_file() {
    let scene = Scene::new();
    for (mut list, scope) in [
        (scene.agent("s-1"), GateScope::Session(SessionId::new("s-1"))),
        (scene.human(), GateScope::Worktree(scene.place().worktree())),
    ] {
        let proposed = propose(&mut list, spec("Login")).unwrap();
        assert!(proposed.closed && proposed.before.is_none());
        assert_eq!((proposed.draft.path.as_str(), proposed.draft.title.as_str()), (SPEC, "Login"));
        assert_eq!(draft(&scene.place(), &proposed.draft.hash).as_ref(), Some(&proposed.draft));
        let gates: Vec<Gate> = list.gates().into_iter().map(|standing| standing.gate).collect();
        let own = gates.iter().find(|gate| gate.scope == scope).unwrap();
        assert_eq!(own.draft, Some(proposed.draft.line()));
        assert_eq!((approval(&list), scene.read(SPEC)), (Approval::Required, None));
    }
}

#[test]
fn a_second_proposal_takes_the_place_of_the_first_at_the_same_gate() {
    let scene = Scene::new();
    let mut list = scene.agent("s-1");
    let first = propose(&mut list, spec("Login")).unwrap().draft;
    let second = propose(&mut list, spec("Sign in")).unwrap();
    assert!(!second.closed);
    assert_eq!(second.before.as_ref(), Some(&first));
    assert_eq!(second.draft.replaces.as_ref(), Some(&first.hash));
    assert_eq!(list.waiting(), [second.draft]);
    let same = propose(&mut list, spec("Sign in")).unwrap();
    assert!(!same.closed && same.before.is_none());
}

#[test]
fn a_text_that_does_not_compile_is_no_draft() {
    let scene = Scene::new();
    let mut list = scene.agent("s-1");
    let error = propose(&mut list, "no plan at all".into()).unwrap_err();
    assert!(matches!(error, WorkError::Spec(SpecError::Broken { .. })) && error.cause() == Cause::State);
    assert!(list.gates().is_empty() && drafts(&scene.place()).is_empty());
}

#[test]
fn a_draft_goes_where_it_is_said_where_it_comes_from_or_where_the_last_one_goes() {
    let scene = Scene::new();
    let file = scene.root().join("docs/plan.md");
    scene.write("docs/plan.md", &spec("Login"));
    let json = r#"{"feature": "Login", "phases": [{"id": "1", "name": "Codes", "tasks": [{"id": "1.1", "task": "Make codes"}]}]}"#;
    let cases = [
        ("said", spec("A"), file.as_path(), Some("./plans/a.md"), "plans/a.md"),
        ("an absolute path", spec("B"), Path::new("-"), Some(file.to_str().unwrap()), "docs/plan.md"),
        ("its own file", spec("C"), file.as_path(), None, "docs/plan.md"),
        ("nowhere", spec("D"), Path::new("-"), None, ".tdd-progress.md"),
        ("JSON", json.to_owned(), Path::new("-"), None, "SPEC.json"),
    ];
    for (index, (name, text, file, path, expected)) in cases.into_iter().enumerate() {
        let mut list = scene.agent(&format!("s-{index}"));
        let next = Proposal { text: text.replace("Make codes", "Send codes"), file: Path::new("-"), path: None };
        let proposed = list.propose(Proposal { text, file, path }).unwrap();
        assert_eq!(proposed.draft.path, expected, "{name}");
        assert_eq!(list.propose(next).unwrap().draft.path, expected, "after {name}");
    }
}

#[test]
fn a_path_that_is_no_place_for_a_plan_is_an_input_error() {
    let scene = Scene::new();
    scene.write("src/code.rs", "");
    symlink("..", scene.root().join("out")).unwrap();
    symlink("../elsewhere.md", scene.root().join("link.md")).unwrap();
    fs::write(scene.beside("elsewhere.md"), "").unwrap();
    let cases = [
        "../plan.md",
        "docs/../../plan.md",
        "/etc/plan.md",
        ".git/plan.md",
        "docs/.GIT/hooks/plan.md",
        ".claude/plan.md",
        ".codex/plan.md",
        ".agents/plan.md",
        ".steadfast/plan.md",
        "src",
        "",
        ".",
        "out/plan.md",
        "link.md",
    ];
    let mut list = scene.agent("s-1");
    for path in cases {
        let result = list.propose(Proposal { text: spec("Login"), file: Path::new("-"), path: Some(path) });
        assert!(matches!(result, Err(WorkError::Plan(PlanError::NoPlace { .. }))), "`{path}`: {result:?}");
        assert_eq!(cause(result), Cause::Input, "`{path}`");
    }
    assert!(list.gates().is_empty() && drafts(&scene.place()).is_empty());
}

#[test]
fn an_approved_draft_is_written_to_its_path_and_its_gate_opens() {
    let scene = Scene::new();
    let mut agent = scene.agent("s-1");
    let proposed = propose(&mut agent, spec("Login")).unwrap().draft;
    let granted = scene.human().approve(&proposed).unwrap();
    assert_eq!(granted.path, Path::new(&scene.place().worktree()).join(SPEC));
    let text = scene.read(SPEC).unwrap();
    assert!(has_marker(&text), "{text}");
    assert_eq!(without_marker(&text), spec("Login"));
    assert!(agent.gates().is_empty() && agent.waiting().is_empty());
    assert_eq!(approval(&agent), Approval::Approved);

    // It is the human's then, whoever loads it, and stays approved while its tasks move.
    load(&scene, &mut agent, &text).unwrap();
    assert_eq!((agent.plan_row().unwrap().added_by, approval(&agent)), (AddedBy::Human, Approval::Approved));
    agent.start(&id("1.1")).unwrap();
    assert_eq!(approval(&agent), Approval::Approved);
}

#[test]
fn a_yes_to_one_text_is_none_to_another() {
    let scene = Scene::with_settings(REQUIRED);
    let mut agent = scene.agent("s-1");
    let proposed = propose(&mut agent, spec("Login")).unwrap().draft;
    scene.human().approve(&proposed).unwrap();
    let other = spec("Login").replace("Make codes", "Take the keys");

    let error = load(&scene, &mut agent, &other).unwrap_err();
    let is_told =
        matches!(&error, WorkError::Plan(PlanError::NotTheDraft { short, .. }) if *short == short_of(&proposed));
    assert!(is_told && error.cause() == Cause::Refused, "{error}");

    agent.load(&plain_plan(&["1"]), "OTHER.md").unwrap();
    assert_eq!(approval(&agent), Approval::Required);
}

#[test]
fn a_draft_that_was_not_approved_needs_its_yes_even_where_none_is_required() {
    let scene = Scene::new();
    let mut agent = scene.agent("s-1");
    propose(&mut agent, spec("Login")).unwrap();
    let human = scene.human();
    human.open(&human.gates(), &Opening::Unlocked).unwrap();
    load(&scene, &mut agent, &spec("Login")).unwrap();
    assert_eq!(approval(&agent), Approval::Required);
    let error = agent.start(&id("1.1")).unwrap_err();
    assert!(matches!(error, WorkError::Approval(ApprovalError::Missing { draft: Some(_), .. })), "{error}");
}

#[test]
fn a_plan_that_needs_a_yes_and_has_none_is_not_built() {
    let scene = Scene::with_settings(REQUIRED);
    scene.agent("s-1").load(&plain_plan(&["1"]), SPEC).unwrap();
    for mut list in [scene.agent("s-1"), scene.human()] {
        let results = [list.start(&id("1")).map(drop), done(&mut list, &id("1")).map(drop), list.may_resume()];
        for result in results {
            let error = result.unwrap_err();
            assert!(matches!(error, WorkError::Approval(ApprovalError::Missing { .. })), "{error}");
            assert_eq!(error.cause(), Cause::Refused);
        }
        assert_eq!(status(&list, &id("1")), Status::Pending);
    }

    // A human who loads it in a terminal has said yes to it.
    scene.human().load(&plain_plan(&["1"]), SPEC).unwrap();
    let mut agent = scene.agent("s-1");
    assert_eq!(approval(&agent), Approval::Approved);
    agent.may_resume().unwrap();
    agent.start(&id("1")).unwrap();
}

#[test]
fn a_plain_list_of_an_agent_is_worked_on_by_a_human_alone_where_a_yes_is_required() {
    let scene = Scene::with_settings(REQUIRED);
    let mut agent = scene.agent("s-1");
    let task = add_plain(&mut agent);
    assert_eq!(cause(agent.start(&task)), Cause::Refused);
    scene.human().start(&task).unwrap();
}

#[test]
fn a_file_that_says_it_is_approved_is_not() {
    let marked = format!("**Approved:** 2026-01-01T00:00:00Z\n{}", spec("Login"));
    for (locked, expected) in [(false, Approval::Unsigned), (true, Approval::Forged)] {
        let scene = Scene::with_settings("[approval]\nprotected = [\"SPEC.md\"]\n");
        load(&scene, &mut scene.agent("s-1"), &spec("Login")).unwrap();
        if locked {
            scene.human().lock(None).unwrap();
        }
        scene.write(SPEC, &marked);
        assert_eq!(approval(&scene.human()), expected);
        assert_eq!(cause(scene.agent("s-1").start(&id("1.1"))), Cause::Refused);
    }
}

#[test]
fn a_draft_whose_text_was_changed_is_refused() {
    let scene = Scene::new();
    let proposed = propose(&mut scene.agent("s-1"), spec("Login")).unwrap().draft;
    let changed = Draft { text: spec("Login").replace("Make codes", "Take the keys"), ..proposed.clone() };
    keep_draft(&scene.place(), &changed).unwrap();

    let human = scene.human();
    assert!(human.read_draft(&proposed).unwrap().is_some());
    let error = human.read_draft(&changed).unwrap_err();
    assert!(matches!(error, WorkError::Plan(PlanError::DraftChanged { .. })) && error.cause() == Cause::Refused);
    let error = human.approve(&proposed).unwrap_err();
    assert!(matches!(error, WorkError::Approval(ApprovalError::Grant(_))) && error.cause() == Cause::State, "{error}");
    assert_eq!((scene.read(SPEC), human.gates().len()), (None, 1));
}

#[test]
fn a_draft_is_meant_by_its_hash_or_by_being_the_only_one() {
    let scene = Scene::new();
    let human = scene.human();
    assert_eq!(cause(human.draft_of(None)), Cause::NotFound);
    let first = propose(&mut scene.agent("s-1"), spec("Login")).unwrap().draft;
    assert_eq!(human.draft_of(None).unwrap(), first);
    let second = propose(&mut scene.agent("s-2"), spec("Sign in")).unwrap().draft;
    let error = human.draft_of(None).unwrap_err();
    assert!(matches!(&error, WorkError::Plan(PlanError::SeveralDrafts(names)) if names.len() == 2), "{error}");
    assert_eq!(error.cause(), Cause::Input);

    for draft in [&first, &second] {
        assert_eq!(human.draft_of(Some(short_of(draft))).unwrap(), *draft);
        assert_eq!(human.draft_of(Some(&draft.hash)).unwrap(), *draft);
    }
    for unknown in ["", &first.hash[..7], "00000000"] {
        let error = human.draft_of(Some(unknown)).unwrap_err();
        assert!(matches!(error, WorkError::Plan(PlanError::UnknownDraft { .. })), "`{unknown}`: {error}");
        assert_eq!(error.cause(), Cause::NotFound);
    }
}

#[test]
fn a_yes_is_given_in_the_checkout_of_the_draft_and_to_the_one_that_waits() {
    let scene = Scene::new();
    let mut human = scene.human();
    let first = propose(&mut human, spec("Login")).unwrap().draft;
    let second = propose(&mut human, spec("Sign in")).unwrap().draft;
    let error = human.approve(&first).unwrap_err();
    let names_other =
        matches!(&error, WorkError::Approval(ApprovalError::OtherDraft { short }) if *short == short_of(&second));
    assert!(names_other && error.cause() == Cause::State, "{error}");
    let elsewhere = Draft { worktree: "/elsewhere".into(), ..second.clone() };
    let error = human.approve(&elsewhere).unwrap_err();
    assert!(matches!(error, WorkError::Approval(ApprovalError::Elsewhere { .. })) && error.cause() == Cause::State);
    human.approve(&second).unwrap();
}

#[test]
fn nobody_approves_without_a_place_for_the_key_or_a_key() {
    for (settings, has_home, expected) in
        [("", false, ApprovalError::NoHome), ("[approval]\nprofile = \"hardened\"\n", true, ApprovalError::NoKey)]
    {
        let scene = Scene::with_settings(settings);
        let proposed = propose(&mut scene.agent("s-1"), spec("Login")).unwrap().draft;
        let environment = scene.environment();
        let user_state = environment.user_state.clone().filter(|_| has_home);
        let human = scene.human_with(Environment { user_state, ..environment });
        let error = human.approve(&proposed).unwrap_err();
        assert_eq!(error.to_string(), expected.to_string());
        assert_eq!((error.cause(), human.gates().len(), scene.read(SPEC)), (Cause::State, 1, None));
    }
}

#[test]
fn a_human_who_loads_the_draft_that_waits_opens_its_gate_and_no_other() {
    let scene = Scene::new();
    propose(&mut scene.agent("s-1"), spec("Login")).unwrap();
    propose(&mut scene.agent("s-2"), spec("Sign in")).unwrap();
    load(&scene, &mut scene.human(), &spec("Login")).unwrap();
    assert!(scene.agent("s-1").gates().is_empty());
    assert_eq!(scene.agent("s-2").gates().len(), 1);
    assert_eq!(approval(&scene.human()), Approval::Approved);
}

/// A list that the host of a session keeps, newer than the plan.
fn host_list(scene: &Scene, session: &str) {
    let plan = format!("host-{session}");
    let ledger = scene.connect();
    let newest = "INSERT INTO plan (id, worktree, title, source, added_by, created_at) \
                  VALUES (?1, ?2, 'list', NULL, 'agent', 9000000000000)";
    ledger.execute(newest, [&plan, &scene.place().worktree()]).unwrap();
    let task = "INSERT INTO task (plan, id, position, title, kind, files, status, added_by, created_at, updated_at) \
                VALUES (?1, '9', 0, 'Item', 'main', '[]', 'pending', 'agent', 0, 0)";
    ledger.execute(task, [&plan]).unwrap();
}

#[test]
fn a_hosts_list_beside_a_plan_changes_nothing_about_its_approval() {
    let scene = Scene::with_settings(REQUIRED);
    scene.human().load(&plain_plan(&["1.1"]), SPEC).unwrap();
    host_list(&scene, "s-2");
    scene.agent("s-1").start(&id("1.1")).unwrap();

    let scene = Scene::with_settings(REQUIRED);
    let mut agent = scene.agent("s-1");
    agent.load(&plain_plan(&["1.1"]), SPEC).unwrap();
    for list in [None, Some("s-1"), Some("s-2")] {
        list.into_iter().for_each(|session| host_list(&scene, session));
        assert_eq!(cause(agent.start(&id("1.1"))), Cause::Refused, "{list:?}");
    }
}
