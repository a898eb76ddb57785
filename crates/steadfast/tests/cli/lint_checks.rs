//! Checks as `spec lint` tries them, and as listings show them.

use serde_json::Value;

use crate::sandbox::Sandbox;

fn with(spec: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", spec);
    sandbox
}

/// What lint prints: problems and all that is said beside them.
fn linted(sandbox: &Sandbox, more: &[&str]) -> String {
    let output = sandbox.run(&[&["spec", "lint", "SPEC.md"], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

const CHECKED: &str = "\
# Greeting

## Phase 1: Words

- [ ] 1.1 Greet people
  - files: `words.txt`
  - verify: `grep -q hello words.txt`
- [ ] 1.2 Wave
  - files: `wave.txt`
  - verify: `test -d .git`
- [ ] 1.3 Bow
  - type: func
  - files: `bow.txt`
  - verify: `test -d .git`
";

#[test]
fn checks_that_pass_before_any_work_are_flagged_where_they_are_run() {
    let sandbox = with(CHECKED);
    assert!(!linted(&sandbox, &[]).contains("before any work"));
    let said = linted(&sandbox, &["--run-checks"]);
    let flagged = "warning[passes-already]: the check of `1.2`, `1.3a` passes before any work is done: `test -d .git`";
    assert!(said.contains("SPEC.md:10:") && said.contains(flagged), "{said}");
    // One that fails is as it should be.
    assert!(said.matches("passes-already").count() == 1, "{said}");
    let report: Value =
        serde_json::from_str(&sandbox.ok(&["spec", "lint", "SPEC.md", "--run-checks", "--json"])).unwrap();
    let codes: Vec<&str> =
        report["problems"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
    assert!(report["ok"] == true && codes.contains(&"passes-already"), "{report}");
}

#[test]
fn a_check_that_hangs_ends_with_the_limit_of_every_check() {
    let sandbox = with("# Wait\n\n- [ ] 1.1 Wait\n  - verify: `sleep 600`\n");
    sandbox.set_own("[ledger]\ncheck_seconds = 1\n");
    assert!(!linted(&sandbox, &["--run-checks"]).contains("passes-already"));
}

#[test]
fn at_a_closed_gate_an_agent_does_not_run_what_a_spec_says() {
    let sandbox = with("# Touch\n\n- [ ] 1.1 Touch\n  - verify: `touch touched`\n");
    sandbox.ok(&["plan", "lock"]);
    let output = sandbox.as_agent("lint-gate", &["spec", "lint", "SPEC.md", "--run-checks"]);
    assert!(!output.status.success() && !sandbox.root().join("touched").exists());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("the plan gate is closed"), "{said}");
}

#[test]
fn lint_mentions_phases_that_need_not_wait() {
    let phases = |second: &str, files: &str| {
        format!(
            "# Two\n\n## Phase 1: Left\n\n- [ ] 1.1 Cut\n  - files: `left/cut.rs`\n  - verify: `true && false`\n\n\
             ## Phase 2: Right\n{second}\n- [ ] 2.1 Sew\n{files}  - verify: `false`\n"
        )
    };
    let hint = "`Phase 2: Right` waits for the previous phase but shares no files with it; with `Depends on: none`";
    for (what, second, files, is_said) in [
        ("other files", "", "  - files: `right/sew.rs`\n", true),
        ("the same file", "", "  - files: `left/cut.rs`\n", false),
        ("a folder with that file", "", "  - files: `left/`\n", false),
        ("a pattern", "", "  - files: `right/*.rs`\n", false),
        ("no files", "", "", false),
        ("it waits for none", "\nDepends on: none\n", "  - files: `right/sew.rs`\n", false),
        ("its task waits", "", "  - files: `right/sew.rs`\n  - depends on: 1.1\n", false),
    ] {
        let sandbox = with(&phases(second, files));
        assert_eq!(linted(&sandbox, &[]).contains(hint), is_said, "{what}: {}", linted(&sandbox, &[]));
    }
}

const TYPED: &str = "\
# Shop

## Phase 1: Page

### 1.1 Count the stock
- Type: backend
- Files: stock.rs
- Verify: `cargo test stock`

### 1.2 Draw the page
- Type: ui
- Files: page.html
- Verify: `npm test -- page`

### 1.3 Describe it
- Type: docs
- Files: shop.md
- Verify: `test -s shop.md`
";

const ORDER: [&str; 8] = ["1.0", "1.1", "1.1a", "1.2a", "1.2", "1.2b", "1.3", "1.3a"];

/// Where these words stand in a text, each after the one before.
fn stand_in_order(text: &str, words: &[&str]) -> bool {
    let mut rest = text;
    words.iter().all(|word| match rest.find(&format!("{word} ")) {
        Some(at) => {
            rest = &rest[at..];
            true
        }
        None => false,
    })
}

#[test]
fn the_humans_check_is_shown_with_the_humans_task_in_every_listing() {
    let sandbox = with(TYPED).with_ui_skills();
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    let own = [
        ("1.1", "cargo test stock", Some("1.1a")),
        ("1.2", "npm test -- page", None),
        ("1.3", "test -s shop.md", Some("1.3a")),
    ];

    for arguments in
        [&["spec", "compile", "SPEC.md", "--json"][..], &["task", "list", "--json"], &["plan", "show", "--json"]]
    {
        let listed: Value = serde_json::from_str(&sandbox.ok(arguments)).unwrap();
        let tasks = listed["tasks"].as_array().unwrap();
        let ids: Vec<&str> = tasks.iter().map(|task| task["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ORDER, "{arguments:?}");
        for (id, command, by) in own {
            let task = tasks.iter().find(|task| task["id"] == id).unwrap();
            assert_eq!((task["verify"].as_str(), task["verified_by"].as_str()), (Some(command), by), "{arguments:?}");
        }
    }
    for arguments in [&["spec", "compile", "SPEC.md"][..], &["task", "list"], &["plan", "show"]] {
        let said = sandbox.ok(arguments);
        assert!(stand_in_order(&said, &ORDER), "{arguments:?}: {said}");
    }
    let compiled = sandbox.ok(&["spec", "compile", "SPEC.md"]);
    assert!(
        compiled.contains("done when: its files changed, and `cargo test stock` exits with 0 (1.1a)"),
        "{compiled}"
    );
    sandbox.ok(&["task", "done", "1.0", "--force"]);
    let next = sandbox.ok(&["task", "next"]);
    assert!(next.contains("done when: its files changed, and `cargo test stock` exits with 0 (1.1a)"), "{next}");

    let other = with("# x\n");
    other.write("SPEC.md", TYPED);
    other.ok(&["plan", "propose", "SPEC.md", "--path", "PLAN.md"]);
    let draft = other.ok(&["plan", "show", "--draft"]);
    assert!(
        stand_in_order(&draft, &["1.1", "check: cargo test stock", "1.1a", "1.2", "check: npm test --", "1.2b"]),
        "{draft}"
    );
}
