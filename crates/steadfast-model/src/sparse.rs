//! Structs that write only the fields that differ from their default, so that states, facts and journals stay small.

/// `skip_serializing_if` for every type with a default.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Defines a struct with public fields that are written only if they differ from their default.
macro_rules! sparse {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$doc:meta])* $field:ident: $kind:ty,)+ }) => {
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        $(#[$about])*
        pub struct $name {
            $($(#[$doc])* #[serde(default, skip_serializing_if = "crate::sparse::is_default")] pub $field: $kind,)+
        }
    };
}

pub(crate) use sparse;
