use steadfast_model::{Attempt, Drift, Score, StepKind};

use super::place::{Distance, Signal, Without, WorkScope, distance};
use super::repetition::{Repeated, Repetition, repeated, to_and_fro};
use super::tool_effects::ToolEffects;
use super::topic::off_topic;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepScore {
    pub kind: StepKind,
    pub score: Score,
    /// The reasons for a score below 10, in a few words each.
    pub reasons: Vec<String>,
    /// `None`: the step writes nothing.
    pub leads: Option<Leads>,
    /// The same failure again, if it is one.
    pub repeated: Option<Repeated>,
}

/// The direction of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leads {
    Away,
    /// Near the work, but nothing shows that it is part of it.
    Near,
    /// To the work.
    Back,
}

impl Leads {
    /// Returns the direction of a write and the points that it loses, by its path and its words. For paths that the
    /// human named, and for those that the agent was corrected for, the words do not matter. Words never make a path of
    /// the work lead away.
    fn of(distance: Distance, by_words: Option<f32>) -> (Self, u8) {
        let by_path = match distance {
            _ if distance.is_astray() => Self::Away,
            _ if distance.is_near() => Self::Near,
            _ => Self::Back,
        };
        let lost = distance.points_lost();
        let Some(by_words) = by_words.filter(|_| !matches!(distance, Distance::Named | Distance::Told)) else {
            return (by_path, lost);
        };
        let both = f32::from(lost) + by_words;
        if by_path == Self::Back {
            // The agent hears nothing about these, so there is room for finer steps.
            let leads = if both < NEAR { Self::Back } else { Self::Near };
            return (leads, points(both + 1.0, 2.0));
        }
        let leads = match both {
            _ if both < NEAR => Self::Back,
            _ if both < AWAY => Self::Near,
            _ => Self::Away,
        };
        (leads, points(both, 6.0))
    }
}

/// From here on a step does not lead back to the work; further on it leads away. The limits lie between the points that
/// near paths and their neighbours lose.
const NEAR: f32 = 1.5;
const AWAY: f32 = 2.5;

/// Returns the lost points as a whole number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number that is not negative")]
fn points(lost: f32, most: f32) -> u8 {
    lost.clamp(0.0, most).round() as u8
}

/// The least score of the first write after a human prompt, since that write shows the place of the work.
const FIRST: u8 = 8;

/// The most points that a step may lose, by the number of steps before it that led away. The first such step is
/// questioned, the next one corrected; only an agent that continues is stopped.
const MOST: [u8; 4] = [3, 5, 7, 9];

/// Scores what a call writes or tries. `None`: it only reads.
///
/// A step is scored by its path that leads away farthest. Steps in a row that lead away cost more, up to three of them.
/// A different kind of work costs two points, the same failure for the third time four, whatever it is about.
///
/// ```
/// use steadfast_engine::drift::{ToolEffects, Without, WorkScope, score};
/// use steadfast_model::{Drift, Places, StepKind};
///
/// let places = Places { known: vec!["src/auth/token.rs".into()], worked: vec!["src/auth".into()], ..Places::default() };
/// let work = Drift { places, at_work: true, ..Drift::default() };
/// let edit = |path: &str| ToolEffects { kind: Some(StepKind::Edit), writes: vec![path.into()], ..ToolEffects::default() };
/// let score = |work: &Drift, path| score(work, WorkScope::default(), &edit(path), None, Without::default()).map(|s| s.score.get());
/// // What was read before the first write is the work; what is in a folder where it was written is near it.
/// assert_eq!(score(&work, "src/auth/token.rs"), Some(10));
/// assert_eq!(score(&work, "src/auth/session.rs"), Some(8));
/// // What nothing leads to is not, and the second time in a row less so.
/// assert_eq!(score(&work, "web/menu.ts"), Some(7));
/// let astray = Drift { astray: 1, ..work.clone() };
/// assert_eq!(score(&astray, "web/menu.ts"), Some(5));
/// // CSS when all of it was about something else is another kind of work, too.
/// let farther = Drift { astray: 2, ..work.clone() };
/// assert_eq!(score(&farther, "web/theme.css"), Some(3));
/// ```
pub fn score(
    memory: &Drift,
    scope: WorkScope<'_>,
    effects: &ToolEffects,
    tried: Option<Attempt>,
    without: Without<'_>,
) -> Option<StepScore> {
    let kind = effects.kind?;
    let mut lost = 0;
    let mut reasons = Vec::new();
    let farthest = farthest(memory, scope, effects, without);
    let by_words = without.fit.points_lost(memory, &effects.words).filter(|_| without.has(Signal::Content));
    let mut leads = None;
    if let Some((path, distance)) = farthest {
        let (leads_to, loses) = Leads::of(distance, by_words);
        (leads, lost) = (Some(leads_to), loses);
        if lost > 1 {
            reasons.push(format!("`{path}` {}", distance.as_str()));
        }
        if lost > distance.points_lost().max(1) {
            reasons.push("its text has few words of the work".to_owned());
        }
        if leads_to == Leads::Away {
            if distance != Distance::Told
                && without.has(Signal::Tangent)
                && let Some(work) = off_topic(memory, path)
            {
                lost += 2;
                reasons.push(format!("nothing so far was about {work}"));
            }
            if without.has(Signal::Streak) {
                let before = memory.astray.min(3);
                lost = (lost + before).min(MOST[usize::from(before)]);
            }
            if without.has(Signal::Streak) && memory.astray > 0 {
                reasons.push(match memory.astray {
                    1 => "the step before led away, too".to_owned(),
                    steps => format!("the {steps} steps before led away, too"),
                });
            }
        }
    }
    let mut score = Score::new(Score::BEST.get().saturating_sub(lost));
    if !memory.at_work && without.has(Signal::Prompts) {
        score = score.max(Score::new(FIRST));
    }
    let tried = tried.filter(|_| without.has(Signal::Repetition));
    let undone = to_and_fro(&memory.replaced, &effects.replaced).filter(|_| without.has(Signal::Repetition));
    let repeated = tried.and_then(|attempt| repeated(&memory.window, attempt)).or(undone);
    if let Some(repeated) = repeated {
        score = Score::new(score.get().saturating_sub(4));
        reasons.push(match repeated.what {
            Repetition::Failure => format!("the same attempt failed {} times", repeated.times),
            Repetition::ToAndFro => format!("the same lines changed back and forth {} times", repeated.times),
        });
    }
    Some(StepScore { kind, score, reasons, leads, repeated })
}

fn farthest<'a>(
    memory: &Drift,
    scope: WorkScope<'_>,
    effects: &'a ToolEffects,
    without: Without<'_>,
) -> Option<(&'a str, Distance)> {
    let taken_back = |path: &&String| !is_own(memory, path);
    let all = effects.writes.iter().chain(effects.deletes.iter().filter(taken_back));
    all.map(|path| (path.as_str(), distance(memory, scope, path, without))).max_by_key(|(_, distance)| *distance)
}

/// Returns true if the session itself wrote the files below that path: removing them leads back to the work.
fn is_own(memory: &Drift, path: &str) -> bool {
    let below = |known: &String| known == path || known.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    memory.places.fresh.iter().chain(&memory.places.told).any(below)
}
