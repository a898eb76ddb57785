//! Maps text that was derived from the command line back to it: the inside of backticks, a heredoc without its tabs.

/// Pieces of text and their positions in the command line. Without any, the text is the command line.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin(Vec<(usize, usize)>);

impl Origin {
    /// Returns the position in the command line of a byte of the text.
    pub(super) fn place(&self, at: usize) -> usize {
        match self.0.partition_point(|(start, _)| *start <= at).checked_sub(1) {
            Some(found) => self.0[found].1 + (at - self.0[found].0),
            None => at,
        }
    }
}

/// A text that is built from pieces of another.
#[derive(Debug)]
pub(super) struct Derived<'a> {
    pub(super) text: String,
    pub(super) origin: Origin,
    from: &'a Origin,
}

impl<'a> Derived<'a> {
    pub(super) fn new(from: &'a Origin) -> Self {
        Self { text: String::new(), origin: Origin::default(), from }
    }

    /// Appends `piece`, which is at `at` in the other text.
    pub(super) fn push(&mut self, piece: &str, at: usize) {
        if !piece.is_empty() {
            self.origin.0.push((self.text.len(), self.from.place(at)));
            self.text.push_str(piece);
        }
    }
}
