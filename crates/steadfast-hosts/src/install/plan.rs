//! Computes the changes of installing and uninstalling. Reads files, writes none.

mod links;
mod skills;

use std::path::{Path, PathBuf};

use steadfast_model::Host;
use steadfast_system::Access;

use super::change::{Direction, Edit, FileContent, FileEdit, InstallPlan};
use super::error::{InstallError, SettingsError};
use super::file;
use super::links::Links;
use super::permissions::PermissionChoice;
use super::record::{Before, Record};
use super::scope::{InstallPaths, InstallScope};
use super::skills::files as skill_files;
use super::slot::{Remembered, Slot};

/// The options of `init`.
#[derive(Clone, Debug)]
pub struct InstallRequest<'a> {
    pub hosts: &'a [Host],
    pub scope: InstallScope,
    pub place: &'a InstallPaths,
    /// The result of `find_binary`. A shared file names the program instead.
    pub binary: &'a Path,
    /// Raises Claude Code's own limit of refused stops, for all Stop hooks.
    pub stop_block_cap: Option<u32>,
    /// Permission rules for Claude Code's settings; none if the user declined them.
    pub allow: &'a [String],
}

pub fn plan_install(request: &InstallRequest<'_>) -> Result<InstallPlan, InstallError> {
    let place = request.place;
    let mut drafts = Drafts::new(Direction::In);
    for host in request.hosts {
        for slot in request.scope.slots(*host, place, request.binary, request.stop_block_cap, request.allow)? {
            install_slot(&mut drafts, &slot, place)?;
        }
        if let Some(links) = Links::of(*host, request.scope, place) {
            links::install(&mut drafts, &links, request.binary, place)?;
        }
    }
    for skill in request.hosts.iter().flat_map(|host| skill_files(*host, place)) {
        skills::install(&mut drafts, &skill, place)?;
    }
    drafts.into_plan()
}

/// Returns the answer to the offer of permissions at an earlier installation: of this scope, else of another one in this
/// checkout.
pub fn permission_choice(scope: InstallScope, place: &InstallPaths) -> Result<Option<PermissionChoice>, InstallError> {
    let others = InstallScope::ALL.into_iter().filter(|other| *other != scope);
    for scope in std::iter::once(scope).chain(others) {
        for slot in scope.slots(Host::Claude, place, Path::new("steadfast"), None, &[])? {
            if let Some(choice) = Record::read(&slot.record_file(place))?.and_then(|record| record.permissions) {
                return Ok(Some(choice));
            }
        }
    }
    Ok(None)
}

fn install_slot(drafts: &mut Drafts, slot: &Slot, place: &InstallPaths) -> Result<(), InstallError> {
    let in_settings = |source| InstallError::Settings { path: slot.path.clone(), source };
    let record_file = slot.record_file(place);
    let record = Record::read(&record_file)?;
    let current = drafts.current(&slot.path)?;
    let remembered = record.as_ref().map(Record::remembered).unwrap_or_default();
    let merged = slot.part.merge(current.as_deref().unwrap_or_default(), remembered).map_err(in_settings)?;
    let before = before_us(slot, record.as_ref(), current.as_deref()).map_err(in_settings)?;
    let mut users = record.as_ref().map(|record| record.users.clone()).unwrap_or_default();
    if !users.contains(&place.root) {
        users.push(place.root.clone());
    }
    let folders = match &record {
        Some(record) if before == Before::Absent => {
            [record.folders.clone(), file::missing_folders(&slot.path)].concat()
        }
        _ => file::missing_folders(&slot.path),
    };
    let new = Record {
        path: slot.path.clone(),
        slot: slot.part.name(),
        before,
        after: (!slot.living).then(|| merged.clone()),
        folders,
        permissions: slot.part.permissions(),
        users,
    };
    if record.as_ref() != Some(&new) {
        drafts.write_record(&record_file, &new)?;
    }
    drafts.set(slot, Some(merged), remembered)
}

/// Returns the content without us. If only we, or the host around our part, wrote the file since, that is the recorded
/// content from before the first installation.
fn before_us(slot: &Slot, record: Option<&Record>, current: Option<&str>) -> Result<Before, SettingsError> {
    let Some(current) = current else { return Ok(Before::Absent) };
    if let Some(record) = record.filter(|record| record.after.as_deref() == Some(current)) {
        return Ok(record.before.clone());
    }
    let remembered = record.map(Record::remembered).unwrap_or_default();
    let bare = slot.part.strip(current, remembered)?;
    if let Some(record) = record.filter(|_| slot.living && bare != current) {
        return Ok(record.before.clone());
    }
    let was_absent = record.is_some_and(|record| record.before == Before::Absent);
    if was_absent && slot.part.is_bare(&bare) {
        return Ok(Before::Absent);
    }
    Ok(if slot.living { Before::Outline(slot.part.outline(&bare)?) } else { Before::Text(bare) })
}

