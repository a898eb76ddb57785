use std::collections::BTreeSet;

/// The files that one session touched, relative to its folder.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    pub(crate) written: BTreeSet<String>,
    /// Read or written.
    pub(crate) seen: BTreeSet<String>,
}

/// What is known of the code base besides the session.
///
/// The corpus has no repositories, only sessions. Other sessions of the same repository stand in: what they touched is
/// the tree, what they wrote together is what history changes together. The session itself is never among those that
/// tell what changes together, and a graft's donor is not either.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    pub(crate) tree: &'a BTreeSet<String>,
    pub(crate) others: &'a [&'a Footprint],
}

impl World<'_> {
    /// In how many other sessions both were written, and in how many the first was.
    pub(crate) fn together(&self, file: &str, other: &str) -> (usize, usize) {
        let with = self.others.iter().filter(|session| session.written.contains(file));
        with.fold((0, 0), |(both, all), session| (both + usize::from(session.written.contains(other)), all + 1))
    }
}
