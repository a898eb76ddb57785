//! The distance of a path to the work of a session.

use steadfast_model::{Drift, Goal, Neighbours};
use steadfast_words::WordList;

use super::content::Fit;
use super::words;
use crate::policy::covers;

/// How a path relates to the work, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// The human, a task or the settings name it.
    Named,
    /// The agent read it before the work began, or wrote it before the last human prompt.
    Known,
    /// It belongs to a file of the work: its test, its lock file, a file of the same name, a file that changes together
    /// with it in the history.
    Companion,
    /// A document that the agent read before the first write names it.
    Planned,
    /// The human's words contain its name.
    Spoken,
    /// It is in a folder in which the agent wrote a file of the work. A folder that was only read proves less: an agent
    /// that looks around reads in many.
    Inside,
    /// Its name shares a word with the names of the work.
    SimilarName,
    /// The agent looked at it after the last human prompt; nothing else connects it to the work.
    Explored,
    /// It is deeper below such a folder.
    Below,
    /// The agent read in its folder during the work.
    Seen,
    /// The agent was corrected for writing in its folder.
    Told,
    /// It is next to a folder of the work.
    Beside,
    /// It shares the beginning of its path with the work.
    Distant,
    /// Nothing connects it to the work.
    Apart,
}

impl Distance {
    /// The points that a write there loses.
    pub(super) fn points_lost(self) -> u8 {
        match self {
            Self::Named | Self::Known => 0,
            Self::Companion | Self::Planned | Self::Spoken => 1,
            Self::Inside | Self::SimilarName | Self::Explored => 2,
            Self::Below | Self::Seen | Self::Told | Self::Beside => 3,
            Self::Distant => 4,
            Self::Apart => 5,
        }
    }

    /// Returns true if a write there leads away from the work.
    pub(crate) fn is_astray(self) -> bool {
        self >= Self::Below
    }

    /// Returns true if it is near the work, but nothing shows that it is part of it.
    pub(crate) fn is_near(self) -> bool {
        matches!(self, Self::Inside | Self::SimilarName | Self::Explored)
    }

    /// A few words for the reasons of a score.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Named => "was named",
            Self::Known => "belongs to the work",
            Self::Companion => "goes with a file of the work",
            Self::Planned => "is named in a document that was read first",
            Self::Spoken => "is what the human spoke of",
            Self::Inside => "is in a folder of the work",
            Self::SimilarName => "is named like files of the work",
            Self::Explored => "was only looked at",
            Self::Below => "is deep below a folder of the work",
            Self::Seen => "was only read on the way",
            Self::Told => "is in a folder that an earlier correction named",
            Self::Beside => "is beside the work",
            Self::Distant => "is far from the work",
            Self::Apart => "has nothing to do with the work so far",
        }
    }
}

/// Signals to leave out, to measure what each of them adds, and the weights for texts. Only the benchmark sets these.
#[derive(Clone, Copy, Debug, Default)]
pub struct Without<'a> {
    pub signals: &'a [Signal],
    /// The weights for the words of a text.
    pub fit: Fit,
}

/// One of the inputs of a distance and a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Paths that the human, a task or the settings name.
    Named,
    /// Words of the human in a path.
    Words,
    /// Files that belong to a file of the work.
    Companions,
    /// Files that change together with a file of the work in the history.
    Neighbours,
    SimilarName,
    Folders,
    /// Files read before a write.
    Reads,
    /// Files named in a document that was read before a write.
    Documents,
    /// A prompt makes looking around free again, and what was written before part of the work.
    Prompts,
    /// Several steps in a row that lead away.
    Streak,
    /// A different kind of work.
    Tangent,
    /// Repeated failures, and lines changed back and forth.
    Repetition,
    /// The words of the written text.
    Content,
}

impl Without<'_> {
    pub(super) fn has(self, signal: Signal) -> bool {
        !self.signals.contains(&signal)
    }
}

/// Descriptions of the work from outside the session.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkScope<'a> {
    pub goal: Option<&'a Goal>,
    /// Paths of the settings and of the current task, which always belong to the work.
    pub always: &'a [String],
    /// Files that change together in the history with those that are written.
    pub neighbours: &'a [Neighbours],
}

/// Returns the distance of a path, relative to the session's root, to the work so far.
///
/// ```
/// use steadfast_engine::drift::{Distance, WorkScope, Without, distance};
/// use steadfast_model::{Drift, Goal, Places};
///
/// let goal = Goal { scope: vec!["src/auth/".into()], ..Goal::default() };
/// let scope = WorkScope { goal: Some(&goal), ..WorkScope::default() };
/// let places = Places { known: vec!["src/session.rs".into()], folders: vec!["src".into()], ..Places::default() };
/// let work = Drift { places, ..Drift::default() };
/// let distance = |path| distance(&work, scope, path, Without::default());
/// assert_eq!(distance("src/auth/token.rs"), Distance::Named);
/// assert_eq!(distance("tests/session_test.rs"), Distance::Companion);
/// assert_eq!(distance("web/theme.css"), Distance::Apart);
/// ```
pub fn distance(memory: &Drift, scope: WorkScope<'_>, path: &str, without: Without<'_>) -> Distance {
    let places = &memory.places;
    if without.has(Signal::Named) && is_named(scope, path) {
        return Distance::Named;
    }
    if has(&places.known, path) {
        return Distance::Known;
    }
    if without.has(Signal::Companions) && is_companion(memory, path) {
        return Distance::Companion;
    }
    if without.has(Signal::Neighbours) && is_neighbour(memory, scope, path) {
        return Distance::Companion;
    }
    if without.has(Signal::Documents) && is_planned(memory, path) {
        return Distance::Planned;
    }
    let nearest = by_folder(memory, path, without);
    let spoken = (without.has(Signal::Words) && is_spoken(memory, path)).then_some(Distance::Spoken);
    let similar = (without.has(Signal::SimilarName) && has_similar_name(memory, path)).then_some(Distance::SimilarName);
    [Some(nearest), spoken, similar].into_iter().flatten().min().unwrap_or(Distance::Apart)
}

