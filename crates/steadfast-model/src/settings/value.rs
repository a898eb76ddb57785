use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::{
    Budget, ExitOn, Iterations, Period, Permissions, Possible, Price, Profile, ProxyMode, TaskSource, Tokens,
    Verbosity, limit::NONE,
};
use crate::{Host, Level, Limits, Mode};

pub trait SettingValue: Sized {
    /// Returns the spelling that both TOML and JSON read.
    fn spell(&self) -> String;

    /// Describes the values of this type.
    fn expected() -> String;

    /// Returns the value in the form that the settings store.
    #[must_use]
    fn tidied(self) -> Self {
        self
    }
}

/// `setting_values!(type, |value| spelling, expected)` for simple types.
macro_rules! setting_values {
    ($($kind:ty, |$value:ident| $spelled:expr, $expected:expr;)+) => {$(
        impl SettingValue for $kind {
            fn spell(&self) -> String {
                let $value = self;
                $spelled
            }

            fn expected() -> String {
                $expected.into()
            }
        }
    )+};
}

setting_values! {
    bool, |flag| flag.to_string(), "`true` or `false`";
    u32, |number| number.to_string(), format!("a whole number from 0 to {}", Self::MAX);
    NonZeroU32, |number| number.to_string(), format!("a whole number from 1 to {}", Self::MAX);
    String, |text| quoted(text), "a text";
    Period, |period| quoted(&period.to_string()), "a text like `90s` or `10m` or `1h 30m`";
    Iterations, |count| match count.0 {
        Limits::NO_LIMIT => quoted(NONE),
        count => count.to_string(),
    }, format!("a whole number or `{NONE}`");
    Budget, |usd| usd.0.to_string(), format!("a number or `{NONE}`");
    Tokens, |count| count.0.to_string(), format!("a whole number or `{NONE}`");
    // TOML and JSON spell a table differently, but not a list of texts.
    BTreeMap<String, Price>, |prices| {
        let price = |(model, price): (&String, &Price)| {
            quoted(&format!("{model}: {} in, {} cached, {} out", price.input, price.cached(), price.output))
        };
        list(prices.iter().map(price))
    }, "a table; edit the file by hand";
    Option<Host>, |host| quoted(host.map_or("", Host::as_str)), choice(&Host::ALL.map(Host::as_str));
}

macro_rules! label_values {
    ($($kind:ty),+) => {
        setting_values! { $($kind, |label| quoted(label.as_str()), choice(&Self::ALL.map(Self::as_str));)+ }
    };
}

label_values!(Mode, Level, Possible, Profile, ExitOn, TaskSource, Permissions, Verbosity, ProxyMode);

/// A name. An empty text removes the name that an earlier file set.
impl SettingValue for Option<String> {
    fn spell(&self) -> String {
        quoted(self.as_deref().unwrap_or_default())
    }

    fn expected() -> String {
        String::expected()
    }

    fn tidied(self) -> Self {
        self.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }
}

impl<T: SettingValue> SettingValue for Vec<T> {
    fn spell(&self) -> String {
        list(self.iter().map(T::spell))
    }

    fn expected() -> String {
        format!("a list like `[\"a\", \"b\"]`, each {}", T::expected())
    }
}

fn choice(labels: &[&str]) -> String {
    labels.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(" or ")
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
