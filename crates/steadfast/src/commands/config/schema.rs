//! What a key may be, as the schema says it.

use serde_json::Value;

/// Generated from the options themselves; CI says when it is not.
pub(super) const TEXT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/steadfast.schema.json"));

/// What is expected of a key's value, in words.
pub(super) fn expected(key: &str) -> String {
    let schema: Value = serde_json::from_str(TEXT).unwrap_or_default();
    let property = key.split('.').try_fold(&schema, |node, name| resolve(&schema, node).get("properties")?.get(name));
    property.map_or_else(|| "another value".to_owned(), |property| words(&schema, property))
}

fn words(schema: &Value, node: &Value) -> String {
    let node = resolve(schema, node);
    let choices = ["oneOf", "anyOf"].into_iter().find_map(|kind| node[kind].as_array());
    if let Some(choices) = choices {
        let choices: Vec<_> = choices.iter().filter(|choice| choice["type"] != "null").collect();
        return choices.into_iter().map(|choice| words(schema, choice)).collect::<Vec<_>>().join(" or ");
    }
    if let Some(word) = node["const"].as_str() {
        return format!("`{word}`");
    }
    if let Some(texts) = node["enum"].as_array() {
        return texts.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
    }
    let kinds = node["type"].as_array().map_or(std::slice::from_ref(&node["type"]), Vec::as_slice);
    match kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null") {
        Some("boolean") => "`true` or `false`".to_owned(),
        Some("integer") => match node["format"].as_str() {
            Some("uint32") => {
                format!("a whole number from {} to {}", node["minimum"].as_u64().unwrap_or(0), u32::MAX)
            }
            _ => "a whole number".to_owned(),
        },
        Some("number") => "a number".to_owned(),
        Some("string") => match node["examples"].as_array() {
            Some(examples) => {
                let examples: Vec<_> =
                    examples.iter().filter_map(Value::as_str).map(|text| format!("`{text}`")).collect();
                format!("a text like {}", examples.join(" or "))
            }
            None => "a text".to_owned(),
        },
        Some("object") => "a table, which is written into the file by hand".to_owned(),
        Some("array") => format!("a list like `[\"a\", \"b\"]`, each {}", words(schema, &node["items"])),
        Some(_) | None => "another value".to_owned(),
    }
}

fn resolve<'a>(schema: &'a Value, node: &'a Value) -> &'a Value {
    let name = node["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/"));
    name.and_then(|name| schema["$defs"].get(name)).unwrap_or(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::config::keys;

    #[test]
    fn the_schema_says_of_every_key_what_it_may_be() {
        for key in keys() {
            assert_ne!(expected(key), "another value", "{key}");
        }
        assert_eq!(expected("mode.completion"), "`observe` or `advise` or `enforce`");
        assert_eq!(expected("stop.enabled"), "`true` or `false`");
        assert_eq!(expected("stop.max_idle"), "a whole number from 0 to 4294967295");
        assert_eq!(expected("run.parallel"), "a whole number from 1 to 4294967295");
        assert_eq!(expected("run.wall_time"), "a text like `90s` or `10m` or `1h 30m`");
        assert_eq!(expected("run.permissions"), "`edit` or `free`");
        assert_eq!(expected("stop.nothing"), "another value");
    }
}
