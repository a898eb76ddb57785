//! What a run works off: a spec, or the issues of an epic.

use std::path::Path;

use steadfast_model::{PlanId, Run};
use steadfast_plan::Compiled;
use steadfast_store::Place;

use crate::error::CommandError;
use crate::spec_file;
use crate::task_list::TaskList;
use crate::tracker::{self, Beads, COMMAND, Patience, Tracker};

#[derive(Debug)]
pub(super) enum Work<'a> {
    Spec { file: &'a Path, compiled: Box<Compiled> },
    Epic(Beads),
}

impl<'a> Work<'a> {
    pub(super) fn of(spec: Option<&'a Path>, epic: Option<&str>, root: &Path) -> Result<Self, CommandError> {
        match (spec, epic) {
            (Some(file), _) => Ok(Self::Spec { file, compiled: Box::new(spec_file::compile(file)?) }),
            (None, Some(epic)) => Ok(Self::Epic(Beads::new(root, Some(epic)))),
            (None, None) => {
                Err(CommandError::usage("there is nothing to run").hint("`steadfast run SPEC.md` runs a spec"))
            }
        }
    }

    /// What its plan is called by.
    pub(super) fn source(&self, root: &Path) -> String {
        match self {
            Self::Spec { file, .. } => spec_file::source(file, root),
            Self::Epic(beads) => beads.source(),
        }
    }

    /// Its plan, with what there is to say of it.
    pub(super) fn load(self, list: &mut TaskList, source: &str) -> Result<(PlanId, Vec<String>), CommandError> {
        match self {
            Self::Spec { compiled, .. } => {
                let loaded = list.load(&compiled.plan, source)?;
                let said = compiled.warnings.iter();
                let said = said.map(|warning| format!("warning: {source}:{}: {}", warning.line, warning.message));
                Ok((loaded.plan().clone(), said.collect()))
            }
            Self::Epic(beads) => {
                let name = beads.name();
                let plan = list.load_tracked(Box::new(beads))?;
                if list.open_of(&plan)?.0 == 0 {
                    return Err(CommandError::failure(format!("nothing is open in {name}"))
                        .hint("`steadfast task list` shows its tasks"));
                }
                Ok((plan.id, list.take_lines()))
            }
        }
    }
}

/// Tells the tracker of a run's plan what was done. What it could not be told is said, and told the next time.
pub(super) fn tell(place: &Place, run: &Run) -> Option<String> {
    let beads = Beads::of_source(&place.root, &run.spec)?;
    match tracker::tell(place, &beads, &run.plan, Patience::of(COMMAND)) {
        Ok(line) => line,
        Err(error) => Some(format!("{} was told nothing: {error}", beads.name())),
    }
}
