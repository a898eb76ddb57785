//! `kill -9` of `steadfast run` and `steadfast resume` at any instant, alone or with all their processes, as in a power
//! failure. Every step happens exactly once, and nothing is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use steadfast_model::{Run, RunState, Status};
use steadfast_store::ledger::Ledger;

use super::rng::SeededRng;
use super::scene::Scene;
use super::{Figures, inspect};
use crate::Result;

/// The limit of kills in one run. After that the run is not disturbed.
pub(super) const KILLS: u64 = 10;

/// The approximate time from the first instruction to the first agent.
const BEGINNING: Duration = Duration::from_millis(400);

/// A run that takes longer is stuck.
const LIMIT: Duration = Duration::from_secs(600);

/// The time limit for a process that is being ended.
const LAST_BREATH: Duration = Duration::from_secs(5);

const RUN: [&str; 6] = ["run", "SPEC.md", "--host", "sim", "--max-iterations", "100000"];

/// At least four waves: two units of the second phase write the same file.
const SPEC: &str = "\
# Twelve things

## Phase 1: First

- [ ] 1.1 Lay the ground
  - files: `ground.txt`
  - verify: `sleep 0.1 && grep -q 'Lay the ground' ground.txt`
- [ ] 1.2 Fetch stones
  - files: `stones.txt`
  - verify: `sleep 0.2 && grep -q 'Fetch stones' stones.txt`
- [ ] 1.3 Draw the plan
  - files: `plan.md`
  - verify: `grep -q 'Draw the plan' plan.md`

## Phase 2: Second

- [ ] 2.1 Raise a wall
  - files: `walls.txt`, `east.txt`
  - verify: `sleep 0.1 && grep -q 'Raise a wall' walls.txt east.txt`
  - depends on: 1.1
- [ ] 2.2 Raise another
  - files: `walls.txt`, `west.txt`
  - verify: `sleep 0.1 && grep -q 'Raise another' walls.txt west.txt`
  - depends on: 1.1, 1.2
- [ ] 2.3 Order windows
  - files: `windows.txt`
  - verify: `sleep 0.1 && grep -q 'Order windows' windows.txt`
  - depends on: 1.3

## Phase 3: Third

- [ ] 3.1 Close the roof
  - files: `roof.txt`
  - verify: `sleep 0.1 && test -s walls.txt && grep -q 'Close the roof' roof.txt`
  - depends on: 2.1, 2.2
- [ ] 3.2 Put windows in
  - files: `windows.txt`
  - verify: `sleep 0.1 && grep -q 'Put windows in' windows.txt`
  - depends on: 2.3
- [ ] 3.3 Lay pipes
  - files: `pipes.txt`
  - verify: `sleep 0.1 && grep -q 'Lay pipes' pipes.txt`
  - depends on: 2.1

## Phase 4: Fourth

- [ ] 4.1 Paint
  - files: `walls.txt`
  - verify: `sleep 0.1 && grep -q Paint walls.txt`
  - depends on: 3.1
- [ ] 4.2 Let water in
  - files: `water.txt`
  - verify: `sleep 0.1 && grep -q 'Let water in' water.txt`
  - depends on: 3.3
- [ ] 4.3 Move in
  - files: `people.txt`
  - verify: `sleep 0.1 && test -s water.txt && grep -q 'Move in' people.txt`
  - depends on: 4.1, 4.2
";

/// The result of a run without kills.
struct Undisturbed {
    tree: String,
    took: Duration,
}

pub(super) fn runner(scene: &Scene, rng: &mut SeededRng) -> Result<Figures> {
    let undisturbed = undisturbed(scene)?;
    let before = begin(scene)?;
    let (mut kills, mut outages, mut starts) = (0, 0, 0);
    let run = loop {
        let last = last_run(scene)?;
        if let Some(run) = last.as_ref().filter(|run| run.state.is_over()) {
            break run.clone();
        }
        starts += 1;
        let arguments: &[&str] = if last.is_some() { &["resume"] } else { &RUN };
        let mut process = scene.start_for(LIMIT, arguments)?;
        if kills == KILLS {
            process.end()?.ok()?;
            continue;
        }
        let moment = Moment::ALL[usize::try_from(rng.below(Moment::ALL.len() as u64))?];
        moment.wait(scene, rng, undisturbed.took / 6)?;
        process.kill();
        // A killed git also leaves its lock behind.
        let share = if moment == Moment::Lock { 2 } else { 4 };
        if rng.below(share) == 0
            && let Some(run) = last_run(scene)?
        {
            outages += 1;
            end_all_of(&run);
        }
        let said = process.end()?;
        match said.code {
            None => kills += 1,
            Some(0) => {}
            Some(_) => return Err(format!("the run did not continue: {}", said.told()).into()),
        }
    };
    if kills == 0 {
        return Err("it was over before it was killed".into());
    }
    let landed = everything_once(scene, &run, undisturbed)?;
    nothing_left(scene, &run, &before)?;
    inspect::ledger(scene, &[])?;
    Ok(vec![("kills", kills), ("of them with all processes", outages), ("starts", starts), ("units landed", landed)])
}

