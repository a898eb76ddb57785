//! What a call aims at, as far as every policy reads it the same way.

/// What the tools of other servers are called that only look.
const READING: [&str; 9] = ["read", "get", "list", "search", "find", "stat", "tree", "view", "show"];

/// Whether a tool of another server only looks, by its name.
pub(crate) fn only_reads(tool: &str) -> bool {
    let first = tool.split(['_', '-']).next().unwrap_or(tool);
    READING.iter().any(|word| first.eq_ignore_ascii_case(word))
}

/// A path as an absolute one, without `.` and `..`.
pub(crate) fn absolute(path: &str, root: &str) -> String {
    let joined = if path.starts_with(['/', '~']) { path.to_owned() } else { format!("{root}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let folder = if joined.ends_with('/') { "/" } else { "" };
    if joined.starts_with('~') {
        format!("{}{folder}", parts.join("/"))
    } else {
        format!("/{}{folder}", parts.join("/"))
    }
}
