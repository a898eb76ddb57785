//! Checks that hosts which were wired before are still wired.

use steadfast_hosts::install::{self, Homes, HooksFile};
use steadfast_model::Host;
use steadfast_store::{Place, WatchedFile, read_wiring};

/// A message for the human if a host that called Steadfast does not do so any more. `None` if all of them do, or if
/// none is known to have called: a plugin brings its own hooks.
pub fn missing_hooks(place: &Place, homes: Option<&Homes>) -> Option<String> {
    let (table, homes) = (read_wiring(place)?, homes?);
    let lost = Host::REAL.into_iter().find_map(|host| {
        let known: Vec<&WatchedFile> =
            table.files.iter().filter(|file| file.host == host && !file.ways.is_empty()).collect();
        let first = known.first()?;
        let files: Vec<HooksFile> = install::inspect(host, homes, &place.root).into_iter().flatten().collect();
        let name = host.full_name();
        if files.iter().all(|file| file.ours.is_empty()) {
            let path = first.path.strip_prefix(&place.root).unwrap_or(&first.path).display();
            return Some(format!("the hooks of Steadfast are missing from `{path}`, so {name} does not call it"));
        }
        let decides = files.iter().find(|file| file.disable_all.is_some());
        let off = decides.filter(|file| file.disable_all == Some(true))?;
        let path = off.path.strip_prefix(&place.root).unwrap_or(&off.path).display();
        Some(format!("`disableAllHooks` is true in `{path}`, so {name} runs no hook"))
    })?;
    Some(format!("{lost}. `steadfast doctor` says more; `steadfast init` writes the hooks again"))
}