/// The moment of a kill. Random times rarely hit the short moments in which a step is half done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    Beginning,
    Any,
    /// The moment when the run's branch moves.
    Landing,
    /// The moment when git creates or removes a worktree.
    Worktree,
    /// The moment when git takes or releases a lock.
    Lock,
}

impl Moment {
    const ALL: [Self; 5] = [Self::Beginning, Self::Any, Self::Landing, Self::Worktree, Self::Lock];

    fn wait(self, scene: &Scene, rng: &mut SeededRng, longest: Duration) -> Result<()> {
        let git = scene.root().join(".git");
        let branches = git.join("refs/heads/steadfast");
        let look = || match self {
            Self::Beginning | Self::Any => Vec::new(),
            Self::Landing => files_in(&branches).into_iter().filter_map(|path| fs::read(path).ok()).collect(),
            Self::Worktree => names(files_in(&git.join("worktrees"))),
            Self::Lock => {
                let folders = files_in(&git.join("worktrees")).into_iter().chain([branches.clone(), git.clone()]);
                let files = folders.flat_map(|folder| files_in(&folder));
                names(files.filter(|path| path.extension().is_some_and(|end| end == "lock")).collect())
            }
        };
        if matches!(self, Self::Beginning | Self::Any) {
            let longest = if self == Self::Beginning { BEGINNING } else { longest };
            thread::sleep(rng.micros(u64::try_from(longest.as_micros())?));
            return Ok(());
        }
        let (mut was, mut changes, until) = (look(), rng.below(5), Instant::now() + longest);
        while Instant::now() < until {
            let now = look();
            if now != was {
                if changes == 0 {
                    break;
                }
                (was, changes) = (now, changes - 1);
            }
        }
        Ok(())
    }
}

fn names(mut paths: Vec<PathBuf>) -> Vec<Vec<u8>> {
    paths.sort();
    paths.into_iter().map(|path| path.into_os_string().into_encoded_bytes()).collect()
}

/// Computed once for all rounds, because it is always the same.
fn undisturbed(scene: &Scene) -> Result<&'static Undisturbed> {
    static KNOWN: OnceLock<Undisturbed> = OnceLock::new();
    if let Some(known) = KNOWN.get() {
        return Ok(known);
    }
    let other = Scene::new(&scene.binary())?;
    let before = begin(&other)?;
    let started = Instant::now();
    other.start_for(LIMIT, &RUN)?.end()?.ok()?;
    let took = started.elapsed();
    let run = last_run(&other)?.ok_or("there is no run")?;
    nothing_left(&other, &run, &before)?;
    let tree = other.git(&["rev-parse", &format!("{}^{{tree}}", run.branch)])?;
    Ok(KNOWN.get_or_init(|| Undisturbed { tree, took }))
}

/// The user's own files and branches, which must not change.
#[derive(PartialEq, Debug)]
struct Users {
    head: String,
    status: String,
    branches: Vec<String>,
}

impl Users {
    fn of(scene: &Scene) -> Result<Self> {
        let branches = scene.git(&["for-each-ref", "--format=%(refname)"])?;
        let branches = branches.lines().filter(|name| !name.starts_with("refs/heads/steadfast/"));
        Ok(Self {
            head: scene.git(&["rev-parse", "HEAD"])?,
            status: scene.git(&["status", "--porcelain"])?,
            branches: branches.map(str::to_owned).collect(),
        })
    }
}

