use clap::Args;
use serde_json::{Value, json};
use steadfast_model::{Finding, FindingSeverity, Loop, LoopLimits, Resolution, Review, ReviewKind, Usd};
use steadfast_text::{HANG, ago, count};
use steadfast_work::loops::{Loops, folder, how};

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};
use crate::terminal::{strong, warning};

/// Show the loop of this checkout: stage, scores, tasks, reviews and next step.
#[derive(Debug, Args)]
pub(in crate::commands) struct Status {
    /// Print JSON with stable keys: `{loop, stage, request, spec, spec_score, fit_score, shape_chosen, overridden, shape:
    /// {criteria, must_nots, scope, verification, checks, not_executed}, plan, run, session, waits, limits: {iterations,
    /// budget_usd}, iterations, cost_usd, rounds, stated: [{command, said}],
    /// objections: [{id, text, check}], waived: [{objection, text, why}], ended, started_at, updated_at, recall_surfaced: [text], tasks:
    /// {done, blocked, all, wave}, reviews: [{kind, score, findings, blockers_remaining, passed, at}], next: {stage, standing,
    /// action}}`; without one, `{loop: null}`.
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let loops = Loops::of(&repository)?;
        match loops.last()? {
            Some(looped) => {
                show(&loops, &looped, self.json)?;
                if !self.json {
                    note!("the pages of the loop are in {}", folder(&repository.place.root, &looped.id).display());
                }
                Ok(())
            }
            None if self.json => tell!("{}", json!({ "loop": null })),
            None => {
                note!("there is no loop in this checkout; `steadfast loop start \"REQUEST\"` starts one");
                Ok(())
            }
        }
    }
}

pub(super) fn show(loops: &Loops<'_>, looped: &Loop, json: bool) -> Result<(), CommandError> {
    let (reviews, standing, next) = (loops.reviews(looped)?, loops.progress(looped)?, loops.next(looped)?);
    if json {
        return tell!(
            "{}",
            json!({
                "loop": looped.id,
                "stage": looped.stage,
                "request": looped.request,
                "spec": looped.spec,
                "spec_score": looped.scores.map(|scores| scores.spec),
                "fit_score": looped.scores.map(|scores| scores.fit),
                "shape_chosen": looped.autonomy(),
                "overridden": looped.overridden,
                "shape": looped.shape,
                "plan": looped.plan,
                "run": looped.run,
                "session": looped.session,
                "waits": looped.waits,
                "limits": limits_json(looped.limits),
                "iterations": looped.iterations,
                "cost_usd": Usd { micro: looped.micro_usd() },
                "rounds": looped.rounds,
                "stated": loops.stated_checks(looped)?,
                "objections": looped.objections,
                "waived": looped.waived,
                "ended": looped.ended,
                "started_at": looped.started_at,
                "updated_at": looped.updated_at,
                "recall_surfaced": looped.recall_surfaced,
                "tasks": standing,
                "reviews": reviews,
                "next": next,
            })
        );
    }
    let ended = looped.ended.map(|end| format!(", {}", end.as_str())).unwrap_or_default();
    let when = ago(environment::now().since(looped.updated_at));
    tell!("loop {}: {HANG}{} ({}{ended}, {when})", strong(looped.id.as_str()), looped.request, looped.stage.as_str())?;
    if let Some(scores) = looped.scores {
        tell!("spec score {} of 10, fit to run alone {} of 75", scores.spec, scores.fit)?;
    }
    if let Some(why) = &looped.overridden {
        tell!("a human accepted the unclear request: {why}")?;
    }
    if let Some(autonomy) = looped.autonomy() {
        tell!("{}", how(autonomy))?;
    }
    if looped.run.is_none() {
        tell!("{}", limits_line(looped))?;
    }
    if let Some(why) = &looped.waits {
        tell!("{} {why}", warning("waits for a human:"))?;
    }
    for must_not in looped.shape.iter().flat_map(|shape| &shape.must_nots) {
        tell!("must not: {must_not}")?;
    }
    for scope in looped.shape.iter().flat_map(|shape| &shape.scope) {
        tell!("scope: {scope}")?;
    }
    for check in loops.stated_checks(looped)? {
        tell!("has to pass at the end: `{}`", check.command)?;
    }
    for objected in &looped.objections {
        tell!("the gate objects [{}]: {}", objected.id, objected.text)?;
    }
    for waiver in &looped.waived {
        tell!("waived [{}]: {} ({})", waiver.objection, waiver.text, waiver.why)?;
    }
    if standing.all > 0 {
        tell!("{} of {} are done, {} blocked", standing.done, count(standing.all, "task"), standing.blocked)?;
    }
    reviews.iter().try_for_each(show_review)?;
    tell!("{}", next.standing)?;
    tell!("{} {}", strong("next:"), next.action)
}

fn show_review(review: &Review) -> Result<(), CommandError> {
    let what = match review.kind {
        ReviewKind::Light { wave } => format!("review of wave {wave}"),
        ReviewKind::Thorough { round } => format!("thorough review, round {round}"),
    };
    let score = review.score.map_or_else(|| "no score".to_owned(), |score| format!("{score} of 10"));
    let passed = match (review.passed, review.blockers_remaining) {
        (true, _) => "passed",
        (false, 0) => "not passed: too few experts answered",
        (false, _) => "not passed",
    };
    let found = count(review.findings.len() as u64, "finding");
    let blockers = blockers(review);
    let blockers = if blockers.is_empty() { String::new() } else { format!(" ({})", blockers.join(", ")) };
    tell!("{what}: {score}, {found}{blockers}, {passed}")
}

/// The resolutions of the blockers: `1 blocker fixed`.
fn blockers(review: &Review) -> Vec<String> {
    let of = |resolution: fn(&Resolution) -> bool| {
        let is_it =
            |finding: &&Finding| finding.severity == FindingSeverity::Blocker && resolution(&finding.resolution);
        review.findings.iter().filter(is_it).count() as u64
    };
    [
        (of(|resolution| matches!(resolution, Resolution::Open)), "open"),
        (of(|resolution| matches!(resolution, Resolution::Fixed)), "fixed"),
        (of(|resolution| matches!(resolution, Resolution::Waived { .. })), "waived"),
        (of(|resolution| matches!(resolution, Resolution::Deferred { .. })), "deferred"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{} {word}", steadfast_text::count(count, "blocker")))
    .collect()
}

/// `limits: 3 of 25 iterations, $1.20 of $25`
pub(super) fn limits_line(looped: &Loop) -> String {
    let iterations = match looped.limits.iterations {
        Some(limit) => format!("{} of {limit} iterations", looped.iterations),
        None => format!("{} iterations, no limit", looped.iterations),
    };
    let spent = Usd { micro: looped.micro_usd() / 10_000 * 10_000 };
    let budget = match looped.limits.micro_usd {
        Some(micro) => format!("${spent} of ${}", Usd { micro }),
        None => format!("${spent}, no limit"),
    };
    format!("limits: {iterations}; {budget}")
}

pub(super) fn limits_json(limits: LoopLimits) -> Value {
    json!({"iterations": limits.iterations, "budget_usd": limits.micro_usd.map(|micro| Usd { micro })})
}
