use std::fmt::Write;

/// The difference between two commits, parsed from `git diff`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    pub files: Vec<DiffFile>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffFile {
    /// The path after the change; of a deleted file, its last path.
    pub path: String,
    /// The path before the change, if it differs.
    pub renamed_from: Option<String>,
    pub kind: DiffKind,
    hunks: Vec<Hunk>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffKind {
    #[default]
    Edited,
    Added,
    Deleted,
    /// It has no lines to quote.
    Binary,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// The first line on the new side and on the old one, from 1.
    new: u32,
    old: u32,
    /// Each line starts with its sign.
    lines: Vec<String>,
}

impl Diff {
    /// Parses `git diff --no-color --no-ext-diff --src-prefix=a/ --dst-prefix=b/`. Unknown lines are skipped.
    pub fn parse(text: &str) -> Self {
        let mut change = Self::default();
        for line in text.split('\n') {
            if let Some(names) = line.strip_prefix("diff --git ") {
                let path = names.rsplit_once(" b/").map_or(names, |(_, path)| path);
                change.files.push(DiffFile { path: unquoted(path), ..DiffFile::default() });
            } else if let Some(file) = change.files.last_mut() {
                file.take(line);
            }
        }
        change
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// Returns whether a finding can be about this place: a line that the diff shows on its new side, or on the old
    /// side of a deleted file.
    pub fn shows(&self, path: &str, line: u32) -> bool {
        let path = path.trim_start_matches("./");
        self.files.iter().any(|file| file.path == path && file.shows(line))
    }

    /// Returns the hunks, cut to about `longest` bytes. Each file gets an equal share, and a line marks what is left
    /// out.
    pub fn excerpt(&self, longest: usize) -> String {
        let mut text = String::new();
        let share = longest / self.files.len().max(1);
        for file in &self.files {
            file.write(share.max(200), &mut text);
            if text.len() > longest {
                cut(&mut text, longest);
                text.push_str("\n… the rest of the change is left out: read it in the files\n");
                break;
            }
        }
        text
    }
}

impl DiffFile {
    fn take(&mut self, line: &str) {
        if let Some(numbers) = line.strip_prefix("@@ -") {
            if let Some((old, new)) = starts(numbers) {
                self.hunks.push(Hunk { new, old, lines: Vec::new() });
            }
        } else if let Some(hunk) = self.hunks.last_mut() {
            if line.starts_with(['+', '-', ' ']) {
                hunk.lines.push(line.to_owned());
            }
        } else if line.starts_with("new file mode") {
            self.kind = DiffKind::Added;
        } else if line.starts_with("deleted file mode") {
            self.kind = DiffKind::Deleted;
        } else if line.starts_with("Binary files ") {
            self.kind = DiffKind::Binary;
        } else if let Some(before) = line.strip_prefix("rename from ") {
            self.renamed_from = Some(unquoted(before));
        } else if let Some(after) = line.strip_prefix("rename to ") {
            self.path = unquoted(after);
        } else if let Some(after) = line.strip_prefix("+++ b/").or_else(|| line.strip_prefix("+++ \"b/")) {
            self.path = unquoted(after.trim_end_matches('\t'));
        }
    }

    pub fn added(&self) -> impl Iterator<Item = &str> {
        self.signed('+')
    }

    pub fn removed(&self) -> impl Iterator<Item = &str> {
        self.signed('-')
    }

    fn signed(&self, sign: char) -> impl Iterator<Item = &str> {
        self.hunks.iter().flat_map(|hunk| &hunk.lines).filter_map(move |line| line.strip_prefix(sign))
    }

    fn shows(&self, line: u32) -> bool {
        let side = if self.kind == DiffKind::Deleted { '-' } else { '+' };
        match self.kind {
            // A binary file has no other line number.
            DiffKind::Binary => line == 0,
            _ if self.hunks.is_empty() => line <= 1,
            _ => self.numbered_of(side).any(|(number, _)| number == line),
        }
    }

    /// Returns the lines of one side, with their numbers.
    fn numbered_of(&self, side: char) -> impl Iterator<Item = (u32, &str)> {
        self.hunks.iter().flat_map(move |hunk| {
            let first = if side == '-' { hunk.old } else { hunk.new };
            let lines = hunk.lines.iter().filter(move |line| line.starts_with([' ', side]));
            (first..).zip(lines.map(String::as_str))
        })
    }

