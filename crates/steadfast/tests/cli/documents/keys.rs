//! The shapes in the reference of JSON outputs have the keys of the real output.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::executed::{prepare, sandbox};
use super::page::Page;

const PAGE: &str = "docs/reference/json.md";

/// The paths of all keys, such as `tasks[].id`. `open` are those below which this output has nothing to compare.
fn keys(value: &Value, at: &str, found: &mut BTreeSet<String>, open: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let mut path = at.to_owned();
                let _ = write!(path, "{}{key}", if at.is_empty() { "" } else { "." });
                keys(value, &path, found, open);
                found.insert(path);
            }
        }
        Value::Array(items) if items.is_empty() => _ = open.insert(at.to_owned()),
        Value::Array(items) => items.iter().for_each(|item| keys(item, &format!("{at}[]"), found, open)),
        Value::Null => _ = open.insert(at.to_owned()),
        // On the page: any value.
        Value::String(text) if text == "…" => _ = open.insert(at.to_owned()),
        _ => {}
    }
}

fn is_below(path: &str, open: &BTreeSet<String>) -> bool {
    open.iter().any(|open| path.strip_prefix(open.as_str()).is_some_and(|rest| rest.starts_with(['.', '['])))
}

/// The whole output, or a list of its lines.
fn value(output: &str) -> Value {
    serde_json::from_str(output)
        .or_else(|_| output.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>().map(Value::Array))
        .unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// The keys that only the output has, and those that only the page has.
fn differences(shape: &Value, real: &Value) -> [Vec<String>; 2] {
    let read = |value: &Value| {
        let (mut found, mut open) = (BTreeSet::new(), BTreeSet::new());
        keys(value, "", &mut found, &mut open);
        (found, open)
    };
    let ((page, page_open), (output, output_open)) = (read(shape), read(real));
    let only = |some: &BTreeSet<String>, other: &BTreeSet<String>, open: &BTreeSet<String>| {
        some.difference(other).filter(|path| !is_below(path, open)).cloned().collect()
    };
    [only(&output, &page, &page_open), only(&page, &output, &output_open)]
}

#[test]
fn the_reference_has_the_keys_of_the_real_output() {
    let page = Page::read(PAGE);
    let sandbox = sandbox();
    let (mut faults, mut checked) = (Vec::new(), 0);
    for block in page.blocks() {
        if let Some(command) = block.mark("keys") {
            checked += 1;
            let output = sandbox.command_of("bash".as_ref()).args(["-c", command]).output().unwrap();
            let real = value(&String::from_utf8(output.stdout).unwrap());
            let shape: Value = serde_json::from_str(&block.text).unwrap();
            let shape = if real.is_array() && !shape.is_array() { Value::Array(vec![shape]) } else { shape };
            let [undocumented, absent] = differences(&shape, &real);
            if !undocumented.is_empty() || !absent.is_empty() {
                faults.push(format!(
                    "{PAGE}:{}: {command}\n  not in the page: {undocumented:?}\n  not in the output: {absent:?}",
                    block.line
                ));
            }
        } else {
            prepare(&sandbox, &block);
        }
    }
    sandbox.wait_until_quiet();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(checked > 10, "{checked}");
}

#[test]
fn a_key_of_one_side_alone_is_named() {
    let page = json!({"a": [{"b": 1, "gone": 2}], "c": "…", "d": {"e": 1}});
    let real = json!({"a": [{"b": 1}, {"new": 1}], "c": {"x": 1}, "d": null});
    assert_eq!(differences(&page, &real), [vec!["a[].new".to_owned()], vec!["a[].gone".to_owned()]]);
}
