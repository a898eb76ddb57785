//! Views of a loop for people and other programs: `workflow-state.json`, the text for a new session, the next step.

pub(crate) mod card;
pub(crate) mod fit;
pub(crate) mod shape;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use steadfast_model::{Counts, Loop, LoopView, OwnerEnd, Review, ReviewKind, Stage, Status, Task};
use steadfast_text::{count, one_line, truncate};

/// The progress of a loop's plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoopProgress {
    pub done: u32,
    pub blocked: u32,
    pub all: u32,
    /// The current wave, from 1. `None`: no run counts waves.
    pub wave: Option<u32>,
}

impl LoopProgress {
    pub fn of(tasks: &[Task]) -> Self {
        let of = |status: Status| tasks.iter().filter(|task| task.status == status).count();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let open = tasks.iter().filter(|task| !task.status.is_closed());
        Self {
            done: number(of(Status::Done)),
            blocked: number(of(Status::Blocked)),
            all: number(tasks.len()),
            wave: open.filter_map(|task| task.wave).min().or_else(|| tasks.iter().filter_map(|task| task.wave).max()),
        }
    }

    /// Computes the progress from the number of tasks per status. The current wave is unknown then.
    pub fn counted(counts: Counts) -> Self {
        Self { done: counts.done, blocked: counts.blocked, all: counts.all(), wave: None }
    }

    /// Reports whether no task is left that could be worked on.
    pub fn is_over(self) -> bool {
        self.all > 0 && self.done + self.blocked == self.all
    }
}

/// The stage of a loop, and the next step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextStep {
    pub stage: Stage,
    /// The status in words.
    pub standing: String,
    /// The action that advances the loop.
    pub action: String,
}

#[derive(Serialize)]
struct WorkflowState<'a> {
    version: u32,
    stage: Stage,
    task: &'a str,
    spec_score: Option<u8>,
    fit_score: Option<u8>,
    shape_chosen: Option<&'static str>,
    started_at: String,
    last_updated: String,
    recall_surfaced: &'a [String],
    reviews: Reviews<'a>,
}

/// One entry per wave and one for the last thorough review, in that order.
struct Reviews<'a>(&'a [Review]);

#[derive(Serialize)]
struct OfWave {
    score: Option<u8>,
    issues: usize,
    blockers: usize,
}

#[derive(Serialize)]
struct Thorough {
    passed: bool,
    blockers_remaining: u32,
}

impl Serialize for Reviews<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (wave, review) in waves(self.0) {
            let of_wave = OfWave { score: review.score, issues: review.findings.len(), blockers: blockers(review) };
            map.serialize_entry(&format!("wave_{wave}"), &of_wave)?;
        }
        if let Some((_, Review { passed, blockers_remaining, .. })) = last_thorough(self.0) {
            let thorough = Thorough { passed: *passed, blockers_remaining: *blockers_remaining };
            map.serialize_entry("thorough", &thorough)?;
        }
        map.end()
    }
}

/// Returns the last review of each wave, in the order of the waves.
fn waves(reviews: &[Review]) -> Vec<(u32, &Review)> {
    let mut found: Vec<(u32, &Review)> = Vec::new();
    for review in reviews {
        if let ReviewKind::Light { wave } = review.kind {
            found.retain(|(other, _)| *other != wave);
            found.push((wave, review));
        }
    }
    found.sort_by_key(|(wave, _)| *wave);
    found
}

/// Returns the thorough review that counts: that of the last round.
pub fn last_thorough(reviews: &[Review]) -> Option<(u32, &Review)> {
    let rounds = reviews.iter().filter_map(|review| match review.kind {
        ReviewKind::Thorough { round } => Some((round, review)),
        ReviewKind::Light { .. } => None,
    });
    rounds.max_by_key(|(round, _)| *round)
}

fn blockers(review: &Review) -> usize {
    review.findings.iter().filter(|finding| finding.blocks()).count()
}

/// Renders `workflow-state.json`.
pub fn workflow_state(looped: &Loop, reviews: &[Review]) -> String {
    let state = WorkflowState {
        version: 1,
        stage: looped.stage,
        task: &looped.request,
        spec_score: looped.scores.map(|scores| scores.spec),
        fit_score: looped.scores.map(|scores| scores.fit),
        shape_chosen: looped.autonomy().map(steadfast_model::Autonomy::as_str),
        started_at: looped.started_at.to_string(),
        last_updated: looped.updated_at.to_string(),
        recall_surfaced: &looped.recall_surfaced,
        reviews: Reviews(reviews),
    };
    // Serializing our own data does not fail.
    serde_json::to_string_pretty(&state).map(|text| text + "\n").unwrap_or_default()
}

