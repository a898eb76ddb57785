use clap::Args;
use steadfast_text::{count, count_of};
use steadfast_work::clean::{Cleaned, Cleaning, clean};

use super::Unasked;
use crate::duration;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, put};

/// Remove sessions without recent activity.
///
/// Also removes their journals and steps, and leftover files. Keeps tasks, plans, evidence and learnings, and every
/// session with activity in the last day.
#[derive(Debug, Args)]
pub(super) struct Clean {
    /// Minimum age of the last activity of a session: `30d`, `6w`. [default: `privacy.retain_days`]
    #[arg(long, value_name = "AGE", value_parser = duration::parse_days)]
    older_than: Option<u32>,
    /// Print the removals, and remove nothing.
    #[arg(long)]
    dry_run: bool,
    /// Remove sessions with damaged lines too; without it they are kept for inspection.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    _unasked: Unasked,
}

impl Clean {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let asked = Cleaning { older_than_days: self.older_than, dry_run: self.dry_run, damaged: self.all };
        let Cleaned { days, sessions, lines, claims, logs, bytes, damaged, gated, failed } = clean(&repository, asked)?;
        for (id, error) in &failed {
            note!("note: session {id} is kept: {error}");
        }
        if sessions.len() + claims + logs == 0 {
            put(&format!("nothing to remove: no session is older than {}\n", count(days.max(1), "day")))?;
        } else {
            let verb = if self.dry_run { "would remove" } else { "removed" };
            put(&format!(
                "{verb} {} ({}), {}, {}: {}\n",
                count(sessions.len(), "session"),
                count_of(lines, "line of history", "lines of history"),
                count(claims, "stale claim"),
                count(logs, "rotated log"),
                size(bytes)
            ))?;
        }
        if damaged > 0 {
            note!(
                "note: kept {} for inspection: `journal.damaged` in `{}`; `--all` removes them, too",
                count_of(damaged, "old session with damaged lines", "old sessions with damaged lines"),
                repository.place.state.join("sessions").display()
            );
        }
        if gated > 0 {
            note!("note: kept {} at a closed gate", count(gated, "old session"));
        }
        Ok(())
    }
}

pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_at_a_glance() {
        assert_eq!([1, 1_500, 2_345_678, 7_000_000_000].map(size), ["1 bytes", "1.5 kB", "2.3 MB", "7.0 GB"]);
    }
}
