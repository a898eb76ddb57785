/// The end of an output, as a person would have seen it.
///
/// It is read as it comes, so that neither a hundred megabytes nor a progress bar that is drawn a million times takes
/// more than twice what is kept.
#[derive(Debug)]
pub(crate) struct Tail {
    keep: usize,
    text: Vec<u8>,
    /// Where the current line begins in `text`.
    line: usize,
    /// A carriage return came: what follows is drawn over the line.
    returned: bool,
    escape: Escape,
    total: u64,
}

/// Where in an escape sequence we are.
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

impl Tail {
    pub(crate) fn of(keep: usize) -> Self {
        Self { keep, text: Vec::new(), line: 0, returned: false, escape: Escape::No, total: 0 }
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
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
            // What cannot be in a sequence ends it: a line is not lost to a broken one.
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
        }
    }

    /// What is kept, and how much there was.
    pub(crate) fn finish(self) -> (String, u64) {
        let text: String = String::from_utf8_lossy(&self.text)
            .chars()
            .filter(|character| !character.is_control() || matches!(character, '\n' | '\t'))
            .collect();
        let text = text.trim_end();
        // A repaired byte is longer than the byte was.
        let mut from = text.len().saturating_sub(self.keep);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let cut = &text[from..];
        // What was cut in its middle says nothing, unless it is all there is.
        let whole = match cut.split_once('\n') {
            Some((_, rest)) if from > 0 && !rest.is_empty() && !text[..from].ends_with('\n') => rest,
            _ => cut,
        };
        (whole.to_owned(), self.total)
    }
}
