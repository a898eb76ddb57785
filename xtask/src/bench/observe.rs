use crate::process::run;
use crate::{Result, tool};

use super::own;

/// `cargo xtask bench observe`: each fact beside git's own answer to the same question.
pub(crate) fn observe(files: &[&str]) -> Result<()> {
    for count in files {
        count.parse::<usize>().map_err(|_| format!("`{count}` is no number of files"))?;
    }
    if !tool::has("git", "git")? {
        return Ok(());
    }
    run(own("observe").args(files))
}
