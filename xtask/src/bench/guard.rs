use crate::Result;
use crate::process::run;

use super::own;

/// `cargo xtask bench guard`: measures the time to read and judge a command, beside a split at blanks and `bash -n`.
/// Then it measures how often the guard is right; `errors` and `held-back` are arguments of that part.
pub(crate) fn guard(arguments: &[&str]) -> Result<()> {
    if let Some(argument) = arguments.iter().find(|word| !matches!(**word, "errors" | "held-back")) {
        return Err(format!("`{argument}` is unexpected").into());
    }
    run(&mut own("guard"))?;
    run(own("guard-figures").args(arguments))
}
