//! Finds prompts in other languages that seem to forbid something. They are not read further: Steadfast tells the human
//! once that it did not understand them.
//!
//! A word of denial has to be close to a word for the denied action, in a clause that is not a question and describes
//! nothing.

use super::list;

/// The bytes read at each end of a long text.
const LOOKED_AT: usize = 8_000;
/// The greatest distance between the two words.
const NEAR: usize = 4;

const LANGUAGES: &str = include_str!("languages.txt");

/// Returns the language in which a text seems to forbid something.
pub(crate) fn forbids(text: &str) -> Option<&'static str> {
    let text = if text.len() > 2 * LOOKED_AT {
        let (head, tail) = (text.floor_char_boundary(LOOKED_AT), text.ceil_char_boundary(text.len() - LOOKED_AT));
        format!("{}\n{}", &text[..head], &text[tail..])
    } else {
        text.to_owned()
    };
    let text = without_code(&text).to_lowercase();
    let clauses = clauses(&text);
    if clauses.iter().any(|clause| chinese(clause)) {
        return Some("Chinese");
    }
    if clauses.iter().any(|clause| japanese(clause)) {
        return Some("Japanese");
    }
    let mut languages = LANGUAGES.lines().filter(|line| !line.starts_with('#')).filter_map(Language::of);
    languages.find(|language| clauses.iter().any(|clause| language.is_denied(clause))).map(|found| found.name)
}

/// Removes code, fences and quotations, which the human only mentions.
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

/// Returns the clauses of a text without those of questions.
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
        let from = words.iter().position(|word| !list("foreign-begin").has(word)).unwrap_or(words.len());
        let own = &words[from..];
        if own.first().is_none_or(|word| self.about.contains(word))
            || own.iter().any(|word| list("foreign-there-is").has(word))
        {
            return false;
        }
        let denies = |word: &str| self.denies.contains(&word);
        let denied = |word: &str| {
            self.denied.iter().any(|other| match other.strip_suffix('*') {
                Some(stem) => word.starts_with(stem),
                None => word == *other,
            })
        };
        // `nur src/auth ändern`: a path counts as a noun.
        let done = |word: &str| denied(word) || word.contains('/');
        let near = |at: usize| {
            let (from, to) = (at.saturating_sub(NEAR), own.len().min(at + NEAR + 1));
            (from..to).any(|other| other != at && done(own[other]))
        };
        // A single foreign word does not make a sentence of that language.
        let is_its = |word: &str| {
            let alone = !list("foreign-shared").has(word);
            !word.is_ascii() || alone && (denies(word) || denied(word) && !english(word))
        };
        own.iter().enumerate().any(|(at, word)| denies(word) && near(at)) && own.iter().any(|word| is_its(word))
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
    // `用户不能删除…`: this is about other people.
    let lead = clause[..at].trim();
    let own = lead.is_empty() || list("zh-before").iter().any(|word| lead.ends_with(word[0])) || lead.is_ascii();
    let rest = &clause[at + deny.len()..];
    let near: String = rest.chars().take(10).collect();
    own && (list("zh-denied").iter().any(|word| near.contains(word[0])))
}

fn japanese(clause: &str) -> bool {
    // `表示されないです` describes; `ユーザーが…` names another actor.
    let clause = clause.replace("ないです", "").replace("ないでしょう", "");
    let Some(at) = list("ja-denies").iter().filter_map(|deny| clause.rfind(deny[0])).max() else { return false };
    let before = &clause[..at];
    let kana = clause.chars().any(|c| ('\u{3040}'..='\u{30ff}').contains(&c));
    let denied = list("ja-denied").iter().any(|word| before.contains(word[0]) || clause[at..].starts_with("触"));
    kana && denied && !before.contains('が')
}
