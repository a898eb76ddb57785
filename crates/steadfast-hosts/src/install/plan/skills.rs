//! Plans files that are entirely ours: created, updated and removed. A file that a user changed or put in their place
//! is left alone and reported.

use std::path::PathBuf;

use steadfast_system::Access;

use super::Drafts;
use crate::install::change::FileEdit;
use crate::install::error::InstallError;
use crate::install::file;
use crate::install::record::{Record, file_of};
use crate::install::scope::InstallPaths;
use crate::install::skills::{SkillFile, Whose};
use crate::install::slot::Keeper;

pub(super) fn install(drafts: &mut Drafts, skill: &SkillFile, place: &InstallPaths) -> Result<(), InstallError> {
    let present = file::read(&skill.path)?;
    match &present {
        Some(present) if skill.is_up_to_date(present) => {}
        Some(present) if skill.whose(present) != Whose::Ours => {
            drafts.left.push(skill.path.clone());
            return Ok(());
        }
        _ => {
            let after = Some(skill.content.clone().into_bytes());
            drafts.changes.push(FileEdit::new(&skill.path, present, after, skill.kind, Access::Usual));
        }
    }
    let record_file = record_file(skill, place);
    let record = Record::read(&record_file)?;
    let mut folders = record.as_ref().map(|record| record.folders.clone()).unwrap_or_default();
    let missing = file::missing_folders(&skill.path).into_iter().filter(|folder| !folders.contains(folder));
    folders.extend(missing.collect::<Vec<_>>());
    let new = Record { folders, ..Record::of_ours(&skill.path, skill.kind.name(), vec![place.root.clone()]) };
    if record.as_ref() != Some(&new) {
        drafts.write_record(&record_file, &new)?;
    }
    Ok(())
}

pub(super) fn uninstall(drafts: &mut Drafts, skill: &SkillFile, place: &InstallPaths) -> Result<(), InstallError> {
    let record_file = record_file(skill, place);
    let record = Record::read(&record_file)?;
    if let Some(record) = &record {
        drafts.remove_record(&record_file, record, place)?;
    }
    let Some(present) = file::read(&skill.path)? else { return Ok(()) };
    match skill.whose(&present) {
        Whose::Ours => {
            drafts.changes.push(FileEdit::new(&skill.path, Some(present), None, skill.kind, Access::Usual));
        }
        Whose::Changed => drafts.left.push(skill.path.clone()),
        Whose::Foreign if record.is_some() => drafts.left.push(skill.path.clone()),
        Whose::Foreign => {}
    }
    Ok(())
}

fn record_file(skill: &SkillFile, place: &InstallPaths) -> PathBuf {
    file_of(&skill.path, skill.kind.name(), Keeper::Repository, place)
}
