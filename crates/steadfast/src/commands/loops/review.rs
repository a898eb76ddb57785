use clap::{Args, Subcommand};
use serde_json::{Value, json};
use steadfast_model::{Finding, Loop, LoopEnd, Resolution, Review as Kept, ReviewKind, Stage};
use steadfast_runner::loop_run::{ROUNDS, summary};
use steadfast_runner::review::{Look, ReviewScope, SessionReview, line};
use steadfast_text::count;
use steadfast_work::Repository;
use steadfast_work::loops::Loops;

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::tell;

/// Review the work with expert agents, or resolve a finding.
///
/// In stage `executing` this is a quick look for information. In stage `review` it is the thorough review that must
/// pass before the gate. Experts are new agents that see the change and write nothing.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(in crate::commands) struct Review {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print JSON with stable keys: `{kind, score, passed, blockers_remaining, findings: [{id, severity, file, line,
    /// expert, text, resolution}]}`.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List all findings with their numbers.
    List {
        /// Print JSON with stable keys: `{reviews: […]}`.
        #[arg(long)]
        json: bool,
    },
    /// Mark a finding as fixed; the next thorough review verifies it.
    Fixed {
        /// Number of the finding.
        finding: u32,
    },
    /// Waive a finding: accept the work as it is.
    Waive {
        /// Number of the finding.
        finding: u32,
        /// Reason for the waiver.
        #[arg(long, value_name = "REASON")]
        why: String,
    },
    /// Defer a finding. A deferred blocker still blocks.
    Defer {
        /// Number of the finding.
        finding: u32,
        /// Reason for the delay.
        #[arg(long, value_name = "REASON")]
        why: String,
    },
}

impl Review {
    pub(in crate::commands) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let loops = Loops::of(&repository)?;
        // A waiver can let a capped loop continue.
        let is_waiver = matches!(self.action, Some(Action::Waive { .. }));
        let capped = loops.last()?.filter(|looped| is_waiver && looped.ended == Some(LoopEnd::Capped));
        let looped = match capped {
            Some(capped) => capped,
            None => loops.current()?,
        };
        drop(loops);
        match self.action {
            None => review(&repository, &looped, self.json),
            Some(Action::List { json }) => list(&repository, &looped, json),
            Some(Action::Fixed { finding }) => resolve(&repository, &looped, finding, Resolution::Fixed),
            Some(Action::Waive { finding, why }) => resolve(&repository, &looped, finding, Resolution::Waived { why }),
            Some(Action::Defer { finding, why }) => {
                resolve(&repository, &looped, finding, Resolution::Deferred { why })
            }
        }
    }
}

fn review(repository: &Repository, looped: &Loop, as_json: bool) -> Result<(), CommandError> {
    let session = SessionReview::of(repository, looped)?;
    let mut ledger = repository.ledger()?;
    let reviews = ledger.reviews_of(&looped.id)?;
    let is_light = |review: &&Kept| matches!(review.kind, ReviewKind::Light { .. });
    let kind = match looped.stage {
        Stage::Executing => {
            let earlier = u32::try_from(reviews.iter().filter(is_light).count()).unwrap_or(u32::MAX);
            ReviewKind::Light { wave: earlier.saturating_add(1) }
        }
        Stage::Review if looped.rounds >= ROUNDS => {
            ledger.end_loop(&looped.id, LoopEnd::Capped, environment::now())?;
            return Err(CommandError::needs_human(format!("loop {} is capped after {ROUNDS} reviews", looped.id))
                .hint("`steadfast loop start` starts another; the work is in this checkout"));
        }
        Stage::Review => ReviewKind::Thorough { round: looped.rounds + 1 },
        stage => {
            return Err(CommandError::failure(format!("there is nothing to review at stage {}", stage.as_str()))
                .hint("`steadfast loop next` shows the next step"));
        }
    };
    let tasks = ledger.tasks(session.plan())?;
    drop(ledger);
    let earlier: Vec<Finding> =
        reviews.iter().rev().find(|review| !is_light(review)).map(|review| review.findings.clone()).unwrap_or_default();
    let look = Look { kind, part: ReviewScope::Since(session.base()), tasks: &tasks, earlier: &earlier };
    let result = session.reviewer()?.review(&looped.id, &look)?;
    Loops::of(repository)?.written(&looped.id)?;
    if as_json {
        tell!("{}", shown(&result.review))?;
    } else {
        tell!("{}", summary(&result))?;
        for finding in &result.review.findings {
            tell!("{}", words(finding))?;
        }
    }
    match result.review.kind {
        ReviewKind::Thorough { .. } if !result.review.passed => {
            Err(CommandError::refused(match result.review.blockers_remaining {
                0 => "the review did not pass: too few experts gave a readable answer".to_owned(),
                many => format!("the review did not pass: {} left", count(u64::from(many), "blocker")),
            })
            .hint(
                "fix each, run `steadfast loop review fixed ID` for it, and review again; a human may waive a finding",
            ))
        }
        _ => Ok(()),
    }
}

fn list(repository: &Repository, looped: &Loop, as_json: bool) -> Result<(), CommandError> {
    let reviews = repository.ledger()?.reviews_of(&looped.id)?;
    if as_json {
        return tell!("{}", json!({"reviews": reviews.iter().map(shown).collect::<Vec<_>>()}));
    }
    if reviews.is_empty() {
        return tell!("No reviews yet.");
    }
    for review in &reviews {
        tell!("{}: {}", name(review.kind), if review.passed { "passed" } else { "not passed" })?;
        for finding in &review.findings {
            tell!("{}", words(finding))?;
        }
    }
    Ok(())
}

fn resolve(repository: &Repository, looped: &Loop, finding: u32, resolution: Resolution) -> Result<(), CommandError> {
    let mut ledger = repository.ledger()?;
    ledger.resolve_finding(&looped.id, finding, &resolution, environment::now())?;
    drop(ledger);
    Loops::of(repository)?.written(&looped.id)?;
    tell!("finding {finding} is {}", word(&resolution))
}

fn name(kind: ReviewKind) -> String {
    match kind {
        ReviewKind::Light { wave } => format!("light review of wave {wave}"),
        ReviewKind::Thorough { round } => format!("thorough review {round}"),
    }
}

fn words(finding: &Finding) -> String {
    let became = match &finding.resolution {
        Resolution::Open => String::new(),
        other => format!(" ({})", word(other)),
    };
    format!("  {} {} {}: {}{became}", finding.id, finding.severity.as_str(), finding.expert, line(finding))
}

fn word(resolution: &Resolution) -> &'static str {
    match resolution {
        Resolution::Open => "open",
        Resolution::Fixed => "fixed",
        Resolution::Waived { .. } => "waived",
        Resolution::Deferred { .. } => "deferred",
    }
}

fn shown(review: &Kept) -> Value {
    let findings: Vec<Value> = review
        .findings
        .iter()
        .map(|finding| {
            json!({
                "id": finding.id,
                "severity": finding.severity.as_str(),
                "file": finding.file,
                "line": finding.line,
                "expert": finding.expert,
                "text": finding.text,
                "must_not": finding.must_not,
                "resolution": word(&finding.resolution),
            })
        })
        .collect();
    json!({
        "kind": name(review.kind),
        "score": review.score,
        "passed": review.passed,
        "blockers_remaining": review.blockers_remaining,
        "findings": findings,
    })
}
