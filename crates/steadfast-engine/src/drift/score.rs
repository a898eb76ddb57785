use steadfast_model::{Attempt, Drift, Score, StepKind};

use super::place::{Distance, Signal, Without, WorkScope, distance};
use super::repetition::{Repeated, Repetition, repeated, to_and_fro};
use super::tool_effects::ToolEffects;
use super::topic::off_topic;

/// A step's score, with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepScore {
    pub kind: StepKind,
    pub score: Score,
    /// Why it is not 10, each in a few words.
    pub reasons: Vec<String>,
    /// Where it leads. None: nothing is written.
    pub leads: Option<Leads>,
    /// The same failed before, again and again.
    pub repeated: Option<Repeated>,
}

/// Where a step leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leads {
    /// Away from the work.
    Away,
    /// Neither away nor back: it is near the work, and nothing says that it is part of it.
    Near,
    /// To the work.
    Back,
}

impl Leads {
    /// Where a write leads and what it loses, by its path and by its words. What the human named, and where the agent was
    /// told not to drift to, is so whatever is written there; what belongs to the work leads away by no word.
    fn of(distance: Distance, by_words: Option<f32>) -> (Self, u8) {
        let by_path = match distance {
            _ if distance.is_astray() => Self::Away,
            _ if distance.is_near() => Self::Near,
            _ => Self::Back,
        };
        let lost = distance.lost();
        let Some(by_words) = by_words.filter(|_| !matches!(distance, Distance::Named | Distance::Told)) else {
            return (by_path, lost);
        };
        let both = f32::from(lost) + by_words;
        if by_path == Self::Back {
            // Nothing is said of these, so there is room to tell them apart more finely.
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

/// From here on a step does not lead back, and from here on it leads away: between what a path loses that is near and
/// its neighbours.
const NEAR: f32 = 1.5;
const AWAY: f32 = 2.5;

/// What is lost, in whole points.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number that is not negative")]
fn points(lost: f32, most: f32) -> u8 {
    lost.clamp(0.0, most).round() as u8
}

/// The score of the first write after the human spoke, at the least: it says where the work is.
const FIRST: u8 = 8;

/// What a step may lose at the most, by how many before it led away: one to the side is asked about, the next is told,
/// and only who goes on is stopped.
const MOST: [u8; 4] = [3, 5, 7, 9];

/// Scores what is written or tried. None: it only reads.
///
/// A step is measured by the path that leads away farthest. Steps astray in a row weigh more, up to three; another kind
/// of work weighs two; the same failing a third time weighs four, whatever it is about.
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
    let by_words = without.fit.lost(memory, &effects.words).filter(|_| without.has(Signal::Content));
    let mut leads = None;
    if let Some((path, distance)) = farthest {
        let (leads_to, loses) = Leads::of(distance, by_words);
        (leads, lost) = (Some(leads_to), loses);
        if lost > 1 {
            reasons.push(format!("`{path}` {}", distance.as_str()));
        }
        if lost > distance.lost().max(1) {
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
            Repetition::Failure => format!("the same failed {} times", repeated.times),
            Repetition::ToAndFro => format!("the same lines changed to and fro {} times", repeated.times),
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

/// Whether the session itself wrote what is below that path: who takes that away leads back.
fn is_own(memory: &Drift, path: &str) -> bool {
    let below = |known: &String| known == path || known.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    memory.places.fresh.iter().chain(&memory.places.told).any(below)
}
