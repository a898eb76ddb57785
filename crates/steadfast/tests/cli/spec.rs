//! `steadfast spec`: what a spec becomes, and what is wrong with it.

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const GREETING: &str = r"# Greeting

People are greeted.

## Verification commands

- test: `cargo test`

## Phase 1: Words

- [ ] 1.1 Greet people
  - type: backend
  - files: `src/greet.rs`
- [ ] 1.2 Draw the page
  - type: ui
  - files: `page.html`
  - depends on: 1.1
- [ ] 1.3 Tidy up
";

/// No check, a type that is none, a dependency that is not there.
const WRONG: &str = r"# Greeting

## Phase 1: Words

- [ ] 1.1 Greet people
- [ ] 1.2 Greet others
  - type: backnd
  - depends on: 1.9
";

/// A repository that is not set up: a spec can be looked at everywhere.
fn with(file: &str, text: impl AsRef<[u8]>) -> Sandbox {
    let sandbox = Sandbox::bare().with_ui_skills();
    fs::write(sandbox.root().join(file), text).unwrap();
    sandbox
}

fn json_of(output: &[u8]) -> Value {
    serde_json::from_slice(output).unwrap()
}

fn piped(sandbox: &Sandbox, arguments: &[&str], text: &str) -> Output {
    let mut command = sandbox.command();
    let mut child =
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_plan_is_shown_with_what_is_generated_and_warnings_aside() {
    let output = with("SPEC.md", GREETING).run(&["spec", "compile", "SPEC.md"]);
    assert!(output.status.success());
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @r"
    Greeting

    Phase 1: Words
    + 1.0      Decisions of Phase 1: Words: its goal and the choices made
               done when: its section of the decisions file is there
      1.1      Greet people
               done when: its files changed, and `cargo test` exits with 0 (1.1a)
               after: 1.0
    + 1.1a     Test: Greet people
               done when: `cargo test` exits with 0
               after: 1.1
    + 1.2a     Run /frontend-design and /vercel-design-guidelines for: Draw the page
               done when: /frontend-design and /vercel-design-guidelines used
               after: 1.1a
      1.2      Draw the page
               done when: its files changed
               after: 1.2a
    + 1.2b     Look at it: Draw the page (page.html)
               done when: a picture that is newer than the change (`--artifact FILE`)
               after: 1.2
      1.3      Tidy up
               done when: no check: it closes on the agent's word
               after: 1.0
    ");
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @r"
    SPEC.md:18:7: warning[no-check]: `1.3` has no check: it closes as `claimed`, without proof
       |
    18 | - [ ] 1.3 Tidy up
       |       ^^^
       = help: add a verification command to the task, or `verification_commands.typecheck` to the spec
    ");
}

#[test]
fn the_json_of_a_plan_has_the_keys_it_promises() {
    let sandbox = with("SPEC.md", GREETING);
    let output = sandbox.run(&["spec", "compile", "SPEC.md", "--json"]);
    assert_eq!(sandbox.without_paths(&output.stderr), "", "what is wrong with it is in the JSON");
    let plan = json_of(&output.stdout);
    assert_eq!(plan["feature"], "Greeting");
    let of = |id: &str| plan["tasks"].as_array().unwrap().iter().find(|task| task["id"] == id).unwrap().clone();
    assert_eq!(
        of("1.1"),
        json!({
            "id": "1.1", "title": "Greet people", "kind": "main", "type": "backend", "phase": "phase-1",
            "files": ["src/greet.rs"], "notes": null, "verify": "cargo test", "verified_by": "1.1a", "check": "changed", "blocked_by": ["1.0"],
        })
    );
    let brief = |id: &str| {
        let task = of(id);
        ["kind", "type", "verify", "check", "blocked_by"].map(|key| task[key].clone())
    };
    assert_eq!(brief("1.0"), [json!("decision"), json!(null), json!(null), json!("decision"), json!([])]);
    assert_eq!(brief("1.1a"), [json!("post"), json!("backend"), json!("cargo test"), json!("command"), json!(["1.1"])]);
    assert_eq!(brief("1.2a"), [json!("pre"), json!("ui"), json!(null), json!("skills"), json!(["1.1a"])]);
    assert_eq!(brief("1.2b"), [json!("post"), json!("ui"), json!(null), json!("artifact"), json!(["1.2"])]);
    assert_eq!(brief("1.3"), [json!("main"), json!(null), json!(null), json!(null), json!(["1.0"])]);
    insta::assert_snapshot!(plan["warnings"], @r#"[{"code":"no-check","line":18,"message":"`1.3` has no check: it closes as `claimed`, without proof"}]"#);
}

#[test]
fn the_count_is_a_bare_number() {
    let sandbox = with("SPEC.md", GREETING);
    assert_eq!(sandbox.ok(&["spec", "count", "SPEC.md"]), "7\n");
}

#[test]
fn what_does_not_compile_has_no_plan_and_every_error_is_said() {
    let sandbox = with("SPEC.md", WRONG);
    let (code, said) = sandbox.fails(&["spec", "compile", "SPEC.md"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(said, @r"
    error: `SPEC.md` does not compile
    SPEC.md:5:7: warning[no-check]: `1.1` has no check: it closes as `claimed`, without proof
      |
    5 | - [ ] 1.1 Greet people
      |       ^^^
      = help: add a verification command to the task, or `verification_commands.typecheck` to the spec

    SPEC.md:6:7: warning[no-check]: `1.2` has no check: it closes as `claimed`, without proof
      |
    6 | - [ ] 1.2 Greet others
      |       ^^^
      = help: add a verification command to the task, or `verification_commands.typecheck` to the spec

    SPEC.md:7:11: warning[unknown-type]: unknown task type `backnd`; the task is read without a type
      |
    7 |   - type: backnd
      |           ^^^^^^
      = help: did you mean `backend`?

    SPEC.md:8:17: error[unknown-dependency]: unknown dependency `1.9`
      |
    8 |   - depends on: 1.9
      |                 ^^^
      = help: did you mean `1.2`?

    hint: each problem above names its fix
    ");
    for command in [&["spec", "compile", "SPEC.md", "--json"][..], &["spec", "count", "SPEC.md"]] {
        let output = sandbox.run(command);
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]), "{command:?}");
    }
}

#[test]
fn lint_fails_with_errors_and_not_with_warnings() {
    let sandbox = with("SPEC.md", WRONG);
    let output = sandbox.run(&["spec", "lint", "SPEC.md"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @r"
    SPEC.md:5:7: warning[no-check]: `1.1` has no check: it closes as `claimed`, without proof
      |
    5 | - [ ] 1.1 Greet people
      |       ^^^
      = help: add a verification command to the task, or `verification_commands.typecheck` to the spec

    SPEC.md:6:7: warning[no-check]: `1.2` has no check: it closes as `claimed`, without proof
      |
    6 | - [ ] 1.2 Greet others
      |       ^^^
      = help: add a verification command to the task, or `verification_commands.typecheck` to the spec

    SPEC.md:7:11: warning[unknown-type]: unknown task type `backnd`; the task is read without a type
      |
    7 |   - type: backnd
      |           ^^^^^^
      = help: did you mean `backend`?

    SPEC.md:8:17: error[unknown-dependency]: unknown dependency `1.9`
      |
    8 |   - depends on: 1.9
      |                 ^^^
      = help: did you mean `1.2`?
    ");
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @r"
    error: 1 error and 3 warnings in `SPEC.md`

    hint: each problem above names its fix
    ");
    fs::write(sandbox.root().join("SPEC.md"), GREETING).unwrap();
    insta::assert_snapshot!(sandbox.ok(&["spec", "lint", "SPEC.md"]), @r"
    SPEC.md:18:7: warning[no-check]: `1.3` has no check: it closes as `claimed`, without proof
       |
    18 | - [ ] 1.3 Tidy up
       |       ^^^
       = help: add a verification command to the task, or `verification_commands.typecheck` to the spec

    SPEC.md: 3 tasks in 1 phase, 7 with generated ones
    ");
    let clean = GREETING.replace("- [ ] 1.3 Tidy up\n", "");
    fs::write(sandbox.root().join("SPEC.md"), clean).unwrap();
    let said = sandbox.ok(&["spec", "lint", "SPEC.md"]);
    assert!(said.starts_with("SPEC.md: OK (") && said.lines().count() == 1, "{said}");
}

#[test]
fn the_json_of_lint_has_the_keys_it_promises() {
    let sandbox = with("SPEC.md", WRONG);
    let output = sandbox.run(&["spec", "lint", "SPEC.md", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report = json_of(&output.stdout);
    assert_eq!(report["ok"], false);
    let problems = report["problems"].as_array().unwrap();
    let keys: Vec<&str> = problems[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["code", "column", "help", "line", "message", "severity"]);
    let found: Vec<_> =
        problems.iter().map(|problem| (&problem["severity"], &problem["code"], &problem["line"])).collect();
    assert!(found.contains(&(&json!("warning"), &json!("unknown-type"), &json!(7))), "{found:?}");
    assert!(found.contains(&(&json!("error"), &json!("unknown-dependency"), &json!(8))), "{found:?}");
    fs::write(sandbox.root().join("SPEC.md"), GREETING).unwrap();
    let report = json_of(sandbox.ok(&["spec", "lint", "SPEC.md", "--json"]).as_bytes());
    assert_eq!((&report["ok"], &report["problems"][0]["severity"]), (&json!(true), &json!("warning")));
}

#[test]
fn a_spec_is_read_from_standard_input() {
    let sandbox = Sandbox::bare().with_ui_skills();
    let counted = piped(&sandbox, &["spec", "count", "-"], GREETING);
    assert_eq!(String::from_utf8(counted.stdout).unwrap(), "7\n");
    let json = r#"{"feature": "F", "phases": [{"id": "1", "tasks": [{"id": "1.1", "task": "T"}]}]}"#;
    let compiled = json_of(&piped(&sandbox, &["spec", "compile", "-", "--json"], json).stdout);
    assert_eq!((&compiled["feature"], compiled["tasks"].as_array().unwrap().len()), (&json!("F"), 2));
    let linted = piped(&sandbox, &["spec", "lint", "-"], WRONG);
    assert_eq!(linted.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8(linted.stderr).unwrap(), @r"
    error: 1 error and 3 warnings in `-`

    hint: each problem above names its fix
    ");
    let nothing = sandbox.fails(&["spec", "count", "-"]);
    insta::assert_snapshot!(nothing.1, @r"
    error: `-` does not compile
    -:1:1: error[empty]: the spec is empty
      |
    1 | 
      | ^
      = help: describe the work: `# Feature`, `## Phase 1: …`, `- [ ] 1.1 …`

    hint: each problem above names its fix
    ");
}

#[test]
fn what_is_no_spec_is_named_with_its_cause() {
    let sandbox = with("empty.md", "");
    fs::write(sandbox.root().join("binary.md"), b"# T\0\x01\x02").unwrap();
    fs::write(sandbox.root().join("latin.md"), b"# Gr\xfc\xdfe\n").unwrap();
    fs::create_dir(sandbox.root().join("folder")).unwrap();
    let mut all = String::new();
    for file in ["missing.md", "folder", "empty.md", "binary.md", "latin.md"] {
        let (code, said) = sandbox.fails(&["spec", "count", file]);
        assert_eq!(code, 1, "{file}");
        all += &format!("$ {file}\n{said}\n");
        for command in [["spec", "compile", file], ["spec", "lint", file], ["plan", "load", file]] {
            assert_eq!(sandbox.fails(&command).0, 1, "{command:?}");
        }
    }
    insta::assert_snapshot!(all);
}

/// Whoever wrote the file does not talk to the terminal of whoever reads it.
#[test]
fn nothing_in_a_spec_is_obeyed_by_a_terminal() {
    let sandbox = with("SPEC.md", "# A\u{1b}[2J\n## Phase 1\n- [ ] 1.1 \u{1b}]0;title\u{7} here\n  - type: x\u{1b}\n");
    for command in [["spec", "compile", "SPEC.md"], ["spec", "lint", "SPEC.md"]] {
        let output = sandbox.run(&command);
        assert!(![output.stdout, output.stderr].concat().contains(&0x1b), "{command:?}");
    }
    fs::write(sandbox.root().join("SPEC.md"), "# A\u{1b}[2J\n## Phase 1\n- [ ] 1.1 \u{1b}]0;title\u{7} here\n")
        .unwrap();
    assert!(!sandbox.ok(&["spec", "compile", "SPEC.md"]).contains('\u{1b}'));
}

#[test]
fn what_was_understood_is_said_with_the_lines_that_were_not() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.root().join("SPEC.md"), "# F\n\n## Phase 1\n\n- [ ] 1.1 Make a\n- Make b\n- [ ] 1.2 Make c\n")
        .unwrap();
    let said = sandbox.ok(&["spec", "lint", "SPEC.md"]);
    assert!(
        said.contains("SPEC.md: 2 tasks in 1 phase, 3 with generated ones; line 6 was not read as a task"),
        "{said}"
    );
}
