use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{available_parallelism, scope};

use steadfast_model::Rules;

use super::SessionReport;

/// A worker panicked. The panic printed its own message.
#[derive(Debug, thiserror::Error)]
#[error("a session could not be replayed: this is a bug in Steadfast")]
pub struct ReplayPanic;

/// Returns a report of every session in the order of the files, whichever worker read which file.
///
/// `watch` is called once, with functions that say how many files are done and whether the workers have ended.
pub fn reports(
    files: &[PathBuf],
    rules: &Rules,
    examples: usize,
    watch: impl FnOnce(&dyn Fn() -> usize, &dyn Fn() -> bool),
) -> Result<Vec<SessionReport>, ReplayPanic> {
    let workers = available_parallelism().map_or(1, usize::from).min(files.len().max(1));
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut reports = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(number) else { break reports };
            reports.push((number, SessionReport::of(file, rules, examples)));
            done.fetch_add(1, Ordering::Relaxed);
        }
    };
    let mut reports = scope(|scope| {
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let ended = || started.iter().all(|worker| worker.is_finished());
        watch(&|| done.load(Ordering::Relaxed), &ended);
        let ended: Result<Vec<_>, _> = started.into_iter().map(|worker| worker.join()).collect();
        ended.map(|reports| reports.into_iter().flatten().collect::<Vec<_>>())
    })
    .map_err(|_| ReplayPanic)?;
    reports.sort_by_key(|(number, _)| *number);
    Ok(reports.into_iter().map(|(_, report)| report).collect())
}
