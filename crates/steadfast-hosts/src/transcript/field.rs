//! Field types for transcripts: a value of an unexpected type counts as absent, so that rows of newer versions stay
//! readable. Only invalid JSON counts as damage.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A text, borrowed from the line if it has no escapes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Text<'a>(pub(crate) Option<Cow<'a, str>>);

impl Text<'_> {
    pub(crate) fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    pub(crate) fn is(&self, other: &str) -> bool {
        self.get() == Some(other)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Flag(pub(crate) bool);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Number(pub(crate) Option<u64>);

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object<T>(pub(crate) Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A text, or a list of objects; elements of another type are skipped.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum TextOr<'a, T> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    List(Vec<T>),
}

/// The visitor methods for unexpected types.
macro_rules! else_nothing {
    ($nothing:expr; $($kind:ident)*) => { $(else_nothing!(@ $nothing, $kind);)* };
    (@ $nothing:expr, bool) => { fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> { Ok($nothing) } };
    (@ $nothing:expr, u64) => { fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> { Ok($nothing) } };
    (@ $nothing:expr, number) => {
        fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> { Ok($nothing) }
        fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> { Ok($nothing) }
    };
    (@ $nothing:expr, text) => { fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> { Ok($nothing) } };
    (@ $nothing:expr, null) => { fn visit_unit<E: Error>(self) -> Result<Self::Value, E> { Ok($nothing) } };
    (@ $nothing:expr, list) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok($nothing)
        }
    };
    (@ $nothing:expr, object) => {
        fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
            while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok($nothing)
        }
    };
}

macro_rules! expecting_anything {
    () => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("anything")
        }
    };
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Text<'de>;
            expecting_anything!();
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Some(Cow::Borrowed(text))))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Some(Cow::Owned(text.to_owned()))))
            }
            else_nothing!(Text(None); bool u64 number null list object);
        }
        deserializer.deserialize_any(Read)
    }
}

/// A field of one plain type. A value of another type counts as absent.
macro_rules! plain_field {
    ($name:ident, $nothing:expr, $visit:ident, $kind:ty => $read:expr; $($other:ident)*) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Read;
                impl<'de> Visitor<'de> for Read {
                    type Value = $name;
                    expecting_anything!();
                    fn $visit<E: Error>(self, value: $kind) -> Result<$name, E> {
                        Ok($read(value))
                    }
                    else_nothing!($nothing; $($other)*);
                }
                deserializer.deserialize_any(Read)
            }
        }
    };
}

plain_field!(Flag, Flag(false), visit_bool, bool => Flag; u64 number text null list object);
plain_field!(Number, Number(None), visit_u64, u64 => |number| Number(Some(number)); bool number text null list object);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Read<T> {
            type Value = Object<T>;
            expecting_anything!();
            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(object)).map(|read| Object(Some(read)))
            }
            else_nothing!(Object(None); bool u64 number text null list);
        }
        deserializer.deserialize_any(Read(PhantomData))
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for TextOr<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Read<T> {
            type Value = TextOr<'de, T>;
            expecting_anything!();
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(TextOr::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TextOr::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut read = Vec::new();
                while let Some(element) = list.next_element::<Object<T>>()? {
                    read.extend(element.0);
                }
                Ok(TextOr::List(read))
            }
            else_nothing!(TextOr::Nothing; bool u64 number null object);
        }
        deserializer.deserialize_any(Read(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, serde::Deserialize)]
    #[serde(default)]
    struct Sample<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        flag: Flag,
        number: Number,
        object: Object<Inner>,
        #[serde(borrow)]
        content: TextOr<'a, Inner>,
    }

    #[derive(Debug, Default, PartialEq, serde::Deserialize)]
    #[serde(default)]
    struct Inner {
        n: Number,
    }

    #[test]
    fn what_has_another_type_is_absent_and_the_rest_is_there() {
        let values = ["null", "true", "1", "-1", "1.5", "\"x\"", "[[1],{\"a\":[]}]", "{\"n\":{\"b\":[1]}}"];
        for key in ["text", "flag", "number", "object", "content"] {
            for value in values {
                let line = format!("{{\"{key}\":{value},\"unknown\":{value}}}");
                let read: Sample<'_> = serde_json::from_str(&line).unwrap();
                let mut expected = Sample::default();
                match (key, value) {
                    ("text", "\"x\"") => expected.text = Text(Some("x".into())),
                    ("flag", "true") => expected.flag = Flag(true),
                    ("number", "1") => expected.number = Number(Some(1)),
                    ("object", "{\"n\":{\"b\":[1]}}") => expected.object = Object(Some(Inner::default())),
                    ("content", "\"x\"") => expected.content = TextOr::Text("x".into()),
                    ("content", "[[1],{\"a\":[]}]") => expected.content = TextOr::List(vec![Inner::default()]),
                    _ => {}
                }
                assert_eq!(read, expected, "{line}");
            }
        }
    }
}
