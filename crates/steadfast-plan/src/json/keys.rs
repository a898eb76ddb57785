//! The keys of a SPEC.json. A test compares them with the published schema.

pub(crate) const SPEC: &[&str] = &[
    "$schema",
    "feature",
    "description",
    "completion_promise",
    "context",
    "constraints",
    "must_not",
    "success_criteria",
    "verification_commands",
    "decisions",
    "phases",
];
/// The keys that are read from the free `context`.
pub(crate) const CONTEXT: &[&str] = &["constraints", "must_not", "success_criteria"];
pub(crate) const PHASE: &[&str] = &["id", "name", "depends_on", "tasks", "loop"];
pub(crate) const EACH: &[&str] = &["items", "tasks"];
pub(crate) const ITEM: &[&str] = &["id", "name"];
pub(crate) const TASK: &[&str] =
    &["id", "task", "type", "files", "notes", "verification", "depends_on", "estimate", "status"];
pub(crate) const VERIFICATION: &[&str] = &["type", "command", "success_criteria"];

/// Common other names of keys, for suggestions.
pub(super) const ALSO: [(&str, &str); 9] = [
    ("title", "task"),
    ("description", "task"),
    ("blocked_by", "depends_on"),
    ("dependencies", "depends_on"),
    ("verify", "verification"),
    ("check", "verification"),
    ("criteria", "success_criteria"),
    ("name", "feature"),
    ("promise", "completion_promise"),
];