    fn write(&self, longest: usize, text: &mut String) {
        let what = match (self.kind, &self.renamed_from) {
            (DiffKind::Added, _) => " (new)".to_owned(),
            (DiffKind::Deleted, _) => " (deleted)".to_owned(),
            (DiffKind::Binary, _) => " (binary)".to_owned(),
            (DiffKind::Edited, Some(before)) => format!(" (was {before})"),
            (DiffKind::Edited, None) => String::new(),
        };
        let _ = writeln!(text, "--- {}{what}", self.path);
        let until = text.len() + longest;
        for hunk in &self.hunks {
            let _ = writeln!(text, "@@ line {} @@", hunk.new);
            for line in &hunk.lines {
                if text.len() + line.len() > until {
                    text.push_str("… more of this file is left out: read it\n");
                    return;
                }
                text.push_str(line);
                text.push('\n');
            }
        }
    }
}

/// Parses `12,5 +14,6 @@ fn main()`.
fn starts(numbers: &str) -> Option<(u32, u32)> {
    let (old, rest) = numbers.split_once(" +")?;
    let first = |range: &str| range.split([',', ' ']).next()?.parse().ok();
    Some((first(old)?, first(rest)?))
}

/// Removes the C-style quotes that git puts around unusual file names.
fn unquoted(name: &str) -> String {
    let Some(inner) = name.strip_suffix('"') else { return name.to_owned() };
    let inner = inner.strip_prefix('"').unwrap_or(inner);
    let (mut bytes, mut rest) = (Vec::new(), inner.bytes().peekable());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(next) = rest.next_if(|next| (b'0'..=b'7').contains(next)) {
                        value = value * 8 + u32::from(next - b'0');
                    }
                }
                bytes.push(value as u8);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn cut(text: &mut String, longest: usize) {
    let mut end = longest.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/src/auth.rs b/src/auth.rs
index 1..2 100644
--- a/src/auth.rs
+++ b/src/auth.rs
@@ -10,3 +10,4 @@ fn check()
 one
-two
+three
+four
 five
@@ -40 +41,0 @@
-gone
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+++ starts with two signs
diff --git a/old name.txt b/old name.txt
deleted file mode 100644
--- a/old name.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-a
-b
diff --git a/x.png b/x.png
Binary files a/x.png and b/x.png differ
diff --git a/one.rs b/two.rs
similarity index 100%
rename from one.rs
rename to two.rs
";

    #[test]
    fn files_and_what_became_of_them() {
        let change = Diff::parse(DIFF);
        let kinds: Vec<(&str, DiffKind)> = change.files.iter().map(|file| (file.path.as_str(), file.kind)).collect();
        let expected = [
            ("src/auth.rs", DiffKind::Edited),
            ("new.txt", DiffKind::Added),
            ("old name.txt", DiffKind::Deleted),
            ("x.png", DiffKind::Binary),
            ("two.rs", DiffKind::Edited),
        ];
        assert_eq!(kinds, expected);
        assert_eq!(change.files[4].renamed_from.as_deref(), Some("one.rs"));
    }

    #[test]
    fn a_place_is_in_the_change_when_the_diff_shows_it() {
        let change = Diff::parse(DIFF);
        for (path, line, shown) in [
            ("src/auth.rs", 10, true),
            ("./src/auth.rs", 12, true),
            ("src/auth.rs", 13, true),
            ("src/auth.rs", 14, false),
            ("src/auth.rs", 40, false),
            ("src/other.rs", 10, false),
            ("old name.txt", 2, true),
            ("old name.txt", 3, false),
            ("two.rs", 1, true),
            ("two.rs", 7, false),
        ] {
            assert_eq!(change.shows(path, line), shown, "{path}:{line}");
        }
    }

    #[test]
    fn what_came_and_what_went() {
        let change = Diff::parse(DIFF);
        let file = &change.files[0];
        assert_eq!(file.added().collect::<Vec<_>>(), ["three", "four"]);
        assert_eq!(file.removed().collect::<Vec<_>>(), ["two", "gone"]);
        assert_eq!(change.files[1].added().collect::<Vec<_>>(), ["++ starts with two signs"]);
    }

    #[test]
    fn an_excerpt_is_bounded_and_says_what_it_leaves_out() {
        let mut diff = String::new();
        for file in 0..30 {
            let _ = writeln!(diff, "diff --git a/f{file} b/f{file}\n--- a/f{file}\n+++ b/f{file}\n@@ -0,0 +1,900 @@");
            for line in 0..900 {
                let _ = writeln!(diff, "+line {line} ä");
            }
        }
        let text = Diff::parse(&diff).excerpt(20_000);
        assert!(text.len() < 24_000, "{}", text.len());
        assert!(text.contains("left out") && text.contains("--- f0") && text.contains("--- f20"), "{text}");
    }

    #[test]
    fn names_with_unusual_letters_are_read_as_they_are() {
        let change = Diff::parse(
            "diff --git \"a/h\\303\\244.rs\" \"b/h\\303\\244.rs\"\n--- \"a/h\\303\\244.rs\"\n+++ \"b/h\\303\\244.rs\"\n@@ -1 +1 @@\n-a\n+b\n",
        );
        assert_eq!(change.files[0].path, "hä.rs");
    }

    #[test]
    fn rubbish_is_an_empty_change() {
        for text in ["", "@@ -1 +1 @@\n+x", "diff --git ", "diff --git a b\n@@ -x +y @@\n+++"] {
            let _ = Diff::parse(text);
        }
        assert!(Diff::parse("nothing").is_empty());
    }
}
