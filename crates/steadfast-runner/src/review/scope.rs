use steadfast_model::{Finding, Resolution, Review, ReviewKind, Task};
use steadfast_store::ledger::NewReview;

use crate::experts::{Diff, Expert, ExpertOpinion, Purpose, Reviewed, choose};

use super::Reviewer;
use super::subject::Tip;
use crate::error::RunError;

#[derive(Clone, Debug)]
pub struct CompletedReview {
    pub review: Review,
    pub experts: usize,
    /// Experts without a readable answer after two requests.
    pub silent: Vec<&'static str>,
    /// The number of findings that named no place in the change.
    pub dropped: usize,
}

/// The input of a review.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    pub kind: ReviewKind,
    pub part: ReviewScope<'a>,
    pub tasks: &'a [Task],
    /// Blockers of an earlier round that are reported as fixed.
    pub earlier: &'a [Finding],
}

/// The part of a branch or checkout to review.
#[derive(Clone, Copy, Debug)]
pub enum ReviewScope<'a> {
    /// Everything since this commit.
    Since(&'a str),
    /// Several commit ranges, newest first: the units of one wave, between those of others.
    Stretches(&'a [Stretch]),
}

/// A range of commits that landed in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The commit before the first one.
    pub from: String,
    pub to: String,
}

impl Reviewer<'_> {
    /// Asks experts, and records their review with the loop.
    pub fn review(&self, looped: &steadfast_model::LoopId, look: &Look<'_>) -> Result<CompletedReview, RunError> {
        let (tip, change) = self.changed(look.part)?;
        let (purpose, name) = match look.kind {
            ReviewKind::Light { wave } => (Purpose::Light, format!("review-wave-{wave}")),
            ReviewKind::Thorough { round } => (Purpose::Thorough, format!("review-{round}")),
        };
        let answers = if change.is_empty() {
            Opinions::default()
        } else {
            self.paid(&name, |spent, share| self.ask_experts(&name, purpose, look, (&change, &tip), share, spent))??
        };
        let silent: Vec<&'static str> = answers.silent.iter().map(|expert| expert.as_str()).collect();
        // Without any answer there is no review, and no round is used up.
        if matches!(look.kind, ReviewKind::Thorough { .. }) && !change.is_empty() && answers.opinions.is_empty() {
            return Err(RunError::NoReview { silent });
        }
        let experts = answers.opinions.len() + answers.silent.len();
        let findings: Vec<Finding> = answers.findings();
        let score = answers.score();
        // A single answer is not enough to pass, unless only one expert was asked. A review without a change passes.
        let passed = change.is_empty() || answers.opinions.len() >= 2.min(experts) && !answers.opinions.is_empty();
        let new =
            NewReview { kind: look.kind, score, findings: &findings, passed, now: self.repository.environment.now() };
        let review = self.repository.ledger_as_it_is()?.add_review(looped, &new)?;
        let dropped = answers.opinions.iter().map(|(_, opinion)| opinion.dropped).sum();
        Ok(CompletedReview { review, experts, silent, dropped })
    }

    /// Returns the newest commit of a part, and the change in it.
    fn changed(&self, part: ReviewScope<'_>) -> Result<(Tip, Diff), RunError> {
        match part {
            ReviewScope::Stretches([first, rest @ ..]) => {
                let tip = Tip::of(&first.to);
                let mut change = self.subject.change(&first.from, &tip)?;
                for Stretch { from, to } in rest {
                    change.files.extend(self.subject.change(from, &Tip::of(to))?.files);
                }
                Ok((tip, change))
            }
            ReviewScope::Stretches([]) => Ok((self.subject.tip()?, Diff::default())),
            ReviewScope::Since(from) => {
                let tip = self.subject.tip()?;
                let change = self.subject.change(from, &tip)?;
                Ok((tip, change))
            }
        }
    }

    fn ask_experts(
        &self,
        name: &str,
        purpose: Purpose,
        look: &Look<'_>,
        (change, tip): (&Diff, &Tip),
        share: Option<u64>,
        spent: &mut dyn FnMut(steadfast_model::Spent),
    ) -> Result<Opinions, RunError> {
        let folder = self.folder()?;
        let directory = self.subject.lay_out(name, tip)?;
        let tasks: Vec<String> = look.tasks.iter().map(|task| format!("{} {}", task.id, task.title)).collect();
        let earlier: Vec<String> = look.earlier.iter().map(line).collect();
        let reviewed = Reviewed { purpose, tasks: &tasks, earlier: &earlier };
        let brief = |expert: &Expert| (*expert, self.review_brief.review(*expert, &reviewed, change));
        let mut opinions = Opinions::default();
        let mut asked = choose(purpose, change.paths());
        let mut before = steadfast_model::Spent { micro_usd: Some(0), ..Default::default() };
        // An expert with an unreadable answer is asked once more.
        for _ in 0..2 {
            let briefs: Vec<(Expert, String)> = asked.iter().map(brief).collect();
            let mut now = before;
            let statements = self.panel(name, &directory, &folder, share).ask(&briefs, self.stop, &mut |taken| {
                now = before.plus(taken);
                spent(now);
            });
            before = now;
            asked.clear();
            for statement in statements {
                match statement.spoken.said.as_deref().and_then(|said| ExpertOpinion::read(said, change)) {
                    Some(opinion) => opinions.opinions.push((statement.expert, opinion)),
                    None => asked.push(statement.expert),
                }
            }
            if asked.is_empty() || self.stop.load(std::sync::atomic::Ordering::Relaxed) {
                break;
            }
        }
        opinions.silent = asked;
        self.subject.remove_read_only(name)?;
        Ok(opinions)
    }
}

/// The answers of experts.
#[derive(Default)]
struct Opinions {
    opinions: Vec<(Expert, ExpertOpinion)>,
    silent: Vec<Expert>,
}

impl Opinions {
    /// Returns the mean, rounded.
    fn score(&self) -> Option<u8> {
        let count = u32::try_from(self.opinions.len()).ok().filter(|count| *count > 0)?;
        let sum: u32 = self.opinions.iter().map(|(_, opinion)| u32::from(opinion.score)).sum();
        u8::try_from((sum + count / 2) / count).ok()
    }

    /// Returns the findings. Equal findings of several experts are merged.
    fn findings(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        for (expert, opinion) in &self.opinions {
            for noted in &opinion.findings {
                let same = |known: &Finding| {
                    known.severity == noted.severity
                        && (known.file.as_str(), known.line, known.text.as_str())
                            == (noted.file.as_str(), noted.line, noted.text.as_str())
                };
                if findings.iter().any(same) {
                    continue;
                }
                findings.push(Finding {
                    id: 0,
                    severity: noted.severity,
                    file: noted.file.clone(),
                    line: noted.line,
                    expert: expert.as_str().to_owned(),
                    text: noted.text.clone(),
                    must_not: noted.must_not.clone(),
                    resolution: Resolution::Open,
                });
            }
        }
        findings.sort_by_key(|finding| finding.severity);
        findings
    }
}

/// Renders `src/a.rs:12 it never ends`.
pub fn line(finding: &Finding) -> String {
    format!("{}:{} {}", finding.file, finding.line, finding.text)
}
