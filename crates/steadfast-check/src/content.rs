use std::fs;
use std::path::Path;
use std::time::Duration;

use steadfast_model::Fact;
use steadfast_observe::{Checkout, CheckoutKind};

const BUDGET: Duration = Duration::from_secs(5);

/// The id of a file's content, as a SHA-256 repository without filters names it: the same wherever the file lies. Of a
/// link it is that of the file behind it. Where there is none, the reason.
pub(crate) fn content_id(path: &Path) -> Result<String, String> {
    let real = fs::canonicalize(path).map_err(|error| error.to_string())?;
    let root = real.parent().unwrap_or(Path::new("/")).to_owned();
    let folder = Checkout { root, kind: CheckoutKind::None, project: None };
    match folder.object_ids(&[&real], BUDGET) {
        Fact::Known(ids) => {
            ids.into_values().flatten().next().map(|id| id.to_string()).ok_or_else(|| "it is gone".to_owned())
        }
        Fact::Unknown(why) => Err(why),
        Fact::NotAsked => Err("nobody asked".to_owned()),
    }
}
