//! The commands that take a loop from stage to stage by hand.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use steadfast_engine::goal::understood;
use steadfast_model::Stage;
use steadfast_text::printable;
use steadfast_work::loops::{BindingRule, Loops, Request, folder, how};

use crate::commands::Unasked;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};

/// Show the stage of the loop, and its next step.
#[derive(Debug, Args)]
pub(in crate::commands) struct Next {
    /// Print JSON with stable keys: `{loop, stage, standing, action}`; without a loop, `{loop: null}`.
    #[arg(long)]
    json: bool,
}

impl Next {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let caller = here::caller(&repository, "loop next");
        let mut loops = Loops::of(&repository)?;
        let Some(looped) = loops.unfinished()? else {
            if self.json {
                return tell!("{}", json!({ "loop": null }));
            }
            note!("there is no unfinished loop; `steadfast loop start \"REQUEST\"` starts one");
            return Ok(());
        };
        loops.bind(&caller, &looped, BindingRule::UnlessHeld)?;
        let next = loops.next(&looped)?;
        if self.json {
            let (stage, standing, action) = (next.stage, next.standing, next.action);
            return tell!("{}", json!({"loop": looped.id, "stage": stage, "standing": standing, "action": action}));
        }
        tell!("{}: {}", next.stage.as_str(), next.standing)?;
        tell!("next: {}", next.action)
    }
}

/// Advance the loop by one stage, if the requirements of that stage are met.
#[derive(Debug, Args)]
pub(in crate::commands) struct Advance {
    /// Next stage: shape, decompose, executing or review. From review, executing is allowed if a finding needs work.
    #[arg(value_parser = parse)]
    stage: Stage,
}

fn parse(text: &str) -> Result<Stage, String> {
    Stage::ALL.into_iter().find(|stage| stage.as_str() == text).ok_or_else(|| {
        let all: Vec<&str> = Stage::ALL.iter().map(|stage| stage.as_str()).collect();
        format!("expected one of {}", all.join(", "))
    })
}

impl Advance {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let caller = here::caller(&repository, "loop advance");
        let mut loops = Loops::of(&repository)?;
        let looped = loops.current()?;
        loops.bind(&caller, &looped, BindingRule::TakeOver)?;
        let looped = loops.advance(&looped, self.stage)?;
        let next = loops.next(&looped)?;
        tell!("loop {} is at stage {}: {}", looped.id, next.stage.as_str(), next.standing)?;
        tell!("next: {}", next.action)
    }
}

/// Store the criteria, must-nots and verification of a spec, and write SHAPE.md.
///
/// Keeps the statements of the request beside them. After stage `shape`, only a human can change them.
#[derive(Debug, Args)]
pub(in crate::commands) struct Shape {
    /// SPEC.md or SPEC.json.
    file: PathBuf,
}

impl Shape {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let caller = here::caller(&repository, "loop shape");
        let mut loops = Loops::of(&repository)?;
        let looped = loops.current()?;
        if looped.stage > Stage::Shape && caller.is_agent() {
            return Err(CommandError::refused(format!(
                "the loop is at stage {}: from here on, only a human can change its must-nots",
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
            note!("no criteria found: list them below `## Success criteria` in the spec");
        }
        for must_not in shape.limits().iter().filter(|must_not| understood(must_not).is_empty()) {
            note!("\"{must_not}\" is not a single action: reviews and the gate check it, but no call is refused");
        }
        tell!("SHAPE.md is in {}", folder(&repository.place.root, &looped.id).display())
    }
}

/// Start although the request is not clear enough, with the least freedom and your reason.
#[derive(Debug, Args)]
pub(in crate::commands) struct Override {
    /// Reason to start anyway.
    #[arg(long, value_name = "TEXT")]
    why: String,
}

impl Override {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let why = printable(self.why.trim());
        if why.is_empty() {
            return Err(CommandError::usage("the reason is empty")
                .hint("`steadfast loop override --why \"a trial without risk\"`"));
        }
        let mut loops = Loops::of(&repository)?;
        let looped = loops.current()?;
        if !looped.is_unclear() {
            note!("loop {} needs no override; nothing changed", looped.id);
            return Ok(());
        }
        let looped = loops.override_unclear(&looped, &why)?;
        tell!("the request of loop {} is accepted: {why}", looped.id)?;
        if let Some(autonomy) = looped.autonomy() {
            tell!("{}", how(autonomy))?;
        }
        tell!("next: {}", loops.next(&looped)?.action)
    }
}

/// Archive the unfinished loop: keep its plan and its work, and drop its must-nots.
#[derive(Debug, Args)]
pub(in crate::commands) struct Archive {
    #[command(flatten)]
    _unasked: Unasked,
}

impl Archive {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let mut loops = Loops::of(&repository)?;
        let looped = loops.current()?;
        let looped = loops.archive(&looped)?;
        tell!("loop {} is archived at stage {}", looped.id, looped.stage.as_str())
    }
}
