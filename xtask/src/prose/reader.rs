//! Reads the texts of one Rust file. It works on tokens, so it also finds texts within macro calls.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, LexError, Literal, TokenStream, TokenTree};

use super::Kind;
use super::comments::Comments;

/// The kind of literals and doc comments at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Literals are messages.
    Code,
    /// Literals are messages and doc comments are help.
    Documented,
    /// Literals are help.
    HelpAttribute,
    /// Literals are for engineers or machines.
    Silent,
}

/// Derives whose doc comments users read: clap's, and the one for the schema of the settings.
const DOCUMENTED_DERIVES: [&str; 5] = ["Parser", "Args", "Subcommand", "ValueEnum", "JsonSchema"];

/// Macros that put such a derive around their items.
const DOCUMENTED_MACROS: [&str; 3] = ["choices", "commands", "settings"];

const HELP_ATTRIBUTES: [&str; 5] = ["arg", "clap", "command", "group", "value"];

/// Macros whose texts are for engineers or machines.
const SILENT_MACROS: [&str; 12] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "include_str",
    "panic",
    "todo",
    "unreachable",
    "unimplemented",
];

const SQL: [&str; 16] = [
    "ALTER", "AND", "BEGIN", "CREATE", "DELETE", "DROP", "FROM", "INSERT", "JOIN", "ORDER", "PRAGMA", "SELECT",
    "UNION", "UPDATE", "WHERE", "WITH",
];

/// Parts of SQL that a query is put together from.
const SQL_PARTS: [&str; 5] = [" ?1", " IS NULL", " IS NOT NULL", " ORDER BY ", " <> '"];

/// Words that nearly every sentence has one of, and no list of words.
const FUNCTION_WORDS: [&str; 26] = [
    "a", "an", "and", "are", "as", "be", "by", "can", "for", "from", "in", "is", "it", "its", "no", "not", "of", "on",
    "or", "than", "that", "the", "this", "to", "was", "with",
];

/// A list of words between blanks has at least so many; a shorter text may be a message.
const LIST: usize = 6;

/// The same for words between commas.
const COMMA_LIST: usize = 3;

/// The texts of a file: messages and help in the order of their positions, then the comments.
pub(super) fn texts(content: &str) -> Result<Vec<(Kind, String)>, LexError> {
    let tokens: TokenStream = content.parse()?;
    let mut reader = Reader { content, end: 0, texts: Vec::new(), comments: Comments::of(content) };
    reader.read(tokens, Place::Code);
    reader.advance(content.len()..content.len());
    let comments = reader.comments.into_texts().map(|text| (Kind::Comment, text));
    Ok(reader.texts.into_iter().chain(comments).collect())
}

struct Reader<'a> {
    content: &'a str,
    /// The end of the last token.
    end: usize,
    texts: Vec<(Kind, String)>,
    comments: Comments<'a>,
}

impl Reader<'_> {
    fn read(&mut self, tokens: TokenStream, place: Place) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        // The place of the current item; it ends with the item.
        let mut current = place;
        let mut position = 0;
        while let Some(token) = tokens.get(position) {
            let attributes = leading_attributes(&tokens[position..]);
            if !attributes.is_empty() {
                position += attributes.iter().map(|attribute| attribute.length).sum::<usize>();
                if attributes.iter().any(|attribute| is_test_only(attribute.group)) {
                    position += item_length(&tokens[position..]);
                    self.end = tokens[position - 1].span().byte_range().end;
                    continue;
                }
                if attributes.iter().any(|attribute| derives_documentation(attribute.group)) {
                    current = Place::Documented;
                }
                self.read_attributes(&attributes, current);
                continue;
            }
            match token {
                TokenTree::Group(group) => {
                    self.read_group(group, place_of_group(&tokens[..position], current));
                    if group.delimiter() == Delimiter::Brace {
                        current = place;
                    }
                }
                TokenTree::Literal(literal) => {
                    self.advance(literal.span().byte_range());
                    self.read_literal(literal, current);
                }
                TokenTree::Punct(punct) => {
                    self.advance(punct.span().byte_range());
                    if punct.as_char() == ';' {
                        current = place;
                    }
                }
                TokenTree::Ident(ident) => self.advance(ident.span().byte_range()),
            }
            position += 1;
        }
    }

    fn read_group(&mut self, group: &Group, place: Place) {
        self.advance(group.span_open().byte_range());
        self.read(group.stream(), place);
        self.advance(group.span_close().byte_range());
    }

    fn read_attributes(&mut self, attributes: &[Attribute<'_>], place: Place) {
        let mut help: Vec<String> = Vec::new();
        for attribute in attributes {
            let range = attribute.group.span_open().byte_range();
            let source = self.content.get(attribute.group.span().byte_range()).unwrap_or_default();
            if source.starts_with("//") {
                let whole = attribute.group.span().byte_range();
                self.advance(whole.start..whole.start);
                self.comments.add(whole.start, source);
                self.end = whole.end;
                help.extend(literals(attribute.group).filter(|_| place == Place::Documented));
                continue;
            }
            self.advance(range);
            let place = match attribute.name().as_str() {
                "error" => Place::Code,
                name if HELP_ATTRIBUTES.contains(&name) => Place::HelpAttribute,
                _ => Place::Silent,
            };
            // Help is shown in the order of the source: documentation first.
            self.push_help(&mut help);
            self.read(attribute.group.stream(), place);
            self.advance(attribute.group.span_close().byte_range());
        }
        self.push_help(&mut help);
    }

    fn push_help(&mut self, lines: &mut Vec<String>) {
        if !lines.is_empty() {
            let lines = std::mem::take(lines);
            self.texts.push((Kind::Help, paragraphs(&lines)));
        }
    }

    fn read_literal(&mut self, literal: &Literal, place: Place) {
        let kind = match place {
            Place::Code | Place::Documented => Kind::Message,
            Place::HelpAttribute => Kind::Help,
            Place::Silent => return,
        };
        if let Some(text) = value(literal)
            && is_prose(&text)
        {
            self.texts.push((kind, text));
        }
    }

    /// Goes to the end of a token; what lies before the token is white space and comments.
    fn advance(&mut self, token: Range<usize>) {
        if token.start > self.end {
            self.comments.add_gap(self.end, token.start);
        }
        self.end = self.end.max(token.end);
    }
}

