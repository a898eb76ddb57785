use crate::Result;
use crate::process::{cargo, run};

/// `cargo xtask bench guard`: reading and judging a command, beside a split at blanks and beside `bash -n`. The measuring
/// is an example of the crate it measures, which is all that it needs.
pub(crate) fn guard(arguments: &[&str]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        return Err(format!("`{argument}` is unexpected").into());
    }
    let example = ["run", "--quiet", "--release", "--package", "steadfast-shell", "--example", "guard_bench"];
    run(&mut cargo(example))
}
