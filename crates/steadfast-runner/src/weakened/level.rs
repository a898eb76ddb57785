//! How much an assertion says, as it is compared.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// It holds whatever the program does.
    Vacuous,
    /// Something is there.
    Present,
    /// It is one of many values: contains, matches, is more than.
    Partial,
    /// It is this value.
    Exact,
    /// A predicate whose strength cannot be seen.
    Unknown,
}

impl Level {
    /// How much is lost with it, at least.
    pub(super) fn lost(self) -> u8 {
        match self {
            Self::Vacuous => 0,
            Self::Present | Self::Unknown => 1,
            Self::Partial => 2,
            Self::Exact => 3,
        }
    }

    /// How much is won with it, at most.
    pub(super) fn won(self) -> u8 {
        if self == Self::Unknown { 3 } else { self.lost() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
    Within(f64),
    /// Whether it asks for the words of an error.
    Message(bool),
}

impl Bound {
    /// Whether it admits more than `before` did.
    pub(super) fn is_wider_than(self, before: Self) -> bool {
        match (before, self) {
            (Self::AtMost(was), Self::AtMost(now)) | (Self::Within(was), Self::Within(now)) => now > was,
            (Self::AtLeast(was), Self::AtLeast(now)) => now < was,
            (Self::Message(was), Self::Message(now)) => was && !now,
            _ => false,
        }
    }
}
