use std::path::PathBuf;

use clap::Args;
use steadfast_engine::goal::understood;
use steadfast_model::Stage;
use steadfast_work::Caller;
use steadfast_work::loops::{Loops, Request, folder};

use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};

/// Keeps what a spec says of the result: criteria, must-nots and verification. Writes SHAPE.md.
///
/// What the request itself said stays beside it. From the stage after this one on, only a human changes it.
#[derive(Debug, Args)]
pub(in crate::commands) struct Shape {
    /// SPEC.md or SPEC.json.
    file: PathBuf,
}

impl Shape {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let caller = Caller::of(Some(&repository.place), &repository.environment, "loop shape");
        let mut loops = Loops::of(&repository)?;
        let looped = loops.current()?;
        if looped.stage > Stage::Shape && caller.is_agent() {
            return Err(CommandError::refused(format!(
                "the loop is at {}: what must not happen is changed by a human from here on",
                looped.stage.as_str()
            ))
            .hint(format!("a human runs `steadfast loop shape {}` in a terminal", self.file.display())));
        }
        let request = Request::of_file(&self.file, &repository.place.root, &repository.environment)?;
        let looped = loops.shape(&looped, &request)?;
        let Some(shape) = &looped.shape else { return Ok(()) };
        for (what, lines) in [
            ("criterion", &shape.criteria),
            ("must not", &shape.must_nots),
            ("scope", &shape.scope),
            ("verified by", &shape.verification),
            ("not executed", &shape.not_executed),
        ] {
            lines.iter().try_for_each(|line| tell!("{what}: {line}"))?;
        }
        for check in loops.stated_checks(&looped)? {
            tell!("has to pass at the end: `{}`", check.command)?;
        }
        if shape.criteria.is_empty() {
            note!("no criterion was found: `## Success criteria` in the spec names them");
        }
        for must_not in shape.limits().iter().filter(|must_not| understood(must_not).is_empty()) {
            note!("\"{must_not}\" is no single action: reviews and the gate look at it, no call is refused for it");
        }
        tell!("SHAPE.md is in {}", folder(&repository.place.root, &looped.id).display())
    }
}
