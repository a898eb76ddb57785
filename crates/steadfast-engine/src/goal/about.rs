//! What commits and pushes, commands and dependencies are about.

use steadfast_model::ConstraintKind;
use steadfast_words::{Kind, Word};

use super::action::Action;
use super::list;
use super::object::{ends, skip};
use super::thing;

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
        thing::named(words).filter(|(name, _)| list("about-runnable").is(&steadfast_words::words(name)))
    {
        return Some(name.to_owned());
    }
    if first.kind == Kind::Code {
        return first.raw.chars().next().is_some_and(char::is_alphanumeric).then(|| first.raw.clone());
    }
    if !thing::is_program(first) {
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
