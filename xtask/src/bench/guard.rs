use crate::Result;
use crate::process::{cargo, run};

/// `cargo xtask bench guard`: reading and judging a command, beside a split at blanks and beside `bash -n`; then how often
/// the guard is right. `errors` and `held-back` are words of the second. Both are examples of the crate they measure, which
/// is all that they need.
pub(crate) fn guard(arguments: &[&str]) -> Result<()> {
    if let Some(argument) = arguments.iter().find(|word| !matches!(**word, "errors" | "held-back")) {
        return Err(format!("`{argument}` is unexpected").into());
    }
    let example = |name| ["run", "--quiet", "--release", "--package", "steadfast-shell", "--example", name, "--"];
    run(&mut cargo(example("guard_bench")))?;
    run(cargo(example("guard_figures")).args(arguments))
}
