//! The temporary folder of a test run. Every process and file of a test is in it, so what is left there at the end was
//! left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::Result;
use crate::process::kill;

/// Processes that were told to end may need a moment.
const GRACE: Duration = Duration::from_secs(10);

pub(crate) struct Workplace {
    folder: tempfile::TempDir,
    temporary: PathBuf,
    skips: PathBuf,
}

impl Workplace {
    pub(crate) fn new() -> Result<Self> {
        // A short name: the path of a socket has at most 108 bytes.
        let folder = tempfile::Builder::new().prefix("sf-").tempdir()?;
        let temporary = folder.path().join("t");
        fs::create_dir(&temporary)?;
        // Like `/tmp`: a test that is run by the superuser may go on as another user.
        #[cfg(unix)]
        for (path, mode) in [(folder.path(), 0o755), (&temporary, 0o1777)] {
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))?;
        }
        Ok(Self { temporary, skips: folder.path().join("skips"), folder })
    }

    /// The temporary folder of the tests.
    pub(crate) fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// The file that tests record skips in.
    pub(crate) fn skips(&self) -> &Path {
        &self.skips
    }

    /// Fails if a process still works in here, and ends it.
    pub(crate) fn clean(&self) -> Result<()> {
        let started = Instant::now();
        let mut left = self.processes();
        while !left.is_empty() && started.elapsed() < GRACE {
            std::thread::sleep(Duration::from_millis(100));
            left = self.processes();
        }
        for (pid, _) in &left {
            kill(*pid);
        }
        let files = fs::read_dir(&self.temporary)?.count();
        if files > 0 {
            eprintln!("    removing {files} files and folders that tests left in the temporary folder");
        }
        if left.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = left.into_iter().map(|(pid, name)| format!("{pid} {name}")).collect();
        Err(format!("tests left processes running:\n  {}", names.join("\n  ")).into())
    }

    /// Processes with a program, a folder or an argument in here. Linux only: elsewhere there is no `/proc` to read.
    fn processes(&self) -> Vec<(u32, String)> {
        let within = |path: &Path| path.starts_with(self.folder.path());
        let prefix = self.folder.path().to_string_lossy().into_owned();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            let link = |name| fs::read_link(entry.path().join(name)).is_ok_and(|path| within(&path));
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            if pid != std::process::id() && (link("exe") || link("cwd") || command.contains(&prefix)) {
                found.push((pid, command.trim().to_owned()));
            }
        }
        found
    }
}
