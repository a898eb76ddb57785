use crate::process::run;
use crate::{Result, tool};

use super::own;

/// `cargo xtask bench proxy`: the proxy beside nginx as a plain reverse proxy.
pub(crate) fn proxy(rounds: &[&str]) -> Result<()> {
    for rounds in rounds {
        rounds.parse::<usize>().map_err(|_| format!("`{rounds}` is no number of rounds"))?;
    }
    if !tool::has("nginx", "nginx-light")? {
        return Ok(());
    }
    run(own("proxy").args(rounds))
}
