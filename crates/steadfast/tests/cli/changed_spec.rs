//! A spec that changes after it was loaded.

use std::fs;

use serde_json::{Value, json};

use crate::run::git;
use crate::sandbox::Sandbox;

const SPEC: &str = "# Greeting\n\nPeople are greeted.\n\n## Phase 1: Words\n\n- [ ] 1.1 Greet people\n  - verify: `true`\n\
                    - [ ] 1.2 Wave\n  - verify: `true`\n";

const CHANGED: &str = "`SPEC.md` changed since plan greeting was loaded; `steadfast plan load SPEC.md` loads it again";

fn loaded() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    sandbox
}

/// What a session that begins is told: the agent, the human.
fn told(sandbox: &Sandbox, session: &str, source: &str) -> [String; 2] {
    let answer = sandbox.hook("SessionStart", session, json!({"source": source}));
    let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
    [&answer["hookSpecificOutput"]["additionalContext"], &answer["systemMessage"]]
        .map(|text| text.as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_changed_spec_is_named_by_status_and_when_a_session_begins() {
    let sandbox = loaded();
    sandbox.write("SPEC.md", SPEC.replace("Wave", "Wave twice"));
    let status = sandbox.ok(&["status"]);
    assert!(status.contains(&format!("needs a human: {CHANGED}")), "{status}");
    let [agent, human] = told(&sandbox, "changed-1", "startup");
    assert!(agent.contains(CHANGED) && human.contains(CHANGED), "{agent}\n{human}");
    // After a compaction the agent has to know it again, and the human does not.
    let [agent, human] = told(&sandbox, "changed-1", "compact");
    assert!(agent.contains(CHANGED) && !human.contains("SPEC.md"), "{agent}\n{human}");

    sandbox.ok(&["plan", "load", "SPEC.md"]);
    assert!(!sandbox.ok(&["status"]).contains("changed since"));
    assert!(!told(&sandbox, "changed-2", "startup").concat().contains("changed since"));
}

#[test]
fn what_would_change_no_plan_is_no_change() {
    let sandbox = loaded();
    for (what, text) in [
        ("the same", SPEC.to_owned()),
        ("a ticked box", SPEC.replace("- [ ] 1.1", "- [x] 1.1")),
        ("spaces and lines", format!("{}\n\n\n", SPEC.replace("\n\n", "\n\n\n").replace("Wave\n", "Wave  \n"))),
        ("line ends", SPEC.replace('\n', "\r\n")),
        ("a comment", format!("{SPEC}\n<!-- looked at on Monday -->\n")),
        ("the mark of an approval", SPEC.replacen('\n', "\n**Approved:** 2026-01-01T00:00:00Z\n", 1)),
    ] {
        sandbox.write("SPEC.md", text);
        assert!(!sandbox.ok(&["status"]).contains("needs a human"), "{what}");
        assert!(!told(&sandbox, "unchanged", "startup").concat().contains("changed since"), "{what}");
    }
    for (what, text) in [
        ("a title", SPEC.replace("Wave", "Bow")),
        ("a check", SPEC.replace("Wave\n  - verify: `true`", "Wave\n  - verify: `false`")),
        ("a task more", format!("{SPEC}- [ ] 1.3 Bow\n")),
        ("a task less", SPEC.replace("- [ ] 1.2 Wave\n  - verify: `true`\n", "")),
        ("what it is for", SPEC.replace("People are", "Everybody is")),
    ] {
        sandbox.write("SPEC.md", text);
        assert!(sandbox.ok(&["status"]).contains(CHANGED), "{what}");
    }
}

#[test]
fn one_that_does_not_compile_or_is_gone_is_said_to_be_so() {
    let sandbox = loaded();
    sandbox.write("SPEC.md", "# Greeting\n\nNothing to do.\n");
    let broken = "`SPEC.md` changed since plan greeting was loaded, and does not compile";
    assert!(sandbox.ok(&["status"]).contains(broken));
    assert!(told(&sandbox, "broken", "startup")[0].contains(broken));
    fs::remove_file(sandbox.root().join("SPEC.md")).unwrap();
    assert!(
        sandbox.ok(&["status"]).contains("`SPEC.md`, from which plan greeting was loaded, does not exist any more")
    );
    // It may be on another branch: nobody is told at each beginning.
    assert!(!told(&sandbox, "gone", "startup").concat().contains("not there"));
}

#[test]
fn a_finished_plan_whose_spec_grew_is_named_as_well() {
    let sandbox = loaded();
    for task in ["1.0", "1.1", "1.2"] {
        sandbox.ok(&["task", "done", task, "--force"]);
    }
    sandbox.write("SPEC.md", format!("{SPEC}- [ ] 1.3 Bow `verify: true`\n"));
    assert!(sandbox.ok(&["status"]).contains(CHANGED));
    assert!(told(&sandbox, "grown", "startup")[0].contains(CHANGED));
}

#[test]
fn a_run_ends_with_the_news_that_its_spec_changed_meanwhile() {
    let sandbox = Sandbox::new();
    let spec = sandbox.root().join("SPEC.md").display().to_string();
    let text =
        "# Greeting\n\n## Phase 1: Words\n\n- [ ] 1.1 Greet people\n  - files: `words.txt`\n  - verify: `CHECK`\n";
    let grow = format!("grep -q Greet words.txt && printf -- '- [ ] 1.2 Wave\\n' >> {spec}");
    for (check, is_told) in [("grep -q Greet words.txt", false), (grow.as_str(), true)] {
        sandbox.write("SPEC.md", text.replace("CHECK", check));
        git(&sandbox, &["add", "."]);
        git(&sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "-m", "The spec"]);
        let output = sandbox.run(&["run", "SPEC.md", "--host", "sim"]);
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{said}");
        assert_eq!(said.contains("`SPEC.md` changed since plan greeting"), is_told, "{said}");
    }
}
