//! Splits code into tokens, and resolves texts as far as their parts are literal.

use crate::text::ANY;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    Mark(char),
}

/// The values for resolving texts.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) home: &'a str,
    /// The arguments after the code.
    pub(super) args: &'a [&'a str],
    /// The language has `q{…}` as a text.
    pub(super) bare: bool,
}

pub(super) fn tokens(code: &str, given: Given<'_>) -> Vec<Token> {
    let mut tokens = split(code, given);
    if tokens.iter().any(|token| matches!(token, Token::Name(name) if is_place(name))) {
        tokens = placed(&tokens, given);
    }
    join(&mut tokens);
    tokens
}

fn split(code: &str, given: Given<'_>) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = code.chars().peekable();
    let (mut format, mut depth) = (false, 0);
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' | '`' => {
                let mut text = String::new();
                while let Some(next) = chars.next() {
                    match next {
                        '\\' => escaped(&mut chars, &mut text),
                        '{' if format || (c == '`' && text.ends_with('$')) => {
                            let inner: String = chars.by_ref().take_while(|c| *c != '}').collect();
                            text = text.trim_end_matches('$').to_owned();
                            if inner.contains("HOME") || inner.contains("homedir") {
                                text.push_str(given.home);
                            } else {
                                text.push(ANY);
                            }
                        }
                        next if next == c => break,
                        next => text.push(next),
                    }
                }
                if format
                    || matches!(tokens.last(), Some(Token::Name(name)) if matches!(name.as_str(), "b" | "r" | "u"))
                {
                    tokens.pop();
                }
                tokens.push(Token::Text(at_home(text, given.home)));
            }
            c if c.is_alphanumeric() || c == '_' => {
                let mut name = String::from(c);
                while let Some(next) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(next);
                }
                format = matches!(name.as_str(), "f" | "rf" | "fr") && matches!(chars.peek(), Some('\'' | '"'));
                let quoted = if given.bare && matches!(name.as_str(), "q" | "qq") { quote(&mut chars) } else { None };
                tokens.push(quoted.map_or(Token::Name(name), Token::Text));
                continue;
            }
            // A literal `\n` between statements: some scripts are written in one line like this.
            '\\' => {
                chars.next_if_eq(&'n');
            }
            // Inside brackets a newline has no meaning.
            '\n' if depth <= 0 => tokens.push(Token::Mark('\n')),
            c if c.is_whitespace() => {}
            c => {
                depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
                // `a\n.b()` is one statement.
                if c == '.' && tokens.last() == Some(&Token::Mark('\n')) {
                    tokens.pop();
                }
                tokens.push(Token::Mark(c));
            }
        }
        format = false;
    }
    tokens
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Reads `q{…}`.
fn quote(chars: &mut Chars<'_>) -> Option<String> {
    let close = match chars.peek()? {
        '{' => '}',
        '(' => ')',
        '[' => ']',
        '<' => '>',
        c @ ('/' | '|' | '!') => *c,
        _ => return None,
    };
    chars.next();
    Some(chars.by_ref().take_while(|c| *c != close).collect())
}

/// Reads the rest of an escape: `\x2f`, `\x{2f}`, `\u002f`, `\57`, or the character itself.
fn escaped(chars: &mut Chars<'_>, text: &mut String) {
    let Some(c) = chars.next() else { return };
    let (radix, most) = match c {
        'x' => (16, 2),
        'u' | 'U' => (16, 4),
        '0'..='7' => (8, 3),
        c => return text.push(c),
    };
    let mut digits = if radix == 8 { String::from(c) } else { String::new() };
    if radix == 16 && chars.next_if_eq(&'{').is_some() {
        digits.extend(chars.by_ref().take_while(|c| *c != '}').take(6));
    } else {
        while digits.len() < most
            && let Some(digit) = chars.next_if(|c| c.is_digit(radix))
        {
            digits.push(digit);
        }
    }
    match u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32) {
        Some(found) => text.push(found),
        None => text.push(c),
    }
}

/// Resolves `~/…` and `$HOME/…` in a text.
fn at_home(text: String, home: &str) -> String {
    let rest = ["~/", "$HOME/", "${HOME}/", "$env:HOME/", "%HOME%/", "#{ENV[HOME]}/", "#{Dir.home}/"]
        .iter()
        .find_map(|start| text.strip_prefix(start));
    match rest {
        Some(rest) => format!("{home}/{rest}"),
        None if text == "~" => home.to_owned(),
        None => text,
    }
}

fn is_place(name: &str) -> bool {
    matches!(
        name,
        "HOME"
            | "env"
            | "ENV"
            | "environ"
            | "getenv"
            | "homedir"
            | "home"
            | "argv"
            | "ARGV"
            | "join"
            | "joinpath"
            | "getcwd"
            | "expanduser"
    ) || name.ends_with("env")
}

