//! Prompts in other languages that look as if they forbid something. Nothing is read out of them: the human is told once
//! that this was not understood.
//!
//! A word that denies has to stand near one for what is denied, in a clause that is no question and describes nothing.

use super::list;

/// Where a long text is looked at, in bytes from both of its ends.
const LOOKED_AT: usize = 8_000;
/// How far apart the two words may be.
const NEAR: usize = 4;

const LANGUAGES: &str = include_str!("languages.txt");

/// The language in which a text seems to forbid something.
pub(crate) fn forbids(text: &str) -> Option<&'static str> {
    let text = if text.len() > 2 * LOOKED_AT {
        let (head, tail) = (text.floor_char_boundary(LOOKED_AT), text.ceil_char_boundary(text.len() - LOOKED_AT));
        format!("{}\n{}", &text[..head], &text[tail..])
    } else {
        text.to_owned()
    };
    let text = without_code(&text).to_lowercase();
    let clauses = clauses(&text);
    let spaced = || {
        let languages = LANGUAGES.lines().filter(|line| !line.starts_with('#')).filter_map(Language::of);
        languages
            .into_iter()
            .find(|language| clauses.iter().any(|clause| language.is_denied(clause)))
            .map(|found| found.name)
    };
    if clauses.iter().any(|clause| chinese(clause)) {
        return Some("Chinese");
    }
    if clauses.iter().any(|clause| japanese(clause)) {
        return Some("Japanese");
    }
    spaced()
}

/// What stands in backticks, fences and quotes is spoken of.
fn without_code(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.trim_start().starts_with('>') {
            let parts = line.split('`').enumerate();
            kept.extend(parts.filter(|(at, _)| at % 2 == 0).map(|(_, part)| part));
            kept.push('\n');
        }
    }
    kept
}

/// The clauses of a text, those of questions apart.
fn clauses(text: &str) -> Vec<&str> {
    const ENDS: [char; 8] = ['.', '!', '\n', '。', '！', ';', '；', '…'];
    let mut found = Vec::new();
    for sentence in text.split_inclusive(|c: char| ENDS.contains(&c) || c == '?' || c == '？') {
        if sentence.trim_end().ends_with(['?', '？']) || sentence.contains('¿') {
            continue;
        }
        found.extend(sentence.split([',', '，', '、', ':', '：', '—', '–']).map(str::trim));
    }
    found
}

struct Language {
    name: &'static str,
    denies: Vec<&'static str>,
    denied: Vec<&'static str>,
    about: Vec<&'static str>,
}

impl Language {
    fn of(line: &'static str) -> Option<Self> {
        let mut fields = line.split('\t');
        let name = fields.next()?;
        let mut words = || fields.next().map(|words| words.split(' ').collect());
        Some(Self { name, denies: words()?, denied: words()?, about: words()? })
    }

    fn is_denied(&self, clause: &str) -> bool {
        let words: Vec<&str> = clause
            .split(|c: char| !c.is_alphanumeric() && c != '/' && c != '-')
            .filter(|word| !word.is_empty())
            .collect();
        let own = self.own(&words);
        // `no hay`, `es gibt keine`: how it is.
        if own.iter().any(|word| ["hay", "existe", "existen", "gibt", "нет"].contains(word)) {
            return false;
        }
        if own.first().is_none_or(|word| self.about.contains(word)) {
            return false;
        }
        let denied = |word: &str| {
            self.denied.iter().any(|other| match other.strip_suffix('*') {
                Some(stem) => word.starts_with(stem),
                None => word == *other,
            })
        };
        // `nur src/auth ändern`: a path is as good as a noun.
        let place = |word: &str| word.contains('/');
        let at = |is: &dyn Fn(&str) -> bool| -> Vec<usize> {
            own.iter().enumerate().filter(|(_, word)| is(word)).map(|(at, _)| at).collect()
        };
        let (denies, done) = (at(&|word| self.denies.contains(&word)), at(&|word| denied(word) || place(word)));
        // One word of another language is no sentence in this one.
        denies.iter().any(|deny| done.iter().any(|done| deny.abs_diff(*done) <= NEAR && deny != done))
            && self.is_its(own)
    }

    /// The clause without the words that only begin it.
    fn own<'w, 'a>(&self, words: &'w [&'a str]) -> &'w [&'a str] {
        let from = words.iter().position(|word| !list("foreign-begin").has(word)).unwrap_or(words.len());
        &words[from..]
    }

    /// Whether it has a word that is this language's alone.
    fn is_its(&self, words: &[&str]) -> bool {
        let shared = list("foreign-shared");
        words.iter().any(|word| !shared.has(word) && self.denies.contains(word))
            || words.iter().filter(|word| !word.is_ascii()).count() > 0
            || words.iter().any(|word| {
                !shared.has(word)
                    && self.denied.iter().any(|other| match other.strip_suffix('*') {
                        Some(stem) => word.starts_with(stem) && !english(word),
                        None => word == other && !english(word),
                    })
            })
    }
}

/// Words that English has, too.
fn english(word: &str) -> bool {
    list("english").has(word) || word.ends_with("ing") || word.ends_with("tion")
}

fn chinese(clause: &str) -> bool {
    let Some((at, deny)) = list("zh-denies").iter().filter_map(|deny| Some((clause.find(deny[0])?, deny[0]))).min()
    else {
        return false;
    };
    // `用户不能删除…`: somebody else cannot.
    let lead = clause[..at].trim();
    let own = lead.is_empty() || list("zh-before").iter().any(|word| lead.ends_with(word[0])) || lead.is_ascii();
    let rest = &clause[at + deny.len()..];
    let near: String = rest.chars().take(10).collect();
    own && (list("zh-denied").iter().any(|word| near.contains(word[0])))
}

fn japanese(clause: &str) -> bool {
    // `表示されないです` says how it is; `ユーザーが…` who does it.
    let clause = clause.replace("ないです", "").replace("ないでしょう", "");
    let Some(at) = list("ja-denies").iter().filter_map(|deny| clause.rfind(deny[0])).max() else { return false };
    let before = &clause[..at];
    let kana = clause.chars().any(|c| ('\u{3040}'..='\u{30ff}').contains(&c));
    let denied = list("ja-denied").iter().any(|word| before.contains(word[0]) || clause[at..].starts_with("触"));
    kana && denied && !before.contains('が')
}
