//! Patterns for names and paths. `?` matches one character, `*` any characters within a name, `**` any number of folders,
//! including none.
//!
//! Brackets and braces are ordinary characters, unless [`Syntax::Git`] is asked for: `app/[slug]/page.tsx` is a file name in
//! many web projects, and users protect such files. So no glob crate fits: `fast-glob` 1.1 and `globset` both treat brackets
//! and braces as patterns. Matching takes at most (pattern length × path length)² steps, because it backtracks only to the
//! last star.

/// The special characters in addition to `*` and `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    Plain,
    /// `[set]`, `[!set]`, and `\` before a literal character.
    Git,
}

/// Matches a pattern with a name. Neither contains a slash.
#[must_use]
pub fn name(pattern: &str, name: &str) -> bool {
    name_in(Syntax::Plain, pattern, name)
}

/// Matches a pattern with a whole path. Both are split at the slashes.
#[must_use]
pub fn path(pattern: &[&str], path: &[&str]) -> bool {
    path_in(Syntax::Plain, pattern, path, End::Whole)
}

/// Matches a pattern with a path or with a folder above it.
#[must_use]
pub fn path_or_above(pattern: &[&str], path: &[&str]) -> bool {
    path_in(Syntax::Plain, pattern, path, End::Beneath)
}

/// Matches a `.gitignore` pattern with a path. A `**` at its end matches everything in the folder, but not the folder.
#[must_use]
pub fn git_path(pattern: &str, path: &str) -> bool {
    let mut pattern: Vec<&str> = pattern.split('/').collect();
    if pattern.last() == Some(&ANY_FOLDERS) {
        pattern.push("*");
    }
    let path: Vec<&str> = path.split('/').collect();
    path_in(Syntax::Git, &pattern, &path, End::Whole)
}

const ANY_FOLDERS: &str = "**";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The pattern must match up to the end of the path.
    Whole,
    /// The pattern may match a folder above the path.
    Beneath,
}

fn path_in(syntax: Syntax, pattern: &[&str], path: &[&str], end: End) -> bool {
    let (mut at, mut part) = (0, 0);
    // The position of the last `**`, and the first path part after the folders that it matches.
    let mut back = None;
    loop {
        if at == pattern.len() && (end == End::Beneath || part == path.len()) {
            return true;
        }
        if pattern.get(at) == Some(&ANY_FOLDERS) {
            back = Some((at, part));
            at += 1;
        } else if at < pattern.len() && part < path.len() && name_in(syntax, pattern[at], path[part]) {
            (at, part) = (at + 1, part + 1);
        } else if let Some((folders, taken)) = back.filter(|(_, taken)| *taken < path.len()) {
            back = Some((folders, taken + 1));
            (at, part) = (folders + 1, taken + 1);
        } else {
            return false;
        }
    }
}

fn name_in(syntax: Syntax, pattern: &str, name: &str) -> bool {
    let (bytes, text) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut pos) = (0, 0);
    let mut star = None;
    while pos < text.len() {
        let step = match bytes.get(at) {
            Some(b'*') => {
                star = Some((at, pos));
                at += 1;
                continue;
            }
            Some(b'?') => Some((1, length(text[pos]))),
            Some(b'[') if syntax == Syntax::Git => set(&pattern[at..], &name[pos..]),
            Some(b'\\') if syntax == Syntax::Git && bytes.get(at + 1) == Some(&text[pos]) => Some((2, 1)),
            Some(byte) if *byte == text[pos] => Some((1, 1)),
            _ => None,
        };
        match (step, star) {
            (Some((of_pattern, of_name)), _) => (at, pos) = (at + of_pattern, pos + of_name),
            // Let the last star match one more character.
            (None, Some((back, taken))) => {
                let taken = taken + length(text[taken]);
                star = Some((back, taken));
                (at, pos) = (back + 1, taken);
            }
            (None, None) => return false,
        }
    }
    bytes[at..].iter().all(|byte| *byte == b'*')
}

