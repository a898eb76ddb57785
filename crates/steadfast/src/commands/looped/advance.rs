use clap::Args;
use steadfast_model::Stage;
use steadfast_work::Caller;
use steadfast_work::loops::{Binding, Loops};

use crate::error::CommandError;
use crate::here;
use crate::output::tell;

/// Takes the loop one stage further, if all is there that the stage needs. None is skipped.
#[derive(Debug, Args)]
pub(in crate::commands) struct Advance {
    /// shape, decompose, executing or review; from review back to executing, where a finding asks for work.
    #[arg(value_parser = parse)]
    stage: Stage,
}

fn parse(text: &str) -> Result<Stage, String> {
    Stage::ALL.into_iter().find(|stage| stage.as_str() == text).ok_or_else(|| {
        let all: Vec<&str> = Stage::ALL.iter().map(|stage| stage.as_str()).collect();
        format!("a stage is one of {}", all.join(", "))
    })
}

impl Advance {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let caller = Caller::of(Some(&repository.place), &repository.environment, "loop advance");
        let mut loops = Loops::of(&repository)?;
        let looped = loops.current()?;
        loops.bind(&caller, &looped, Binding::TakeOver)?;
        let looped = loops.advance(&looped, self.stage)?;
        let next = loops.next(&looped)?;
        tell!("loop {} is at {}: {}", looped.id, next.stage.as_str(), next.standing)?;
        tell!("next: {}", next.action)
    }
}
