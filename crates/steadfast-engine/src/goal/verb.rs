//! The verbs that matter, in the forms in which they are said.

use super::words::{Kind, Word};

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

const VERBS: [(&str, Verb); 75] = [
    ("deploy", Verb::Deploy),
    ("redeploy", Verb::Deploy),
    ("publish", Verb::Publish),
    ("release", Verb::Publish),
    ("pass", Verb::Use),
    ("google", Verb::Search),
    ("browse", Verb::Search),
    ("shuffle", Verb::Rename),
    ("reorganize", Verb::Rename),
    ("reorganise", Verb::Rename),
    ("relocate", Verb::Rename),
    ("send", Verb::Make),
    ("put", Verb::Make),
    ("post", Verb::Make),
    ("draft", Verb::Make),
    ("adapt", Verb::Rework),
    ("commit", Verb::Commit),
    ("push", Verb::Push),
    ("force-push", Verb::ForcePush),
    ("merge", Verb::Merge),
    ("rebase", Verb::Merge),
    ("create", Verb::Make),
    ("open", Verb::Make),
    ("make", Verb::Make),
    ("submit", Verb::Make),
    ("raise", Verb::Make),
    ("file", Verb::Make),
    ("branch", Verb::Branch),
    ("switch", Verb::Switch),
    ("checkout", Verb::Switch),
    ("add", Verb::Add),
    ("introduce", Verb::Add),
    ("use", Verb::Use),
    ("install", Verb::Install),
    ("download", Verb::Download),
    ("fetch", Verb::Download),
    ("curl", Verb::Download),
    ("wget", Verb::Download),
    ("access", Verb::Access),
    ("hit", Verb::Access),
    ("run", Verb::Run),
    ("rerun", Verb::Run),
    ("execute", Verb::Run),
    ("call", Verb::Call),
    ("invoke", Verb::Call),
    ("trigger", Verb::Call),
    ("start", Verb::Run),
    ("restart", Verb::Run),
    ("launch", Verb::Run),
    ("delete", Verb::Delete),
    ("remove", Verb::Delete),
    ("erase", Verb::Delete),
    ("wipe", Verb::Delete),
    ("rm", Verb::Delete),
    ("rename", Verb::Rename),
    ("move", Verb::Rename),
    ("touch", Verb::TouchAny),
    ("change", Verb::Touch),
    ("modify", Verb::Touch),
    ("edit", Verb::Touch),
    ("alter", Verb::Touch),
    ("update", Verb::Rework),
    ("adjust", Verb::Rework),
    ("tweak", Verb::Rework),
    ("patch", Verb::Rework),
    ("regenerate", Verb::Rework),
    ("format", Verb::Rework),
    ("rewrite", Verb::Rework),
    ("refactor", Verb::Rework),
    ("reformat", Verb::Rework),
    ("overwrite", Verb::Rework),
    ("write", Verb::Write),
    ("implement", Verb::Write),
    ("fix", Verb::Write),
    ("code", Verb::Write),
];

/// Verbs of two words.
const PAIRS: [(&str, &str, Verb); 15] = [
    ("mess", "up", Verb::TouchAny),
    ("screw", "with", Verb::TouchAny),
    ("kick", "off", Verb::Run),
    ("force", "push", Verb::ForcePush),
    ("mess", "with", Verb::TouchAny),
    ("fiddle", "with", Verb::TouchAny),
    ("tamper", "with", Verb::TouchAny),
    ("meddle", "with", Verb::TouchAny),
    ("throw", "away", Verb::Delete),
    ("spin", "up", Verb::Run),
    ("fire", "up", Verb::Run),
    ("pull", "in", Verb::Add),
    ("bring", "in", Verb::Add),
    ("check", "out", Verb::Switch),
    ("check", "in", Verb::Commit),
];

pub(super) fn is_verb(words: &[Word]) -> bool {
    verb(words).is_some()
}

pub(super) fn verb(words: &[Word]) -> Option<(Verb, usize)> {
    let first = words.first().filter(|word| word.kind == Kind::Plain)?;
    // `git commit`, `npm install`: the program says nothing more.
    if first.is_one_of(&["git", "npm", "pnpm", "yarn", "pip", "pip3", "cargo", "brew", "apt", "apt-get", "uv"]) {
        if words.get(1).is_some_and(|word| word.is("i")) {
            return Some((Verb::Install, 2));
        }
        return verb(&words[1..]).map(|(verb, len)| (verb, len + 1));
    }
    if let [get, rid, of, ..] = words
        && is_form(&get.text, "get")
        && rid.is("rid")
        && of.is("of")
    {
        return Some((Verb::Delete, 3));
    }
    // `check this in`.
    if let [check, it, within, ..] = words
        && check.is("check")
        && it.is_one_of(&["this", "it", "that", "anything", "them"])
        && within.is("in")
    {
        return Some((Verb::Commit, 3));
    }
    if let Some(second) = words.get(1) {
        let pair = PAIRS.iter().find(|(one, two, _)| {
            (is_form(&first.text, one) && second.is(two)) || (first.is(one) && is_form(&second.text, two))
        });
        if let Some((_, _, verb)) = pair {
            return Some((*verb, 2));
        }
    }
    VERBS.iter().find(|(base, _)| is_form(&first.text, base)).map(|(_, verb)| (*verb, 1))
}

/// The base form or the one in `-ing`.
fn is_form(text: &str, base: &str) -> bool {
    let Some(stem) = text.strip_suffix("ing") else { return text == base };
    stem == base
        || base.strip_suffix('e') == Some(stem)
        || stem.strip_prefix(base).is_some_and(|doubled| doubled.len() == 1 && base.ends_with(doubled))
}
