//! `.beads/issues.jsonl`, the export of the beads database, one issue per line. If the program is there, the file only
//! supplies fields that its list leaves out, and only of issues that are the same in both.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Dependency, Issue, Issues, TrackerError, with};

/// Its path from the root of the checkout.
const FILE: &str = ".beads/issues.jsonl";

pub(super) fn read(root: &Path) -> Option<String> {
    fs::read_to_string(root.join(FILE)).ok()
}

/// Parses the issues of such a file. Leaves out deleted ones.
pub(super) fn issues(text: &str) -> Result<Issues, TrackerError> {
    let mut found = Issues::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let unreadable = |error: serde_json::Error| TrackerError::Unreadable {
            call: FILE.to_owned(),
            part: format!("line {}: {error}", number + 1),
        };
        let issue: Issue = serde_json::from_str(line).map_err(unreadable)?;
        let raw = RawValue::from_string(line.trim().to_owned()).map_err(unreadable)?;
        if issue.status != "tombstone" {
            found.insert(issue.id.clone(), (issue, raw));
        }
    }
    Ok(found)
}

#[derive(Deserialize)]
struct Exported<'a> {
    id: String,
    #[serde(default)]
    updated_at: String,
    #[serde(default, borrow)]
    dependencies: Option<&'a RawValue>,
}

/// Adds the dependencies of the issues as far as the file has them. Without the file it does nothing.
pub(super) fn name_dependencies(root: &Path, found: &mut Issues) -> Result<(), TrackerError> {
    let Ok(text) = fs::read_to_string(root.join(FILE)) else { return Ok(()) };
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Exported<'_>>(line).ok());
    let exported: HashMap<String, Exported<'_>> = lines.map(|issue| (issue.id.clone(), issue)).collect();
    for (issue, raw) in found.values_mut().filter(|(issue, _)| issue.is_unnamed()) {
        let Some(kept) = exported.get(&issue.id).filter(|kept| kept.updated_at == issue.updated_at) else { continue };
        let Some(named) = kept.dependencies else { continue };
        let Ok(dependencies) = serde_json::from_str::<Vec<Dependency>>(named.get()) else { continue };
        if Some(dependencies.len()) == issue.dependency_count {
            *raw = with(raw, "dependencies", named.get())?;
            issue.dependencies = dependencies;
        }
    }
    Ok(())
}