/// The length of a UTF-8 character in bytes, by its first byte.
fn length(first: u8) -> usize {
    match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}

/// Matches a `[set]` with the first character of `name`, and returns the bytes of both. A `[` without `]` matches itself.
fn set(pattern: &str, name: &str) -> Option<(usize, usize)> {
    let c = name.chars().next()?;
    let inner = &pattern[1..];
    let skip = inner.chars().next().map_or(0, char::len_utf8);
    let Some(end) = inner[skip..].find(']').map(|end| skip + end) else { return (c == '[').then_some((1, 1)) };
    let negated = inner.starts_with(['!', '^']);
    let set: Vec<char> = inner[usize::from(negated)..end].chars().collect();
    let mut rest = set.as_slice();
    let mut found = false;
    while let [first, after @ ..] = rest {
        match after {
            ['-', last, after @ ..] => (found, rest) = (found || (first..=last).contains(&&c), after),
            _ => (found, rest) = (found || *first == c, after),
        }
    }
    (found != negated).then_some((end + 2, c.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(path: &str) -> Vec<&str> {
        path.split('/').collect()
    }

    #[test]
    fn a_star_stays_within_a_name() {
        let names = ["plan.md", "plan.md.bak", "my-plan.md", ".plan.md", "md"];
        assert_eq!(names.map(|text| name("*plan.md", text)), [true, false, true, true, false]);
        assert_eq!(names.map(|text| name("pl?n*", text)), [true, true, false, false, false]);
        assert_eq!(names.map(|text| name("**", text)), [true; 5]);
    }

    #[test]
    fn a_question_mark_is_one_character() {
        assert!(name("?.md", "é.md") && name("*?x", "€x") && name("?*", "€"));
        assert!(!name("??.md", "é.md") && !name("*??x", "€x") && !name("?*?", "€"));
    }

    #[test]
    fn brackets_and_braces_are_characters_of_names() {
        assert!(name("[id].ts", "[id].ts") && !name("[id].ts", "i.ts"));
        assert!(name("{a,b}", "{a,b}") && !name("{a,b}", "a"));
    }

    #[test]
    fn two_stars_stand_for_any_number_of_folders() {
        let fits = |pattern: &str, text: &str| path(&parts(pattern), &parts(text));
        for (pattern, text) in
            [("src/**/*.css", "src/a.css"), ("src/**/*.css", "src/a/b/c.css"), ("**/gen/*", "gen/a"), ("a/**", "a/b/c")]
        {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("src/**/*.css", "src/a.ts"), ("a/*", "a/b/c"), ("**/x/**/y", "x/a/z"), ("a", "a/b")] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
        let above = |pattern: &str, text: &str| path_or_above(&parts(pattern), &parts(text));
        assert!(above("a", "a/b") && above("**/gen", "x/gen/y") && !above("a/b", "a"));
    }

    #[test]
    fn many_stars_take_no_longer() {
        let folders = vec!["a"; 60];
        let pattern: Vec<&str> = ["**", "a"].repeat(20).into_iter().chain(["b"]).collect();
        assert!(!path(&pattern, &folders));
        assert!(!name(&"*a".repeat(40), &"a".repeat(39)));
        assert!(!name(&format!("{}b", "*a".repeat(40)), &"a".repeat(10_000)));
    }

    #[test]
    fn git_knows_sets_and_escapes() {
        for (pattern, text, fits) in [
            ("[ab]*", "b.o", true),
            ("[!ab]", "c", true),
            ("[^a-c]", "b", false),
            ("[a-c]x", "bx", true),
            ("[é-ü]", "ö", true),
            ("[]]", "]", true),
            ("[", "[", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("a/**", "a", false),
            ("a/**", "a/b/c", true),
            ("**/b", "b", true),
            ("a/*/c", "a/b/c", true),
            ("a/*", "a/b/c", false),
        ] {
            assert_eq!(git_path(pattern, text), fits, "{pattern} {text}");
        }
    }
}
