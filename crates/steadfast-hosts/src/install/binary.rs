use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

use super::homes::find_on_path;
use super::wiring::is_our_program;

/// The reason why settings cannot name the running program.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum BinaryError {
    #[error("{} is inside the build folder {}, which the next build changes", path.display(), folder.display())]
    BuildFolder { path: PathBuf, folder: PathBuf },
    #[error("{} is not named `steadfast`, so Steadfast could not recognise its own hooks", path.display())]
    Name { path: PathBuf },
}

/// Returns the path of the running program as the user named it. A link (`/usr/local/bin/steadfast`, a package
/// manager's) keeps its own path, so the settings stay valid after an upgrade.
pub fn find_binary(
    argv0: &OsStr,
    current_exe: &Path,
    path_var: Option<&OsStr>,
    cwd: &Path,
) -> Result<PathBuf, BinaryError> {
    let named = as_named(argv0, path_var, cwd).filter(|named| is_same_file(named, current_exe) && has_our_name(named));
    let path = named.unwrap_or_else(|| current_exe.to_owned());
    if !has_our_name(&path) {
        return Err(BinaryError::Name { path });
    }
    let behind = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    match build_folder(&path).or_else(|| build_folder(&behind)) {
        Some(folder) => Err(BinaryError::BuildFolder { path, folder }),
        None => Ok(path),
    }
}

/// Returns true if `steadfast`, the name in shared files, is on the `PATH`.
pub fn is_on_path(path_var: Option<&OsStr>, cwd: &Path) -> bool {
    find_on_path("steadfast", path_var, cwd).is_some()
}

fn as_named(argv0: &OsStr, path_var: Option<&OsStr>, cwd: &Path) -> Option<PathBuf> {
    let named = Path::new(argv0);
    if named.components().count() == 1 && !named.has_root() && !argv0.as_encoded_bytes().contains(&b'/') {
        return find_on_path(named.to_str()?, path_var, cwd);
    }
    let joined = cwd.join(named);
    let (folder, name) = (joined.parent()?, joined.file_name()?);
    // Resolve links first: `..` after a link leads to the parent of its target.
    let folder = if folder.components().any(|part| part == Component::ParentDir) {
        fs::canonicalize(folder).ok()?
    } else {
        folder.components().filter(|part| *part != Component::CurDir).collect()
    };
    Some(folder.join(name))
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn has_our_name(path: &Path) -> bool {
    // Only the file name must be UTF-8 here; folders are checked when the settings are written.
    path.file_name().and_then(OsStr::to_str).is_some_and(is_our_program)
}

/// Returns the build folder that contains this file, by cargo's marker files or the usual names.
fn build_folder(path: &Path) -> Option<PathBuf> {
    let marked = |folder: &Path| folder.join("CACHEDIR.TAG").exists() || folder.join(".rustc_info.json").exists();
    let named = |folder: &Path| {
        let profile = folder.file_name().is_some_and(|name| name == "debug" || name == "release" || name == "dist");
        profile && folder.ancestors().skip(1).any(|above| above.file_name().is_some_and(|name| name == "target"))
    };
    path.ancestors().skip(1).find(|folder| marked(folder) || named(folder)).map(Path::to_owned)
}

#[cfg(test)]
mod tests;