/// Returns the text about an unfinished loop for a new session.
pub fn resume_text(looped: &Loop, reviews: &[Review], progress: LoopProgress) -> String {
    let number = |value: Option<u32>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let spec = number(looped.scores.map(|scores| scores.spec.into()));
    let fit = number(looped.scores.map(|scores| scores.fit.into()));
    let LoopProgress { done, all, wave, .. } = progress;
    format!(
        "[LOOP RESUME] Active loop detected\nStage: {} | Spec: {spec}/10 | Fit: {fit}\nProgress: {done}/{all} tasks | \
         Wave: {}\nReviews: {}\nNext: {}",
        looped.stage.as_str(),
        number(wave),
        summary(reviews),
        next(looped, reviews, progress).action,
    )
}

/// Formats `wave 1: 8/10, 2 issues; thorough: 1 blocker remaining`.
fn summary(reviews: &[Review]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (wave, review) in waves(reviews) {
        let score = review.score.map_or_else(|| "no score".to_owned(), |score| format!("{score}/10"));
        parts.push(format!("wave {wave}: {score}, {}", count(review.findings.len(), "issue")));
    }
    if let Some((round, review)) = last_thorough(reviews) {
        let how = match (review.passed, review.blockers_remaining) {
            (true, _) => "passed".to_owned(),
            (false, 0) => "not passed, too few answers".to_owned(),
            (false, remaining) => format!("{} remaining", count(remaining, "blocker")),
        };
        parts.push(format!("thorough round {round}: {how}"));
    }
    if parts.is_empty() { "none".to_owned() } else { parts.join("; ") }
}

/// Returns the next step of a loop, by its stage.
pub fn next(looped: &Loop, reviews: &[Review], progress: LoopProgress) -> NextStep {
    let spec = looped.spec.as_deref().unwrap_or("SPEC.md");
    let (status, action) = match looped.stage {
        _ if looped.ended.is_some() => {
            ("the loop has ended".to_owned(), "`steadfast loop start TEXT` starts another".to_owned())
        }
        Stage::Intent if looped.is_unclear() => (
            "the request is not clear enough".to_owned(),
            "`steadfast loop start TEXT` with a clearer request, or a human runs `steadfast loop override --why REASON`"
                .to_owned(),
        ),
        Stage::Intent => {
            let status = match (&looped.overridden, looped.scores) {
                (Some(_), _) => "a human accepted the request as it is",
                (None, Some(_)) => "the request is clear enough",
                (None, None) => "the request has no score",
            };
            (status.to_owned(), "`steadfast loop advance shape`".to_owned())
        }
        Stage::Shape if looped.shape.is_none() => (
            "criteria, must-nots and verification are not recorded yet".to_owned(),
            format!("`steadfast loop shape {spec}` records those of the spec"),
        ),
        Stage::Shape => ("the shape is recorded".to_owned(), "`steadfast loop advance decompose`".to_owned()),
        Stage::Decompose if looped.plan.is_none() && progress.all == 0 => (
            "no plan is loaded".to_owned(),
            format!("`steadfast plan load {spec}`, then `steadfast loop advance executing`"),
        ),
        Stage::Decompose => {
            (counted_tasks(progress), "`steadfast loop advance executing`".to_owned())
        }
        Stage::Executing if progress.is_over() && progress.blocked > 0 => (
            counted_tasks(progress),
            "a human can run `steadfast task unblock ID`; `steadfast loop advance review` continues \
             without the blocked tasks"
                .to_owned(),
        ),
        Stage::Executing if progress.is_over() => {
            (counted_tasks(progress), "`steadfast loop advance review`".to_owned())
        }
        Stage::Executing => (counted_tasks(progress), "`steadfast task next` shows the next task".to_owned()),
        Stage::Review => match last_thorough(reviews) {
            Some((round, review)) if review.passed => {
                (format!("round {round} of the thorough review passed"), "`steadfast loop gate`".to_owned())
            }
            Some((round, review)) if review.blockers_remaining == 0 => (
                format!("round {round} of the thorough review did not pass: too few experts answered"),
                "`steadfast loop review` asks them again".to_owned(),
            ),
            Some((round, review)) => (
                format!(
                    "round {round} of the thorough review has {} left",
                    count(review.blockers_remaining, "blocker")
                ),
                "`steadfast loop review` lists the findings to fix, waive or defer".to_owned(),
            ),
            None => ("the thorough review has not run yet".to_owned(), "`steadfast loop review`".to_owned()),
        },
        Stage::Complete => ("the loop has ended".to_owned(), "`steadfast loop start TEXT` starts another".to_owned()),
    };
    NextStep { stage: looped.stage, standing: status, action }
}

