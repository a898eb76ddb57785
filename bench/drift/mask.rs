use steadfast_model::hashed_words;

/// The replacement for the folder of every session.
pub(crate) const ROOT: &str = "/repo";
const NAME: &str = "project";
const HOMES: [&str; 2] = ["/Users/", "/home/"];
/// Endings that owners add to the name of their product.
const ENDINGS: [&str; 3] = ["io", "hub", "hq"];

/// Replaces the names of folder, user and repository in all sessions, so that no name reveals a graft.
pub(crate) struct Mask {
    root: String,
    names: Vec<String>,
    /// Hashes of the words of the names, because contents have only hashes.
    words: Vec<u32>,
}

impl Mask {
    /// Returns the mask for a session in `root` of `owner/name`.
    pub(crate) fn new(root: &str, repository: &str) -> Self {
        let (owner, name) = repository.split_once('/').unwrap_or(("", repository));
        let folder = root.rsplit('/').next().unwrap_or_default();
        let mut names = Vec::new();
        for word in [owner, name, folder] {
            let word = word.to_ascii_lowercase();
            names.extend([word.replace('-', "_"), word.replace(['-', '_'], "")]);
            names.extend(ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending)).map(str::to_owned));
            names.push(word);
        }
        names.retain(|name| name.len() > 4);
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names.dedup();
        let words = hashed_words(&format!("{owner} {name} {folder} {}", names.join(" ")));
        Self { root: root.to_owned(), names, words }
    }

    /// Returns true if the word belongs to a name.
    pub(crate) fn hides(&self, word: u32) -> bool {
        self.words.contains(&word)
    }

    pub(crate) fn apply(&self, text: &str) -> String {
        let mut text = replace(text, &self.root, ROOT, |after| !is_of_name(after) && after != Some('-'));
        for home in HOMES {
            text = users(&text, home);
        }
        for name in &self.names {
            text = replace(&text, name, NAME, |_| true);
        }
        text
    }
}

/// Replaces `/Users/anna/x` with `/home/user/x`.
fn users(text: &str, home: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(home) {
        out += before;
        out += "/home/user";
        rest = after.trim_start_matches(|c: char| is_of_name(Some(c)) || c == '.' || c == '-');
    }
    out + rest
}

/// Ignores upper and lower case.
fn replace(text: &str, what: &str, with: &str, ends: impl Fn(Option<char>) -> bool) -> String {
    if what.is_empty() {
        return text.to_owned();
    }
    let (lower, what) = (text.to_ascii_lowercase(), what.to_ascii_lowercase());
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in lower.match_indices(&what) {
        let end = at + what.len();
        if at >= done && ends(lower[end..].chars().next()) {
            out += &text[done..at];
            out += with;
            done = end;
        }
    }
    out + &text[done..]
}

fn is_of_name(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || c == '_')
}
