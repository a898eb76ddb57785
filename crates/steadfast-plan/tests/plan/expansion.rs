use steadfast_plan::{CompileOptions, compile, hash};

use crate::{lines, plan};

#[test]
fn types_bring_their_links_along() {
    let plan = plan(
        r#"{
  "feature": "Shop",
  "verification_commands": {"test": "npm test", "typecheck": "tsc", "unit": "npm run unit"},
  "phases": [
    {"id": "p0", "name": "Ground", "tasks": [
      {"id": "0.1", "task": "Set up"},
      {"id": "0.2", "task": "Schema", "type": "backend", "files": ["db.ts"]},
      {"id": "0.10", "task": "Query", "type": "func", "files": ["q.ts"], "depends_on": ["0.2"],
       "verification": {"command": "$verification_commands.unit", "success_criteria": "all green"}}
    ]},
    {"id": "p1", "name": "Page", "tasks": [
      {"id": "1.1", "task": "Card", "type": "ui", "files": ["Card.tsx"],
       "verification": {"success_criteria": ["name is shown", "no overflow"]}},
      {"id": "1.2", "task": "Handbook", "type": "docs", "files": ["docs/shop.md"], "depends_on": ["1.1"]}
    ]}
  ]
}"#,
    );
    insta::assert_snapshot!(lines(&plan));
}

#[test]
fn a_loop_is_unrolled_item_by_item() {
    let plan = plan(
        r#"{"feature": "Move", "phases": [{"id": "p2", "name": "Each", "loop": {
            "items": ["users", {"id": "o", "name": "orders"}],
            "tasks": [
                {"id": "2.1", "task": "Copy", "verification": "check copy"},
                {"id": "2.2", "task": "Compare", "verification": "check same", "depends_on": ["2.1"]}
            ]}}]}"#,
    );
    insta::assert_snapshot!(lines(&plan), @r"
    2.0 decision | Decisions of Each: its goal and the choices made | its section of the decisions file is there | after 
    2.1.1 main | Copy [users] | `check copy` exits with 0 | after 2.0
    2.1.2 main | Compare [users] | `check same` exits with 0 | after 2.1.1
    2.2.1 main | Copy [orders] | `check copy` exits with 0 | after 2.0
    2.2.2 main | Compare [orders] | `check same` exits with 0 | after 2.2.1
    ");
    assert_eq!(plan.phases[0].items, ["users", "orders"]);
}

#[test]
fn phases_follow_each_other_unless_they_say_otherwise() {
    let phase = |id: &str, number: u32, more: &str| {
        format!(r#"{{"id": "{id}", {more} "tasks": [{{"id": "{number}.1", "task": "t", "verification": "x"}}]}}"#)
    };
    let text = format!(
        r#"{{"feature": "f", "phases": [{}, {}, {}]}}"#,
        phase("a", 1, ""),
        phase("b", 2, ""),
        phase("c", 3, "\"depends_on\": [\"a\"],")
    );
    let plan = plan(&text);
    let opening = |id: &str| {
        let task = plan.tasks.iter().find(|task| task.id.as_str() == id).unwrap();
        task.blocked_by.iter().map(|id| id.as_str()).collect::<Vec<_>>()
    };
    assert_eq!([opening("1.0"), opening("2.0"), opening("3.0")], [vec![], vec!["1.1"], vec!["1.1"]]);
}

#[test]
fn an_authored_decision_task_is_taken() {
    let plan = plan(
        r#"{"feature": "f", "phases": [{"id": "p", "tasks": [
            {"id": "1.0", "task": "Update decisions.md", "files": [".claude/checkpoints/x-decisions.md"]},
            {"id": "1.1", "task": "t", "verification": "x"}]}]}"#,
    );
    assert_eq!(plan.tasks.len(), 2);
    assert_eq!(plan.tasks[0].title, "Update decisions.md");
}