/// Returns the parts of a loop that a decision needs.
pub fn loop_view(looped: &Loop, reviews: &[Review], counts: Counts, session_ended: Option<OwnerEnd>) -> LoopView {
    let progress = LoopProgress::counted(counts);
    let NextStep { stage, standing: status, action } = next(looped, reviews, progress);
    // Only a human can unblock a task.
    let blocked = stage == Stage::Executing && progress.is_over() && progress.blocked > 0;
    LoopView {
        id: looped.id.clone(),
        stage,
        session: looped.session.clone(),
        session_ended,
        run: looped.run.clone(),
        plan: looped.plan.clone(),
        counts,
        waits: looped.waits.clone().or_else(|| blocked.then(|| status.clone())),
        limit: None,
        standing: status,
        next: action,
    }
}

/// Renders `PROGRESS.md` of a loop whose tasks are worked on in a session. A run writes its own.
pub fn loop_progress(looped: &Loop, reviews: &[Review], tasks: &[Task]) -> String {
    let progress = LoopProgress::of(tasks);
    let mut page = format!("# Loop Progress: {}\n\n**Status:** {}", one_line(&looped.request), looped.stage.as_str());
    if let Some(wave) = progress.wave {
        page += &format!(" | Wave {wave}");
    }
    let (iterations, cost) = (looped.limits.iterations, looped.limits.micro_usd);
    let of = |limit: Option<String>| limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    page += &format!(" | Iteration {}{}", looped.iterations, of(iterations.map(|limit| limit.to_string())));
    page += &format!(" | Cost: {}{}\n", dollars(looped.micro_usd()), of(cost.map(dollars)));
    for (heading, status, mark) in [
        ("✅ Completed", Status::Done, "x"),
        ("🔄 In Progress", Status::InProgress, " "),
        ("⏳ Pending", Status::Pending, " "),
        ("🚫 Blocked", Status::Blocked, " "),
    ] {
        let of_status: Vec<&Task> = tasks.iter().filter(|task| task.status == status).collect();
        if of_status.is_empty() {
            continue;
        }
        page += &format!("\n## {heading}\n");
        for task in of_status {
            page += &format!("- [{mark}] {}: {}\n", task.id, one_line(&task.title));
        }
    }
    let stuck: u32 = tasks.iter().map(|task| task.stuck_count).sum();
    page += &format!("\n## 📊 Metrics\n- Tasks: {}/{} complete\n- Stuck count: {stuck}\n", progress.done, progress.all);
    page + &counsel(tasks, reviews.len())
}

/// Reports how often experts were asked, with reviews, and their recommendations for stuck tasks.
pub fn counsel(tasks: &[Task], reviews: usize) -> String {
    /// The maximum length of a recommendation, with the `…`. The notes of the task have the full text.
    const SAID: usize = 161;
    let panels: Vec<(&Task, &str)> =
        tasks.iter().flat_map(|task| task.counsel().map(move |said| (task, said))).collect();
    let mut lines = format!("- Counsel consulted: {}\n", count(reviews + panels.len(), "time"));
    for (task, said) in panels {
        lines += &format!("  - {}, stuck: {}\n", task.id, truncate(said, SAID));
    }
    lines
}

fn dollars(micro: u64) -> String {
    format!("${}.{:02}", micro / 1_000_000, micro % 1_000_000 / 10_000)
}

fn counted_tasks(progress: LoopProgress) -> String {
    let LoopProgress { done, blocked, all, .. } = progress;
    match blocked {
        0 => format!("{done} of {all} tasks are done"),
        blocked => format!("{done} of {all} tasks are done, {blocked} blocked"),
    }
}

#[cfg(test)]
mod tests;
