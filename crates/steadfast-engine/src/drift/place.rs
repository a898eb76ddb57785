//! Where a path is, to the work of a session.

use steadfast_model::{Drift, Goal, Neighbours};

use super::content::Fit;
use super::words;
use crate::policy::covers;

/// How a path stands to the work, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// The human, a task or the settings name it.
    Named,
    /// It was read before the work began, or written before the human spoke again.
    Known,
    /// It goes with a file of the work: its test, its lock file, its twin of the same name, what history changes with it.
    Companion,
    /// A document that was read before the first write names it.
    Planned,
    /// Its name is in the human's words.
    Spoken,
    /// It is in a folder in which something of the work was written. That it was read from says less: who looks around
    /// reads in many.
    Inside,
    /// A word of its name is in the names of the work.
    SimilarName,
    /// It was looked at after the human spoke again, and nothing else leads to it.
    Explored,
    /// It is somewhere below such a folder.
    Below,
    /// Its folder was looked into in the middle of the work.
    Seen,
    /// Its folder is one about which the agent was told.
    Told,
    /// It is beside a folder of the work.
    Beside,
    /// It shares the beginning of its path with the work.
    Distant,
    /// Nothing leads to it.
    Apart,
}

impl Distance {
    /// What a score loses by it.
    pub(super) fn lost(self) -> u8 {
        match self {
            Self::Named | Self::Known => 0,
            Self::Companion | Self::Planned | Self::Spoken => 1,
            Self::Inside | Self::SimilarName | Self::Explored => 2,
            Self::Below | Self::Seen | Self::Told | Self::Beside => 3,
            Self::Distant => 4,
            Self::Apart => 5,
        }
    }

    /// It leads away.
    pub(crate) fn is_astray(self) -> bool {
        self >= Self::Below
    }

    /// It leads neither away nor back: it is near the work, and nothing says that it is part of it.
    pub(crate) fn is_near(self) -> bool {
        matches!(self, Self::Inside | Self::SimilarName | Self::Explored)
    }

    /// In a few words, for whoever is told.
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
            Self::Told => "is where the agent was told not to drift to",
            Self::Beside => "is beside the work",
            Self::Distant => "is far from the work",
            Self::Apart => "has nothing to do with the work so far",
        }
    }
}

/// The signals that are left out, to see what they add, and how texts are judged. A benchmark alone changes these.
#[derive(Clone, Copy, Debug, Default)]
pub struct Without<'a> {
    pub signals: &'a [Signal],
    /// What the words of a text have to be.
    pub fit: Fit,
}

/// What a standing and a score are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// What the human, a task or the settings name.
    Named,
    /// The human's words in a path.
    Words,
    /// What goes with a file of the work.
    Companions,
    /// What history changes together with a file of the work.
    Neighbours,
    /// Names like those of the work.
    SimilarName,
    /// Folders of the work.
    Folders,
    /// What was read before a write.
    Reads,
    /// What a document names that was read before a write.
    Documents,
    /// A prompt makes looking around free, and what was written known.
    Prompts,
    /// Several steps astray in a row.
    Streak,
    /// Another kind of work.
    Tangent,
    /// The same failing again, and the same lines changed to and fro.
    Repetition,
    /// The words of what is written.
    Content,
}

impl Without<'_> {
    pub(super) fn has(self, signal: Signal) -> bool {
        !self.signals.contains(&signal)
    }
}

/// What is said of the work, beside what the session itself shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkScope<'a> {
    pub goal: Option<&'a Goal>,
    /// What belongs whatever the human said: of the settings, of the task at hand.
    pub always: &'a [String],
    /// What history changes together with what is written.
    pub neighbours: &'a [Neighbours],
}

/// Where a path stands, with what was said and done so far. It is told from the session's root.
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
    // A human on Windows names it so.
    names.any(|name| covers(&name.replace('\\', "/"), &format!("/{path}"), "/"))
}

/// Whether history changes a path together with a file of the work. What was written on the way is none: whoever strays
/// among files that belong together would be at home after the first.
fn is_neighbour(memory: &Drift, scope: WorkScope<'_>, path: &str) -> bool {
    let with = scope.neighbours.iter().filter(|all| all.path == path).flat_map(|all| &all.with);
    with.into_iter().any(|other| has(&memory.places.known, other) || is_named(scope, other))
}

/// Whether a document names it, from the root or from a folder below it.
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

/// The folder of a path; of one at the root, nothing.
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

/// How many parts two folders share from their beginning.
fn in_common(one: &str, other: &str) -> usize {
    one.split('/').zip(other.split('/')).take_while(|(one, other)| one == other && !one.is_empty()).count()
}

/// All of its name, or two words of its path: one word alone is in half of the paths of a project.
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

/// Whether a path goes with the work: it changes whenever anything does, or has the name of a file that belongs to it.
fn is_companion(memory: &Drift, path: &str) -> bool {
    const TOGETHER: [&str; 16] = [
        ".gitignore",
        "bun.lock",
        "bun.lockb",
        "cargo.lock",
        "cargo.toml",
        "changelog.md",
        "composer.lock",
        "gemfile.lock",
        "go.mod",
        "go.sum",
        "package-lock.json",
        "package.json",
        "pnpm-lock.yaml",
        "poetry.lock",
        "uv.lock",
        "yarn.lock",
    ];
    if TOGETHER.iter().any(|other| name(path).eq_ignore_ascii_case(other)) {
        return true;
    }
    let own = stem(name(path));
    let tells = own.len() > 2 && words::of_path(&own).next().is_some();
    tells && memory.places.known.iter().any(|known| stem(name(known)) == own)
}

/// A file's name without its endings and without what only says that it is a test.
fn stem(name: &str) -> String {
    let plain = name.trim_start_matches('.').split('.').next().unwrap_or(name).to_lowercase().replace('-', "_");
    let plain = plain.strip_prefix("test_").unwrap_or(&plain);
    let ends = ["_test", "_tests", "_spec"];
    ends.iter().find_map(|end| plain.strip_suffix(end)).unwrap_or(plain).trim_matches('_').to_owned()
}
