use crate::sparse::sparse;

sparse! {
    /// Paths by what they are to the work, the newest last. Folders have no `/` behind them.
    #[derive(Eq)]
    pub struct Places {
        /// Files that belong to it: read before the first write, or written when the human spoke next.
        known: Vec<String>,
        /// Folders that were looked into before the first write, and those in which the work is.
        folders: Vec<String>,
        /// Those of them in which something was written that belongs to it: what is beside that is near.
        worked: Vec<String>,
        /// Files and folders that were looked at before the first write after a later prompt, and that nothing else leads to.
        explored: Vec<String>,
        /// Folders that were looked into in the middle of the work.
        seen: Vec<String>,
        /// Files that were written since the human spoke.
        fresh: Vec<String>,
        /// Files that are named in a document which was read before the first write.
        planned: Vec<String>,
        /// Folders about which the agent was told.
        told: Vec<String>,
    }
}

impl Places {
    pub(super) const KNOWN: usize = 96;
    pub(super) const FOLDERS: usize = 48;
    const OTHERS: usize = 32;

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn add(&mut self, new: &Self) {
        let lists = [
            (&mut self.known, &new.known, Self::KNOWN),
            (&mut self.folders, &new.folders, Self::FOLDERS),
            (&mut self.explored, &new.explored, Self::OTHERS),
            (&mut self.seen, &new.seen, Self::OTHERS),
            (&mut self.fresh, &new.fresh, Self::FOLDERS),
            (&mut self.planned, &new.planned, Self::KNOWN),
            (&mut self.told, &new.told, Self::OTHERS),
            (&mut self.worked, &new.worked, Self::FOLDERS),
        ];
        for (list, new, most) in lists {
            new.iter().for_each(|path| keep(list, path, most));
        }
    }

    /// The human saw what was written, and went on: it belongs to the work.
    pub(super) fn settle(&mut self) {
        for file in std::mem::take(&mut self.fresh) {
            let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
            keep(&mut self.folders, folder, Self::FOLDERS);
            keep(&mut self.worked, folder, Self::FOLDERS);
            keep(&mut self.known, &file, Self::KNOWN);
        }
    }
}

/// The newest last, each once, and no more than so many.
pub(super) fn keep(list: &mut Vec<String>, new: &str, most: usize) {
    if let Some(at) = list.iter().position(|known| known == new) {
        let known = list.remove(at);
        list.push(known);
        return;
    }
    if list.len() >= most {
        list.remove(0);
    }
    list.push(new.to_owned());
}
