use proptest::prelude::*;

use super::*;

fn document(text: &str) -> Document {
    Document::parse(text).unwrap()
}

fn inserted(text: &str) -> String {
    let mut document = document(text);
    let value = Value::object([("n", Value::texts(["1", "2"]))]);
    document.insert(&[], "new", &value).unwrap();
    document.into_text()
}

fn problem(text: &str) -> String {
    Document::parse(text).unwrap_err().to_string()
}

#[test]
fn an_empty_object_becomes_lines() {
    assert_eq!(inserted("{}\n"), "{\n  \"new\": {\n    \"n\": [\"1\", \"2\"]\n  }\n}\n");
}

#[test]
fn four_spaces_are_followed() {
    assert_eq!(
        inserted("{\n    \"a\": 1\n}"),
        "{\n    \"a\": 1,\n    \"new\": {\n        \"n\": [\"1\", \"2\"]\n    }\n}"
    );
}

#[test]
fn tabs_are_followed() {
    assert_eq!(inserted("{\n\t\"a\": 1\n}"), "{\n\t\"a\": 1,\n\t\"new\": {\n\t\t\"n\": [\"1\", \"2\"]\n\t}\n}");
}

#[test]
fn line_ends_with_carriage_return_are_followed() {
    assert_eq!(
        inserted("{\r\n  \"a\": 1\r\n}\r\n"),
        "{\r\n  \"a\": 1,\r\n  \"new\": {\r\n    \"n\": [\"1\", \"2\"]\r\n  }\r\n}\r\n"
    );
}