/// Computes the removal. `in_use` tells if a checkout that relied on a file of the user still does.
pub fn plan_uninstall(
    hosts: &[Host],
    scopes: &[InstallScope],
    place: &InstallPaths,
    in_use: &dyn Fn(&Path) -> bool,
) -> Result<InstallPlan, InstallError> {
    let mut drafts = Drafts::new(Direction::Out);
    let mut seen = Vec::new();
    for host in hosts {
        for scope in scopes {
            // Our entries are recognised by their shape, so any path will do.
            for slot in scope.slots(*host, place, Path::new("steadfast"), None, &[])? {
                let key = slot.record_file(place);
                if !seen.contains(&key) {
                    uninstall_slot(&mut drafts, &slot, place, in_use)?;
                    seen.push(key);
                }
            }
            if let Some(links) = Links::of(*host, *scope, place) {
                links::uninstall(&mut drafts, &links, place, in_use)?;
            }
        }
    }
    for skill in hosts.iter().flat_map(|host| skill_files(*host, place)) {
        skills::uninstall(&mut drafts, &skill, place)?;
    }
    drafts.into_plan()
}

fn uninstall_slot(
    drafts: &mut Drafts,
    slot: &Slot,
    place: &InstallPaths,
    in_use: &dyn Fn(&Path) -> bool,
) -> Result<(), InstallError> {
    let record_file = slot.record_file(place);
    let record = Record::read(&record_file)?;
    if let Some(record) = &record {
        let users = record.without(&place.root, in_use);
        if !users.is_empty() {
            let kept = Record { users, ..record.clone() };
            return if kept == *record { Ok(()) } else { drafts.write_record(&record_file, &kept) };
        }
        drafts.remove_record(&record_file, record, place)?;
        if record.before == Before::Absent {
            drafts.absent_before_us.push(slot.path.clone());
        }
    }
    let Some(current) = drafts.current(&slot.path)? else { return Ok(()) };
    let remembered = record.as_ref().map(Record::remembered).unwrap_or_default();
    let untouched = record.as_ref().filter(|record| record.after.as_deref() == Some(&*current));
    let after = match untouched.map(|record| &record.before) {
        Some(Before::Absent) => None,
        Some(Before::Text(text)) => Some(text.clone()),
        Some(Before::Outline(_)) | None => {
            let bare = slot.part.strip(&current, remembered);
            let bare = bare.map_err(|source| InstallError::Settings { path: slot.path.clone(), source })?;
            let was_absent = drafts.absent_before_us.contains(&slot.path);
            (!was_absent || !slot.part.is_bare(&bare)).then_some(bare)
        }
    };
    drafts.set(slot, after, remembered)
}

/// The planned contents of the files. If two slots share a file, the second sees the draft of the first.
struct Drafts {
    direction: Direction,
    changes: Vec<FileEdit>,
    records: Vec<FileEdit>,
    absent_before_us: Vec<PathBuf>,
    left: Vec<PathBuf>,
}

impl Drafts {
    fn new(direction: Direction) -> Self {
        let (absent_before_us, left) = (Vec::new(), Vec::new());
        Self { direction, changes: Vec::new(), records: Vec::new(), absent_before_us, left }
    }

    fn current(&self, path: &Path) -> Result<Option<String>, InstallError> {
        let drafted = self.changes.iter().find(|change| change.path == path);
        let content = match drafted {
            Some(change) => change.after.clone(),
            None => file::read(path)?,
        };
        content.map(|content| file::utf8(path, &content).map(str::to_owned)).transpose()
    }

    fn set(&mut self, slot: &Slot, after: Option<String>, remembered: Remembered<'_>) -> Result<(), InstallError> {
        let after = after.map(String::into_bytes);
        let edit = Edit { slot: slot.clone(), direction: self.direction, before: remembered.before.map(str::to_owned) };
        let edits = if slot.living { vec![edit] } else { Vec::new() };
        if let Some(change) = self.changes.iter_mut().find(|change| change.path == slot.path) {
            change.after = after;
            change.edits.extend(edits);
            return Ok(());
        }
        let (before, access) = (file::read(&slot.path)?, slot.keeper.access());
        let change = FileEdit::new(&slot.path, before, after, slot.part.content(), access);
        self.changes.push(FileEdit { lock: slot.lock(), edits, ..change });
        Ok(())
    }

    fn write_record(&mut self, file: &Path, record: &Record) -> Result<(), InstallError> {
        let after = Some(record.to_text(file)?.into_bytes());
        self.records.push(FileEdit::new(file, file::read(file)?, after, FileContent::Record, Access::Private));
        Ok(())
    }

    /// Removes a record, together with the folders made for its file and for the records, if they are empty.
    fn remove_record(&mut self, file: &Path, record: &Record, place: &InstallPaths) -> Result<(), InstallError> {
        let change = FileEdit::new(file, file::read(file)?, None, FileContent::Record, Access::Private);
        let ours = |folder: &&Path| place.user_records.parent().is_some_and(|state| folder.starts_with(state));
        let of_records = file.ancestors().skip(1).take_while(ours).map(Path::to_owned);
        let folders = record.folders.iter().cloned().chain(of_records).collect();
        self.records.push(FileEdit { folders, ..change });
        Ok(())
    }

    fn into_plan(mut self) -> Result<InstallPlan, InstallError> {
        self.changes.retain(|change| change.before != change.after);
        if let Some(change) = self.changes.iter().find(|change| file::is_read_only(&change.path)) {
            return Err(InstallError::ReadOnly { path: change.path.clone() });
        }
        Ok(InstallPlan { changes: self.changes, left: self.left, records: self.records, direction: self.direction })
    }
}
