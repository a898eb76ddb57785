//! Reads manifests in JSON and TOML as one type of value.

use serde_json::Value;

/// Parses by the ending of the file name. `None`: the text is invalid.
pub(crate) fn read(file: &str, text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}');
    if file.ends_with(".json") || file.ends_with(".jsonc") {
        serde_json::from_str(text).ok()
    } else {
        toml::from_str(text).ok()
    }
}

/// Returns the value below the keys. `tool` may be missing in a file that belongs to that tool alone.
pub(crate) fn find<'a>(manifest: &'a Value, keys: &[String]) -> Option<&'a Value> {
    let from = |keys: &[String]| keys.iter().try_fold(manifest, |value, key| value.get(key));
    from(keys).or_else(|| {
        let own = keys.strip_prefix(&["tool".to_owned()])?;
        from(own).or_else(|| from(own.get(1..)?))
    })
}

/// Renders an entry as text: a command as it is, anything else as JSON with sorted keys.
pub(crate) fn text(entry: &Value) -> String {
    match entry {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns the command lines in an entry.
pub(crate) fn commands(entry: &Value) -> Vec<String> {
    match entry {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().flat_map(commands).collect(),
        Value::Object(table) => table.values().flat_map(commands).collect(),
        _ => Vec::new(),
    }
}

/// Returns the folders of a workspace's packages: named ones, and those matched by `folder/*`.
pub(crate) fn workspaces(manifest: &Value) -> Vec<String> {
    let list = manifest.get("workspaces");
    let list = list.and_then(|found| found.get("packages").or(Some(found))).and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|path| !path.starts_with('!'))
        .map(str::to_owned)
        .collect()
}
