//! The words of a text and of a path that distinguish one piece of work from another.

/// The most words of a prompt that are used.
const MOST: usize = 48;

/// The most bytes of a prompt that are read. A human who pastes a log writes the order before it.
const LOOKED_AT: usize = 4_000;

/// Words that occur in every prompt.
const COMMON: &str = " \
    about add added after again all also and any are back because been before both build but call can \
    change check code commit could create current did doe doing done each ensure error etc every file \
    first fix fixed follow following for from get give good has have help here how implement into issue \
    its just keep know last let like look make may more must need new next not now okay one only other \
    our out plan please project read remove run see should some still sure task than that the their them \
    then there these they thing this use using want was were what when where which while will with work \
    would you your ";

/// Names that occur in every code base.
const GENERIC: &str = " \
    api app asset base bin client cmd common component config core crate css data dist doc global \
    handler helper hook html index init internal json jsx lib main mjs mod model package page pkg public \
    route server service shared spec src style test toml tsx txt type util view yml ";

/// Returns the words of a prompt that say what it is about, each once.
pub(crate) fn of_prompt(text: &str) -> Vec<String> {
    let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= LOOKED_AT).last().unwrap_or_default();
    let looked = if text.len() <= LOOKED_AT { text } else { &text[..end] };
    let mut words: Vec<String> = Vec::new();
    for word in looked.split_whitespace().filter(|token| !is_path(token)).flat_map(parts) {
        if words.len() >= MOST {
            break;
        }
        if !is_among(COMMON, &word) && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// Paths give the place of the work and no description of it.
fn is_path(token: &str) -> bool {
    let inner = token.trim_matches(|c: char| !c.is_alphanumeric());
    let ending = inner.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending);
    inner.contains(['/', '\\'])
        || ending.is_some_and(|ending| ending.len() <= 5 && ending.chars().all(char::is_alphanumeric))
}

/// Returns the words of a path that describe it.
pub(super) fn of_path(path: &str) -> impl Iterator<Item = String> {
    parts(path).filter(|word| !is_among(GENERIC, word))
}

/// Returns true if a list of words contains a word.
fn is_among(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|other| other == word)
}

/// Splits a text where letters end and where a lower-case letter meets an upper-case one, and removes the plural.
/// Numbers and words of two letters are left out.
fn parts(text: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut small = false;
    for c in text.chars().chain([' ']) {
        let turns = small && c.is_uppercase();
        if (!c.is_alphabetic() || turns) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        small = c.is_lowercase();
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
    }
    words.into_iter().filter(|word| word.chars().count() > 2).map(singular)
}

fn singular(word: String) -> String {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_its_own_words() {
        let words = of_prompt("Please fix the login bug in the authController, and the login tokens");
        assert_eq!(words, ["login", "bug", "auth", "controller", "token"]);
    }

    #[test]
    fn a_path_that_is_named_says_where_and_not_what() {
        assert_eq!(
            of_prompt("Mend `src/auth/token.rs`, main.go: the session expires. Twice."),
            ["mend", "session", "expire", "twice"]
        );
    }

    #[test]
    fn a_path_is_what_others_are_not() {
        let own = |path| of_path(path).collect::<Vec<_>>();
        assert_eq!(own("src/components/LoginForm.test.tsx"), ["login", "form"]);
        assert_eq!(own("src/lib.rs"), Vec::<String>::new());
    }

    #[test]
    fn a_pasted_log_is_cut_between_letters() {
        let words = of_prompt(&format!("Mend the parser. {}", "é".repeat(9_000)));
        assert_eq!(words[..2], ["mend", "parser"]);
    }
}
