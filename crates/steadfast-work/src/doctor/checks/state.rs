//! Checks of the folder of the state.

use std::fs;
use std::path::{Path, PathBuf};
use steadfast_text::count;

use crate::doctor::Diagnostic;
use crate::doctor::{FixError, Installation, is_open};

pub(super) fn state_on_network(here: &Installation) -> Vec<Diagnostic> {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    on_network(&here.place().state, &mounts).into_iter().collect()
}

fn on_network(state: &Path, mounts: &str) -> Option<Diagnostic> {
    let resolved = fs::canonicalize(state).unwrap_or_else(|_| state.to_owned());
    let kind = file_system(&resolved, mounts).filter(|kind| is_remote(kind))?;
    Some(Diagnostic::warning(
        "state-on-network",
        format!("`{}` is on a file system of type `{kind}`, where file locks are not reliable", state.display()),
        "work on one machine at a time, or move the repository to a local disk",
    ))
}

/// The type of the file system of a path: of the innermost mount above it, or of the last one if several are equal.
fn file_system<'a>(path: &Path, mounts: &'a str) -> Option<&'a str> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (point, kind) = (words.nth(1)?, words.next()?);
        Some((PathBuf::from(unescape(point)), kind))
    });
    mounts.filter(|(point, _)| path.starts_with(point)).max_by_key(|(point, _)| point.components().count()).map(|m| m.1)
}

/// A space in a path is written `\040`.
fn unescape(point: &str) -> String {
    point.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

fn is_remote(kind: &str) -> bool {
    let named = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "sshfs", "9p", "afs", "ceph", "glusterfs"];
    // The root of a container has this type and is local.
    named.contains(&kind) || (kind.starts_with("fuse.") && kind != "fuse.fuse-overlayfs")
}

/// Inside a folder that other users cannot enter, the permissions of the files do not matter.
pub(super) fn state_permissions(here: &Installation) -> Vec<Diagnostic> {
    let state = &here.place().state;
    if !is_open(state) {
        return Vec::new();
    }
    let open = contents(state).into_iter().filter(|path| is_open(path)).count();
    let message = match open {
        0 => format!("other users may enter `{}`", state.display()),
        open => format!("other users may enter `{}` and read {} in it", state.display(), count(open, "file")),
    };
    let hint = "`steadfast doctor --fix` makes it accessible only to you: it has prompts and commands of sessions";
    vec![Diagnostic::warning("state-permissions", message, hint).with_fix(close)]
}

/// All files and folders below a folder. Does not follow links.
fn contents(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if !kind.is_file() => continue,
                _ => {}
            }
            found.push(entry.path());
        }
    }
    found
}

fn close(here: &Installation) -> Result<String, FixError> {
    use std::os::unix::fs::PermissionsExt;
    let state = &here.place().state;
    let mut closed = 0;
    for path in std::iter::once(state.clone()).chain(contents(state)).filter(|path| is_open(path)) {
        let mode = if path.is_dir() { 0o700 } else { 0o600 };
        match fs::set_permissions(&path, fs::Permissions::from_mode(mode)) {
            Ok(()) => closed += 1,
            // A hook removed the file meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(FixError::File { what: "change", path, source }),
        }
    }
    Ok(format!("only you can access {} in `{}` now", count(closed, "file"), state.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "/dev/sda1 / ext4 rw 0 0\nserver:/home /home nfs4 rw 0 0\n/dev/sdb1 /home/me/a\\040b xfs \
                          rw 0 0\n\
                          me@host: /mnt/far fuse.sshfs rw 0 0\nC: /mnt/c 9p rw 0 0\n";

    #[test]
    fn the_innermost_mount_counts() {
        let kind = |path: &str| file_system(Path::new(path), MOUNTS);
        assert_eq!(kind("/srv/repo"), Some("ext4"));
        assert_eq!(kind("/home/me/repo/.git/steadfast"), Some("nfs4"));
        assert_eq!(kind("/home/me/a b/repo"), Some("xfs"));
        assert_eq!(kind("/homestead"), Some("ext4"));
    }

    #[test]
    fn state_on_a_network_is_found_and_on_a_disk_it_is_not() {
        let state = Path::new("/mnt/far/repo/.git/steadfast");
        let finding = on_network(state, MOUNTS).unwrap();
        assert_eq!(finding.code, "state-on-network");
        assert_eq!(
            finding.message,
            "`/mnt/far/repo/.git/steadfast` is on a file system of type `fuse.sshfs`, where file locks are not reliable"
        );
        assert_eq!(finding.hint, "work on one machine at a time, or move the repository to a local disk");
        assert!(on_network(Path::new("/mnt/c/repo"), MOUNTS).is_some());
        assert!(on_network(Path::new("/srv/repo"), MOUNTS).is_none());
        assert!(!is_remote("fuse.fuse-overlayfs"));
    }
}
