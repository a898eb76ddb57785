use std::io::{self, BufRead, Read};

/// Limit of a message in bytes. No real call comes near it.
pub(super) const LIMIT: usize = 4 << 20;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// A longer line, which was skipped.
    TooLong,
    End,
}

/// Reads the next line that is not blank. The last line needs no line end.
pub(super) fn next_line(input: &mut impl BufRead) -> io::Result<Line> {
    loop {
        let mut text = Vec::new();
        let longest = LIMIT as u64 + 1;
        if input.by_ref().take(longest).read_until(b'\n', &mut text)? == 0 {
            return Ok(Line::End);
        }
        if text.last() == Some(&b'\n') {
            text.pop();
        } else if text.len() > LIMIT {
            input.skip_until(b'\n')?;
            return Ok(Line::TooLong);
        }
        if !text.iter().all(u8::is_ascii_whitespace) {
            return Ok(Line::Whole(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(mut input: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        loop {
            match next_line(&mut input).unwrap() {
                Line::End => return lines,
                line => lines.push(line),
            }
        }
    }

    fn whole(text: &[u8]) -> Line {
        Line::Whole(text.to_vec())
    }

    #[test]
    fn blank_lines_are_passed_over_and_the_last_line_needs_no_end() {
        assert_eq!(lines(b"a\n\n \r\nb"), [whole(b"a"), whole(b"b")]);
    }

    #[test]
    fn a_line_that_is_too_long_takes_no_other_with_it() {
        let (longest, longer) = (vec![b'x'; LIMIT], vec![b'x'; LIMIT + 1]);
        let input = [&longest[..], b"\n", &longer, b"\nb\n", &longer].concat();
        assert_eq!(lines(&input), [whole(&longest), Line::TooLong, whole(b"b"), Line::TooLong]);
    }
}