fn begin(scene: &Scene) -> Result<Users> {
    scene.init(0)?;
    fs::write(scene.root().join("SPEC.md"), SPEC)?;
    scene.git(&["add", "SPEC.md"])?;
    scene.git(&["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "-m", "The spec"])?;
    Users::of(scene)
}

fn last_run(scene: &Scene) -> Result<Option<Run>> {
    let Some(ledger) = Ledger::open_read_only(&scene.state())? else { return Ok(None) };
    Ok(ledger.runs_of(&scene.place().worktree())?.into_iter().next())
}

/// Checks that no unit is lost and none has landed twice, that every task has evidence, and that the files are the same
/// as without a kill. Returns the number of landed units.
fn everything_once(scene: &Scene, run: &Run, undisturbed: &Undisturbed) -> Result<u64> {
    if run.state != RunState::Complete {
        return Err(format!("run {} is {}", run.id, run.state.as_str()).into());
    }
    let ledger = Ledger::open_read_only(&scene.state())?.ok_or("the ledger is gone")?;
    let format = "--format=%(trailers:key=Steadfast-Unit,valueonly,separator=%x20)";
    let range = format!("{}..{}", run.base, run.branch);
    let log = scene.git(&["log", "--first-parent", format, &range])?;
    let landed: Vec<&str> = log.lines().filter(|line| !line.is_empty()).collect();
    let once: BTreeSet<&str> = landed.iter().copied().collect();
    let units = ledger.units(&run.id)?;
    // The runner itself writes the decisions of a phase, and they do not land.
    let ids = units.iter().map(|unit| unit.unit.as_str());
    let wanted: BTreeSet<&str> = ids.filter(|unit| !unit.ends_with(".0")).collect();
    if landed.len() != once.len() || once != wanted {
        return Err(format!("landed: {landed:?}; wanted, each once: {wanted:?}").into());
    }
    // Once, and again on the final tree if another unit changed the task's files.
    for task in ledger.tasks(&run.plan)? {
        let passed = ledger.evidence_of(&run.plan, &task.id)?.iter().filter(|evidence| evidence.passed).count();
        if task.status != Status::Done || !(1..=2).contains(&passed) {
            return Err(format!("task {} is {} with {passed} proofs", task.id, task.status.as_str()).into());
        }
    }
    let tree = scene.git(&["rev-parse", &format!("{}^{{tree}}", run.branch)])?;
    if tree != undisturbed.tree {
        let difference = scene.git(&["ls-tree", "-r", &tree])?;
        return Err(format!("the tree is {tree} instead of {}: {difference}", undisturbed.tree).into());
    }
    Ok(landed.len() as u64)
}

/// Checks that no worktree, process, branch or lock is left, and that the user's own data is unchanged.
fn nothing_left(scene: &Scene, run: &Run, before: &Users) -> Result<()> {
    let until = Instant::now() + LAST_BREATH;
    while let Some(pid) = all_of(run).pop() {
        if Instant::now() >= until {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            return Err(format!("left behind: {}", String::from_utf8_lossy(&words).replace('\0', " ")).into());
        }
        thread::sleep(Duration::from_millis(50));
    }
    let after = Users::of(scene)?;
    if after != *before {
        return Err(format!("the user had {before:?} and has {after:?}").into());
    }
    let branches = scene.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/steadfast/"])?;
    let worktrees = scene.git(&["worktree", "list"])?;
    let mut left = files_in(&scene.root().join(".git/worktrees"));
    left.extend(
        files_in(&scene.path("home/.local/state/steadfast/worktrees")).into_iter().flat_map(|of| files_in(&of)),
    );
    left.extend(locks(&scene.root().join(".git")));
    if branches != run.branch || worktrees.lines().count() != 1 || !left.is_empty() {
        return Err(format!("left behind: branches {branches:?}, worktrees {worktrees:?}, {left:?}").into());
    }
    Ok(())
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Returns git's lock files. Steadfast's own lock files always exist and are locked in another way.
fn locks(folder: &Path) -> Vec<PathBuf> {
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = files_in(folder).into_iter().partition(|path| path.is_dir());
    let own = folders.iter().filter(|path| !path.ends_with(".git/steadfast"));
    let below = own.flat_map(|path| locks(path)).collect::<Vec<_>>();
    files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "lock")).chain(below).collect()
}

/// Returns all processes of a run. Each has the run's id in its environment.
fn all_of(run: &Run) -> Vec<u32> {
    let mark = format!("STEADFAST_RUN_MARK={}", run.id);
    let has_mark = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one.starts_with(mark.as_bytes()))
    };
    let pids = files_in(Path::new("/proc")).into_iter().filter_map(|path| path.file_name()?.to_str()?.parse().ok());
    pids.filter(has_mark).collect()
}

fn end_all_of(run: &Run) {
    let pids: Vec<String> = all_of(run).iter().map(u32::to_string).collect();
    // Some may have ended already.
    let _ = Command::new("sh").args(["-c", "kill -9 \"$@\" 2>/dev/null", "sh"]).args(pids).status();
}
