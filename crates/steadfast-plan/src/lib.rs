//! Reads SPEC.md, SPEC.json and task lists of other tools, checks them, and turns them into a plan. Also forms the
//! units of a run and their order, scores requests, and exports plans. Pure: no files, no clock.
//!
//! A text becomes a `Draft`, which knows the position of each word. The draft becomes a `Graph`, with loops unrolled
//! and dependencies resolved. The graph becomes a [`Plan`], with generated tasks. Each step reports problems and
//! continues, so that the author sees all of them at once.
//!
//! Start with [`compile`] and [`lint()`]; [`Problem`] is one message to the author. [`units`] and [`Schedule`] divide a
//! plan among agents; [`score()`] rates how clear a request is.

mod draft;
mod export;
mod graph;
mod hash;
mod ids;
mod import;
mod json;
mod lint;
mod markdown;
mod problem;
mod render;
mod schedule;
mod score;
mod source;
mod workflow;

#[cfg(any(test, feature = "schema"))]
pub mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use steadfast_model::{Check, Plan, Reported, StatedCheck, Status, TaskId};

use draft::commands::Commands;
use draft::{Draft, DraftPhase};
use graph::{Graph, expand};
use problem::Findings;
use source::Lines;

pub use export::{ExportTarget, Outgoing, export};
pub use hash::hash;
pub use import::{BEADS_NOTE, ListFormat, has_slices, with_slice_status};
pub use lint::exit_status::swallowed;
pub use lint::not_read;
pub use problem::{Code, LintReport, Problem, ProblemSeverity};
pub use render::{Redact, render};
pub use schedule::unit::{Circle, Unit, UnitState, units};
pub use schedule::wave::{next_wave, waves};
pub use schedule::{Lengths, Moment, Schedule};
pub use score::{Dimension, Mark, ScoredSentence, SpecScore, Stated, THRESHOLD, paths, score, score_plan, stated};
pub use workflow::card::Card;
pub use workflow::fit::{Familiarity, fit};
pub use workflow::shape::{render_shape, shape};
pub use workflow::{
    LoopProgress, NextStep, counsel, last_thorough, loop_progress, loop_view, next, resume_text, workflow_state,
};

/// The size limit of a spec, in bytes. 100,000 tasks are about 30 MB.
pub const MAX_BYTES: usize = 64 << 20;

/// Settings for the expansion of a plan.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// Skills to use before ui work. Without any, ui tasks get no task before them.
    pub ui_skills: Vec<String>,
    /// Skills that are configured for ui work but not installed.
    pub missing_skills: Vec<String>,
    /// Reports whether a text contains a secret. Redaction belongs to another crate.
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
    /// Tasks that were started where the list comes from, with their statuses.
    pub reported: Vec<Reported>,
    /// The number of tasks in the text, without generated ones.
    pub authored: usize,
    /// Lines that may be meant as tasks but were not read as tasks.
    pub unread: Vec<usize>,
    /// Phases that wait for the one before only by default, and share no file with any earlier phase.
    pub apart: Vec<String>,
    /// The position of the check of each authored task, or of its id.
    places: BTreeMap<TaskId, Range<usize>>,
}

impl Compiled {
    /// Returns the check commands of open tasks, each once, with the tasks that use it.
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

    /// Builds the problem for a check that passes before any work is done.
    pub fn passes_already(&self, text: &str, command: &str, tasks: &[&TaskId]) -> Option<Problem> {
        let span = tasks.iter().find_map(|task| {
            let bare = TaskId::new(task.as_str().trim_end_matches(|c: char| c.is_ascii_lowercase()));
            self.places.get(*task).or_else(|| self.places.get(&bare))
        })?;
        let named: Vec<String> = tasks.iter().map(|task| format!("`{task}`")).collect();
        let message = format!("the check of {} passes before any work is done: `{command}`", named.join(", "));
        let mut findings = Findings::default();
        findings.add(Code::PassesAlready, span, message, "use a check that fails until this work is done");
        findings.into_problems(&Lines::of(text)).pop()
    }
}

/// Compiles a spec to a plan. `name` is the file name: it decides the format if the text does not, and replaces a
/// missing title.
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

/// Returns the commands that a spec states as checks at its end. From lists of other tools only the tasks are taken.
fn checks_of(text: &str, plan: &Plan, format: ListFormat) -> Vec<StatedCheck> {
    match format {
        ListFormat::SpecMarkdown => stated(text).checks,
        ListFormat::SpecJson => score::stated_of_plan(plan).checks,
        _ => Vec::new(),
    }
}

/// Returns the format of a text. `None`: not a known task list.
pub fn format_of(text: &str, name: &str) -> Option<ListFormat> {
    import::recognise(text, name, &mut Findings::default())
}

/// Returns all problems of a spec.
pub fn lint(text: &str, name: &str, options: &CompileOptions) -> LintReport {
    match compile(text, name, options) {
        Ok(compiled) => LintReport { problems: compiled.warnings },
        Err(report) => report,
    }
}

/// The result of expanding a graph.
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
