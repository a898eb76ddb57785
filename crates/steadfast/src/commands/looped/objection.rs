use clap::Args;
use steadfast_runner::review::{Against, still_objects};

use crate::error::CommandError;
use crate::here;
use crate::output::tell;

/// Looks whether an objection of the gate is met by the files of this checkout.
///
/// It is the check of a task that the gate made. Exits with 2 while the objection stands, and says what is left.
#[derive(Debug, Args)]
pub(in crate::commands) struct Objection {
    /// The commit that the work began at.
    #[arg(long, value_name = "COMMIT")]
    base: String,
    /// What must not happen.
    #[arg(long, value_name = "TEXT", conflicts_with = "tests", required_unless_present = "tests")]
    must_not: Option<String>,
    /// A file that a scope does not shut out: the spec. Can be repeated.
    #[arg(long, value_name = "FILE")]
    own: Vec<String>,
    /// The file whose tests were weakened.
    #[arg(long, value_name = "FILE")]
    tests: Option<String>,
}

impl Objection {
    pub(in crate::commands) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let against = match (&self.must_not, &self.tests) {
            (Some(must_not), _) => Against::MustNot { must_not, own: &self.own },
            (None, Some(file)) => Against::Tests(file),
            (None, None) => return Err(CommandError::usage("it is not said what is objected to")),
        };
        let left = still_objects(&repository, &self.base, against)?;
        let Some(first) = left.first() else { return tell!("the objection is met") };
        left.iter().try_for_each(|line| tell!("{line}"))?;
        let error = CommandError::refused(format!("the objection stands: {first}"));
        Err(match self.must_not {
            Some(_) => error.hint(format!("`git checkout {} -- PATH` takes a file back", self.base)),
            None => error.hint("what fails because of the stronger test is to be fixed where it is wrong"),
        })
    }
}
