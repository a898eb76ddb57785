use crate::sparse::sparse;

sparse! {
    /// Paths by their relation to the work, the newest last. Folders have no trailing `/`.
    #[derive(Eq)]
    pub struct Places {
        /// Files that belong to the work: read before the first write, or written before the human's next prompt.
        known: Vec<String>,
        /// Folders that were listed before the first write, and folders of the work.
        folders: Vec<String>,
        /// Those of the folders that received writes which belong to the work. Their other files count as near.
        worked: Vec<String>,
        /// Files and folders that the agent read before the first write after a later prompt, with no other link to the
        /// work.
        explored: Vec<String>,
        /// Folders that the agent listed in the middle of the work.
        seen: Vec<String>,
        /// Files written since the human's last prompt.
        fresh: Vec<String>,
        /// Files named in a document that the agent read before the first write.
        planned: Vec<String>,
        /// Folders that a correction to the agent named.
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
            new.iter().for_each(|path| push_newest(list, path, most));
        }
    }

    /// Adds the fresh files to the work: the human saw them and continued.
    pub(super) fn settle(&mut self) {
        for file in std::mem::take(&mut self.fresh) {
            let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
            push_newest(&mut self.folders, folder, Self::FOLDERS);
            push_newest(&mut self.worked, folder, Self::FOLDERS);
            push_newest(&mut self.known, &file, Self::KNOWN);
        }
    }
}

/// Moves `new` to the end of the list and drops the oldest entry above the limit.
pub(super) fn push_newest(list: &mut Vec<String>, new: &str, most: usize) {
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
