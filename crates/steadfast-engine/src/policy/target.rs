//! The targets of a call, read in the same way for every policy.

use steadfast_model::Facts;
pub(crate) use steadfast_text::absolute;
use steadfast_words::WordList;

/// Tools of known servers that only read, by their whole names. Hosts do not pass on what a server says about its
/// tools, and the first word proves nothing: `search_replace`, `get_and_update`.
const READING: WordList = words!("reading tool");

/// Returns true if a tool of another server is known to read and do nothing else.
pub(crate) fn only_reads(tool: &str) -> bool {
    READING.iter().any(|name| tool.eq_ignore_ascii_case(name))
}

/// Returns paths with the places that they lead to.
pub(crate) fn links(facts: &Facts) -> impl Iterator<Item = (&str, &str)> {
    facts.links.iter().map(|link| (link.path.as_str(), link.target.as_str()))
}
