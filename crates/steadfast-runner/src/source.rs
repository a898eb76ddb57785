//! The source of a run's tasks: a spec, or the issues of an epic.

use std::path::Path;

use steadfast_model::{PlanId, Run};
use steadfast_plan::Compiled;
use steadfast_store::Place;
use steadfast_work::task_list::PlanError;
use steadfast_work::tracker::{self, Beads, COMMAND, TimeBudget, Tracker};
use steadfast_work::{Environment, TaskList, WorkError, spec_file};

#[derive(Debug)]
pub enum RunSource<'a> {
    Spec { file: &'a Path, compiled: Box<Compiled> },
    Epic(Beads),
}

impl<'a> RunSource<'a> {
    pub fn of_spec(file: &'a Path, environment: &Environment) -> Result<Self, WorkError> {
        Ok(Self::Spec { file, compiled: Box::new(spec_file::compile(environment, file)?) })
    }

    pub fn of_epic(epic: &str, root: &Path) -> Self {
        Self::Epic(Beads::new(root, Some(epic)))
    }

    /// Returns the name of the source in the ledger.
    pub fn source(&self, root: &Path) -> String {
        match self {
            Self::Spec { file, .. } => spec_file::source(file, root),
            Self::Epic(beads) => beads.source(),
        }
    }

    /// Loads the plan, and returns it with messages for the user.
    pub fn load(self, list: &mut TaskList, source: &str) -> Result<(PlanId, Vec<String>), WorkError> {
        match self {
            Self::Spec { compiled, .. } => {
                let loaded = list.load(&compiled.plan, source)?;
                let said = compiled.warnings.iter();
                let said = said.map(|warning| format!("warning: {source}:{}: {}", warning.line, warning.message));
                let stated = list.ledger().stated_checks(loaded.plan())?;
                let stated = stated.iter().map(|check| format!("has to pass at the end: `{}`", check.command));
                Ok((loaded.plan().clone(), said.chain(stated).collect()))
            }
            Self::Epic(beads) => {
                let name = beads.name();
                let plan = list.load_tracked(Box::new(beads))?;
                if list.open_of(&plan)?.0 == 0 {
                    return Err(PlanError::NothingOpen(name).into());
                }
                Ok((plan.id, list.take_lines()))
            }
        }
    }
}

/// Reports finished tasks to the run's tracker. Returns what failed to reach it; the next call retries.
pub fn report_to_tracker(place: &Place, run: &Run) -> Option<String> {
    let beads = Beads::of_source(&place.root, &run.spec)?;
    match tracker::tell(place, &beads, &run.plan, TimeBudget::of(COMMAND)) {
        Ok(told) => told.untold,
        Err(error) => Some(format!("cannot report to {}: {error}", beads.name())),
    }
}
