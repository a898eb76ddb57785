//! A small separate file system for the state.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;

/// Mounted until dropped.
pub(super) struct Mount {
    at: PathBuf,
}

impl Mount {
    pub(super) fn tmpfs(at: &Path, kib: u32) -> Result<Self> {
        fs::create_dir_all(at)?;
        mount(&["-t", "tmpfs", "-o", &format!("size={kib}k,mode=700"), "tmpfs"], at)?;
        Ok(Self { at: at.to_owned() })
    }

    pub(super) fn remount(&self, mode: &str) -> Result<()> {
        mount(&["-o", &format!("remount,{mode}")], &self.at)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.at).stderr(Stdio::null()).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            // Lazily: the mount disappears with the last process that uses it.
            let _ = Command::new("umount").arg("-l").arg(&self.at).status();
        }
    }
}

/// Returns true if file systems can be mounted here. In CI a false is a failure, unless `STEADFAST_NO_MOUNT` has a
/// reason.
pub(super) fn is_allowed() -> Result<bool> {
    let probe = tempfile::Builder::new().prefix("steadfast-faults-").tempdir()?;
    let Err(error) = Mount::tmpfs(probe.path(), 64) else { return Ok(true) };
    let why = std::env::var("STEADFAST_NO_MOUNT").unwrap_or_default();
    if std::env::var_os("CI").is_some() && why.is_empty() {
        return Err(format!("{error}: in CI nothing is skipped; `STEADFAST_NO_MOUNT` may say why this is").into());
    }
    eprintln!("{error} {why}");
    Ok(false)
}

fn mount(arguments: &[&str], at: &Path) -> Result<()> {
    let output = Command::new("mount").args(arguments).arg(at).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        return Err(format!("cannot mount: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(())
}
