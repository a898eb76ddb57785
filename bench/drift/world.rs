use std::collections::BTreeSet;

/// The files that one session touched, relative to its folder.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    pub(crate) written: BTreeSet<String>,
    /// Read or written.
    pub(crate) seen: BTreeSet<String>,
}

/// The known facts about the code base outside the session.
///
/// The corpus has sessions but no repositories. Other sessions of the same repository replace it: the files they
/// touched are the tree, and the files they wrote together are the history. The session itself and a graft's donor are
/// not part of the history.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    pub(crate) tree: &'a BTreeSet<String>,
    pub(crate) others: &'a [&'a Footprint],
}

impl World<'_> {
    /// Returns the number of other sessions that wrote both files, and the number that wrote the first one.
    pub(crate) fn together(&self, file: &str, other: &str) -> (usize, usize) {
        let with = self.others.iter().filter(|session| session.written.contains(file));
        with.fold((0, 0), |(both, all), session| (both + usize::from(session.written.contains(other)), all + 1))
    }
}
