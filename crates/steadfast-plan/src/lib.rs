//! SPEC.md, SPEC.json and the lists of others to a checked task graph: parse, lint, expand; the units and waves of a plan.
//! Pure.
//!
//! A text becomes a draft, which knows where each of its words stands; the draft becomes a graph, in which loops are
//! unrolled and dependencies resolved; the graph becomes a [`Plan`], with generated tasks in. Each step says what is
//! wrong and goes on, so that everything is said at once.

mod card;
mod commands;
mod draft;
mod estimate;
mod exit_status;
mod expand;
mod export;
mod file_overlap;
mod fit;
mod graph;
mod hash;
mod ids;
mod import;
mod json;
mod labels;
mod lint;
mod markdown;
mod problem;
mod render;
mod schedule;
mod score;
mod shape;
mod source;
mod unit;
mod wave;
mod workflow;

#[cfg(any(test, feature = "schema"))]
pub mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use steadfast_model::{Check, Plan, Reported, StatedCheck, Status, TaskId};

use commands::Commands;
use draft::{Draft, DraftPhase};
use graph::Graph;
use problem::Findings;
use source::Lines;

pub use card::Card;
pub use exit_status::swallowed;
pub use export::{ExportTarget, Outgoing, export};
pub use fit::{Familiarity, fit};
pub use hash::hash;
pub use import::{BEADS_NOTE, ListFormat, has_slices, with_slice_status};
pub use lint::not_read;
pub use problem::{Code, LintReport, Problem, ProblemSeverity};
pub use render::render;
pub use schedule::{Lengths, Moment, Schedule};
pub use score::{Dimension, Mark, ScoredSentence, SpecScore, Stated, THRESHOLD, paths, score, score_plan, stated};
pub use shape::{render_shape, shape};
pub use unit::{Circle, Unit, UnitState, units};
pub use wave::{next_wave, waves};
pub use workflow::{
    LoopProgress, NextStep, counsel, last_thorough, loop_progress, loop_view, next, resume_text, workflow_state,
};

/// The largest spec that is read. 100,000 tasks are about 30 MB.
pub const MAX_BYTES: usize = 64 << 20;

/// What the configuration says about expansion.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// Skills to be used before ui work. Without any, nothing is generated before it.
    pub ui_skills: Vec<String>,
    /// Skills that would be used before ui work as well, and are not installed.
    pub missing_skills: Vec<String>,
    /// Whether there is a secret in a text. Redaction is not this crate's.
    pub holds_secret: fn(&str) -> bool,
}

impl Default for CompileOptions {
    fn default() -> Self {
        let ui_skills = ["frontend-design", "vercel-design-guidelines"].map(str::to_owned).to_vec();
        Self { ui_skills, missing_skills: Vec::new(), holds_secret: |_| false }
    }
}

/// A spec without errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    pub plan: Plan,
    pub warnings: Vec<Problem>,
    pub format: ListFormat,
    /// How tasks stand that were begun where the list comes from.
    pub reported: Vec<Reported>,
    /// How many tasks the text has, without generated ones.
    pub authored: usize,
    /// The lines that might be meant as tasks, and are none.
    pub unread: Vec<usize>,
    /// Phases that wait for the one before them, and share no file with any before them.
    pub apart: Vec<String>,
    /// Where the check of an authored task stands, or its id.
    places: BTreeMap<TaskId, Range<usize>>,
}

impl Compiled {
    /// The commands of its open tasks, each once, with the tasks that it is the check of.
    pub fn commands(&self) -> Vec<(&str, Vec<&TaskId>)> {
        let done: BTreeSet<&TaskId> =
            self.reported.iter().filter(|one| one.status == Status::Done).map(|one| &one.task).collect();
        let mut commands: Vec<(&str, Vec<&TaskId>)> = Vec::new();
        for task in self.plan.tasks.iter().filter(|task| !done.contains(&task.id)) {
            let Some(command) = task.verify.as_ref().and_then(Check::as_command) else { continue };
            match commands.iter_mut().find(|(known, _)| *known == command) {
                Some((_, tasks)) => tasks.push(&task.id),
                None => commands.push((command, vec![&task.id])),
            }
        }
        commands
    }

