//! Reads and changes JSON text in place: finds values by their position, and replaces bytes.
//!
//! Writing a parsed body again changes numbers, escapes and the order of keys. A model's signed thinking and its
//! prompt cache depend on those bytes.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use bytes::{Bytes, BytesMut};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON value inside a document: its text, as it stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonText<'a>(&'a str);

/// The members of an object.
#[derive(Clone, Debug, Default)]
pub struct JsonMembers<'a>(Vec<(JsonText<'a>, JsonText<'a>)>);

impl<'a> JsonText<'a> {
    /// Reads a document. `None`: it is not JSON.
    pub fn of(document: &'a [u8]) -> Option<Self> {
        let text = str::from_utf8(document).ok()?;
        // Skips over values without recursion, so that nesting needs no limit.
        serde_json::from_str::<&RawValue>(text).ok().map(Self::from)
    }

    pub fn text(self) -> &'a str {
        self.0
    }

    /// Returns where the value stands in `document`, of which it is a part.
    pub fn range(self, document: &[u8]) -> Range<usize> {
        let start = self.0.as_ptr().addr() - document.as_ptr().addr();
        start..start + self.0.len()
    }

    /// Returns the members of an object. Anything else has none.
    pub fn members(self) -> JsonMembers<'a> {
        if !self.0.starts_with('{') {
            return JsonMembers(Vec::new());
        }
        JsonMembers(serde_json::Deserializer::from_str(self.0).deserialize_map(ObjectParts).unwrap_or_default())
    }

    /// Returns the elements of an array. Anything else has none.
    pub fn elements(self) -> Vec<JsonText<'a>> {
        if !self.0.starts_with('[') {
            return Vec::new();
        }
        serde_json::Deserializer::from_str(self.0).deserialize_seq(ArrayParts).unwrap_or_default()
    }

    pub fn get(self, key: &str) -> Option<JsonText<'a>> {
        self.members().get(key)
    }

    pub fn is_string(self) -> bool {
        self.0.starts_with('"')
    }

    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    pub fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    /// Returns the text of a string.
    pub fn string(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        if !inner.contains('\\') {
            return Some(Cow::Borrowed(inner));
        }
        serde_json::from_str(self.0).ok().map(Cow::Owned).or_else(|| {
            let mut text = JsonUnits::default();
            text.push(self);
            Some(Cow::Owned(text.into_string()))
        })
    }

    pub fn is(self, text: &str) -> bool {
        self.string().is_some_and(|string| string == text)
    }

    pub fn number(self) -> Option<u64> {
        self.0.parse().ok()
    }
}

impl<'a> From<&'a RawValue> for JsonText<'a> {
    fn from(value: &'a RawValue) -> Self {
        Self(value.get())
    }
}

impl<'a> JsonMembers<'a> {
    /// Returns the member with this name. The last one counts, as for most parsers.
    pub fn get(&self, key: &str) -> Option<JsonText<'a>> {
        self.0.iter().rev().find(|(name, _)| name.is(key)).map(|(_, value)| *value)
    }

    /// Returns the text of a member that is a string.
    pub fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.string()
    }

    pub fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.number()
    }

    /// Returns whether a member is this string.
    pub fn is(&self, key: &str, text: &str) -> bool {
        self.get(key).is_some_and(|value| value.is(text))
    }

    /// Returns the members with this name, with their keys.
    fn all(&self, key: &str) -> impl Iterator<Item = (usize, JsonText<'a>, JsonText<'a>)> {
        let members = self.0.iter().enumerate();
        members.filter(move |(_, (name, _))| name.is(key)).map(|(at, (name, value))| (at, *name, *value))
    }
}

struct ObjectParts;

impl<'de> Visitor<'de> for ObjectParts {
    type Value = Vec<(JsonText<'de>, JsonText<'de>)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            members.push((key.into(), value.into()));
        }
        Ok(members)
    }
}

struct ArrayParts;

impl<'de> Visitor<'de> for ArrayParts {
    type Value = Vec<JsonText<'de>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(value) = seq.next_element::<&RawValue>()? {
            elements.push(value.into());
        }
        Ok(elements)
    }
}

/// Joins the strings of several JSON values. A sender that counts in UTF-16 may split a character between two of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonUnits {
    text: String,
    /// The first half of a character whose second half is still missing.
    high: Option<u16>,
}