#[test]
fn one_line_without_spaces_stays_one() {
    assert_eq!(inserted(r#"{"a":1}"#), r#"{"a":1,"new":{"n":["1","2"]}}"#);
}

#[test]
fn one_line_with_spaces_stays_one() {
    assert_eq!(inserted(r#"{"a": 1, "b": {}}"#), r#"{"a": 1, "b": {}, "new": {"n": ["1", "2"]}}"#);
}

#[test]
fn a_byte_order_mark_stays() {
    assert_eq!(inserted("\u{feff}{\"a\":1}"), "\u{feff}{\"a\":1,\"new\":{\"n\":[\"1\",\"2\"]}}");
}

#[test]
fn an_inner_container_is_set_by_the_line_it_begins_on() {
    let mut document = document("{\n  \"a\": {\n    \"b\": []\n  }\n}");
    document.append(&[Step::Key("a"), Step::Key("b")], &Value::object([("k", Value::Number(1))])).unwrap();
    assert_eq!(document.into_text(), "{\n  \"a\": {\n    \"b\": [\n      {\n        \"k\": 1\n      }\n    ]\n  }\n}");
}

#[test]
fn the_first_of_several_goes_without_leaving_a_comma() {
    let mut document = document("{\n  \"a\": 1,\n  \"b\": 2\n}");
    document.remove(&[Step::Key("a")]).unwrap();
    assert_eq!(document.into_text(), "{\n  \"b\": 2\n}");
}

#[test]
fn one_in_the_middle_goes_without_leaving_a_comma() {
    let mut document = document("[1, 2, 3]");
    document.remove(&[Step::Index(1)]).unwrap();
    assert_eq!(document.into_text(), "[1, 3]");
}

#[test]
fn a_key_is_found_however_it_is_escaped() {
    let document = document(r#"{"h\u006foks": 1, "ключ": {"\ud83d\ude00": 2}}"#);
    assert!(document.get(&[Step::Key("hooks")]).unwrap().is_some());
    assert!(document.get(&[Step::Key("ключ"), Step::Key("😀")]).unwrap().is_some());
}

#[test]
fn a_key_that_stands_twice_on_the_way_is_an_error() {
    let document = document("{\"a\": 1,\n \"hooks\": {}, \"hooks\": {}}");
    assert_eq!(
        document.get(&[Step::Key("hooks")]).unwrap_err(),
        SettingsError::Duplicate { line: 2, column: 15, key: "hooks".to_owned() }
    );
}

#[test]
fn a_key_that_stands_twice_elsewhere_is_not_our_business() {
    assert!(document(r#"{"a": 1, "a": 2, "hooks": {}}"#).get(&[Step::Key("hooks")]).unwrap().is_some());
}

#[test]
fn a_comment_is_named_as_what_it_is() {
    assert_eq!(problem("{\n  \"a\": 1, // why\n}"), "2:11: comments are not JSON, expected a key in double quotes");
}

#[test]
fn a_comma_too_many_is_found() {
    assert_eq!(problem("{\n  \"a\": [1, 2,],\n}"), "2:14: unexpected `]`, expected a value");
}

#[test]
fn an_unfinished_file_is_found() {
    assert_eq!(problem("{\"a\": {"), "1:8: the file ends, expected a key in double quotes");
}

#[test]
fn columns_count_characters() {
    assert_eq!(problem("{\"äöü\": x}"), "1:9: unexpected `x`, expected a value");
}

#[test]
fn what_is_not_a_number_is_found() {
    for text in ["01", "1.", "-", "1e", "--1", "1e999"] {
        assert_eq!(problem(text), "1:1: invalid number", "{text}");
    }
}

#[test]
fn half_of_a_pair_of_escapes_is_not_a_string() {
    assert_eq!(problem(r#"["\ud800"]"#), "1:9: unexpected end of hex escape");
}

#[test]
fn nesting_ends_before_the_stack_does() {
    let text = "[".repeat(100_000);
    assert_eq!(problem(&text), "1:128: nested deeper than 127 levels");
    let fits = format!("{}{}", "[".repeat(127), "]".repeat(127));
    assert!(Document::parse(&fits).is_ok());
}

/// JSON texts, set in many ways.
fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i32>().prop_map(serde_json::Value::from),
        ".{0,6}".prop_map(serde_json::Value::from),
    ];
    let tree = leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[a-z\"é]{1,4}", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    });
    let object = prop::collection::btree_map("[a-zA-Z]{1,5}", tree, 0..5)
        .prop_map(|map| serde_json::Value::Object(map.into_iter().collect()));
    let style = (prop_oneof![Just(None), Just(Some("  ")), Just(Some("    ")), Just(Some("\t"))], any::<bool>());
    (object, style, any::<bool>()).prop_map(|(value, (indent, carriage_return), last_line_end)| {
        let mut text = match indent {
            None => value.to_string(),
            Some(indent) => pretty(&value, indent),
        };
        if last_line_end {
            text.push('\n');
        }
        if carriage_return { text.replace('\n', "\r\n") } else { text }
    })
}

fn pretty(value: &serde_json::Value, indent: &str) -> String {
    use serde::Serialize;
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, formatter)).unwrap();
    String::from_utf8(out).unwrap()
}

proptest! {
    #[test]
    fn inserting_and_removing_gives_the_same_bytes(text in json_text()) {
        let mut document = document(&text);
        document.insert(&[], "0new", &Value::object([("k", Value::texts(["v"]))])).unwrap();
        document.remove(&[Step::Key("0new")]).unwrap();
        prop_assert_eq!(document.into_text(), text);
    }

    #[test]
    fn an_insertion_adds_its_member_and_nothing_else(text in json_text()) {
        let mut expected: serde_json::Value = serde_json::from_str(&text).unwrap();
        expected["0new"] = serde_json::json!({"k": ["v"]});
        let mut document = document(&text);
        document.insert(&[], "0new", &Value::object([("k", Value::texts(["v"]))])).unwrap();
        let result: serde_json::Value = serde_json::from_str(&document.into_text()).unwrap();
        prop_assert_eq!(result, expected);
    }

    #[test]
    fn what_we_take_for_json_is_json(text in r#"[\[\]{}:,"\\u0-9eE.+\-a-f nrtl/\t\n\r\u{feff}]{0,24}"#) {
        let body = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let judge = serde_json::from_str::<serde_json::Value>(body).is_ok();
        prop_assert_eq!(Document::parse(&text).is_ok(), judge, "{:?}", text);
    }
}