struct Attribute<'a> {
    group: &'a Group,
    /// Its tokens, with `#` and `!`.
    length: usize,
}

impl Attribute<'_> {
    fn name(&self) -> String {
        self.group.stream().into_iter().next().map(|token| token.to_string()).unwrap_or_default()
    }
}

/// The attributes that the tokens begin with.
fn leading_attributes(tokens: &[TokenTree]) -> Vec<Attribute<'_>> {
    let mut attributes = Vec::new();
    let mut position = 0;
    while let Some(attribute) = attribute(&tokens[position..]) {
        position += attribute.length;
        attributes.push(attribute);
    }
    attributes
}

fn attribute(tokens: &[TokenTree]) -> Option<Attribute<'_>> {
    let is_mark = |token: &TokenTree, mark| matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark);
    let begin = 1 + usize::from(tokens.get(1).is_some_and(|token| is_mark(token, '!')));
    match tokens.get(begin) {
        Some(TokenTree::Group(group)) if is_mark(&tokens[0], '#') && group.delimiter() == Delimiter::Bracket => {
            Some(Attribute { group, length: begin + 1 })
        }
        _ => None,
    }
}

/// Returns true for `cfg(test)` and `cfg(all(test, …))`.
fn is_test_only(attribute: &Group) -> bool {
    let text: String = attribute.stream().to_string().split_whitespace().collect();
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

fn derives_documentation(attribute: &Group) -> bool {
    let text = attribute.stream().to_string();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    text.contains("derive") && words.any(|word| DOCUMENTED_DERIVES.contains(&word))
}

/// Words that an item begins with; a field or an arm begins with others.
const ITEMS: [&str; 11] = ["async", "const", "enum", "fn", "impl", "let", "mod", "static", "struct", "type", "use"];

/// The length of the item, field or arm that the tokens begin with.
fn item_length(tokens: &[TokenTree]) -> usize {
    let is_item = tokens.iter().take(3).any(|token| ITEMS.iter().any(|word| token.to_string() == *word));
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';' || (punct.as_char() == ',' && !is_item),
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    };
    tokens.iter().position(ends).map_or(tokens.len(), |position| position + 1)
}

/// The place within a group, from the tokens before it.
fn place_of_group(before: &[TokenTree], place: Place) -> Place {
    match before {
        [.., TokenTree::Ident(name), TokenTree::Punct(mark)] if mark.as_char() == '!' => {
            let name = name.to_string();
            if SILENT_MACROS.contains(&name.as_str()) {
                Place::Silent
            } else if DOCUMENTED_MACROS.contains(&name.as_str()) {
                Place::Documented
            } else {
                place
            }
        }
        [.., TokenTree::Punct(dot), TokenTree::Ident(name)] if dot.as_char() == '.' && name == "expect" => {
            Place::Silent
        }
        _ => place,
    }
}

fn literals(group: &Group) -> impl Iterator<Item = String> {
    group.stream().into_iter().filter_map(|token| match token {
        TokenTree::Literal(literal) => value(&literal),
        _ => None,
    })
}

/// Returns the string of a literal, with its lines joined as the compiler joins them.
fn value(literal: &Literal) -> Option<String> {
    match syn::Lit::new(literal.clone()) {
        syn::Lit::Str(text) => Some(text.value()),
        _ => None,
    }
}

/// The lines of a doc comment with each paragraph on one line, as `--help` shows them.
fn paragraphs(lines: &[String]) -> String {
    let text: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    let paragraphs = text.split(|line| line.is_empty()).filter(|paragraph| !paragraph.is_empty());
    paragraphs.map(|paragraph| paragraph.join(" ")).collect::<Vec<_>>().join("\n\n")
}

/// Returns true if a literal is a text for users or agents: at least two words, one of them with small letters and not
/// a placeholder, neither SQL nor a list of words.
fn is_prose(text: &str) -> bool {
    let outside = without_placeholders(text);
    let words: Vec<&str> = outside.split_whitespace().collect();
    let is_word = |word: &&str| word.chars().filter(char::is_ascii_lowercase).count() > 1;
    words.len() > 1 && words.iter().any(is_word) && !is_sql(text) && !is_word_list(text)
}

fn is_sql(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    SQL.contains(&first) || SQL_PARTS.iter().any(|part| text.contains(part))
}

/// Returns true if a literal is a vocabulary: single words between commas, or many words without a function word.
fn is_word_list(text: &str) -> bool {
    let between_commas: Vec<&str> = text.split(", ").collect();
    if between_commas.len() >= COMMA_LIST && between_commas.iter().all(|piece| !piece.contains([' ', '{'])) {
        return true;
    }
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let is_function_word = |word: &String| FUNCTION_WORDS.contains(&word.as_str());
    words.len() >= LIST
        && !words.iter().any(is_function_word)
        && !text.contains(['{', '`', '.', ',', ':', ';', '?', '"'])
}

/// The text with `_` for each `{…}` of a format string.
fn without_placeholders(text: &str) -> String {
    let mut outside = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '{' => {
                depth += 1;
                outside.push('_');
            }
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    outside
}

#[cfg(test)]
mod tests;
