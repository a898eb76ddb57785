//! Markdown that agents and users read: a passage per paragraph, heading, list item and table row.

/// The passages of a document without its code blocks.
pub(super) fn passages(content: &str) -> Vec<String> {
    let mut passages: Vec<String> = Vec::new();
    let (mut is_code, mut is_open) = (false, false);
    for line in content.lines().map(str::trim) {
        if line.starts_with("```") {
            is_code = !is_code;
            is_open = false;
        } else if is_code || line.is_empty() || line.chars().all(|c| "-|: ".contains(c)) {
            is_open = false;
        } else if let (true, false, Some(last)) = (is_open, begins_passage(line), passages.last_mut()) {
            last.extend([" ", line]);
        } else {
            is_open = !line.starts_with('#');
            passages.push(line.to_owned());
        }
    }
    passages
}

/// Returns true for a heading, a list item, a table row or a key of the front matter.
fn begins_passage(line: &str) -> bool {
    let is_key = |line: &str| {
        line.split_once(": ").is_some_and(|(key, _)| key.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
    };
    let is_numbered = |line: &str| line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    line.starts_with(['#', '|'])
        || ["- ", "* "].iter().any(|mark| line.starts_with(mark))
        || is_numbered(line)
        || is_key(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_read_by_passages_without_its_code() {
        let content = "---\nname: planner\ndescription: Drafts a plan.\n---\n\n# Title\nYou plan,\nand build nothing.\n\n\
                       1. One\n   more\n2. Two\n\n```\ncode here\n```\n| a | b |\n| --- | --- |\n| c | d |\n";
        let expected = [
            "name: planner",
            "description: Drafts a plan.",
            "# Title",
            "You plan, and build nothing.",
            "1. One more",
            "2. Two",
            "| a | b |",
            "| c | d |",
        ];
        assert_eq!(passages(content), expected);
    }
}
