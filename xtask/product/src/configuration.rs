//! Generates the schema of `steadfast.toml`, its reference and its excerpt in docs/start.md from the table of settings.

use schemars::{Schema, schema_for};
use serde_json::Value;
use steadfast_model::{Options, SetBy, Settings};

use crate::Result;

/// The keys in docs/start.md: those that a new user changes first.
const EXCERPT: [&str; 8] = [
    "mode.completion",
    "stop.max_cycles",
    "stop.max_idle",
    "approval.required",
    "approval.protected",
    "run.parallel",
    "run.budget_usd",
    "ledger.source",
];

const HEAD: &str = "\
# Configuration

Every key of `steadfast.toml`, with its values and its default. This page is generated from the table of settings
(`crates/steadfast-model/src/settings/table.rs`), as is the [schema](../schemas/steadfast.schema.json).

Steadfast reads these files. A later one overrides an earlier one, key by key; a list replaces the whole list:

1. your own `steadfast.toml` for all repositories, in `~/.config/steadfast` (`steadfast config set --user`);
2. `workflow.stop_hook` in the project's `project.yaml`: the keys of `[stop]`;
3. the project's `steadfast.toml`, at the root of the checkout (`steadfast config set --project`);
4. your own for this repository, beside its state (`steadfast config set`).

`steadfast config show` prints every key with its value and the file it comes from. A flag overrides its key for one
command.
";

/// Returns the schema of the options, with the default of each key.
fn options() -> Result<Schema> {
    let mut schema = schema_for!(Options);
    for (name, value, _) in Settings::default().lines() {
        let property = property(&mut schema, name).ok_or_else(|| format!("the schema has no key `{name}`"))?;
        // `config show` prints a table as a list of texts, which is not a valid value of the key.
        if !property["type"].to_string().contains("object") {
            property["default"] = serde_json::from_str(&value)?;
        }
    }
    Ok(schema)
}

fn section<'a>(schema: &'a mut Schema, title: &str) -> Option<&'a mut Value> {
    let reference = schema.pointer(&format!("/properties/{title}/$ref"))?.as_str()?.strip_prefix('#')?.to_owned();
    schema.pointer_mut(&reference)
}

fn property<'a>(schema: &'a mut Schema, key: &str) -> Option<&'a mut Value> {
    let (title, name) = key.split_once('.')?;
    section(schema, title)?.get_mut("properties")?.get_mut(name)
}

pub(crate) fn schema() -> Result<String> {
    Ok(serde_json::to_string_pretty(&options()?)? + "\n")
}

pub(crate) fn reference() -> Result<String> {
    let mut schema = options()?;
    let mut text = HEAD.to_owned();
    let mut current = "";
    for key in Settings::KEYS {
        let (title, name) = key.name.split_once('.').ok_or("a key without a section")?;
        if title != current {
            let about = section(&mut schema, title).map(|section| section["description"].take());
            text += &format!("\n## `[{title}]`\n\n{}\n", about.as_ref().and_then(Value::as_str).unwrap_or_default());
            current = title;
        }
        let property = property(&mut schema, key.name).ok_or("a key without a property")?;
        let about = property["description"].as_str().ok_or_else(|| format!("`{}` has no description", key.name))?;
        text += &format!("\n### `{name}`\n\n{about}\n\n- Value: {}\n", key.expected());
        if let Some(default) = property.get("default") {
            text += &format!("- Default: `{}`\n", spelled(default));
        }
        if let Some(flag) = key.flag {
            text += &format!("- Flag: `{flag}`\n");
        }
        if key.set_by == SetBy::UserOnly {
            text += "- Only in your own files: Steadfast ignores it in a file that comes with a project.\n";
        }
    }
    Ok(text)
}

/// Prints a list with a space after each comma.
fn spelled(value: &Value) -> String {
    match value.as_array() {
        Some(items) => format!("[{}]", items.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")),
        None => value.to_string(),
    }
}

pub(crate) fn excerpt() -> String {
    let lines = Settings::default().lines();
    let mut text = "```toml\n".to_owned();
    let mut current = "";
    for (key, value, _) in lines.iter().filter(|(key, ..)| EXCERPT.contains(key)) {
        let Some((title, name)) = key.split_once('.') else { continue };
        if title != current {
            let between = if current.is_empty() { "" } else { "\n" };
            text += &format!("{between}[{title}]\n");
            current = title;
        }
        text += &format!("{name} = {value}\n");
    }
    text + "```\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_place_in_the_reference_and_the_schema() {
        let reference = reference().unwrap();
        let schema = schema().unwrap();
        for (name, ..) in Settings::default().lines() {
            let (_, key) = name.split_once('.').unwrap();
            assert!(
                reference.contains(&format!("\n### `{key}`\n")) && schema.contains(&format!("\"{key}\": {{")),
                "{name}"
            );
        }
    }

    #[test]
    fn the_excerpt_shows_every_key_that_it_names() {
        let lines = excerpt().lines().filter(|line| line.contains(" = ")).count();
        assert_eq!(lines, EXCERPT.len());
    }
}