impl JsonUnits {
    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.high.is_none()
    }

    /// Adds the text of a string; other values add nothing.
    pub fn push(&mut self, value: JsonText<'_>) {
        let Some(inner) = value.0.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return };
        let mut rest = inner;
        while let Some(at) = rest.find('\\') {
            self.push_str(&rest[..at]);
            let escape = rest.as_bytes().get(at + 1).copied();
            let length = match escape {
                Some(b'u') => {
                    let digits = rest.get(at + 2..at + 6).unwrap_or_default();
                    self.push_unit(u16::from_str_radix(digits, 16).unwrap_or(0xFFFD));
                    6
                }
                Some(escape) => {
                    self.push_str(match escape {
                        b'n' => "\n",
                        b't' => "\t",
                        b'r' => "\r",
                        b'b' => "\u{8}",
                        b'f' => "\u{c}",
                        b'/' => "/",
                        b'"' => "\"",
                        _ => "\\",
                    });
                    2
                }
                None => 1,
            };
            rest = rest.get(at + length..).unwrap_or_default();
        }
        self.push_str(rest);
    }

    pub fn push_str(&mut self, text: &str) {
        if !text.is_empty() {
            self.end_half();
            self.text.push_str(text);
        }
    }

    pub fn into_string(mut self) -> String {
        self.end_half();
        self.text
    }

    fn push_unit(&mut self, unit: u16) {
        if let Some(high) = self.high
            && let Some(Ok(whole)) = char::decode_utf16([high, unit]).next()
        {
            self.high = None;
            self.text.push(whole);
            return;
        }
        self.end_half();
        match char::decode_utf16([unit]).next() {
            Some(Ok(whole)) => self.text.push(whole),
            _ if unit < 0xDC00 => self.high = Some(unit),
            _ => self.text.push(char::REPLACEMENT_CHARACTER),
        }
    }

    fn end_half(&mut self) {
        if self.high.take().is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// Writes a JSON string.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Replacements in a document. All other bytes stay.
#[derive(Debug)]
pub struct Splices<'a> {
    document: &'a [u8],
    edits: Vec<(Range<usize>, String)>,
}

