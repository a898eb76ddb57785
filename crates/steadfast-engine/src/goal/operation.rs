//! What commits and pushes, commands and dependencies are about.

use steadfast_model::ConstraintKind;
use steadfast_words::{Word, WordKind};

use super::action::Action;
use super::list;
use super::object::{ends, skip};
use super::target;

/// What a commit or a push is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Git {
    All,
    To(Vec<String>),
    /// A certain thing, or under a condition that is not the human's word.
    Particular,
}

pub(super) fn git_object(words: &[Word]) -> Git {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.is_break() || word.is_one_of(&["or", "and", "but", "because", "as", "since", "so", "ever"]) {
            return Git::All;
        }
        if word.is_one_of(&["to", "onto", "into", "on", "for"]) {
            let target = words[at + 1..].iter().find(|word| !word.is_one_of(&["the", "any", "our", "your", "my", "a"]));
            return match target {
                None => Git::Particular,
                Some(target) if target::is_branch(target) || target.kind == WordKind::Code => {
                    // `main or develop`.
                    let from = words[at + 1..]
                        .iter()
                        .skip_while(|word| !target::is_branch(word) && word.kind != WordKind::Code);
                    let listed = from.take_while(|word| {
                        target::is_branch(word) || word.kind == WordKind::Code || word.is_one_of(&["or", "and", "nor"])
                    });
                    let named = listed.filter(|word| target::is_branch(word) || word.kind == WordKind::Code);
                    Git::To(named.map(|word| word.raw.clone()).collect())
                }
                Some(target) if target.text.starts_with("origin/") || target.text.starts_with("upstream/") => {
                    Git::To(target.raw.split_once('/').map(|(_, branch)| branch.to_owned()).into_iter().collect())
                }
                Some(target) if target.is_in(list("about-remotes")) => Git::All,
                // `on your own`, `for now`, `for this one`.
                Some(target) if target.is_one_of(&["own", "now", "this", "it", "behalf"]) => Git::All,
                Some(_) => Git::Particular,
            };
        }
        if word.is_one_of(&["until", "till", "before", "unless", "without"]) {
            let humans = words[at..].iter().any(|word| word.is_in(list("about-human")));
            return if humans { Git::All } else { Git::Particular };
        }
        if !word.is_in(list("about-says-nothing")) {
            return Git::Particular;
        }
        at += 1;
    }
    Git::All
}

/// Whether what follows takes the sentence back, unless the human says otherwise.
pub(super) fn is_conditional(words: &[Word]) -> bool {
    let condition = words.iter().position(|word| word.is_one_of(&["unless"]));
    condition.is_some_and(|at| !words[at..].iter().any(|word| word.is_in(list("about-human"))))
}

/// What is run, as an action.
pub(super) fn run(words: &[Word]) -> Vec<Action> {
    run_object(words).map(|line| vec![(ConstraintKind::Run, vec![line])]).unwrap_or_default()
}

/// The command, or the thing with its usual commands, that is run.
pub(super) fn run_object(words: &[Word]) -> Option<String> {
    let words = list("about-light").skip(words);
    // `the app's migrations`.
    let owner = words.first().is_some_and(|word| word.text.ends_with("'s"));
    let words = &words[usize::from(owner)..];
    let first = words.first()?;
    if let Some((name, _)) =
        target::named(words).filter(|(name, _)| list("about-runnable").is(&steadfast_words::words(name)))
    {
        return Some(name.to_owned());
    }
    let singles = [
        ("server", "dev server"),
        ("servers", "dev server"),
        ("build", "build"),
        ("linter", "linter"),
        ("formatter", "formatter"),
        ("benchmarks", "benchmarks"),
    ];
    if let Some((_, name)) = singles.iter().find(|(word, _)| first.is(word)) {
        return Some((*name).to_owned());
    }
    if first.kind == WordKind::Code {
        return first.raw.chars().next().is_some_and(char::is_alphanumeric).then(|| first.raw.clone());
    }
    if !target::is_program(first) {
        return None;
    }
    let end = words.iter().position(|word| ends(Some(word)) || word.is_one_of(&["in", "on", "to", "from"]));
    let end = words.iter().position(|word| word.is_one_of(&["commands", "command", "containers"])).or(end);
    // `git commands that push`: certain ones.
    if end.and_then(|end| words.get(end + 1)).is_some_and(|word| word.is_one_of(&["that", "which"])) {
        return None;
    }
    let line: Vec<&str> = words[..end.unwrap_or(words.len())].iter().map(|word| word.raw.as_str()).collect();
    Some(line.join(" ").to_lowercase())
}

/// Whether new dependencies are meant, and whether it says that they are new.
pub(super) fn dependencies(words: &[Word]) -> Option<bool> {
    let words = skip(words, &["any", "a", "an", "in", "the", "some"]);
    let end = words.iter().position(|word| !word.is_in(list("about-adjectives")))?;
    words[end].is_in(list("about-nouns")).then_some(end > 0)
}
