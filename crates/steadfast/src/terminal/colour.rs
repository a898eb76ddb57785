//! Styles. They only repeat what the words say, so a text without them says the same.

use std::borrow::Cow;
use std::io::IsTerminal;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Reset, Style};
use clap::ColorChoice as Wanted;
use steadfast_text::MARKS;

/// The mark at the end of a styled text. The marks at the beginnings follow it, in the order of [`STYLES`].
const END: char = *MARKS.start();

/// The styles are those of `clap`'s help and errors.
const STYLES: [Style; 6] = [
    AnsiColor::Green.on_default(),
    AnsiColor::Red.on_default().bold(),
    AnsiColor::Yellow.on_default().bold(),
    Style::new().dimmed(),
    Style::new().bold(),
    Style::new().bold().underline(),
];

/// One of the functions below.
pub(crate) type Styling = fn(&str) -> String;

/// What succeeded, and hints.
pub(crate) fn good(text: &str) -> String {
    marked(0, text)
}

/// What failed, and errors.
pub(crate) fn bad(text: &str) -> String {
    marked(1, text)
}

/// What needs attention.
pub(crate) fn warning(text: &str) -> String {
    marked(2, text)
}

/// What matters less than the text around it.
pub(crate) fn faint(text: &str) -> String {
    marked(3, text)
}

pub(crate) fn strong(text: &str) -> String {
    marked(4, text)
}

pub(crate) fn heading(text: &str) -> String {
    marked(5, text)
}

fn marked(style: u32, text: &str) -> String {
    match char::from_u32(u32::from(END) + 1 + style).filter(|_| !text.is_empty()) {
        Some(mark) => format!("{mark}{text}{END}"),
        None => text.to_owned(),
    }
}

/// Makes each text between backticks stand out, and the first word of an error or a hint.
pub(crate) fn quoted(text: &str) -> String {
    let mut styled = String::with_capacity(text.len() + 16);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            styled.push('\n');
        }
        let words: [(&str, Styling); 4] = [("error:", bad), ("hint:", good), ("warning:", warning), ("note:", strong)];
        let word = words.iter().find(|(word, _)| line.starts_with(word));
        let line = match word {
            Some((word, style)) => {
                styled.push_str(&style(word));
                &line[word.len()..]
            }
            None => line,
        };
        let mut parts = line.split('`');
        styled.push_str(parts.next().unwrap_or_default());
        while let Some(part) = parts.next() {
            match parts.next() {
                Some(after) => {
                    styled.push_str(&strong(&format!("`{part}`")));
                    styled.push_str(after);
                }
                // It has no end.
                None => {
                    styled.push('`');
                    styled.push_str(part);
                }
            }
        }
    }
    styled
}

/// Sets when output has colours: `auto` is at a terminal, unless `NO_COLOR`, `CLICOLOR` or `CLICOLOR_FORCE` differ.
pub(crate) fn choose(wanted: Wanted) {
    match wanted {
        Wanted::Auto => ColorChoice::Auto,
        Wanted::Always => ColorChoice::Always,
        Wanted::Never => ColorChoice::Never,
    }
    .write_global();
}

/// Replaces the marks by the sequences of the terminal, or drops them where `stream` has no colours.
pub(crate) fn painted<'a>(text: &'a str, stream: &(impl anstream::stream::RawStream + IsTerminal)) -> Cow<'a, str> {
    if !text.contains(is_mark) {
        return text.into();
    }
    if AutoStream::choice(stream) == ColorChoice::Never {
        return bare(text).into();
    }
    let (mut painted, mut open): (String, Vec<Style>) = (String::with_capacity(text.len() + 32), Vec::new());
    for c in text.chars() {
        if !is_mark(c) {
            painted.push(c);
        } else if c == END {
            // The terminal has one sequence that ends all styles: the outer ones begin again.
            if open.pop().is_some() {
                painted += &Reset.render().to_string();
                open.iter().for_each(|style| painted += &style.render().to_string());
            }
        } else if let Some(style) = STYLES.get((u32::from(c) - u32::from(END) - 1) as usize) {
            open.push(*style);
            painted += &style.render().to_string();
        }
    }
    if !open.is_empty() {
        painted += &Reset.render().to_string();
    }
    painted.into()
}

/// A text without marks.
pub(crate) fn bare(text: &str) -> String {
    text.chars().filter(|c| !is_mark(*c)).collect()
}

fn is_mark(c: char) -> bool {
    MARKS.contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_styled_text_is_the_text_without_its_marks() {
        let text = format!("{} {}: {}", strong("1"), good("done"), faint(""));
        assert_eq!(bare(&text), "1 done: ");
    }

    #[test]
    fn commands_in_backticks_and_the_word_of_an_error_stand_out() {
        let said = quoted("error: run `a b` or `c`\nhint: one ` alone");
        let [error, hint] = [bad("error:"), good("hint:")];
        assert_eq!(said, format!("{error} run {} or {}\n{hint} one ` alone", strong("`a b`"), strong("`c`")));
    }
}
