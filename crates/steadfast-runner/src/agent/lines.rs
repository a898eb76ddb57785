/// Splits a stream of bytes into lines. Drops a line that is too long to be an event of an agent.
#[derive(Debug, Default)]
pub(super) struct Lines {
    partial: Vec<u8>,
    too_long: bool,
}

/// Longer lines are contents of files that the agent read, and carry no event.
const LONGEST: usize = 2 << 20;

/// The capacity to keep between two lines.
const SPARE: usize = 64 << 10;

impl Lines {
    pub(super) fn push(&mut self, bytes: &[u8], each: &mut dyn FnMut(&[u8])) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            rest = after;
            if self.partial.is_empty() && !self.too_long {
                each(line);
                continue;
            }
            self.add(line);
            self.finish(each);
        }
        self.add(rest);
    }

    /// Passes on the text after the last line end.
    pub(super) fn finish(&mut self, each: &mut dyn FnMut(&[u8])) {
        if !self.too_long && !self.partial.is_empty() {
            each(&self.partial);
        }
        self.too_long = false;
        self.partial.clear();
        self.partial.shrink_to(SPARE);
    }

    fn add(&mut self, bytes: &[u8]) {
        if self.partial.len() + bytes.len() > LONGEST {
            self.too_long = true;
            self.partial = Vec::new();
        }
        if !self.too_long {
            self.partial.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(parts: &[&[u8]]) -> Vec<Vec<u8>> {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        for part in parts {
            lines.push(part, &mut |line| seen.push(line.to_vec()));
        }
        lines.finish(&mut |line| seen.push(line.to_vec()));
        seen
    }

    #[test]
    fn a_line_that_comes_in_parts_is_one() {
        assert_eq!(lines(&[b"a", b"b\nc\nd", b"e"]), [b"ab".to_vec(), b"c".to_vec(), b"de".to_vec()]);
    }

    #[test]
    fn a_line_that_never_ends_takes_no_memory_and_the_next_one_is_heard() {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        for _ in 0..100 {
            lines.push(&[b'x'; 1 << 16], &mut |line| seen.push(line.len()));
            assert!(lines.partial.capacity() <= 2 * LONGEST);
        }
        lines.push(b"\nnext\n", &mut |line| seen.push(line.len()));
        assert_eq!(seen, [4]);
    }

    proptest! {
        #[test]
        fn the_parts_in_which_bytes_come_do_not_matter(bytes in "[ab\n]{0,40}", size in 1_usize..7) {
            let parts: Vec<&[u8]> = bytes.as_bytes().chunks(size).collect();
            prop_assert_eq!(lines(&parts), lines(&[bytes.as_bytes()]));
        }
    }
}
