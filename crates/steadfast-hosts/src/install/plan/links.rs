//! Plans the links that hosts start: created with the first checkout that uses them, removed with the last.

use std::path::{Path, PathBuf};

use super::Drafts;
use crate::install::change::FileEdit;
use crate::install::error::InstallError;
use crate::install::file;
use crate::install::links::Links;
use crate::install::record::{Record, file_of};
use crate::install::scope::InstallPaths;
use crate::install::slot::Keeper;

const SLOT: &str = "links";

pub(super) fn install(
    drafts: &mut Drafts,
    links: &Links,
    binary: &Path,
    place: &InstallPaths,
) -> Result<(), InstallError> {
    let record_file = record_file(links, place);
    let record = Record::read(&record_file)?;
    let mut new = record.clone().unwrap_or_else(|| Record::of_ours(&links.base, SLOT, Vec::new()));
    if !new.users.contains(&place.root) {
        new.users.push(place.root.clone());
    }
    if record.as_ref() != Some(&new) {
        drafts.write_record(&record_file, &new)?;
    }
    let target = binary.as_os_str().as_encoded_bytes();
    for path in links.paths() {
        let before = file::read_link(&path)?;
        if before.as_deref() != Some(target) {
            drafts.records.push(FileEdit::link(&path, before, Some(target.to_vec())));
        }
    }
    Ok(())
}

pub(super) fn uninstall(
    drafts: &mut Drafts,
    links: &Links,
    place: &InstallPaths,
    in_use: &dyn Fn(&Path) -> bool,
) -> Result<(), InstallError> {
    let record_file = record_file(links, place);
    let Some(record) = Record::read(&record_file)? else { return Ok(()) };
    let users = record.without(&place.root, in_use);
    if !users.is_empty() {
        let kept = Record { users, ..record.clone() };
        return if kept == record { Ok(()) } else { drafts.write_record(&record_file, &kept) };
    }
    let folder = links.base.parent().map(Path::to_owned);
    for path in links.paths() {
        if let Some(before) = file::read_link(&path)? {
            let change = FileEdit::link(&path, Some(before), None);
            drafts.records.push(FileEdit { folders: folder.iter().cloned().collect(), ..change });
        }
    }
    drafts.remove_record(&record_file, &record, place)
}

fn record_file(links: &Links, place: &InstallPaths) -> PathBuf {
    file_of(&links.base, SLOT, Keeper::User, place)
}
