use std::fs;
use std::path::Path;
use std::time::Duration;

use steadfast_model::Fact;
use steadfast_observe::{Checkout, CheckoutKind};

const BUDGET: Duration = Duration::from_secs(5);

/// Returns the id of a file's content, in git's SHA-256 format without filters, so it does not depend on the
/// repository. For a link it is the id of the target. On failure it returns the reason.
pub(crate) fn content_id(path: &Path) -> Result<String, String> {
    let real = fs::canonicalize(path).map_err(|error| error.to_string())?;
    let root = real.parent().unwrap_or(Path::new("/")).to_owned();
    let folder = Checkout { root, kind: CheckoutKind::None, project: None };
    match folder.object_ids(&[&real], BUDGET) {
        Fact::Known(ids) => {
            ids.into_values().flatten().next().map(|id| id.to_string()).ok_or_else(|| "it does not exist".to_owned())
        }
        Fact::Unknown(why) => Err(why),
        Fact::NotAsked => Err("it was not looked up".to_owned()),
    }
}
