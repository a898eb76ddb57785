//! The output of `echo`, `printf` and decoders.

use crate::parse::{digits, next_escape};
use crate::text::ANY;

pub(crate) fn echo(texts: &[&str]) -> String {
    let is_option =
        |text: &&str| text.len() > 1 && text.starts_with('-') && text[1..].bytes().all(|b| b"neE".contains(&b));
    let options = texts.iter().take_while(|text| is_option(text)).count();
    let escapes = texts[..options].iter().any(|text| text.contains('e'));
    let newline = !texts[..options].iter().any(|text| text.contains('n'));
    let line = texts[options..].join(" ");
    let mut out = if escapes { unescaped(&line) } else { line };
    if newline {
        out.push('\n');
    }
    out
}

/// Returns the output of `printf`. `None`: unknown.
pub(crate) fn printf(texts: &[&str]) -> Option<String> {
    let (format, mut args) = texts.split_first()?;
    let mut out = String::new();
    // The format is repeated while arguments are left.
    for _ in 0..64 {
        let before = args.len();
        let mut chars = format.char_indices();
        let mut literal = String::new();
        while let Some((_, c)) = chars.next() {
            if c != '%' {
                literal.push(c);
                continue;
            }
            out.push_str(&unescaped(&literal));
            literal.clear();
            let conversion = chars.by_ref().map(|(_, c)| c).find(|c| !"-+ #0123456789.".contains(*c))?;
            if conversion == '%' {
                out.push('%');
                continue;
            }
            let arg = args.split_first().map_or("", |(arg, rest)| {
                args = rest;
                arg
            });
            match conversion {
                's' | 'q' | 'd' | 'i' | 'u' => out.push_str(arg),
                'b' => out.push_str(&unescaped(arg)),
                'c' => out.extend(arg.chars().next()),
                _ => return None,
            }
        }
        out.push_str(&unescaped(&literal));
        if args.is_empty() || args.len() == before {
            return Some(out);
        }
    }
    None
}

/// Resolves the escapes of `echo -e` and of a format.
fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(next) = next_escape(&mut chars, &mut out) {
        let (radix, most) = match next {
            'n' => {
                out.push('\n');
                continue;
            }
            't' => {
                out.push('\t');
                continue;
            }
            'r' => {
                out.push('\r');
                continue;
            }
            '\\' | '"' | '\'' => {
                out.push(next);
                continue;
            }
            'c' => return out,
            'x' => (16, 2),
            'u' => (16, 4),
            '0'..='7' => (8, 3),
            other => {
                out.extend(['\\', other]);
                continue;
            }
        };
        let first = next.to_digit(8).filter(|_| radix == 8).unwrap_or(0);
        let code = digits(&mut chars, radix, first, most - u32::from(radix == 8 && first > 0));
        out.push(char::from_u32(code).filter(|c| c.is_ascii() || next == 'u').unwrap_or(ANY));
    }
    out
}

/// Decodes base64. `None`: invalid, or not text.
pub(crate) fn base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes().filter(|b| !b.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echo_prints_what_bash_prints() {
        assert_eq!(echo(&["-n", "a", "b"]), "a b");
        assert_eq!(echo(&["-e", r"a\x2eb\n"]), "a.b\n\n");
        assert_eq!(echo(&[r"a\n"]), "a\\n\n");
        assert_eq!(echo(&["-x"]), "-x\n");
    }

    #[test]
    fn printf_prints_what_bash_prints() {
        assert_eq!(printf(&["%s\\n", "a", "b"]).as_deref(), Some("a\nb\n"));
        assert_eq!(printf(&[r"\056claude/%s", "x"]).as_deref(), Some(".claude/x"));
        assert_eq!(printf(&["a"]).as_deref(), Some("a"));
        assert_eq!(printf(&["%-5s|", "a"]).as_deref(), Some("a|"));
    }

    #[test]
    fn base64_is_decoded() {
        assert_eq!(base64("cHJvdGVjdGVkLnR4dA==\n").as_deref(), Some("protected.txt"));
        assert_eq!(base64("???"), None);
    }
}