impl<'a> Splices<'a> {
    pub fn new(document: &'a [u8]) -> Self {
        Self { document, edits: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Replaces a value of the document by other JSON text.
    pub fn replace(&mut self, value: JsonText<'_>, text: impl Into<String>) {
        self.edits.push((value.range(self.document), text.into()));
    }

    /// Sets a member of an object. If it is there twice, both are set.
    pub fn set(&mut self, object: JsonText<'_>, members: &JsonMembers<'_>, key: &str, text: &str) {
        let found: Vec<_> = members.all(key).map(|(_, _, value)| value).collect();
        for value in &found {
            self.replace(*value, text);
        }
        if found.is_empty() {
            let end = object.range(self.document).end - 1;
            let comma = if members.0.is_empty() { "" } else { "," };
            self.edits.push((end..end, format!("{comma}{}:{text}", quoted(key))));
        }
    }

    /// Adds text to the end of a string.
    pub fn extend_string(&mut self, string: JsonText<'_>, text: &str) {
        let end = string.range(self.document).end - 1;
        let quoted = quoted(text);
        self.edits.push((end..end, quoted[1..quoted.len() - 1].to_owned()));
    }

    /// Adds an element to the end of an array.
    pub fn push(&mut self, array: JsonText<'_>, element: &str) {
        let end = array.range(self.document).end - 1;
        let comma = if array.elements().is_empty() { "" } else { "," };
        self.edits.push((end..end, format!("{comma}{element}")));
    }

    /// Removes a member of an object, with the comma on one side of it. The object keeps at least one other member.
    pub fn remove(&mut self, members: &JsonMembers<'_>, key: &str) {
        for (at, name, value) in members.all(key) {
            let (mut start, mut end) = (name.range(self.document).start, value.range(self.document).end);
            if let Some((_, before)) = at.checked_sub(1).and_then(|before| members.0.get(before)) {
                start = before.range(self.document).end;
            } else if let Some((after, _)) = members.0.get(at + 1) {
                end = after.range(self.document).start;
            }
            self.edits.push((start..end, String::new()));
        }
    }

    /// Returns the changed document.
    pub fn apply(mut self) -> Bytes {
        self.edits.sort_by_key(|(range, _)| range.start);
        let grown: usize = self.edits.iter().map(|(_, text)| text.len()).sum();
        let mut changed = BytesMut::with_capacity(self.document.len() + grown);
        let mut copied = 0;
        for (range, text) in &self.edits {
            // Two edits overlap only for an object with the same key twice.
            if range.start >= copied {
                changed.extend_from_slice(&self.document[copied..range.start]);
                changed.extend_from_slice(text.as_bytes());
                copied = range.end;
            }
        }
        changed.extend_from_slice(&self.document[copied..]);
        changed.freeze()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn changed(document: &str, change: impl Fn(JsonText<'_>, &mut Splices<'_>)) -> String {
        let mut splices = Splices::new(document.as_bytes());
        change(JsonText::of(document.as_bytes()).unwrap(), &mut splices);
        String::from_utf8(splices.apply().to_vec()).unwrap()
    }

    #[test]
    fn only_the_value_changes() {
        let document = " {\"a\" : 1.0,\t\"b\":{ \"c\" :[ 1e2,\"\\u00e9\" ]}}\n";
        let text = changed(document, |body, splices| {
            splices.replace(body.get("b").unwrap().get("c").unwrap().elements()[0], "null");
        });
        assert_eq!(text, document.replace("1e2", "null"));
    }

    #[test]
    fn a_member_is_set_where_it_is_or_at_the_end() {
        let set = |document: &str| changed(document, |body, splices| splices.set(body, &body.members(), "k", "2"));
        assert_eq!(set(r#"{"k": 1, "a":0}"#), r#"{"k": 2, "a":0}"#);
        assert_eq!(set(r#"{"\u006b":1}"#), r#"{"\u006b":2}"#);
        assert_eq!(set(r#"{"k":1,"k":[{}]}"#), r#"{"k":2,"k":2}"#);
        assert_eq!(set(r#"{"a":0 }"#), r#"{"a":0 ,"k":2}"#);
        assert_eq!(set("{}"), r#"{"k":2}"#);
    }

    #[test]
    fn a_string_and_an_array_grow_at_their_end() {
        let document = r#"{"a": "x\"", "b":"", "c":[ 1 ], "d":[]}"#;
        let text = changed(document, |body, splices| {
            let of = |key: &str| body.get(key).unwrap();
            splices.extend_string(of("a"), "\n\"y");
            splices.extend_string(of("b"), "z");
            splices.push(of("c"), "2");
            splices.push(of("d"), "{}");
        });
        assert_eq!(text, r#"{"a": "x\"\n\"y", "b":"z", "c":[ 1 ,2], "d":[{}]}"#);
    }

    #[test]
    fn a_removed_member_takes_one_comma_along() {
        let removed = |document: &str| changed(document, |body, splices| splices.remove(&body.members(), "k"));
        assert_eq!(removed(r#"{"k":1, "a":0}"#), r#"{"a":0}"#);
        assert_eq!(removed(r#"{"a":0, "k" : {"k":1} }"#), r#"{"a":0 }"#);
        assert_eq!(removed(r#"{"a":0,"k":1,"b":2}"#), r#"{"a":0,"b":2}"#);
        assert_eq!(removed(r#"{"a":0}"#), r#"{"a":0}"#);
    }

    #[test]
    fn a_character_that_is_split_between_two_strings_is_joined() {
        let joined = |strings: &[&str]| {
            let mut units = JsonUnits::default();
            strings.iter().for_each(|string| units.push(JsonText::of(string.as_bytes()).unwrap()));
            units.into_string()
        };
        assert_eq!(joined(&[r#""a\ud83d""#, r#""\ude00\n""#]), "a😀\n");
        assert_eq!(joined(&[r#""\ud83d""#, r#""x""#]), "\u{fffd}x");
        assert_eq!(joined(&[r#""\ude00""#, r#""\ud83d\ud83d\ude00""#]), "\u{fffd}\u{fffd}😀");
        assert_eq!(joined(&["1", "null", r#""x""#]), "x");
        assert_eq!(JsonText::of(br#""\ud83d""#).unwrap().string().unwrap(), "\u{fffd}");
    }

    #[test]
    fn deep_nesting_is_read_without_recursion() {
        let depth = 1 << 20;
        let document = format!("{{\"a\":{}{},\"b\":1}}", "[".repeat(depth), "]".repeat(depth));
        let body = JsonText::of(document.as_bytes()).unwrap();
        assert_eq!(body.members().number("b"), Some(1));
        assert_eq!(body.get("a").unwrap().elements().len(), 1);
    }

    #[test]
    fn broken_json_is_no_document() {
        for document in ["", "{", "{\"a\":}", "[1,]", "{} {}", "\"\u{1}\"", "nul"] {
            assert_eq!(JsonText::of(document.as_bytes()), None, "{document}");
        }
        assert_eq!(JsonText::of(b"\"\xff\""), None);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..5).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    /// Compares what is read piece by piece with what the parser says.
    fn is_read(text: JsonText<'_>, value: &Value) -> bool {
        match value {
            Value::Array(values) => {
                let elements = text.elements();
                elements.len() == values.len() && elements.iter().zip(values).all(|(text, value)| is_read(*text, value))
            }
            Value::Object(values) => {
                values.iter().all(|(key, value)| text.get(key).is_some_and(|text| is_read(text, value)))
            }
            Value::String(string) => text.is(string),
            other => serde_json::from_str::<Value>(text.text()).is_ok_and(|found| found == *other),
        }
    }

    proptest! {
        #[test]
        fn every_value_is_found(value in value(), is_pretty: bool) {
            let text = if is_pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
            prop_assert!(is_read(JsonText::of(text.as_bytes()).unwrap(), &value));
        }

        #[test]
        fn setting_a_member_changes_only_it(value in value(), key: String, is_pretty: bool) {
            let mut object = json!({"a": value, "b": value});
            let text = if is_pretty { serde_json::to_string_pretty(&object).unwrap() } else { object.to_string() };
            let set = changed(&text, |body, splices| splices.set(body, &body.members(), &key, "[7]"));
            object[&key] = json!([7]);
            prop_assert_eq!(serde_json::from_str::<Value>(&set).unwrap(), object);
        }
    }
}
