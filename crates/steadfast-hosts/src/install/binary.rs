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
    #[error("{} is in the cache of `{}`, which deletes it later: hooks would name a missing file", path.display(), runner.command())]
    Cache { path: PathBuf, runner: PackageRunner },
    #[error("{} is not named `steadfast`, so Steadfast could not recognise its own hooks", path.display())]
    Name { path: PathBuf },
}

/// A program that runs a package without installing it, from a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageRunner {
    Npx,
    Pnpm,
    Yarn,
    Bun,
    Uv,
    Pipx,
}

impl PackageRunner {
    pub fn command(self) -> &'static str {
        match self {
            Self::Npx => "npx",
            Self::Pnpm => "pnpm dlx",
            Self::Yarn => "yarn dlx",
            Self::Bun => "bunx",
            Self::Uv => "uvx",
            Self::Pipx => "pipx run",
        }
    }

    /// The start of the command that installs a package permanently.
    pub fn install(self) -> &'static str {
        match self {
            // Yarn has no global packages since version 2.
            Self::Npx | Self::Yarn => "npm install --global",
            Self::Pnpm => "pnpm add --global",
            Self::Bun => "bun add --global",
            Self::Uv => "uv tool install",
            Self::Pipx => "pipx install",
        }
    }

    /// Recognises the cache by its folder names only, because each of these programs lets the user move its cache.
    fn of(path: &Path) -> Option<Self> {
        let names: Vec<&str> = path.parent()?.iter().map(|name| name.to_str().unwrap_or_default()).collect();
        names.iter().enumerate().find_map(|(index, name)| {
            let above = index.checked_sub(1).map_or("", |index| names[index]);
            match (above, *name) {
                (_, "_npx") => Some(Self::Npx),
                ("pnpm", name) if name == "dlx" || name.starts_with("dlx-") => Some(Self::Pnpm),
                (above, name) if above.starts_with("xfs-") && name.starts_with("dlx-") => Some(Self::Yarn),
                (_, name) if name.starts_with("bunx-") || name.starts_with(".bunx-") => Some(Self::Bun),
                (_, name) if is_numbered(name, &["archive-v", "environments-v", "builds-v"]) => Some(Self::Uv),
                (".cache", "pipx") | ("pipx", ".cache") => Some(Self::Pipx),
                _ => None,
            }
        })
    }
}

/// uv adds the version of its cache format to the name of each part.
fn is_numbered(name: &str, parts: &[&str]) -> bool {
    let number = parts.iter().find_map(|part| name.strip_prefix(part));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
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
    // Before the build folders: uv marks its cache as Cargo marks those.
    if let Some(runner) = PackageRunner::of(&path).or_else(|| PackageRunner::of(&behind)) {
        return Err(BinaryError::Cache { path, runner });
    }
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
    let has = |folder: &Path, name: &str| folder.join(name).exists();
    // uv marks each virtual environment as a cache, even one that `uv tool install` keeps.
    let marked_as_cache = |folder: &Path| has(folder, "CACHEDIR.TAG") && !has(folder, "pyvenv.cfg");
    let marked = |folder: &Path| marked_as_cache(folder) || has(folder, ".rustc_info.json");
    let named = |folder: &Path| {
        let profile = folder.file_name().is_some_and(|name| name == "debug" || name == "release" || name == "dist");
        profile && folder.ancestors().skip(1).any(|above| above.file_name().is_some_and(|name| name == "target"))
    };
    path.ancestors().skip(1).find(|folder| marked(folder) || named(folder)).map(Path::to_owned)
}

#[cfg(test)]
mod tests;
