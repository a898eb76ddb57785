use steadfast_model::{Check, Plan, Shape};
use steadfast_text::one_line;

use crate::score::{Dimension, Stated, said_about, says_where, stated, stated_of_plan};

/// The maximum number of lines of one kind. More would be a document, not a shape.
const LINES: usize = 40;

/// Reads the shape of a result from a spec or request: the lists of its plan, and its sentences.
pub fn shape(text: &str, plan: Option<&Plan>) -> Shape {
    let mut shape = Shape::default();
    if let Some(plan) = plan {
        plan.criteria.iter().for_each(|line| put(&mut shape.criteria, line));
        plan.constraints.iter().for_each(|line| put_limit(&mut shape, line));
        for task in &plan.tasks {
            if let Some(Check::Command { command, .. }) = &task.verify {
                put(&mut shape.verification, command);
            }
        }
    }
    said_about(text, Dimension::Success).iter().for_each(|line| put(&mut shape.criteria, line));
    said_about(text, Dimension::Constraints).iter().for_each(|line| put_limit(&mut shape, line));
    said_about(text, Dimension::Done).iter().for_each(|line| put(&mut shape.verification, line));
    let Stated { checks, not_executed } = match plan {
        Some(plan) if text.is_empty() => stated_of_plan(plan),
        _ => stated(text),
    };
    not_executed.iter().for_each(|line| put(&mut shape.not_executed, line));
    shape.checks = checks;
    shape
}

/// "Only touch `src/auth`" names the place of the work, not a forbidden effect.
fn put_limit(shape: &mut Shape, line: &str) {
    let lines = if says_where(line) { &mut shape.scope } else { &mut shape.must_nots };
    put(lines, line);
}

/// Adds a line once, ignoring differences in spelling.
fn put(lines: &mut Vec<String>, line: &str) {
    let line = line.trim().trim_end_matches('.').trim();
    let known = lines.iter().any(|known| known.eq_ignore_ascii_case(line));
    if !line.is_empty() && !known && lines.len() < LINES {
        lines.push(line.to_owned());
    }
}

/// Renders SHAPE.md.
pub fn render_shape(request: &str, shape: &Shape) -> String {
    let mut page = format!("# Shape: {}\n", one_line(request));
    let checks: Vec<String> = shape.checks.iter().map(|check| format!("`{}`", check.command)).collect();
    for (heading, lines, none) in [
        ("Criteria", &shape.criteria, "None stated."),
        ("Must not", &shape.must_nots, "Nothing is forbidden."),
        ("Scope", &shape.scope, ""),
        ("Verification", &shape.verification, "No command was named."),
        ("Run at the gate", &checks, ""),
        ("Not executed", &shape.not_executed, ""),
    ] {
        if lines.is_empty() && none.is_empty() {
            continue;
        }
        page += &format!("\n## {heading}\n");
        if lines.is_empty() {
            page += &format!("{none}\n");
        }
        for line in lines {
            page += &format!("- {line}\n");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use steadfast_model::StatedCheck;

    use super::*;
    use crate::{CompileOptions, compile};

    #[test]
    fn a_sentence_has_its_criteria_must_nots_and_commands() {
        let text = "Add `--since DATE` to `tool log`. `tool log --since 2026-01-01` prints 3 lines. Don't touch the \
                    schema. Finished when `make check` exits 0.";
        assert_eq!(
            shape(text, None),
            Shape {
                criteria: vec!["`tool log --since 2026-01-01` prints 3 lines".into()],
                must_nots: vec!["Don't touch the schema".into()],
                verification: vec!["make check".into()],
                checks: vec![StatedCheck::new("make check", "Finished when `make check` exits 0.")],
                ..Shape::default()
            }
        );
    }

    #[test]
    fn a_spec_gives_its_lists_and_the_checks_of_its_tasks_once() {
        let text = "# Codes\n\nPeople sign in with a code.\n\n## Constraints\n- No new dependency.\n\n## Success criteria\n\
                    - A code is valid once.\n\n## Phase 1: Codes\n\n- [ ] 1.1 Make codes\n  - Files: src/code.rs\n  \
                    - Verify: `cargo test code`\n- [ ] 1.2 Send them\n  - Files: src/mail.rs\n  - Verify: `cargo test code`\n";
        let plan = compile(text, "SPEC.md", &CompileOptions::default()).unwrap().plan;
        assert_eq!(
            shape(text, Some(&plan)),
            Shape {
                criteria: vec!["A code is valid once".into()],
                must_nots: vec!["No new dependency".into()],
                verification: vec!["cargo test code".into()],
                not_executed: vec!["A code is valid once".into()],
                ..Shape::default()
            }
        );
    }

    #[test]
    fn where_the_work_may_be_is_no_must_not() {
        let text = "Write hello.txt. Only touch hello.txt. Do not touch `src/auth`. Done when `make check` passes.";
        let shape = shape(text, None);
        assert_eq!(shape.must_nots, ["Do not touch `src/auth`"]);
        assert_eq!(shape.scope, ["Only touch hello.txt"]);
        assert_eq!(
            render_shape("Greet", &shape),
            "# Shape: Greet\n\n## Criteria\nNone stated.\n\n## Must not\n- Do not touch `src/auth`\n\n## Scope\n\
             - Only touch hello.txt\n\n## Verification\n- make check\n\n## Run at the gate\n- `make check`\n"
        );
    }

    #[test]
    fn the_page_says_what_is_not_there() {
        let shape = Shape { must_nots: vec!["No new dependency".into()], ..Shape::default() };
        assert_eq!(
            render_shape("Sign in\nwith a code", &shape),
            "# Shape: Sign in with a code\n\n## Criteria\nNone stated.\n\n## Must not\n- No new dependency\n\n\
             ## Verification\nNo command was named.\n"
        );
    }
}
