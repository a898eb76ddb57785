//! What is kept as a draft, and where it would go.

use super::*;

#[test]
fn a_draft_is_kept_and_closes_the_gate() {
    let sandbox = with_spec();
    insta::assert_snapshot!(plain(&sandbox.agent(&["plan", "propose", "SPEC.md", "--path", "PLAN.md"]).1), @r"
    plan HASH8: Sign in with a code, 2 tasks, to be written to PLAN.md
    The plan gate is closed now. A human approves it with the message `approve plan HASH8`, in Claude Code's question, or by `steadfast plan approve HASH8` in a terminal.
    ");
    insta::assert_snapshot!(plain(&sandbox.agent(&["plan", "status"]).1), @r"
    the plan gate of session me is closed: .tdd-progress.md, PLAN.md cannot be written
    plan HASH8 is not approved: Sign in with a code, 2 tasks, for PLAN.md
    `steadfast plan show --draft` shows it
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
    assert!(!sandbox.root().join("PLAN.md").exists(), "nothing is written before a yes");
    let state = sandbox.state("me").gate.unwrap();
    assert_eq!(state.trigger, steadfast_model::Trigger::Proposal);
    assert!(sandbox.write_tool("me", "PLAN.md").contains("\"deny\""), "the draft's own path is protected");
}

#[test]
fn a_draft_of_a_human_closes_the_checkouts_gate() {
    let sandbox = with_spec();
    sandbox.ok(&["plan", "propose", "SPEC.md"]);
    assert!(sandbox.write_tool("any", "SPEC.md").contains("\"deny\""));
    let draft: Value = serde_json::from_str(&sandbox.ok(&["plan", "show", "--draft", "--json"])).unwrap();
    assert_eq!((draft["session"].clone(), draft["path"].clone()), (Value::Null, json!("SPEC.md")));
}

#[test]
fn the_draft_is_shown_as_it_would_be_built() {
    let sandbox = proposed();
    insta::assert_snapshot!(plain(&sandbox.ok(&["plan", "show", "--draft"])), @r"
    plan HASH8, proposed just now by session me, 2 tasks, to be written to PLAN.md

    Sign in with a code
    People sign in with a code.
    must hold: The old endpoint stays.

    Phase 1: Codes
      1.0      Decisions of Phase 1: Codes: its goal and the choices made  (generated)
      1.1      Make and check codes
               files: src/code.rs
               check: test -f src/code.rs
    ");
    let draft: Value = serde_json::from_str(&sandbox.ok(&["plan", "show", "--draft", "--json"])).unwrap();
    let keys: Vec<&str> = draft.as_object().unwrap().keys().map(String::as_str).collect();
    let expected =
        ["format", "hash", "path", "proposed_at", "replaces", "session", "tasks", "text", "title", "worktree"];
    assert_eq!(keys, expected);
    assert_eq!((&draft["text"], &draft["session"], &draft["tasks"]), (&json!(SPEC), &json!("me"), &json!(2)));
}

#[test]
fn a_second_draft_takes_the_place_of_the_first_and_the_difference_is_shown() {
    let sandbox = proposed();
    let first = sandbox.short();
    sandbox.write("SPEC.md", SPEC.replace("1.1 Make", "1.1 Issue"));
    let said = sandbox.agent(&["plan", "propose", "SPEC.md"]).1;
    insta::assert_snapshot!(plain(&said), @r"
    --- SPEC.md
    +++ SPEC.md
    @@ -7,5 +7,5 @@

     ## Phase 1: Codes
    -### 1.1 Make and check codes
    +### 1.1 Issue and check codes
     - Files: src/code.rs
     - Verify: `test -f src/code.rs`
    plan HASH8: Sign in with a code, 2 tasks, to be written to SPEC.md; it replaces HASH8
    The plan gate stays closed. A human approves it with the message `approve plan HASH8`, in Claude Code's question, or by `steadfast plan approve HASH8` in a terminal.
    ");
    let waiting: Value = serde_json::from_str(&sandbox.ok(&["plan", "show", "--draft", "--json"])).unwrap();
    assert!(waiting["replaces"].as_str().unwrap().starts_with(&first));
    let (code, said) = sandbox.agent(&["plan", "propose", "SPEC.md"]);
    assert!(code == 0 && said.starts_with("plan "), "the same again is no difference: {said}");
}

#[test]
fn what_does_not_compile_is_no_draft_and_every_error_is_said() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", "# F\n\n## Phase 1\n\n- [ ] 1.1 One\n- [ ] 1.1 Two\n  - depends on: 9.9\n");
    let (code, said) = sandbox.fails(&["plan", "propose", "SPEC.md"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(plain(&said), @r"
    error: `SPEC.md` does not compile
    SPEC.md:6:7: warning[no-check]: `1.1` has no check: it closes as `claimed`, without proof
      |
    6 | - [ ] 1.1 Two
      |       ^^^
      = help: add a verification command to the task, or `verification_commands.typecheck` to the spec

    SPEC.md:6:11: warning[other-title]: `1.1` has two titles, this one and `One`; they are read as one task
      |
    6 | - [ ] 1.1 Two
      |           ^^^
      = help: give this one another id if they are two tasks

    SPEC.md:7:17: error[unknown-dependency]: unknown dependency `9.9`
      |
    7 |   - depends on: 9.9
      |                 ^^^
      = help: write the id of a task or a phase in this spec

    hint: each problem above names its fix
    ");
    assert_eq!(sandbox.gate(), is("not_required", "open"));
}

#[test]
fn a_draft_comes_from_standard_input_too() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    command.args(["plan", "propose", "-"]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), SPEC.as_bytes()).unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(said.contains("2 tasks, to be written to .tdd-progress.md\n"), "{said}");
}

#[test]
fn a_plan_stays_in_the_checkout_and_out_of_what_is_not_the_projects() {
    let sandbox = with_spec();
    std::os::unix::fs::symlink("/tmp", sandbox.root().join("out")).unwrap();
    fs::create_dir(sandbox.root().join("docs")).unwrap();
    for (path, why) in [
        ("/etc/plan.md", "it is outside this checkout"),
        ("../plan.md", "it leads out of this checkout"),
        ("docs/../../plan.md", "it leads out of this checkout"),
        (".git/hooks/pre-commit", "this folder belongs to git, Steadfast or a host"),
        ("vendor/x/.Git/config", "this folder belongs to git, Steadfast or a host"),
        (".claude/settings.json", "this folder belongs to git, Steadfast or a host"),
        (".steadfast/plan.md", "this folder belongs to git, Steadfast or a host"),
        ("docs", "it is a folder"),
        (".", "it is a folder"),
        ("out/plan.md", "a link leads out of this checkout"),
    ] {
        let (code, said) = sandbox.fails(&["plan", "propose", "SPEC.md", "--path", path]);
        assert_eq!(code, 64, "{path}");
        let hint = "hint: give a file in this checkout: `--path docs/plan.md`";
        assert_eq!(said, format!("error: a plan cannot be written to `{path}`: {why}\n\n{hint}\n"));
    }
    let inside = sandbox.root().join("docs/plan.md");
    let said = sandbox.ok(&["plan", "propose", "SPEC.md", "--path", inside.to_str().unwrap()]);
    assert!(said.contains("to be written to docs/plan.md\n"), "{said}");
}

#[test]
fn what_is_in_the_scratch_folder_is_not_meant_to_stay_there() {
    let sandbox = with_spec();
    fs::create_dir_all(sandbox.root().join(".steadfast/scratch")).unwrap();
    fs::rename(sandbox.root().join("SPEC.md"), sandbox.root().join(".steadfast/scratch/x.md")).unwrap();
    let (_, said) = sandbox.agent(&["plan", "propose", ".steadfast/scratch/x.md"]);
    assert!(said.contains("to be written to .tdd-progress.md\n"), "{said}");
}

#[test]
fn a_title_is_one_line_and_leaves_room_for_the_question() {
    let sandbox = Sandbox::new();
    let feature = format!("Tidy up\\n\\u001b[2J{}", "x".repeat(200));
    let spec = format!(
        r#"{{"feature": "{feature}", "phases": [{{"id": "a", "tasks": [{{"id": "1.1", "task": "T", "verification": "true"}}]}}]}}"#
    );
    sandbox.write("SPEC.json", spec);
    sandbox.ok(&["plan", "propose", "SPEC.json"]);
    let draft: Value = serde_json::from_str(&sandbox.ok(&["plan", "show", "--draft", "--json"])).unwrap();
    assert_eq!(draft["title"], format!("Tidy up [2J{}…", "x".repeat(88)));
}

#[test]
fn other_words_around_the_same_plan_are_shown_too() {
    let sandbox = proposed();
    sandbox.write("SPEC.md", format!("{SPEC}\n<!-- Approved by all. -->\n"));
    let (_, said) = sandbox.agent(&["plan", "propose", "SPEC.md", "--path", "PLAN.md"]);
    assert!(said.contains("\n+<!-- Approved by all. -->\n") && !said.contains("it replaces"), "{said}");
}
