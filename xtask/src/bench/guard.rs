use crate::Result;
use crate::process::run;

use super::own;

/// `cargo xtask bench guard`: reading and judging a command, beside a split at blanks and beside `bash -n`; then how often
/// the guard is right. `errors` and `held-back` are words of the second.
pub(crate) fn guard(arguments: &[&str]) -> Result<()> {
    if let Some(argument) = arguments.iter().find(|word| !matches!(**word, "errors" | "held-back")) {
        return Err(format!("`{argument}` is unexpected").into());
    }
    run(&mut own("guard"))?;
    run(own("guard-figures").args(arguments))
}
