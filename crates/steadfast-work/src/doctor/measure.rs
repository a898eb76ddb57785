use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use steadfast_store::Place;
use tempfile::TempDir;

use super::program;

/// A program that does nothing, to compare with: the paths where systems have it.
const EMPTY: [&str; 2] = ["/bin/true", "/usr/bin/true"];

/// Enough runs that at least one of them is undisturbed.
const RUNS: usize = 20;

/// More rounds for a machine that is busy with something else.
const ROUNDS: usize = 4;
const PAUSE: Duration = Duration::from_millis(250);

/// Enough for a number in one line.
const QUICK_RUNS: usize = 8;

/// Returns the time of one hook of this program on this machine. `None` if it cannot be measured here.
pub fn hook_time() -> Option<Duration> {
    let bench = Bench::new()?;
    (0..QUICK_RUNS).map(|_| bench.hook()).collect::<Option<Vec<_>>>()?.into_iter().min()
}

/// A temporary repository to measure in, so that no file of the user is touched.
struct Bench {
    folder: TempDir,
    program: PathBuf,
    payload: String,
}

impl Bench {
    /// `None` where that is not possible.
    fn new() -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        let folder = tempfile::Builder::new().prefix("steadfast-doctor-").tempdir().ok()?;
        let root = folder.path();
        std::fs::create_dir(root.join(".git")).ok()?;
        Place::of(root, None)?.create().ok()?;
        let payload = serde_json::json!({"session_id": "doctor", "cwd": root, "message": "measured"}).to_string();
        Some(Self { folder, program, payload })
    }

    fn hook(&self) -> Option<Duration> {
        self.time(&self.program, &["hook", "--host", "sim", "--via", "local", "Notification"])
    }

    fn time(&self, program: &Path, arguments: &[&str]) -> Option<Duration> {
        program::time(program, arguments, &self.payload, self.folder.path())
    }
}

/// The time of a hook on this machine, and of a process that does nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) hook: Duration,
    pub(super) empty: Duration,
}

impl Cost {
    /// Returns the best of a few rounds, so that a slow result is not a moment of load. Stops early at a round with a
    /// ratio of at most `well`.
    pub(super) fn measure(well: f64) -> Option<Self> {
        let mut best = Self::round()?;
        for _ in 1..ROUNDS {
            if best.ratio() <= well {
                break;
            }
            thread::sleep(PAUSE);
            let next = Self::round()?;
            if next.ratio() < best.ratio() {
                best = next;
            }
        }
        Some(best)
    }

    fn round() -> Option<Self> {
        let empty = EMPTY.map(Path::new).into_iter().find(|path| path.exists())?;
        let bench = Bench::new()?;
        let (mut hooks, mut empties) = (Vec::with_capacity(RUNS), Vec::with_capacity(RUNS));
        // Alternating, so that other load on the machine affects both.
        for _ in 0..RUNS {
            empties.push(bench.time(empty, &[])?);
            hooks.push(bench.hook()?);
        }
        // The fastest of each: load makes runs slower, never faster.
        Some(Self { hook: hooks.into_iter().min()?, empty: empties.into_iter().min()? })
    }

    pub(super) fn ratio(self) -> f64 {
        self.hook.as_secs_f64() / self.empty.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}
