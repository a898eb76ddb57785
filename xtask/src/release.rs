//! `cargo xtask release`: builds the archive for users and its checksum, and checks that it runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{build, root, run, target, triple};
use crate::{Result, tool};

/// The files beside the binary.
const FILES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// The name of each shell's completion file.
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "steadfast.bash"),
    ("zsh", "_steadfast"),
    ("fish", "steadfast.fish"),
    ("powershell", "_steadfast.ps1"),
    ("elvish", "steadfast.elv"),
];

pub(crate) fn release() -> Result<()> {
    for (program, package) in [("tar", "tar"), ("gzip", "gzip"), ("sha256sum", "coreutils")] {
        if !tool::has(program, package)? {
            return Err(format!("`{program}` is needed for a release").into());
        }
    }
    let binary = build("dist")?;
    let said = output(Command::new(&binary).arg("--version"))?;
    let version = output(Command::new(&binary).arg("-V"))?;
    let version = version.trim().strip_prefix("steadfast ").ok_or("the binary does not say its version")?.to_owned();
    if let Some(note) = not_from_a_commit(&said) {
        eprintln!("{note}");
    }
    let name = format!("steadfast-{version}-{}", triple()?);
    let folder = target().join("release-files");
    fs::create_dir_all(&folder)?;

    let stage = tempfile::tempdir()?;
    fill(&stage.path().join(&name), &binary)?;
    let archive = folder.join(format!("{name}.tar.gz"));
    pack(stage.path(), &name, commit_seconds()?, &archive)?;
    let sums = output(Command::new("sha256sum").arg(file_name(&archive)).current_dir(&folder))?;
    fs::write(folder.join("SHA256SUMS"), &sums)?;
    verify(&archive, &name, &said)?;
    print!("{}\n{sums}", archive.display());
    Ok(())
}

/// Returns a warning if the binary cannot be built again from a commit, according to its own version text.
fn not_from_a_commit(said: &str) -> Option<String> {
    let commit = said.lines().find_map(|line| line.strip_prefix("commit "))?;
    let why = match commit {
        "unknown" => "it was built without git, or outside of its repository",
        commit if commit.ends_with(", dirty") => "files differed from the commit",
        _ => return None,
    };
    Some(format!(
        "note: this is not built from a commit (`{commit}`: {why}), so it is nothing to publish\n\n\
         hint: commit what `git status` shows, and run `cargo xtask release` again"
    ))
}

fn fill(folder: &Path, binary: &Path) -> Result<()> {
    fs::create_dir_all(folder.join("completions"))?;
    fs::copy(binary, folder.join("steadfast"))?;
    for file in FILES {
        fs::copy(root().join(file), folder.join(file))?;
    }
    for (shell, file) in COMPLETIONS {
        let script = output(Command::new(binary).args(["completions", shell]))?;
        fs::write(folder.join("completions").join(file), script)?;
    }
    Ok(())
}

/// Packs the files so that the same files always give the same bytes.
fn pack(stage: &Path, name: &str, seconds: u64, archive: &Path) -> Result<()> {
    let tar = archive.with_extension("");
    let mut command = Command::new("tar");
    command
        .args(["--create", "--format=ustar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--mode=u=rwX,go=rX", &format!("--mtime=@{seconds}"), "--file"])
        .arg(&tar)
        .arg("--directory")
        .arg(stage)
        .arg(name);
    run(&mut command).map_err(|error| format!("{error} (GNU tar is needed: others cannot sort)"))?;
    // Without a name and a time in its header.
    run(Command::new("gzip").args(["--no-name", "--best", "--force"]).arg(&tar))
}

/// Checks the archive as a user does: compares the checksum, unpacks it, and runs the binary.
fn verify(archive: &Path, name: &str, said: &str) -> Result<()> {
    let folder = archive.parent().ok_or("an archive without a folder")?;
    run(Command::new("sha256sum").args(["--check", "--quiet", "SHA256SUMS"]).current_dir(folder))?;
    let unpacked = tempfile::tempdir()?;
    run(Command::new("tar").arg("--extract").arg("--file").arg(archive).arg("--directory").arg(unpacked.path()))?;
    let found = output(Command::new(unpacked.path().join(name).join("steadfast")).arg("--version"))?;
    if found != said {
        return Err(format!("the unpacked binary says something else: {found}").into());
    }
    Ok(())
}

/// Returns the time of the commit; without git, the epoch.
fn commit_seconds() -> Result<u64> {
    let git = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()).output();
    match git {
        Ok(output) if output.status.success() => Ok(String::from_utf8(output.stdout)?.trim().parse()?),
        _ => Ok(0),
    }
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot start {command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn file_name(path: &Path) -> PathBuf {
    path.file_name().map(PathBuf::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_built_from_a_commit_is_noted_with_the_next_command() {
        let note =
            |commit: &str| not_from_a_commit(&format!("steadfast 0.1.0\ncommit {commit}\ntarget x\nprofile dist\n"));
        assert_eq!(note("c29007a1b2, 2026-11-15"), None);
        assert_eq!(
            note("unknown").unwrap(),
            "note: this is not built from a commit (`unknown`: it was built without git, or outside of its repository), \
             so it is nothing to publish\n\nhint: commit what `git status` shows, and run `cargo xtask release` again"
        );
        assert_eq!(
            note("c29007a1b2, 2026-11-15, dirty").unwrap(),
            "note: this is not built from a commit (`c29007a1b2, 2026-11-15, dirty`: files differed from the commit), so \
             it is nothing to publish\n\nhint: commit what `git status` shows, and run `cargo xtask release` again"
        );
    }

    #[test]
    fn the_same_files_make_the_same_archive_whenever_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let archives = ["one", "two"].map(|stage| {
            let folder = dir.path().join(stage).join("steadfast-1");
            fs::create_dir_all(&folder).unwrap();
            let mut names = ["b", "a", "c"];
            if stage == "two" {
                names.reverse();
            }
            for name in names {
                let path = folder.join(name);
                fs::write(&path, name).unwrap();
                let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(stage.len() as u64 * 9_000);
                fs::File::options().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
            }
            let archive = dir.path().join(format!("{stage}.tar.gz"));
            pack(&dir.path().join(stage), "steadfast-1", 1_700_000_000, &archive).unwrap();
            fs::read(archive).unwrap()
        });
        assert_eq!(archives[0], archives[1]);
        let list =
            output(Command::new("tar").args(["--list", "--verbose", "--file"]).arg(dir.path().join("one.tar.gz")));
        let list = list.unwrap();
        assert!(list.lines().all(|line| line.contains(" 0/0 ") && line.contains("2023-11-14")), "{list}");
    }
}
