//! Done tasks that name a folder or a pattern: what is new there is seen by a stop.

use std::fs;

use serde_json::json;

use crate::run::git;
use crate::sandbox::Sandbox;

const SESSION: &str = "s-folder";

/// One task about a folder and one about a pattern, both done, and a session that is bound to them.
fn all_done() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "SPEC.md",
        "# Folders\n\n## Phase 1: P\n\n- [ ] 1.1 Write the source\n  - files: `src/`\n  - verify: `! grep -rq bad src`\n\
         - [ ] 1.2 Write the pages\n  - files: `docs/*.md`\n  - verify: `! grep -rq bad docs`\n",
    );
    for folder in ["src/deep", "src/other", "src/__pycache__", "docs"] {
        fs::create_dir_all(sandbox.root().join(folder)).unwrap();
    }
    sandbox.write("src/deep/one.rs", "good\n");
    sandbox.write("docs/one.md", "good\n");
    sandbox.write(".gitignore", "__pycache__/\n");
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    sandbox.ok(&["decide", "Text", "--why", "it is read"]);
    sandbox.hook("SessionStart", SESSION, json!({"source": "startup"}));
    sandbox.hook("UserPromptSubmit", SESSION, json!({"prompt": "Run the plan."}));
    for task in ["1.0", "1.1", "1.2"] {
        sandbox.ok(&["task", "done", task]);
    }
    assert!(!sandbox.stop_is_refused(SESSION), "all is done");
    sandbox
}

#[test]
fn a_new_file_in_the_folder_of_a_done_task_holds_the_stop() {
    let sandbox = all_done();
    for new in ["src/new.rs", "src/deep/new.rs", "src/other/new.rs", "docs/new.md"] {
        sandbox.write(new, "bad\n");
        // A human's word fills the account of refusals.
        sandbox.hook("UserPromptSubmit", SESSION, json!({"prompt": "Run the plan."}));
        assert!(sandbox.stop_is_refused(SESSION), "{new}");
        fs::remove_file(sandbox.root().join(new)).unwrap();
        assert!(!sandbox.stop_is_refused(SESSION), "{new} is gone again");
    }
    sandbox.write("src/new.rs", "good\n");
    assert!(sandbox.stop_is_refused(SESSION));
    sandbox.ok(&["task", "check"]);
    assert!(!sandbox.stop_is_refused(SESSION), "the check passed with the new file");
}

#[test]
fn what_git_ignores_is_not_new_and_what_only_git_knows_to_ignore_is_settled_by_a_check() {
    let sandbox = all_done();
    sandbox.write("src/__pycache__/one.pyc", "bad\n");
    assert!(!sandbox.stop_is_refused(SESSION), "ignored by the repository");
    fs::write(sandbox.home().join("ignored"), "*.scratch\n").unwrap();
    let list = sandbox.home().join("ignored");
    git(&sandbox, &["config", "core.excludesFile", list.to_str().unwrap()]);
    sandbox.write("src/x.scratch", "x\n");
    assert!(sandbox.stop_is_refused(SESSION), "a stop does not read the user's own list");
    sandbox.ok(&["task", "check"]);
    assert!(!sandbox.stop_is_refused(SESSION));
}

/// Refusals need no prompt between them. Three in a row without a call of a tool are the most, whatever was done between,
/// and a human's word fills the account again.
#[test]
fn a_session_that_calls_no_tool_is_refused_three_times_and_then_let_go_until_its_human_speaks() {
    let sandbox = all_done();
    let held_and_free = || {
        sandbox.write("src/new.rs", "bad\n");
        let held = sandbox.stop_is_refused(SESSION);
        fs::remove_file(sandbox.root().join("src/new.rs")).unwrap();
        (held, sandbox.stop_is_refused(SESSION))
    };
    assert_eq!([(); 4].map(|()| held_and_free()), [(true, false), (true, false), (true, false), (false, false)]);
    sandbox.hook("UserPromptSubmit", SESSION, json!({"prompt": "Run the plan."}));
    assert_eq!(held_and_free(), (true, false));
}