/// Resolves the home folder, arguments and joined paths to texts.
fn placed(tokens: &[Token], given: Given<'_>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        let Token::Name(name) = token else {
            // The end of `getenv("HOME")`, `ENV['HOME']`, `$ENV{HOME}`.
            if matches!(token, Token::Text(text) if text == "HOME") && drop_chain(&mut out) {
                at += usize::from(matches!(tokens.get(at), Some(Token::Mark(')' | ']' | '}'))));
                out.push(Token::Text(given.home.to_owned()));
            } else {
                out.push(token.clone());
            }
            continue;
        };
        match (name.as_str(), &tokens[at..]) {
            ("HOME", rest) if drop_chain(&mut out) => {
                at += usize::from(matches!(rest, [Token::Mark(')' | ']' | '}'), ..]));
                out.push(Token::Text(given.home.to_owned()));
            }
            ("homedir" | "home", [Token::Mark('('), Token::Mark(')'), ..]) => {
                drop_chain(&mut out);
                at += 2;
                out.push(Token::Text(given.home.to_owned()));
            }
            ("expanduser", [Token::Mark('('), Token::Text(text), Token::Mark(')'), ..]) => {
                drop_chain(&mut out);
                at += 3;
                out.push(Token::Text(text.clone()));
            }
            ("argv" | "ARGV", [Token::Mark('['), Token::Name(number), Token::Mark(']'), ..]) => {
                // In Ruby and Perl the arguments do not include the name of the program.
                let first = usize::from(name == "argv");
                let arg = number.parse::<usize>().ok().and_then(|n| given.args.get(n.checked_sub(first)?));
                if let Some(arg) = arg {
                    drop_chain(&mut out);
                    at += 3;
                    out.push(Token::Text((*arg).to_owned()));
                } else {
                    out.push(token.clone());
                }
            }
            ("join" | "joinpath", [Token::Mark('('), rest @ ..]) => match joined_path(rest) {
                Some((path, used))
                    if !matches!(out.as_slice(), [.., Token::Text(_) | Token::Mark(']'), Token::Mark('.')]) =>
                {
                    drop_chain(&mut out);
                    at += 1 + used;
                    out.push(Token::Text(path));
                }
                _ => out.push(token.clone()),
            },
            _ => out.push(token.clone()),
        }
    }
    out
}

/// Removes the prefix of a name: `os.`, `process.env.`, `$ENV{`.
fn drop_chain(out: &mut Vec<Token>) -> bool {
    const LEADS: &[&str] = &[
        "os",
        "process",
        "env",
        "ENV",
        "environ",
        "getenv",
        "get",
        "path",
        "Path",
        "pathlib",
        "sys",
        "Sys",
        "System",
        "Deno",
        "Dir",
        "File",
        "fs",
        "require",
        "Environment",
        "get_env",
        "fetch",
        "GetEnvironmentVariable",
        "p",
        "argv",
    ];
    let mut dropped = false;
    while let Some(token) = out.last() {
        match token {
            Token::Name(name) if LEADS.contains(&name.as_str()) => dropped = true,
            Token::Mark('.' | ':' | '$' | '%' | '@') => {}
            Token::Mark('(' | '[' | '{') if matches!(out.get(out.len().wrapping_sub(2)), Some(Token::Name(name)) if LEADS.contains(&name.as_str())) =>
                {}
            _ => break,
        }
        out.pop();
    }
    dropped
}

/// Joins the texts of a call up to its parenthesis; also returns the number of tokens.
fn joined_path(tokens: &[Token]) -> Option<(String, usize)> {
    let mut parts: Vec<&str> = Vec::new();
    for (at, token) in tokens.iter().enumerate().take(32) {
        match token {
            Token::Text(text) => parts.push(text),
            Token::Mark(',') => {}
            Token::Mark(')') if parts.len() > 1 => return Some((parts.join("/"), at + 1)),
            _ => return None,
        }
    }
    None
}

/// Joins texts with an operator between them: `'a' + 'b'`, `"a" . "b"`, `"a" .. "b"`, `Path('a') / 'b'`.
fn join(tokens: &mut Vec<Token>) {
    if !tokens.windows(3).any(|window| matches!(window, [_, Token::Mark(_), Token::Text(_)])) {
        return;
    }
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens.drain(..) {
        if let Token::Text(text) = &token {
            let joined = match out.as_slice() {
                [.., Token::Text(before), Token::Mark('+' | '.' | '*' | '~' | '^' | '&')] => {
                    Some((format!("{before}{text}"), 2, false))
                }
                [.., Token::Text(before), Token::Mark(a @ ('.' | '+' | '|')), Token::Mark(b)] if a == b => {
                    Some((format!("{before}{text}"), 3, false))
                }
                [.., Token::Text(before), Token::Mark('<'), Token::Mark('>')] => {
                    Some((format!("{before}{text}"), 3, false))
                }
                [.., Token::Text(before), Token::Mark('/')] => Some((format!("{before}/{text}"), 2, false)),
                [.., Token::Text(before), Token::Mark(')'), Token::Mark('/')] => {
                    Some((format!("{before}/{text}"), 3, true))
                }
                _ => None,
            };
            if let Some((text, drop, closed)) = joined {
                out.truncate(out.len() - drop);
                out.push(Token::Text(text));
                out.extend(closed.then_some(Token::Mark(')')));
                continue;
            }
        }
        out.push(token);
    }
    *tokens = out;
}
