use std::borrow::Cow;
use std::fmt::Write;

use steadfast_text::columns;

use crate::problem::Problem;
use crate::source::Lines;

/// The maximum width of an excerpt in columns: with its margin it fits a terminal of 80.
const WIDTH: usize = 70;
/// The number of characters shown before the problem.
const BEFORE: usize = 30;

/// Removes the secrets of a line.
pub type Redact = fn(&str) -> Cow<'_, str>;

/// Renders problems as a compiler does, with the line and a caret. `name` is the file name.
///
/// A long line is cut. It is redacted before that: the name that announces a secret may be in the part cut away.
pub fn render(problems: &[Problem], text: &str, name: &str, redact: Redact) -> String {
    let lines = Lines::of(text);
    let mut shown = String::new();
    for problem in problems {
        one(&mut shown, problem, &lines, name, redact);
    }
    shown
}

fn one(shown: &mut String, problem: &Problem, lines: &Lines<'_>, name: &str, redact: Redact) {
    let Problem { code, severity, line, column, message, help, span } = problem;
    let (severity, code) = (severity.as_str(), code.as_str());
    let line_text = lines.line(*line);
    let before: String = line_text.chars().take(column - 1).collect();
    let (excerpt, indent) = excerpt(&redact(line_text), redact(&before).chars().count());
    let end = if lines.position(span.end).0 == *line { lines.position(span.end).1 } else { column + 1 };
    let marked = end.saturating_sub(*column).max(1);
    // Wide characters take two columns.
    let width = |from: usize, most: usize| columns(&excerpt.chars().skip(from).take(most).collect::<String>());
    let carets = "^".repeat(width(indent, marked).max(1));
    let margin = " ".repeat(line.to_string().len());
    let indent = " ".repeat(width(0, indent));
    // Writing into a string does not fail.
    let _ = writeln!(shown, "{name}:{line}:{column}: {severity}[{code}]: {}", visible(message));
    let _ = writeln!(shown, "{margin} |\n{line} | {excerpt}\n{margin} | {indent}{carets}");
    let _ = writeln!(shown, "{margin} = help: {}\n", visible(help));
}

/// Returns the part of a line around a column, and the position of the column in it.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    let length = line.chars().count();
    let column = column.min(length);
    let from = if length <= WIDTH { 0 } else { column.saturating_sub(BEFORE).min(length - WIDTH) };
    let mut text: String = line.chars().skip(from).take(WIDTH).map(visible_character).collect();
    let mut indent = column - from;
    if from > 0 {
        text.insert(0, '…');
        indent += 1;
    }
    if from + WIDTH < length {
        text.push('…');
    }
    (text, indent)
}

fn visible(text: &str) -> String {
    text.chars().map(visible_character).collect()
}

/// Replaces control characters: a spec must not control the terminal.
fn visible_character(character: char) -> char {
    match character {
        '\t' => ' ',
        c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => '\u{fffd}',
        c => c,
    }
}
