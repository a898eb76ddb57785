//! The targets of a call, read in the same way for every policy.

use steadfast_model::Facts;
pub(crate) use steadfast_text::absolute;

/// Tools of known servers that only read, by their whole names. Hosts do not pass on what a server says about its
/// tools, and the first word proves nothing: `search_replace`, `get_and_update`.
const READING: [&str; 64] = [
    // Files
    "read",
    "read_file",
    "read_text_file",
    "read_media_file",
    "read_multiple_files",
    "read_files",
    "list_directory",
    "list_directory_with_sizes",
    "directory_tree",
    "list_files",
    "list_dir",
    "search_files",
    "find_files",
    "find_file",
    "get_file_info",
    "list_allowed_directories",
    "stat",
    "tree",
    "grep",
    "glob",
    "view_file",
    "search_file_content",
    // Code
    "find_symbol",
    "find_referencing_symbols",
    "get_symbols_overview",
    "search_for_pattern",
    "search_code",
    "getdiagnostics",
    "get_diagnostics",
    "document_symbols",
    "workspace_symbols",
    "hover",
    "find_references",
    "go_to_definition",
    "codebase_search",
    "semantic_search",
    // Repositories
    "git_status",
    "git_log",
    "git_diff",
    "git_diff_staged",
    "git_diff_unstaged",
    "git_show",
    "git_blame",
    "get_file_contents",
    "get_commit",
    "list_commits",
    "list_branches",
    "get_pull_request",
    "get_pull_request_diff",
    "get_pull_request_files",
    "list_pull_requests",
    "get_issue",
    "list_issues",
    "search_repositories",
    "search_issues",
    // Knowledge
    "read_graph",
    "search_nodes",
    "open_nodes",
    "read_memory",
    "list_memories",
    "read_resource",
    "list_resources",
    "get-library-docs",
    "resolve-library-id",
];

/// Returns true if a tool of another server is known to read and do nothing else.
pub(crate) fn only_reads(tool: &str) -> bool {
    READING.iter().any(|name| tool.eq_ignore_ascii_case(name))
}

/// Returns paths with the places that they lead to.
pub(crate) fn links(facts: &Facts) -> impl Iterator<Item = (&str, &str)> {
    facts.links.iter().map(|link| (link.path.as_str(), link.target.as_str()))
}
