//! What the human keeps for themselves.
//!
//! What they did, or do where they are, keeps nothing: `I merged it myself`, `I run the tests on a mac`.

use steadfast_model::ConstraintKind;
use steadfast_words::Word;

use super::action::{Action, actions};
use super::list;
use super::noun::deeds;
use super::object::skip;
use super::order::{after, after_one, clause_before, is_over};
use super::predicate::touched;

/// What the human who begins to speak of themselves here keeps.
pub(super) fn reserved(words: &[Word], at: usize) -> Vec<Action> {
    if !clause_before(words, at).iter().all(|word| word.is_in(list("order-fillers"))) {
        return Vec::new();
    }
    let said = &words[at..];
    // `I'll tell you when to commit`.
    if let Some(rest) =
        after(said, &["i'll", "tell", "you", "when", "to"]).or(after(said, &["i'll", "say", "when", "to"]))
    {
        return actions(clause(rest));
    }
    // `don't worry about pushing, I'll do that`.
    if let Some([that, rest @ ..]) = after(said, &["i'll", "do"])
        && that.is_one_of(&["that", "it", "this"])
        && is_over(rest)
    {
        let before = clause_before(words, at.saturating_sub(1));
        let spoken = (0..before.len()).map(|from| deeds(&before[from..])).find(|done| !done.is_empty());
        let git = |kind: ConstraintKind| {
            use ConstraintKind as K;
            matches!(kind, K::Commit | K::Push | K::Merge | K::PullRequest)
        };
        return spoken.unwrap_or_default().into_iter().filter(|(kind, _)| git(*kind)).collect();
    }
    match after_one(said, "reserve-will") {
        Some(rest) => willed(clause(rest), &said[..said.len() - rest.len()]),
        None => after(said, &["i"]).map(present).unwrap_or_default(),
    }
}

/// Up to the next thought.
fn clause(words: &[Word]) -> &[Word] {
    let end = words.iter().position(|word| word.is_break() || word.is_in(list("reserve-cut")) || word.is("but"));
    &words[..end.unwrap_or(words.len())]
}

fn willed(rest: &[Word], will: &[Word]) -> Vec<Action> {
    use ConstraintKind as K;
    let own = rest.windows(2).any(|pair| pair[0].is("my") && pair[1].is("own"));
    let myself = own || rest.iter().any(|word| word.is_one_of(&["myself", "personally"]));
    let rest = skip(rest, &["just", "then", "also", "rather", "personally", "always", "probably"]);
    if let Some(object) = handled(rest) {
        return kept(object);
    }
    // Who wants to or can do it may want it done, too.
    let wishes = will.last().is_some_and(|word| word.is_one_of(&["can", "to", "rather"]));
    if !myself && wishes && will[0].is_one_of(&["i", "i'd"]) {
        return Vec::new();
    }
    // Who is about something now does not say that nobody else is.
    if will.len() == 1 && will[0].is("i'm") {
        return Vec::new();
    }
    let letting = will[0].is("let");
    let keeps = |kind: K| match kind {
        K::Commit | K::Push | K::Merge | K::PullRequest => true,
        K::Run => myself || letting,
        K::Write | K::Only | K::Network => false,
        _ => myself,
    };
    let bare: Vec<Word> = rest.iter().filter(|word| !word.is_one_of(&["myself", "personally"])).cloned().collect();
    let done = actions(&bare);
    // `review and commit`.
    let and = bare.iter().position(|word| word.is("and")).filter(|_| done.is_empty());
    let done = and.map(|and| actions(&bare[and + 1..])).unwrap_or(done);
    done.into_iter().filter(|(kind, _)| keeps(*kind)).collect()
}

/// `I do the commits`, `I own src/theme.css`, `I push, you don't`.
fn present(rest: &[Word]) -> Vec<Action> {
    if let Some(things) = after(rest, &["own"]) {
        return touched(clause(things));
    }
    let said = clause(rest);
    if let Some(object) = handled(said) {
        return kept(object);
    }
    // Who says what the other does tells two jobs apart.
    let two = rest.get(said.len()).is_some_and(Word::is_break)
        && (rest.get(said.len() + 1).is_some_and(|word| word.is("you"))
            || after(&rest[said.len() + 1..], &["not", "you"]).is_some());
    let mine = |kind: ConstraintKind| {
        use ConstraintKind as K;
        matches!(kind, K::Commit | K::Push | K::Merge | K::PullRequest | K::Run)
    };
    if two { actions(said).into_iter().filter(|(kind, _)| mine(*kind)).collect() } else { Vec::new() }
}

/// What follows `handle` and its like.
fn handled(words: &[Word]) -> Option<&[Word]> {
    after_one(words, "reserve-handles")
}

fn kept(object: &[Word]) -> Vec<Action> {
    let bare: Vec<Word> = object
        .iter()
        .filter(|word| !word.is_one_of(&["myself", "all", "any", "always", "personally", "around"]))
        .cloned()
        .collect();
    deeds(&bare)
}
