//! Plain enums whose variants have a one-word label, and parsing of these labels.

use std::fmt;

/// Defines a plain enum with a label for each variant: `ALL`, `as_str`, `parse` and `Display`. `serde` names the variants
/// by the attributes of the enum: some stored names differ from the labels.
#[macro_export]
macro_rules! labels {
    ($(#[$about:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $label:literal,)+ }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        $(#[$about])*
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            pub const ALL: [Self; [$($label),+].len()] = [$(Self::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $label,)+
                }
            }

            pub fn parse(label: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.as_str() == label)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

/// `FromStr` for enums with labels, with an error that lists the labels.
macro_rules! from_label {
    ($($name:ident $what:literal),+) => {$(
        impl std::str::FromStr for $name {
            type Err = $crate::UnknownName;

            fn from_str(label: &str) -> Result<Self, $crate::UnknownName> {
                Self::parse(label).ok_or_else(|| $crate::UnknownName {
                    what: $what,
                    name: label.to_owned(),
                    expected: $crate::label::one_of(&Self::ALL.map(Self::as_str)),
                })
            }
        }
    )+};
}

pub(crate) use {from_label, labels};

/// A name that matches no label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    pub what: &'static str,
    pub name: String,
    pub expected: String,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} `{}`, expected {}", self.what, self.name, self.expected)
    }
}

impl std::error::Error for UnknownName {}

/// Lists labels in words: "`a`, `b` or `c`".
pub(crate) fn one_of(labels: &[&str]) -> String {
    let quoted: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