fn is_named(WorkScope { goal, always, .. }: WorkScope<'_>, path: &str) -> bool {
    let mut names = goal.map(|goal| goal.scope.iter()).into_iter().flatten().chain(always);
    // A human on Windows writes it with backslashes.
    names.any(|name| covers(&name.replace('\\', "/"), &format!("/{path}"), "/"))
}

/// Returns true if the history changes a path together with a file of the work. Files written on the way do not count:
/// an agent that strays among files that belong together would otherwise be at home after the first of them.
fn is_neighbour(memory: &Drift, scope: WorkScope<'_>, path: &str) -> bool {
    let with = scope.neighbours.iter().filter(|all| all.path == path).flat_map(|all| &all.with);
    with.into_iter().any(|other| has(&memory.places.known, other) || is_named(scope, other))
}

/// Returns true if a document names the path, relative to the root or to a folder below it.
fn is_planned(memory: &Drift, path: &str) -> bool {
    let ends =
        |named: &String| path.strip_suffix(named.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    memory.places.planned.iter().any(ends)
}

fn by_folder(memory: &Drift, path: &str, without: Without<'_>) -> Distance {
    let places = &memory.places;
    let folder = folder(path);
    if without.has(Signal::Folders) && has(&places.worked, folder) {
        return Distance::Inside;
    }
    if without.has(Signal::Reads) && (has(&places.explored, path) || has(&places.explored, folder)) {
        return Distance::Explored;
    }
    if without.has(Signal::Folders) && places.worked.iter().any(|known| is_below(folder, known)) {
        return Distance::Below;
    }
    if has(&places.told, folder) {
        return Distance::Told;
    }
    if without.has(Signal::Reads) && has(&places.seen, folder) {
        return Distance::Seen;
    }
    let shared = places.folders.iter().map(|known| in_common(known, folder)).max().unwrap_or_default();
    match folder.split('/').count().saturating_sub(shared) {
        0 | 1 if shared > 0 => Distance::Beside,
        _ if shared > 0 => Distance::Distant,
        _ => Distance::Apart,
    }
}

/// Returns the folder of a path; empty for a file at the root.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn has(list: &[String], path: &str) -> bool {
    list.iter().any(|known| known == path)
}

fn is_below(folder: &str, known: &str) -> bool {
    !known.is_empty() && folder.strip_prefix(known).is_some_and(|rest| rest.starts_with('/'))
}

/// Counts the leading parts that two folders share.
fn in_common(one: &str, other: &str) -> usize {
    one.split('/').zip(other.split('/')).take_while(|(one, other)| one == other && !one.is_empty()).count()
}

/// Returns true if the human's words contain all of its name, or two words of its path. One word alone is in half of
/// the paths of a project.
fn is_spoken(memory: &Drift, path: &str) -> bool {
    let is_said = |word: &String| memory.words.contains(word);
    let mut own = words::of_path(name(path)).peekable();
    let whole = own.peek().is_some() && own.all(|word| is_said(&word));
    whole || words::of_path(path).filter(is_said).nth(1).is_some()
}

fn has_similar_name(memory: &Drift, path: &str) -> bool {
    let own: Vec<String> = words::of_path(name(path)).collect();
    let shares = |known: &String| words::of_path(name(known)).any(|word| own.contains(&word));
    !own.is_empty() && memory.places.known.iter().any(shares)
}

/// Returns true if a path belongs to a file of the work: it is a file that changes with every change, or it has the
/// name of such a file.
fn is_companion(memory: &Drift, path: &str) -> bool {
    const TOGETHER: WordList = words!("changes with everything");
    if TOGETHER.iter().any(|other| name(path).eq_ignore_ascii_case(other)) {
        return true;
    }
    let own = stem(name(path));
    let tells = own.len() > 2 && words::of_path(&own).next().is_some();
    tells && memory.places.known.iter().any(|known| stem(name(known)) == own)
}

/// Returns a file's name without its endings and without the parts that only mark a test.
fn stem(name: &str) -> String {
    let plain = name.trim_start_matches('.').split('.').next().unwrap_or(name).to_lowercase().replace('-', "_");
    let plain = plain.strip_prefix("test_").unwrap_or(&plain);
    let ends = ["_test", "_tests", "_spec"];
    ends.iter().find_map(|end| plain.strip_suffix(end)).unwrap_or(plain).trim_matches('_').to_owned()
}
