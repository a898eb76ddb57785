//! The supervisor that tests start: a process that runs one check. Not a part of the product.
//!
//! Its argument is the file of the order: the check, the words of a program that keeps it in, and the file whose
//! appearance stops it. The report comes beside the order.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "it is told by its argument, and starts a process that is not the check's"
)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use steadfast_check::{CheckRun, Supervisor};

fn main() {
    let order = PathBuf::from(std::env::args_os().nth(1).unwrap());
    let (run, within, stop_at): (CheckRun, Vec<String>, Option<PathBuf>) =
        serde_json::from_slice(&fs::read(&order).unwrap()).unwrap();
    let mut supervisor = Supervisor::begin().unwrap().within(within);
    // It ends with us, when its input does.
    let mut companion = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    if let Some(file) = stop_at {
        let stop = Arc::clone(&stop);
        thread::spawn(move || {
            while fs::read_to_string(&file).map_or(true, |text| text.is_empty()) {
                thread::sleep(Duration::from_millis(5));
            }
            stop.store(true, Ordering::Relaxed);
        });
    }
    let report = supervisor.run(&run, &stop);
    assert_eq!(companion.try_wait().unwrap(), None, "what ran before the check is not the check's");
    companion.kill().unwrap();
    companion.wait().unwrap();
    assert!(peak_kilobytes() < 32 << 10, "{} kB of memory", peak_kilobytes());
    fs::write(order.with_extension("report"), serde_json::to_vec(&report).unwrap()).unwrap();
}

/// The most memory this process ever had; nothing where it is not told.
fn peak_kilobytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
