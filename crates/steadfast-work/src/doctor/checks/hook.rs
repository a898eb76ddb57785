//! Checks of the hook log of the last days, and of the time that a hook takes on this machine.

use std::fs;
use std::time::Duration;

use steadfast_model::Millis;
use steadfast_store::rotated_log;
use steadfast_text::count;

use crate::doctor::Diagnostic;
use crate::doctor::Installation;
use crate::doctor::measure::Cost;

/// Older lines may come from another machine, load or version.
const LATELY_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

/// Part of the line that a hook logs when it runs out of time.
const TIMED_OUT: &str = "no answer within";

pub(super) fn hook_log(here: &Installation) -> Vec<Diagnostic> {
    let log = here.place().state.join("hook.log");
    let text: String = [rotated_log(here.place()), log.clone()]
        .iter()
        .filter_map(|path| fs::read(path).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    // Timestamps in this format sort as text.
    let since = Millis(here.now.0.saturating_sub(LATELY_MS)).to_string();
    let (late, failed): (Vec<_>, Vec<_>) =
        text.lines().filter(|line| *line >= since.as_str()).partition(|line| line.contains(TIMED_OUT));
    let mut findings = Vec::new();
    if let Some(last) = late.last() {
        findings.push(Diagnostic::warning(
            "hook-timed-out",
            format!("{} in the last 7 days gave no answer in time; the last: {last}", count(late.len(), "hook")),
            "the disk or the machine was very busy, or a file system hangs. Advice was lost; a closed gate stayed \
             closed",
        ));
    }
    if let Some(last) = failed.last() {
        findings.push(Diagnostic::note(
            "hook-failed",
            format!("{} in the last 7 days about a failure in a hook; the last: {last}", count(failed.len(), "line")),
            format!("`{}` has all lines", log.display()),
        ));
    }
    findings
}

/// A hook is started for every event, so a higher ratio is noticeable.
const SLOW: f64 = 4.0;

pub(super) fn hook_cost(_here: &Installation) -> Vec<Diagnostic> {
    Cost::measure(SLOW).map(finding).into_iter().collect()
}

fn finding(cost: Cost) -> Diagnostic {
    let millis = |time: Duration| time.as_secs_f64() * 1_000.0;
    let (hook, empty, ratio) = (millis(cost.hook), millis(cost.empty), cost.ratio());
    let message = format!("a hook takes {hook:.1} ms here, {ratio:.1} × an empty process ({empty:.1} ms)");
    if ratio <= SLOW {
        return Diagnostic::note("hook-cost", message, "this is as fast as expected");
    }
    Diagnostic::warning(
        "hook-slow",
        message,
        "a program that checks every process (a virus scanner), a slow temporary folder or a debug build can cause \
         this",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(hook: u64, empty: u64) -> (&'static str, String) {
        let finding = finding(Cost { hook: Duration::from_micros(hook), empty: Duration::from_micros(empty) });
        (finding.code, finding.message)
    }

    #[test]
    fn a_hook_is_slow_above_four_empty_processes() {
        assert_eq!(
            said(1_000, 700),
            ("hook-cost", "a hook takes 1.0 ms here, 1.4 × an empty process (0.7 ms)".to_owned())
        );
        assert_eq!(
            said(41_000, 10_000),
            ("hook-slow", "a hook takes 41.0 ms here, 4.1 × an empty process (10.0 ms)".to_owned())
        );
        assert_eq!(said(40_000, 10_000).0, "hook-cost");
    }
}