#[test]
fn the_item_stands_wherever_the_text_of_a_loop_names_it() {
    let plan = plan(
        r#"{"feature": "Translate", "phases": [{"id": "p1", "name": "Each", "loop": {
            "items": ["de", "fr"],
            "tasks": [
                {"id": "1.1", "task": "Translate {item}", "files": ["po/{item}.po"], "notes": "{item} first, {item} last",
                 "verification": {"type": "command", "command": "msgfmt -c po/{item}.po"}},
                {"id": "1.2", "task": "Read it again", "files": ["po/{item}.po"]}
            ]}}]}"#,
    );
    let main = plan.tasks.iter().filter(|task| task.kind == steadfast_model::TaskKind::Main);
    let told: Vec<_> = main
        .map(|task| {
            let check = task.verify.as_ref().and_then(steadfast_model::Check::as_command).unwrap_or("-");
            format!("{} | {} | {} | {check}", task.title, task.files.join(" "), task.notes.as_deref().unwrap_or("-"))
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    Translate de | po/de.po | de first, de last | msgfmt -c po/de.po
    Read it again [de] | po/de.po | - | -
    Translate fr | po/fr.po | fr first, fr last | msgfmt -c po/fr.po
    Read it again [fr] | po/fr.po | - | -
    ");
}

#[test]
fn a_warning_about_many_tasks_counts_them_as_the_plan_does() {
    let tasks: Vec<String> = (0..300)
        .map(|n| {
            format!(
                r#"{{"id": "1.{}", "task": "T{n}", "type": "func", "verification": {{"command": "make t{n}"}}}}"#,
                n + 1
            )
        })
        .collect();
    let text = format!(r#"{{"feature": "F", "phases": [{{"id": "1", "name": "P", "tasks": [{}]}}]}}"#, tasks.join(","));
    let compiled = compile(&text, "SPEC.json", &CompileOptions::default()).unwrap();
    let count = compiled.plan.tasks.len();
    let said: Vec<&str> = compiled.warnings.iter().map(|problem| problem.message.as_str()).collect();
    assert!(
        said.contains(&format!("the plan has {count} tasks, more than 400").as_str()),
        "{count}: {:?}",
        said.last()
    );
}

#[test]
fn a_check_that_cannot_fail_is_remarked() {
    for (check, remarked) in [("true", true), ("echo ok", true), ("make test", false)] {
        let text = format!("# F\n\n## Phase 1\n\n- [ ] 1.1 Make codes\n  - verify: `{check}`\n");
        let said = crate::said(&text, "SPEC.md");
        assert_eq!(said.contains("the check of `1.1` proves nothing: it always succeeds"), remarked, "{said}");
    }
}

#[test]
fn without_skills_nothing_comes_before_work_on_an_interface() {
    let text = r#"{"feature": "Shop", "phases": [{"id": "p1", "name": "Page", "tasks": [
        {"id": "1.1", "task": "Card", "type": "ui", "files": ["Card.tsx"]},
        {"id": "1.2", "task": "List", "type": "frontend", "files": ["List.tsx"], "depends_on": ["1.1"]}]}]}"#;
    let missing_skills = vec!["brand".to_owned(), "look".to_owned()];
    let options = CompileOptions { ui_skills: Vec::new(), missing_skills, ..CompileOptions::default() };
    let compiled = compile(text, "SPEC.json", &options).unwrap();
    let tasks: Vec<String> = compiled
        .plan
        .tasks
        .iter()
        .map(|task| {
            let after: Vec<&str> = task.blocked_by.iter().map(|id| id.as_str()).collect();
            format!("{} after {}", task.id, after.join(" "))
        })
        .collect();
    assert_eq!(tasks, ["1.0 after ", "1.1 after 1.0", "1.1b after 1.1", "1.2 after 1.1b", "1.2b after 1.2"]);
    let warned: Vec<&str> = compiled.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        warned,
        ["not installed: `/brand`, `/look`; the task before each of 2 ui tasks is left out (`1.1a` and so on)"]
    );
    assert_eq!(hash(&compiled.plan), hash(&compile(text, "SPEC.json", &CompileOptions::default()).unwrap().plan));
    // An id that a skill needs tomorrow is not free today.
    let taken = text.replace("\"1.2\"", "\"1.1a\"");
    let report = compile(&taken, "SPEC.json", &options).unwrap_err();
    assert!(report.problems.iter().any(|problem| problem.code.as_str() == "colliding-id"), "{report:?}");
}
