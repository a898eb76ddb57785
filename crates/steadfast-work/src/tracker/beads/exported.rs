//! `.beads/issues.jsonl`: what the program exports of its database, an issue a line. Only what a list leaves out is taken from
//! it, and only of issues that are there as they are listed.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Dependency, Issues, TrackerError, with};

/// Where it is, from the root of the checkout.
const FILE: &str = ".beads/issues.jsonl";

#[derive(Deserialize)]
struct Exported<'a> {
    id: String,
    #[serde(default)]
    updated_at: String,
    #[serde(default, borrow)]
    dependencies: Option<&'a RawValue>,
}

/// Names what the issues wait for, as far as the file knows them. Without a file nothing is named.
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
