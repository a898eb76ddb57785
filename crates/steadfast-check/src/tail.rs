/// The end of an output, as a terminal shows it.
///
/// It processes bytes as they arrive, so neither a hundred megabytes nor a progress bar with a million updates takes
/// more than twice the kept size.
#[derive(Debug)]
pub struct OutputTail {
    keep: usize,
    text: Vec<u8>,
    /// The start of the current line in `text`.
    line: usize,
    /// A carriage return came: the next text replaces the line.
    returned: bool,
    escape: Escape,
    /// Earlier output was dropped.
    cut: bool,
    total: u64,
}

/// The state of an escape sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    No,
    /// After `ESC`, perhaps with intermediate bytes.
    Begun,
    /// `ESC [`, up to a final byte.
    Control,
    /// A title, a link: up to `BEL` or `ESC \`.
    Text,
    TextEnding,
}

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const BACKSPACE: u8 = 0x08;

impl OutputTail {
    pub fn of(keep: usize) -> Self {
        Self { keep, text: Vec::new(), line: 0, returned: false, escape: Escape::No, cut: false, total: 0 }
    }

    pub fn push(&mut self, mut bytes: &[u8]) {
        self.total += bytes.len() as u64;
        while let Some(&byte) = bytes.first() {
            let plain = if self.escape == Escape::No {
                bytes.iter().position(|byte| (*byte < b' ' && *byte != b'\t') || *byte == 0x7f).unwrap_or(bytes.len())
            } else {
                0
            };
            if plain > 0 {
                if std::mem::take(&mut self.returned) {
                    self.text.truncate(self.line);
                }
                self.text.extend_from_slice(&bytes[..plain]);
                bytes = &bytes[plain..];
            } else {
                self.special(byte);
                bytes = &bytes[1..];
            }
            self.shorten();
        }
    }

    fn special(&mut self, byte: u8) {
        self.escape = match (self.escape, byte) {
            (Escape::No, ESC) => Escape::Begun,
            (Escape::No, _) => {
                self.control(byte);
                Escape::No
            }
            // An invalid byte ends the sequence, so that a broken one does not lose a line.
            (Escape::Begun | Escape::Control, b'\n' | b'\r') => {
                self.control(byte);
                Escape::No
            }
            (Escape::Begun | Escape::Control, ESC) => Escape::Begun,
            (Escape::Begun, b'[') => Escape::Control,
            (Escape::Begun, b']' | b'P' | b'X' | b'^' | b'_') => Escape::Text,
            (Escape::Begun, 0x20..=0x2f) => Escape::Begun,
            (Escape::Begun, _) => Escape::No,
            (Escape::Control, 0x40..=0x7e) => Escape::No,
            (Escape::Control, _) => Escape::Control,
            (Escape::Text | Escape::TextEnding, BEL) => Escape::No,
            (Escape::Text | Escape::TextEnding, b'\n') => {
                self.control(byte);
                Escape::No
            }
            (Escape::Text | Escape::TextEnding, ESC) => Escape::TextEnding,
            (Escape::TextEnding, b'\\') => Escape::No,
            (Escape::Text | Escape::TextEnding, _) => Escape::Text,
        };
    }

    fn control(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.text.push(b'\n');
                self.line = self.text.len();
                self.returned = false;
            }
            b'\r' => self.returned = true,
            BACKSPACE if self.text.len() > self.line => {
                self.text.pop();
            }
            _ => {}
        }
    }

    fn shorten(&mut self) {
        if self.text.len() > self.keep.saturating_mul(2) {
            let cut = self.text.len() - self.keep;
            self.text.drain(..cut);
            self.line = self.line.saturating_sub(cut);
            self.cut = true;
        }
    }

    /// Returns the kept text, and the length of the whole output.
    pub fn finish(self) -> (String, u64) {
        let text: String = String::from_utf8_lossy(&self.text)
            .chars()
            .filter(|character| !character.is_control() || matches!(character, '\n' | '\t'))
            .collect();
        let text = text.trim_end();
        // A replacement character is longer than the byte it replaces.
        let mut from = text.len().saturating_sub(self.keep);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let kept = &text[from..];
        // Drops a cut first line, unless it is the only one.
        let whole = match kept.split_once('\n') {
            Some((_, rest)) if self.cut || from > 0 => rest,
            _ => kept,
        };
        (whole.to_owned(), self.total)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(bytes: &[u8]) -> String {
        let mut tail = OutputTail::of(1 << 16);
        tail.push(bytes);
        tail.finish().0
    }

    #[test]
    fn escapes_are_not_shown() {
        let said =
            b"\x1b[1;31mFAIL\x1b[0m \x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \x1b(Bb\x1b7c\x1b[?25h";
        assert_eq!(seen(said), "FAIL alink bc");
    }

    #[test]
    fn a_line_that_is_drawn_over_is_shown_as_it_was_last() {
        assert_eq!(seen(b"one\n10%\r50%\r100%\r\ntwo\r\nthree\r"), "one\n100%\ntwo\nthree");
    }

    #[test]
    fn a_broken_escape_takes_no_line_with_it() {
        assert_eq!(seen(b"a\x1b[12\nb\x1b]0;never ends\nc\x1b"), "a\nb\nc");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_or_left_out() {
        assert_eq!(seen(b"a\0b\xff\xfec\x08d \xc3\xa4\tz"), "ab\u{fffd}\u{fffd}d \u{e4}\tz");
    }

    #[test]
    fn the_end_begins_with_a_whole_line() {
        let mut tail = OutputTail::of(12);
        tail.push(b"first line\nsecond\nthird\n");
        assert_eq!(tail.finish(), ("third".to_owned(), 24));
    }

    #[test]
    fn of_one_long_line_the_end_is_kept() {
        let mut tail = OutputTail::of(4);
        tail.push(&[b'a'; 1_000]);
        tail.push(b"bcd");
        assert_eq!(tail.finish(), ("abcd".to_owned(), 1_003));
    }

    proptest! {
        #[test]
        fn the_parts_in_which_bytes_come_do_not_matter(bytes: Vec<u8>, size in 1_usize..7) {
            let mut tail = OutputTail::of(1 << 16);
            bytes.chunks(size).for_each(|part| tail.push(part));
            prop_assert_eq!(tail.finish().0, seen(&bytes));
        }

        #[test]
        fn never_more_is_kept_than_asked_for(bytes: Vec<u8>, keep in 0_usize..40) {
            let mut tail = OutputTail::of(keep);
            for part in bytes.chunks(3) {
                tail.push(part);
                prop_assert!(tail.text.len() <= keep * 2 + 3);
            }
            let (text, total) = tail.finish();
            prop_assert!(text.len() <= keep);
            prop_assert!(!text.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t')));
            prop_assert_eq!(total, bytes.len() as u64);
        }
    }
}
