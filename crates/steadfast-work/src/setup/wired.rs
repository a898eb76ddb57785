//! Whether the hosts that were wired here still are.

use steadfast_hosts::install::{self, Homes, HooksFile};
use steadfast_model::Host;
use steadfast_store::{Place, WatchedFile, read_wiring};

/// What a human reads where a host that called Steadfast does so no more. None where all of them do, and where none is
/// known to have done: a plugin brings its own hooks.
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
        Some(format!("`disableAllHooks` in `{path}` lets {name} run no hook"))
    })?;
    Some(format!("{lost}. `steadfast doctor` says more; `steadfast init` writes the hooks again"))
}
