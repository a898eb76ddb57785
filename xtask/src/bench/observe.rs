use crate::process::{cargo, run};
use crate::{Result, tool};

/// `cargo xtask bench observe`: each fact beside git's own answer to the same question. The measuring is an example of
/// the crate it measures, which is all that it needs.
pub(crate) fn observe(files: &[&str]) -> Result<()> {
    for count in files {
        count.parse::<usize>().map_err(|_| format!("`{count}` is no number of files"))?;
    }
    if !tool::has("git", "git")? {
        return Ok(());
    }
    let example = ["run", "--quiet", "--release", "--package", "steadfast-observe", "--example", "observe_bench", "--"];
    run(cargo(example).args(files))
}
