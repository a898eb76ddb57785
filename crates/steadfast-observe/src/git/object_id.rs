use std::fmt;
use std::str::FromStr;

/// Git's name of an object: 40 hexadecimal digits, or 64 in a SHA-256 repository.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid object id `{0}`: expected 40 or 64 hexadecimal digits")]
pub struct NotAnId(String);

impl ObjectId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn from_git(bytes: &[u8]) -> Option<Self> {
        std::str::from_utf8(bytes).ok()?.parse().ok()
    }

    /// Returns the id of the empty tree, in the hash format of this id.
    pub(crate) fn empty_tree_like(&self) -> Self {
        Self(match self.0.len() {
            40 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904".to_owned(),
            _ => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321".to_owned(),
        })
    }
}

impl FromStr for ObjectId {
    type Err = NotAnId;

    /// Accepts hexadecimal digits only: an id goes on git's command line, where other text could be an option.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        match text.len() {
            40 | 64 if digits => Ok(Self(text.to_owned())),
            _ => Err(NotAnId(text.to_owned())),
        }
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_hexadecimal_ids_are_ids() {
        let texts = ["a".repeat(40), "0".repeat(64), "a".repeat(39), "A".repeat(40), "--output=/tmp/x".to_owned()];
        assert_eq!(texts.map(|text| text.parse::<ObjectId>().is_ok()), [true, true, false, false, false]);
    }
}
