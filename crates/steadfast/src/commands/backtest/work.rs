use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{available_parallelism, scope};

use steadfast_model::Rules;

use super::progress::Progress;
use super::report::Report;
use crate::error::CommandError;

/// Every session's report, in the order of the files: who takes which file makes no difference.
pub(super) fn all(files: &[PathBuf], rules: &Rules, examples: usize) -> Result<Vec<Report>, CommandError> {
    let workers = available_parallelism().map_or(1, usize::from).min(files.len().max(1));
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut reports = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(number) else { break reports };
            reports.push((number, Report::of(file, rules, examples)));
            done.fetch_add(1, Ordering::Relaxed);
        }
    };
    let mut reports = scope(|scope| {
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let ended = || started.iter().all(|worker| worker.is_finished());
        Progress::show("sessions", files.len(), || done.load(Ordering::Relaxed), ended);
        let ended: Result<Vec<_>, _> = started.into_iter().map(|worker| worker.join()).collect();
        ended.map(|reports| reports.into_iter().flatten().collect::<Vec<_>>())
    })
    .map_err(|_| {
        // Only a panic ends a worker, and what it says was printed.
        CommandError::failure("a session could not be folded: this is an error in Steadfast")
            .hint("`steadfast replay FILE` shows whose session it is; the others can be named without it")
    })?;
    reports.sort_by_key(|(number, _)| *number);
    Ok(reports.into_iter().map(|(_, report)| report).collect())
}
