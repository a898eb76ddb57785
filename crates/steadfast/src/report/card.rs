use steadfast_model::{EvidenceClass, Finding, FindingSeverity, Loop, Resolution};
use steadfast_plan::Card;
use steadfast_runner::gate::StatedRun;
use steadfast_runner::review::GateOutcome;
use steadfast_text::count;
use steadfast_work::Repository;
use steadfast_work::loops::Loops;
use steadfast_work::task_list::StatedEnd;

use crate::error::CommandError;

/// The card of a loop that passed its gate.
pub(crate) fn card(repository: &Repository, looped: &Loop, judged: &GateOutcome) -> Result<String, CommandError> {
    let loops = Loops::of(repository)?;
    let (tasks, reviews) = (loops.tasks(looped)?, loops.reviews(looped)?);
    let ended = |run: &StatedRun| if run.end == StatedEnd::Passed { "passed" } else { "waived" };
    let stated = judged.stated.iter().map(|run| ("You said".to_owned(), format!("`{}` {}", run.command, ended(run))));
    let mut facts: Vec<(String, String)> = stated.collect();
    facts.push(("Reviews".to_owned(), count(u64::from(looped.rounds), "round")));
    if let Some(run) = &looped.run {
        let ledger = loops.ledger();
        let (row, sums) = (ledger.run(run)?, ledger.sums(run)?);
        let (whole, cents) = (sums.micro_usd / 1_000_000, sums.micro_usd % 1_000_000 / 10_000);
        facts.push((
            "Cost".to_owned(),
            format!("${whole}.{cents:02}, {}", count(u64::from(sums.iterations), "iteration")),
        ));
        facts.push(("Branch".to_owned(), row.branch));
    }
    let left = |finding: &&Finding| {
        finding.severity != FindingSeverity::Suggestion
            && matches!(finding.resolution, Resolution::Waived { .. } | Resolution::Deferred { .. })
    };
    let all = reviews.iter().flat_map(|review| &review.findings);
    let risks = all.filter(left).map(|finding| format!("{}:{} {}", finding.file, finding.line, finding.text));
    let waived = judged.waived.iter().map(|(objection, why)| format!("waived: {objection} (why: {why})"));
    let mut forced = Vec::new();
    for task in &tasks {
        let last = loops.ledger().evidence_of(&task.plan, &task.id)?.pop();
        forced.extend(last.filter(|last| last.class == EvidenceClass::Forced).map(|_| task.id.to_string()));
    }
    let card = Card {
        forced,
        tasks: tasks.iter().map(|task| (task.id.to_string(), task.title.clone())).collect(),
        verified: format!("{} run on the final tree", count(judged.checks as u64, "check")),
        done: tasks.len(),
        all: tasks.len(),
        facts,
        risks: waived.chain(risks).collect(),
    };
    Ok(card.render().trim_end().to_owned())
}
