//! The temporary folders of a test run. They contain all processes and files of the tests, so that leftovers are found
//! at the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::Result;
use crate::process::kill;

/// The time for processes to end after they were asked to.
const GRACE: Duration = Duration::from_secs(10);

/// A file system in memory, where Linux has one.
const MEMORY: &str = "/dev/shm";

/// The required free space. The tests need a tenth of it, mostly for copies of the program.
const ROOM: u64 = 4 << 30;

pub(crate) struct Workplace {
    disk: TemporaryFolder,
    memory: Option<TemporaryFolder>,
}

struct TemporaryFolder {
    folder: tempfile::TempDir,
    tests: PathBuf,
}

impl Workplace {
    pub(crate) fn new() -> Result<Self> {
        let memory = Path::new(MEMORY);
        Ok(Self {
            disk: TemporaryFolder::within(&std::env::temp_dir())?,
            memory: if has_room(memory) { Some(TemporaryFolder::within(memory)?) } else { None },
        })
    }

    /// The temporary folder of the tests that run real hosts.
    pub(crate) fn disk(&self) -> &Path {
        &self.disk.tests
    }

    /// The temporary folder of all other tests: in memory if there is room. They create and remove so many files that
    /// ext4 takes a fifth of their time.
    pub(crate) fn memory(&self) -> &Path {
        &self.memory.as_ref().unwrap_or(&self.disk).tests
    }

    /// The file that tests record skips in.
    pub(crate) fn skips(&self) -> PathBuf {
        self.disk.folder.path().join("skips")
    }

    fn folders(&self) -> impl Iterator<Item = &TemporaryFolder> {
        std::iter::once(&self.disk).chain(&self.memory)
    }

    /// Fails if a process still uses the folders, and ends it.
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
        for folder in self.folders() {
            let files = fs::read_dir(&folder.tests)?.count();
            if files > 0 {
                eprintln!("    removing {files} files and folders that tests left in {}", folder.tests.display());
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = left.into_iter().map(|(pid, name)| format!("{pid} {name}")).collect();
        Err(format!("tests left processes running:\n  {}", names.join("\n  ")).into())
    }

    /// Returns processes with a program, a folder or an argument in these folders. Linux only, because it reads
    /// `/proc`.
    fn processes(&self) -> Vec<(u32, String)> {
        let roots: Vec<&Path> = self.folders().map(|folder| folder.folder.path()).collect();
        let within = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            let link = |name| fs::read_link(entry.path().join(name)).is_ok_and(|path| within(&path));
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            if pid != std::process::id() && (link("exe") || link("cwd") || names_one(&roots, &command)) {
                found.push((pid, command.trim().to_owned()));
            }
        }
        found
    }
}

impl TemporaryFolder {
    fn within(parent: &Path) -> Result<Self> {
        // A short name: the path of a socket has at most 108 bytes.
        let folder = tempfile::Builder::new().prefix("sf-").tempdir_in(parent)?;
        let tests = folder.path().join("t");
        fs::create_dir(&tests)?;
        // Like `/tmp`: a test that the superuser runs may continue as another user.
        for (path, mode) in [(folder.path(), 0o755), (&tests, 0o1777)] {
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))?;
        }
        Ok(Self { tests, folder })
    }
}

fn names_one(roots: &[&Path], command: &str) -> bool {
    roots.iter().any(|root| command.contains(&*root.to_string_lossy()))
}

/// Returns true if programs can be stored and run there.
fn has_room(folder: &Path) -> bool {
    use rustix::fs::StatVfsMountFlags;

    rustix::fs::statvfs(folder).is_ok_and(|system| {
        system.f_bavail.saturating_mul(system.f_frsize) >= ROOM
            && !system.f_flag.intersects(StatVfsMountFlags::NOEXEC | StatVfsMountFlags::RDONLY)
    })
}
