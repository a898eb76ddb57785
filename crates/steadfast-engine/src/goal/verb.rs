//! The verbs that matter, in the forms in which they are said.

use std::sync::LazyLock;

use steadfast_words::{Kind, Vocabulary, Word};

use super::list;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Commit,
    Push,
    ForcePush,
    Merge,
    Make,
    Switch,
    Branch,
    Call,
    Search,
    Add,
    Use,
    Install,
    Download,
    Access,
    Run,
    Delete,
    Rename,
    Touch,
    /// As [`Self::Touch`], and never of everything: who does not want it reworked may want it changed.
    Rework,
    /// As [`Self::Touch`], of whatever is named.
    TouchAny,
    Write,
    Deploy,
    /// A package, a release.
    Publish,
}

impl Verb {
    pub(super) fn is_of_git(self) -> bool {
        matches!(self, Self::Commit | Self::Push | Self::ForcePush | Self::Merge)
    }
}

const VERBS: [(&str, Verb); 23] = [
    ("commit", Verb::Commit),
    ("push", Verb::Push),
    ("force-push", Verb::ForcePush),
    ("merge", Verb::Merge),
    ("make", Verb::Make),
    ("switch", Verb::Switch),
    ("branch", Verb::Branch),
    ("call", Verb::Call),
    ("search", Verb::Search),
    ("add", Verb::Add),
    ("use", Verb::Use),
    ("install", Verb::Install),
    ("download", Verb::Download),
    ("access", Verb::Access),
    ("run", Verb::Run),
    ("delete", Verb::Delete),
    ("rename", Verb::Rename),
    ("touch", Verb::Touch),
    ("rework", Verb::Rework),
    ("touch-any", Verb::TouchAny),
    ("write", Verb::Write),
    ("deploy", Verb::Deploy),
    ("publish", Verb::Publish),
];

static WORDS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(include_str!("verbs.txt")));

pub(super) fn is_verb(words: &[Word]) -> bool {
    verb(words).is_some()
}

pub(super) fn verb(words: &[Word]) -> Option<(Verb, usize)> {
    let first = words.first().filter(|word| word.kind == Kind::Plain)?;
    // `git commit`, `npm install`: the program says nothing more.
    if first.is_in(list("verb-programs")) {
        if words.get(1).is_some_and(|word| word.is("i")) {
            return Some((Verb::Install, 2));
        }
        return verb(&words[1..]).map(|(verb, len)| (verb, len + 1));
    }
    let (name, len) = of_bases(words, 0).or_else(|| of_bases(words, 1)).or_else(|| WORDS.which(words))?;
    VERBS.iter().find(|(known, _)| *known == name).map(|(_, verb)| (*verb, len))
}

/// The verb that begins here, with the word at this place in its base form: `fiddling with`, `force pushing`.
fn of_bases(words: &[Word], at: usize) -> Option<(&'static str, usize)> {
    let stem = words.get(at)?.text.strip_suffix("ing").filter(|stem| stem.len() > 1)?;
    let single = &stem[..stem.floor_char_boundary(stem.len() - 1)];
    let doubled = stem.ends_with(|last| single.ends_with(last)).then(|| single.to_owned());
    let bases = [Some(stem.to_owned()), Some(format!("{stem}e")), doubled];
    bases.into_iter().flatten().find_map(|base| {
        let mut plain: Vec<Word> = words.iter().take(3).cloned().collect();
        plain[at].text = base;
        WORDS.which(&plain).filter(|(_, len)| *len > at)
    })
}
