//! Checks whether the hosts' settings still call us as `init` wrote them.
//!
//! A file is read when its stamp changed. Hosts write into these files themselves (a new permission, a trusted
//! folder); such changes are ignored.

use std::path::Path;

use super::removed;
use steadfast_hosts::install::{Homes, Switches, Way, switches, watched};
use steadfast_model::{Host, Millis};
use steadfast_store::{FileStamp, Place, WatchedFile, WatchedWay, WiringTable, keep_wiring, log_line, read_wiring};

/// Records how the settings call us now, as the intended state.
pub fn note_wiring(place: &Place, homes: &Homes) -> std::io::Result<()> {
    keep_wiring(place, &current_wiring(place, homes))
}

/// Returns the differences from the recorded state, one line each.
pub(super) fn changed(place: &Place, homes: fn() -> Option<Homes>, now: Millis) -> Vec<String> {
    let (mut table, mut renewed) = match read_wiring(place) {
        Some(table) => (table, false),
        None => match homes() {
            Some(homes) => (current_wiring(place, &homes), true),
            None => return Vec::new(),
        },
    };
    for file in &mut table.files {
        let stamp = FileStamp::of(&file.path);
        if stamp != file.stamp {
            renewed |= reread(place, file, stamp);
        }
    }
    if renewed && let Err(error) = keep_wiring(place, &table) {
        log_line(place, now, &format!("cannot save the wiring of the hosts: {error}"));
    }
    let mut changed: Vec<String> = table.files.iter().flat_map(|file| file.changed.iter().cloned()).collect();
    changed.extend([Host::Claude, Host::Codex].into_iter().filter_map(|host| switched_off(&table, host)));
    changed
}

fn current_wiring(place: &Place, homes: &Homes) -> WiringTable {
    let mut files = Vec::new();
    for host in [Host::Claude, Host::Codex] {
        for path in watched(host, homes, &place.root) {
            let mut file = WatchedFile {
                host,
                path,
                stamp: None,
                ways: Vec::new(),
                off: None,
                changed: Vec::new(),
                text: None,
                tracked: false,
            };
            let stamp = FileStamp::of(&file.path);
            reread(place, &mut file, stamp);
            files.push(file);
        }
    }
    WiringTable { files }
}

/// Returns whether the file could be read. A program may be writing it right now; then the next event reads it again.
fn reread(place: &Place, file: &mut WatchedFile, stamp: Option<FileStamp>) -> bool {
    let Ok(Switches { ways, off }) = switches(file.host, &file.path) else { return false };
    if file.ways.is_empty() {
        file.ways = ways.iter().map(watched_way).collect();
    }
    file.changed = differences(&file.path, &file.ways, &ways);
    (file.stamp, file.off) = (stamp, off);
    if !file.ways.is_empty() && file.changed.is_empty() {
        removed::remember(place, file);
    }
    true
}

fn watched_way(Way { via, program, lacking }: &Way) -> WatchedWay {
    WatchedWay { via: *via, program: program.clone(), lacking: lacking.clone() }
}

fn differences(path: &Path, known: &[WatchedWay], now: &[Way]) -> Vec<String> {
    let path = path.display();
    let is_same = |known: &WatchedWay, way: &Way| known.via == way.via && known.program == way.program;
    let others = now.iter().filter(|way| !known.iter().any(|known| is_same(known, way)));
    let mut differences: Vec<String> =
        others.map(|way| format!("`{path}` calls `{}`, which `steadfast init` did not write", way.program)).collect();
    for known in known {
        let Some(way) = now.iter().find(|way| is_same(known, way)) else {
            differences.push(format!("`{path}` does not call Steadfast any more"));
            continue;
        };
        let lost: Vec<&str> =
            way.lacking.iter().filter(|event| !known.lacking.contains(event)).map(String::as_str).collect();
        if !lost.is_empty() {
            differences.push(format!("`{path}` does not call Steadfast any more for {}", lost.join(", ")));
        }
    }
    differences
}

/// The file with the highest precedence decides.
fn switched_off(table: &WiringTable, host: Host) -> Option<String> {
    let of_host = || table.files.iter().filter(|file| file.host == host);
    let decides = of_host().find(|file| file.off.is_some()).filter(|file| file.off == Some(true))?;
    let is_wired = of_host().any(|file| !file.ways.is_empty());
    let path = decides.path.display();
    is_wired.then(|| match host {
        Host::Claude | Host::Sim => {
            format!("`{path}` has `disableAllHooks`: Claude Code runs no hook from its next start")
        }
        Host::Codex => {
            format!("`{path}` has `hooks = false` under `[features]`: Codex runs no hook from its next start")
        }
    })
}
