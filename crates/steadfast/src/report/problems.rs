//! The problems of a spec, with the colours of a compiler.

use steadfast_text::{HANG, wrap};

use crate::terminal;

/// Styles the rendered problems. `width`: wraps messages and helps, but no excerpt.
pub(crate) fn problems(rendered: &str, width: Option<usize>) -> String {
    let mut styled = String::with_capacity(rendered.len() * 2);
    for line in rendered.lines() {
        let styled_line = line_of(line);
        match width.filter(|_| !is_excerpt(line)) {
            Some(width) => styled.push_str(&wrap(&styled_line, width)),
            None => styled.push_str(&styled_line),
        }
        styled.push('\n');
    }
    styled
}

/// `12 | the text`, or the line with the carets below it.
fn is_excerpt(line: &str) -> bool {
    line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit()).starts_with('|')
}

fn line_of(line: &str) -> String {
    if let Some((margin, text)) = line.split_once('|').filter(|_| is_excerpt(line)) {
        let is_marked = !text.is_empty() && text.chars().all(|c| matches!(c, ' ' | '^'));
        let text = if is_marked { terminal::bad(text) } else { text.to_owned() };
        return format!("{}{text}", terminal::faint(&format!("{margin}|")));
    }
    if let Some((margin, help)) = line.split_once("= help: ").filter(|(margin, _)| margin.trim().is_empty()) {
        return format!("{margin}= {} {HANG}{}", terminal::good("help:"), terminal::quoted(help));
    }
    let words: [(&str, terminal::Styling); 2] = [(": error[", terminal::bad), (": warning[", terminal::warning)];
    let found = words.iter().find_map(|(word, paint)| Some((line.find(word)? + 2, paint)));
    let Some((start, paint)) = found else { return line.to_owned() };
    let end = line[start..].find(": ").map_or(line.len(), |length| start + length);
    format!("{}{}{}", &line[..start], paint(&line[start..end]), terminal::quoted(&line[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RENDERED: &str = "SPEC.md:3:1: error[no-tasks]: the phase has no tasks, so nothing of it can be done\n   |\n 3 | ## Phase 1: a heading that is long\n   | ^^^^^^^\n   = help: add a task below the heading, as in `- [ ] 1.1 Title`\n\n";

    #[test]
    fn without_colours_a_problem_is_what_it_was() {
        assert_eq!(terminal::bare(&problems(RENDERED, None)), RENDERED);
    }

    #[test]
    fn a_message_is_wrapped_and_an_excerpt_is_not() {
        let said = terminal::bare(&problems(RENDERED, Some(30)));
        assert!(said.contains("\n 3 | ## Phase 1: a heading that is long\n   | ^^^^^^^\n"), "{said}");
        assert!(said.starts_with("SPEC.md:3:1: error[no-tasks]:\n  the phase has no tasks, so\n"), "{said}");
        assert!(said.contains("   = help: add a task below\n           the heading, as in\n"), "{said}");
    }
}
