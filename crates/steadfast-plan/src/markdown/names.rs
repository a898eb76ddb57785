//! What the words of a heading, a box or a cell say.

use super::Section;
use crate::draft::Text;

pub(crate) fn is_nothing(name: &str) -> bool {
    matches!(name.to_lowercase().as_str(), "none" | "-" | "–" | "—" | "nothing" | "n/a")
}

/// What a heading says about the lines below it.
pub(super) fn named_section(heading: &str) -> Option<Section> {
    let words = plain(heading).to_lowercase();
    let words = words.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ' ');
    let is = |names: &[&str]| names.contains(&words);
    if is(&["objective", "goal", "goals", "overview", "summary", "description", "purpose", "what"]) {
        Some(Section::Description)
    } else if is(&[
        "constraints",
        "key constraints",
        "must not",
        "must nots",
        "non-goals",
        "non goals",
        "out of scope",
        "do not",
    ]) {
        Some(Section::Constraints)
    } else if is(&["success criteria", "acceptance criteria", "acceptance", "definition of done", "done when"]) {
        Some(Section::Criteria)
    } else if is(&["verification commands", "verification", "commands", "checks"]) {
        Some(Section::Commands)
    } else if is(&[
        "background",
        "context",
        "notes",
        "references",
        "risks",
        "open questions",
        "questions",
        "architecture",
        "design",
        "appendix",
        "changelog",
        "introduction",
        "motivation",
        "dependencies",
        "table of contents",
    ]) {
        Some(Section::Other)
    } else {
        None
    }
}

/// `Phase 1: Codes`, `1. Codes`, `Codes`: what it is called, and the id of one that has a number.
pub(crate) fn phase_name(heading: &Text) -> (Option<String>, String) {
    let text = plain(heading.as_str());
    let lower = text.to_lowercase();
    let rest =
        lower.strip_prefix("phase").or_else(|| lower.strip_prefix("milestone")).or_else(|| lower.strip_prefix("stage"));
    let number = rest.unwrap_or(&lower).trim_start();
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    let is_number = !digits.is_empty() && (rest.is_some() || number[digits.len()..].starts_with(['.', ')', ':', ' ']));
    (is_number.then(|| format!("phase-{digits}")), text)
}

/// `1.1 Title`, `1.1: Title`, `**1.1** Title`, `Task 1.1 – Title`, `T12 Title`.
pub(crate) fn numbered(text: &Text) -> Option<(Text, Text)> {
    let whole = text.as_str();
    let start = whole.len() - whole.trim_start_matches(['*', '_', '`', ' ', '[']).len();
    let body = &whole[start..];
    let skip = ["Task ", "task ", "Step ", "step "].into_iter().find(|word| body.starts_with(word)).map_or(0, str::len);
    let body = &body[skip..];
    let end = body.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-')).unwrap_or(body.len());
    let id = body[..end].trim_end_matches(['.', '-']);
    let digits = id.chars().filter(char::is_ascii_digit).count();
    let is_id = digits > 0
        && (id.starts_with(|c: char| c.is_ascii_digit())
            && (id.contains('.') || skip > 0 || body[end..].starts_with([':', ')']) || body[..end].ends_with('.'))
            || id.len() <= 6
                && id.starts_with(|c: char| c.is_ascii_uppercase())
                && id[1..].trim_start_matches('-').chars().all(|c| c.is_ascii_digit() || c == '.'));
    if !is_id {
        return None;
    }
    let rest = &body[end..];
    let title = rest.trim_start_matches(['*', '_', '`', ']', ':', ')', '.', '-', '–', '—', '|', ' ']);
    if title.trim().is_empty() {
        return None;
    }
    let at = text.span.start;
    let id_at = at + start + skip;
    let title_at = at + whole.len() - title.len();
    let title = Text::new(plain(title), title_at..title_at + title.trim_end().len());
    Some((Text::new(id, id_at..id_at + id.len()), title))
}

/// `Title {#id}`: an id of any shape, as an export writes it.
pub(crate) fn tagged(text: &Text) -> Option<(Text, Text)> {
    let (title, id) = text.as_str().trim_end().strip_suffix('}')?.rsplit_once("{#")?;
    let title = title.trim();
    if id.is_empty() || id.contains(char::is_whitespace) {
        return None;
    }
    let within = |part: &str| {
        let start = text.span.start + (part.as_ptr() as usize - text.as_str().as_ptr() as usize);
        Text::new(part, start..start + part.len())
    };
    Some((within(id), within(title)))
}

/// A type in brackets at the end or the beginning: `(ui)`, `[backend]`.
pub(crate) fn marked(title: Text) -> (Text, Option<Text>) {
    let text = title.as_str().trim();
    for (open, close) in [('(', ')'), ('[', ']')] {
        for word in ["ui", "backend", "func", "docs"] {
            let mark = format!("{open}{word}{close}");
            let rest = text.strip_suffix(&mark).or_else(|| text.strip_prefix(&mark));
            if let Some(rest) = rest {
                let span = title.span.clone();
                return (Text::new(rest.trim(), span.clone()), Some(Text::new(word, span)));
            }
        }
    }
    (title, None)
}

/// Without emphasis and backticks around words.
pub(crate) fn plain(text: &str) -> String {
    let text = text.replace("**", "").replace("__", "");
    text.trim().trim_matches(['`', '*', '_']).trim().to_owned()
}

pub(super) fn normal(text: &str) -> String {
    let words = text.to_lowercase();
    words.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
}
