//! Tasks about skills, on machines that have these skills and on those that do not.

use std::fs;

use serde_json::{Value, json};

use crate::chains::png;
use crate::sandbox::Sandbox;

const SPEC: &str = "# Shop\n\n## Phase 1: Page\n\n### 1.1 Draw the page\n- Type: frontend\n- Files: page.html\n\n\
                    ### 1.2 Describe it\n- Type: docs\n- Files: shop.md\n- Depends on: 1.1\n";

fn stock() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    sandbox
}

fn json_of(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    serde_json::from_str(&sandbox.ok(arguments)).unwrap()
}

fn ids(sandbox: &Sandbox) -> String {
    let listed = json_of(sandbox, &["task", "list", "--json"]);
    let ids = listed["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned());
    ids.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_stock_machine_finishes_a_plan_with_work_on_an_interface() {
    let sandbox = stock();
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    assert_eq!(ids(&sandbox), "1.0 1.1 1.1b 1.2 1.2a");
    sandbox.hook("SessionStart", "stock", json!({"source": "startup"}));
    let done = |arguments: &[&str]| {
        let output = sandbox.as_agent("stock", &[&["task", "done"], arguments].concat());
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    assert!(sandbox.as_agent("stock", &["decide", "Plain HTML", "--why", "it is small"]).status.success());
    done(&["1.0"]);
    for (task, file) in [("1.1", "page.html"), ("1.2", "shop.md")] {
        assert!(sandbox.as_agent("stock", &["task", "start", task]).status.success());
        sandbox.write(file, "<h1>hello</h1>");
        done(&[task]);
        if task == "1.1" {
            std::thread::sleep(std::time::Duration::from_millis(20));
            sandbox.write("page.png", png(4, 3));
            done(&["1.1b", "--artifact", "page.png"]);
        }
    }
    done(&["1.2a"]);
    let view = json_of(&sandbox, &["status", "--json"]);
    assert_eq!(view["plan"]["counts"]["done"], 5, "{view}");
}

#[test]
fn lint_and_load_say_what_was_left_out_and_how_to_get_it() {
    let sandbox = stock();
    let linted = sandbox.ok(&["spec", "lint", "SPEC.md"]);
    let loaded = sandbox.run(&["plan", "load", "SPEC.md"]).stderr;
    for said in [linted, sandbox.without_paths(&loaded)] {
        for words in [
            "not installed: `/frontend-design`, `/vercel-design-guidelines`; `1.1a` is left out",
            "install it in `.claude/skills/frontend-design/SKILL.md` (Codex: `.agents/skills`) or as a plugin",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
    }

    // One of two: the task is there, and asks for that one.
    sandbox.install_skill("frontend-design");
    let linted = sandbox.ok(&["spec", "lint", "SPEC.md"]);
    assert!(
        linted.contains("not installed: `/vercel-design-guidelines`; the tasks before ui work do not mention it"),
        "{linted}"
    );
    let compiled = sandbox.ok(&["spec", "compile", "SPEC.md"]);
    assert!(compiled.contains("done when: /frontend-design used"), "{compiled}");

    // A spec without work on an interface has nothing to do with them.
    sandbox.write("OTHER.md", "# Other\n- [ ] 1.1 Count `verify: true`\n");
    assert!(!sandbox.ok(&["spec", "lint", "OTHER.md"]).contains("installed"));
}

#[test]
fn a_skill_of_the_project_or_a_plugin_counts() {
    for file in [
        "repo/.claude/skills/brand/SKILL.md",
        "repo/.agents/skills/brand/SKILL.md",
        "home/.codex/skills/brand/SKILL.md",
    ] {
        let sandbox = stock();
        sandbox.set_own("[ledger]\nui_skills = [\"brand\"]\n");
        let path = sandbox.root().parent().unwrap().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(!sandbox.ok(&["spec", "compile", "SPEC.md"]).contains("1.1a"), "{file}");
        fs::write(path, "").unwrap();
        assert!(sandbox.ok(&["spec", "compile", "SPEC.md"]).contains("/brand used"), "{file}");
    }
}

#[test]
fn a_loaded_plan_keeps_its_tasks_until_a_human_loads_it_again() {
    let sandbox = stock().with_ui_skills();
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    let hash = || json_of(&sandbox, &["plan", "status", "--json"])["hash"].clone();
    let (with, approved) = ("1.0 1.1a 1.1 1.1b 1.2 1.2a", hash());
    assert_eq!(ids(&sandbox), with);

    // The skills go away: the plan stays, and an agent does not drop its task by loading the spec.
    fs::remove_dir_all(sandbox.home().join(".claude/skills")).unwrap();
    let (code, said) = sandbox.agent(&["plan", "load", "SPEC.md"]);
    insta::assert_snapshot!(format!("{code}\n{said}"), @r"
    3
    error: `SPEC.md` is loaded with `1.1a`, whose skills are not installed any more; only a human can load it again

    hint: a human runs `steadfast plan load SPEC.md`, which leaves out these skills
    ");
    assert_eq!(ids(&sandbox), with);
    // The task can be closed, and says on what ground.
    sandbox.ok(&["task", "done", "1.0", "--force"]);
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    sandbox.agent(&["task", "start", "1.1a"]);
    let (code, said) = sandbox.agent(&["task", "done", "1.1a"]);
    assert!(
        code == 0 && said.contains("claimed: not used, because they are not installed here: /frontend-design"),
        "{said}"
    );

    // A human's load follows what is installed, with the same hash: what was approved is what was authored.
    let said = sandbox.ok(&["plan", "load", "SPEC.md"]);
    assert!(!said.contains("1.1a is left out"), "it was done: {said}");
    assert_eq!((ids(&sandbox), hash()), ("1.0 1.1 1.1b 1.2 1.2a".to_owned(), approved.clone()));
    let sandbox = sandbox.with_ui_skills();
    let said = sandbox.ok(&["plan", "load", "SPEC.md"]);
    assert!(said.contains("1.1a is new, because its skill is installed now"), "{said}");
    fs::remove_dir_all(sandbox.home().join(".claude/skills")).unwrap();
    let said = sandbox.ok(&["plan", "load", "SPEC.md"]);
    assert!(said.contains("1.1a is left out now, because its skill is not installed"), "{said}");
    assert_eq!(json_of(&sandbox, &["plan", "status", "--json"])["hash"], approved);
}
