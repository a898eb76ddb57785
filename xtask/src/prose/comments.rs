//! Comment lines become blocks.

/// Collects the comments of one file in the order of their positions.
#[derive(Debug)]
pub(super) struct Comments<'a> {
    content: &'a str,
    /// The positions at which lines begin.
    lines: Vec<usize>,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    marker: &'static str,
    /// The last line of the block, and whether it holds nothing but the comment.
    last: usize,
    is_alone: bool,
    text: String,
}

impl<'a> Comments<'a> {
    pub(super) fn of(content: &'a str) -> Self {
        let after_breaks = content.match_indices('\n').map(|(position, _)| position + 1);
        Self { content, lines: std::iter::once(0).chain(after_breaks).collect(), blocks: Vec::new() }
    }

    /// Takes the comments of a stretch between two tokens.
    pub(super) fn add_gap(&mut self, from: usize, to: usize) {
        let Some(gap) = self.content.get(from..to) else { return };
        let mut position = 0;
        while let Some(begin) = gap[position..].find("//").map(|at| position + at) {
            let end = gap[begin..].find('\n').map_or(gap.len(), |at| begin + at);
            self.add(from + begin, &gap[begin..end]);
            position = end;
        }
    }

    /// Takes one comment line that begins at a position.
    pub(super) fn add(&mut self, position: usize, comment: &str) {
        let line = self.lines.partition_point(|begin| *begin <= position) - 1;
        let Some(before) = self.content.get(self.lines[line]..position) else { return };
        let is_alone = before.trim().is_empty();
        let marker = ["///", "//!", "//"].into_iter().find(|marker| comment.starts_with(marker)).unwrap_or_default();
        let text = comment.trim_start_matches(marker).trim();
        match self.blocks.last_mut() {
            Some(last) if last.marker == marker && last.is_alone && is_alone && last.last + 1 == line => {
                last.last = line;
                last.text.extend(["\n", text]);
            }
            _ => self.blocks.push(Block { marker, last: line, is_alone, text: text.to_owned() }),
        }
    }

    pub(super) fn into_texts(self) -> impl Iterator<Item = String> {
        self.blocks.into_iter().map(|block| block.text).filter(|text| !text.trim().is_empty())
    }
}
