//! Any document: what is read piece by piece is what a parser reads, and a replaced value changes nothing else.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use steadfast_splice::json::{JsonText, Splices};

fuzz_target!(|document: &[u8]| {
    let Some(body) = JsonText::of(document) else { return };
    assert_eq!(&document[body.range(document)], body.text().as_bytes());
    // The parser refuses halves of characters and deep nesting, which are only skipped here.
    let Ok(mut value) = serde_json::from_slice::<Value>(document) else { return };
    is_read(body, &value, document);
    if let Value::Object(members) = &mut value {
        let key = members.keys().next_back().cloned().unwrap_or_default();
        let mut splices = Splices::new(document);
        splices.set(body, &body.members(), &key, "[7]");
        members.insert(key, serde_json::json!([7]));
        assert_eq!(serde_json::from_slice::<Value>(&splices.apply()).expect("it is JSON"), value);
    }
});

fn is_read(text: JsonText<'_>, value: &Value, document: &[u8]) {
    assert_eq!(&document[text.range(document)], text.text().as_bytes());
    match value {
        Value::Array(values) => {
            let elements = text.elements();
            assert_eq!(elements.len(), values.len());
            elements.iter().zip(values).for_each(|(text, value)| is_read(*text, value, document));
        }
        Value::Object(values) => {
            for (key, value) in values {
                is_read(text.get(key).expect("the member is there"), value, document);
            }
        }
        Value::String(string) => assert!(text.is(string)),
        _ => assert!(text.elements().is_empty()),
    }
}
