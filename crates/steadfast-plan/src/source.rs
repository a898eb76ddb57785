use crate::problem::{Code, Findings};

const BOM: char = '\u{feff}';

/// The notation of a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    Json,
    Markdown,
}

impl Notation {
    /// Decides by the beginning of the text; the file name decides only if that is ambiguous.
    pub(crate) fn of(text: &str, name: &str, findings: &mut Findings) -> Option<Self> {
        if let Some(at) = text.find('\0') {
            let help = "a spec is Markdown or JSON, in UTF-8";
            findings.add(Code::NotText, &(at..at + 1), "the file is not text: it contains a zero byte", help);
            return None;
        }
        let start = text.trim_start_matches(BOM).trim_start();
        if start.is_empty() {
            let help = "describe the work: `# Feature`, `## Phase 1: …`, `- [ ] 1.1 …`";
            findings.add(Code::Empty, &(0..0), "the spec is empty", help);
            return None;
        }
        let name = name.to_ascii_lowercase();
        let (json, markdown) = (name.ends_with(".json"), name.ends_with(".md") || name.ends_with(".markdown"));
        let mut characters = start.chars();
        let is_json = match characters.next() {
            // A key follows, or the end of the object.
            Some('{') if markdown => characters.find(|c| !c.is_whitespace()).is_some_and(|c| matches!(c, '"' | '}')),
            Some('{') => true,
            Some('#') => false,
            _ if json => true,
            Some('[' | '"') => !markdown && serde_json::from_str::<serde::de::IgnoredAny>(start).is_ok(),
            _ => false,
        };
        Some(if is_json { Self::Json } else { Self::Markdown })
    }
}

/// Returns the length of the byte order mark, if there is one.
pub(crate) fn bom_len(text: &str) -> usize {
    if text.starts_with(BOM) { BOM.len_utf8() } else { 0 }
}

/// The starts of the lines in a text.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// Returns line and column of a byte, both from 1, the column in characters.
    pub(crate) fn position(&self, at: usize) -> (usize, usize) {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= at);
        let start = self.starts[line - 1];
        (line, self.text[start..at].chars().filter(|c| *c != BOM).count() + 1)
    }

    /// Returns a line by number, without its line ending.
    pub(crate) fn line(&self, number: usize) -> &'a str {
        let start = self.starts[number - 1];
        let end = self.starts.get(number).map_or(self.text.len(), |next| next - 1);
        self.text[start..end].trim_end_matches('\r').trim_start_matches(BOM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notation(text: &str, name: &str) -> Option<Notation> {
        Notation::of(text, name, &mut Findings::default())
    }

    #[test]
    fn the_text_says_what_it_is_written_in() {
        let (json, markdown) = (Some(Notation::Json), Some(Notation::Markdown));
        for name in ["SPEC.md", "SPEC.json", "-", "spec"] {
            assert_eq!(notation("\u{feff} {\"feature\": 1}", name), json, "{name}");
            assert_eq!(notation("\n# Title", name), markdown, "{name}");
        }
        assert_eq!(notation("{name} is greeted", "SPEC.md"), markdown);
        assert_eq!(notation("{name}", "SPEC.json"), json);
        assert_eq!(notation("words", "SPEC.json"), json);
        assert_eq!(notation("[a link](x)", "-"), markdown);
        assert_eq!(notation("[1, 2]", "-"), json);
        assert_eq!(notation(" \n\t", "SPEC.md"), None);
        assert_eq!(notation("# a\0b", "SPEC.md"), None);
    }

    #[test]
    fn a_position_counts_characters_and_not_the_mark_before_them() {
        let text = "\u{feff}äb\r\n\nc";
        let lines = Lines::of(text);
        let at = |needle: &str| lines.position(text.find(needle).unwrap());
        assert_eq!((at("ä"), at("b"), at("c"), lines.position(1_000)), ((1, 1), (1, 2), (3, 1), (3, 2)));
        assert_eq!([1, 2, 3].map(|number| lines.line(number)), ["äb", "", "c"]);
    }
}