    /// That a command passed before any work was done, as lint says it.
    pub fn passes_already(&self, text: &str, command: &str, tasks: &[&TaskId]) -> Option<Problem> {
        let span = tasks.iter().find_map(|task| {
            let bare = TaskId::new(task.as_str().trim_end_matches(|c: char| c.is_ascii_lowercase()));
            self.places.get(*task).or_else(|| self.places.get(&bare))
        })?;
        let named: Vec<String> = tasks.iter().map(|task| format!("`{task}`")).collect();
        let message = format!("the check of {} passes before any work is done: `{command}`", named.join(", "));
        let mut findings = Findings::default();
        findings.add(Code::PassesAlready, span, message, "check something that only this work makes true");
        findings.into_problems(&Lines::of(text)).pop()
    }
}

/// The plan of a spec. `name` is its file's: it tells the format where the text does not, and stands in for a title.
pub fn compile(text: &str, name: &str, options: &CompileOptions) -> Result<Compiled, LintReport> {
    let mut findings = Findings::default();
    let lines = Lines::of(text);
    let read = import::recognise(text, name, &mut findings).and_then(|format| {
        let draft = import::read(format, text, name, &mut findings)?;
        let unread = lint::unread(&draft, &lines, &mut findings);
        let Expanded { mut plan, reported, apart, places } = check_and_expand(&draft, options, &mut findings)?;
        plan.checks = checks_of(text, &plan, format);
        lint::stated(&draft, &plan.checks, options, &mut findings);
        let authored = draft.phases.iter().flat_map(DraftPhase::authored).count();
        Some((plan, reported, format, authored, unread, apart, places))
    });
    let problems = findings.into_problems(&lines);
    match read {
        Some((plan, reported, format, authored, unread, apart, places)) if !problems.iter().any(Problem::is_error) => {
            Ok(Compiled { plan, warnings: problems, format, reported, authored, unread, apart, places })
        }
        _ => Err(LintReport { problems }),
    }
}

/// What a spec says has to pass at its end. The lists of others say how their tasks stand, and nothing else is taken from
/// them.
fn checks_of(text: &str, plan: &Plan, format: ListFormat) -> Vec<StatedCheck> {
    match format {
        ListFormat::SpecMarkdown => stated(text).checks,
        ListFormat::SpecJson => score::stated_of_plan(plan).checks,
        _ => Vec::new(),
    }
}

/// What a text is written in. `None`: no list of tasks that is known.
pub fn format_of(text: &str, name: &str) -> Option<ListFormat> {
    import::recognise(text, name, &mut Findings::default())
}

/// All there is to say about a spec.
pub fn lint(text: &str, name: &str, options: &CompileOptions) -> LintReport {
    match compile(text, name, options) {
        Ok(compiled) => LintReport { problems: compiled.warnings },
        Err(report) => report,
    }
}

/// What a graph comes to.
struct Expanded {
    plan: Plan,
    reported: Vec<Reported>,
    apart: Vec<String>,
    places: BTreeMap<TaskId, Range<usize>>,
}

fn check_and_expand(draft: &Draft, options: &CompileOptions, findings: &mut Findings) -> Option<Expanded> {
    let commands = Commands::of(draft, findings);
    lint::draft(draft, &commands, options, findings);
    let graph = Graph::of(draft, !options.ui_skills.is_empty(), findings)?;
    lint::graph(&graph, options, findings);
    let order = graph.order(findings)?;
    (!findings.has_error()).then(|| Expanded {
        plan: expand::plan(&graph, &order, &commands, options),
        reported: expand::reported(&graph),
        apart: lint::apart(&graph),
        places: graph.places(),
    })
}
