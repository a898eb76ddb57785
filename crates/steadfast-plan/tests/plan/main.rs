//! Specs as people write them, and the plans they become.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod corpus;
mod errors;
mod estimates;
mod expansion;
mod laws;
mod lists;
mod makespan;
mod markdown;
mod round_trip;
mod scores;
mod styles;
mod synthetic;
mod waves;

use steadfast_model::Plan;
use steadfast_plan::{CompileOptions, compile, render};

/// The plan of a spec that must have one.
fn plan(text: &str) -> Plan {
    match compile(text, "SPEC", &CompileOptions::default()) {
        Ok(compiled) => compiled.plan,
        Err(report) => panic!("{}", render(&report.problems, text, "SPEC", |line| line.into())),
    }
}

/// Every task in a line: id, kind, check, what it waits for.
fn lines(plan: &Plan) -> String {
    let mut text = String::new();
    for task in &plan.tasks {
        let check = task.verify.as_ref().map_or("claimed".to_owned(), steadfast_model::Check::describe);
        let after: Vec<&str> = task.blocked_by.iter().map(|id| id.as_str()).collect();
        text += &format!("{} {} | {} | {check} | after {}\n", task.id, task.kind.as_str(), task.title, after.join(" "));
    }
    text
}

/// All that is said about a spec.
fn said(text: &str, name: &str) -> String {
    render(&steadfast_plan::lint(text, name, &CompileOptions::default()).problems, text, name, |line| line.into())
}
