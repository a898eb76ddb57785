//! SPEC.md and SPEC.json to a checked task graph: parse, lint, expand; the units and waves of a plan. Pure.
//!
//! A text becomes a draft, which knows where each of its words stands; the draft becomes a graph, in which loops are
//! unrolled and dependencies resolved; the graph becomes a [`Plan`], with generated tasks in. Each step says what is
//! wrong and goes on, so that everything is said at once.

mod commands;
mod draft;
mod expand;
mod graph;
mod hash;
mod json;
mod lint;
mod markdown;
mod natural;
mod near;
mod problem;
mod reach;
mod render;
mod source;
mod swallow;
mod synthetic;
mod unit;
mod wave;

#[cfg(any(test, feature = "schema"))]
pub mod schema;

use steadfast_model::Plan;

use commands::Commands;
use draft::Draft;
use graph::Graph;
use problem::Findings;
use source::{Format, Lines};

pub use hash::hash;
pub use problem::{Code, Problem, Report, Severity};
pub use render::render;
pub use swallow::swallowed;
pub use synthetic::synthetic_spec;
pub use unit::{Circle, Unit, UnitState, units};
pub use wave::{next_wave, waves};

/// The largest spec that is read. 100,000 tasks are about 30 MB.
pub const MAX_BYTES: usize = 64 << 20;

/// What the configuration says about expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Skills to be used before ui work.
    pub ui_skills: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { ui_skills: ["frontend-design", "vercel-design-guidelines"].map(str::to_owned).to_vec() }
    }
}

/// A spec without errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    pub plan: Plan,
    pub warnings: Vec<Problem>,
}

/// The plan of a spec. `name` is its file's: it tells the format where the text does not, and stands in for a title.
pub fn compile(text: &str, name: &str, options: &Options) -> Result<Compiled, Report> {
    let mut findings = Findings::default();
    let plan = read(text, name, &mut findings).and_then(|draft| check_and_expand(&draft, options, &mut findings));
    let problems = findings.into_problems(&Lines::of(text));
    match plan {
        Some(plan) if !problems.iter().any(Problem::is_error) => Ok(Compiled { plan, warnings: problems }),
        _ => Err(Report { problems }),
    }
}

/// All there is to say about a spec.
pub fn lint(text: &str, name: &str, options: &Options) -> Report {
    match compile(text, name, options) {
        Ok(compiled) => Report { problems: compiled.warnings },
        Err(report) => report,
    }
}

fn read(text: &str, name: &str, findings: &mut Findings) -> Option<Draft> {
    match Format::of(text, name, findings)? {
        Format::Json => json::read(text, findings),
        Format::Markdown => markdown::read(text, name, findings),
    }
}

fn check_and_expand(draft: &Draft, options: &Options, findings: &mut Findings) -> Option<Plan> {
    let commands = Commands::of(draft, findings);
    lint::draft(draft, &commands, findings);
    let graph = Graph::of(draft, findings)?;
    lint::graph(&graph, findings);
    let order = graph.order(findings)?;
    (!findings.has_error()).then(|| expand::plan(&graph, &order, &commands, options))
}
