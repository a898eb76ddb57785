//! Measures the cost of a run without its agents: the runner's own time and memory, and its overhead per unit. The
//! overhead is compared with git and the check alone, which a script runs at the same time in another repository.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use steadfast_store::ledger::Ledger;

use crate::{Result, process};

/// Units, and agents at once. In the last run no unit waits for another.
const RUNS: [(u32, u32); 4] = [(10, 16), (100, 16), (1_000, 16), (20, 1)];

/// The seconds that a simulated agent takes for a task.
const PACE: u32 = 2;

/// The pause between two measurements of the runner, and between two rounds of the script.
const LOOK: Duration = Duration::from_millis(50);
const PAUSE: Duration = Duration::from_millis(700);

/// `/proc` uses this unit on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// The work of a human for one unit. `$1` is the unit, `$2` the file; the merge happens in the checkout.
const SCRIPT: &str = r#"set -e
git worktree add --quiet -b "unit-$1" "../units/$1"
cd "../units/$1"
echo "$1" >"$2"
git add --all
git commit --quiet --message "Work on $1"
sh -c "test -s $2"
cd "$OLDPWD"
git merge --quiet --no-ff --message "Merge $1" "unit-$1"
sh -c "test -s $2"
git worktree remove "../units/$1"
git branch --quiet -D "unit-$1""#;

struct Line {
    units: u32,
    agents: u32,
    wall: Duration,
    usage: Usage,
    /// The time of each unit without its agent, in milliseconds.
    own: Vec<f64>,
    script: Vec<f64>,
}

/// The usage of one process, without its children.
#[derive(Clone, Copy, Default)]
struct Usage {
    seconds: f64,
    peak_kb: u64,
}

/// `cargo xtask bench runner [UNITS] [--binary PATH]`: with UNITS, one run with this number of units.
pub(crate) fn runner(arguments: &[&str]) -> Result<()> {
    let (mut units, mut binary) = (None, None);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match *argument {
            "--binary" => binary = Some(PathBuf::from(arguments.next().ok_or("`--binary` requires a value")?)),
            number => units = Some(number.parse::<u32>()?),
        }
    }
    let binary = binary.map_or_else(|| process::build("dist"), Ok)?;
    let runs = RUNS.into_iter().filter(|(count, agents)| units.is_none_or(|units| units == *count && *agents > 1));
    let lines = runs.map(|(units, agents)| measure(&binary, units, agents)).collect::<Result<Vec<Line>>>()?;
    print(&lines);
    Ok(())
}

fn measure(binary: &Path, units: u32, agents: u32) -> Result<Line> {
    eprintln!("==> {units} units, {agents} at once");
    let folder = tempfile::tempdir()?;
    let place = Scene::new(folder.path(), binary)?;
    place.begin(units)?;
    let beside = folder.path().join("beside/repo");
    repository(&beside)?;
    let over = AtomicBool::new(false);
    let (ran, script) = thread::scope(|scope| {
        let scripted = scope.spawn(|| script(&beside, &over).map_err(|error| error.to_string()));
        let ran = place.run(agents);
        over.store(true, Ordering::Relaxed);
        (ran, scripted.join().unwrap_or_else(|_| Err("the script panicked".to_owned())))
    });
    let (wall, usage) = ran?;
    Ok(Line { units, agents, wall, usage, own: place.own_times()?, script: script? })
}

/// A repository and its own home folder.
pub(crate) struct Scene {
    folder: PathBuf,
}

impl Scene {
    pub(crate) fn new(folder: &Path, binary: &Path) -> Result<Self> {
        let scene = Self { folder: folder.to_owned() };
        fs::create_dir_all(folder.join("home"))?;
        fs::create_dir_all(folder.join("bin"))?;
        fs::copy(binary, folder.join("bin/steadfast"))?;
        repository(&scene.root())?;
        Ok(scene)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.join("repo")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.folder.join("bin/steadfast"));
        let path = format!("{}:/usr/bin:/bin", self.folder.join("bin").display());
        command.args(arguments).current_dir(self.root()).env_clear();
        command.env("HOME", self.folder.join("home")).env("PATH", path);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    fn begin(&self, units: u32) -> Result<()> {
        process::run(self.command(&["init", "--host", "claude", "--yes"]).stderr(Stdio::null()))?;
        fs::write(
            self.root().join(".git/steadfast/steadfast.toml"),
            format!("[run]\narguments = [\"--pace\", \"{PACE}\"]\n"),
        )?;
        let mut spec = BufWriter::new(File::create(self.root().join("SPEC.json"))?);
        write!(spec, "{{\"feature\": \"Many\", \"phases\": [{{\"id\": \"1\", \"tasks\": [")?;
        for number in 1..=units {
            let comma = if number == 1 { "" } else { "," };
            write!(
                spec,
                "{comma}{{\"id\": \"1.{number}\", \"task\": \"Write {number}\", \"files\": [\"{number}.txt\"], \
                 \"verification\": {{\"command\": \"test -s {number}.txt\"}}}}"
            )?;
        }
        write!(spec, "]}}]}}")?;
        spec.flush()?;
        commit(&self.root())
    }

    /// Runs a spec with this number of agents.
    pub(crate) fn work(&self, spec: &str, agents: usize) -> Result<()> {
        process::run(self.command(&["init", "--host", "claude", "--yes"]).stderr(Stdio::null()))?;
        let agents = agents.to_string();
        let log = self.folder.join("log");
        let mut run = self.command(&["run", spec, "--host", "sim", "--parallel", &agents, "--from-head"]);
        if !run.stderr(File::create(&log)?).status()?.success() {
            return Err(format!("the run failed: {}", fs::read_to_string(&log)?).into());
        }
        Ok(())
    }

    /// Returns the duration and the usage.
    fn run(&self, agents: u32) -> Result<(Duration, Usage)> {
        let agents = agents.to_string();
        let words = ["run", "SPEC.json", "--host", "sim", "--parallel", &agents, "--max-iterations", "100000"];
        let log = self.folder.join("log");
        let started = Instant::now();
        let mut child = self.command(&words).args(["--budget", "0"]).stderr(File::create(&log)?).spawn()?;
        let usage = watch(&child)?;
        let wall = started.elapsed();
        if !child.wait()?.success() {
            return Err(format!("the run failed: {}", fs::read_to_string(&log)?).into());
        }
        Ok((wall, usage))
    }

    /// Returns the overhead of each unit: from its dispatch to its agent's start, and from its agent's end to its
    /// landing.
    fn own_times(&self) -> Result<Vec<f64>> {
        let ledger = Ledger::open_read_only(&self.root().join(".git/steadfast"))?.ok_or("there is no ledger")?;
        let worktree = self.root().canonicalize()?.to_string_lossy().into_owned();
        let run = ledger.runs_of(&worktree)?.into_iter().next().ok_or("there is no run")?;
        let units = ledger.units(&run.id)?;
        let logs = self.root().join(".git/steadfast/runs").join(run.id.as_str());
        let mut times = Vec::new();
        for dispatch in ledger.dispatches(&run.id)? {
            let unit = units.iter().find(|unit| unit.unit == dispatch.unit).ok_or("a unit is gone")?;
            let log = fs::metadata(logs.join(format!("{}.log", dispatch.unit)))?;
            let millis = |time: std::time::SystemTime| -> Result<f64> {
                Ok(time.duration_since(UNIX_EPOCH)?.as_secs_f64() * 1e3)
            };
            let before = millis(log.created()?)? - dispatch.started_at.0 as f64;
            let after = unit.updated_at.0 as f64 - millis(log.modified()?)?;
            times.push(before.max(0.0) + after.max(0.0));
        }
        Ok(times)
    }
}

fn repository(root: &Path) -> Result<()> {
    process::run(Command::new("git").args(["init", "--quiet", "--initial-branch=main"]).arg(root))?;
    fs::write(root.join("README.md"), "Many things\n")?;
    commit(root)
}

pub(crate) fn commit(root: &Path) -> Result<()> {
    let git = || {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=U", "-c", "user.email=u@u"]).current_dir(root);
        git
    };
    process::run(git().args(["add", "."]))?;
    process::run(git().args(["commit", "--quiet", "--message", "One"]))
}

/// Measures the process until it ends, without waiting for it, so that its usage can still be read.
fn watch(child: &Child) -> Result<Usage> {
    let folder = PathBuf::from(format!("/proc/{}", child.id()));
    let mut usage = Usage::default();
    loop {
        let stat = fs::read_to_string(folder.join("stat"))?;
        let fields: Vec<&str> = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ').collect();
        let ticks = |at: usize| -> Result<f64> { Ok(fields.get(at).ok_or("`/proc` is not read")?.parse()?) };
        usage.seconds = (ticks(11)? + ticks(12)?) / TICKS_PER_SECOND;
        if fields.first() == Some(&"Z") {
            return Ok(usage);
        }
        let status = fs::read_to_string(folder.join("status"))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|number| number.parse().ok());
        usage.peak_kb = peak.unwrap_or(usage.peak_kb);
        thread::sleep(LOOK);
    }
}

/// Does units by hand, one after the other, during the run. Returns the milliseconds of each.
fn script(root: &Path, over: &AtomicBool) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    while !over.load(Ordering::Relaxed) || times.len() < 3 {
        let name = times.len().to_string();
        let started = Instant::now();
        let mut script = Command::new("sh");
        script.args(["-c", SCRIPT, "sh", &name, &format!("{name}.txt")]).current_dir(root);
        for who in ["AUTHOR", "COMMITTER"] {
            script.env(format!("GIT_{who}_NAME"), "U").env(format!("GIT_{who}_EMAIL"), "u@u");
        }
        process::run(&mut script)?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
        thread::sleep(PAUSE);
    }
    Ok(times)
}

fn print(lines: &[Line]) {
    println!("\nthe runner alone; milliseconds of a unit without its agent, beside a script of git and the check\n");
    println!(
        "| units | at once | seconds | of a core | ms/unit | ratio | MB | a unit, median | p95 | script | over it |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut first = None;
    for Line { units, agents, wall, usage, own, script } in lines {
        let per_unit = usage.seconds * 1e3 / f64::from(*units);
        let ratio = per_unit / *first.get_or_insert(per_unit);
        let (median, late, alone) = (at(own, 0.5), at(own, 0.95), at(script, 0.5));
        println!(
            "| {units} | {agents} | {:.1} | {:.1} % | {per_unit:.1} | {ratio:.2} | {:.0} | {median:.0} | {late:.0} | {alone:.0} | {:.0} |",
            wall.as_secs_f64(),
            100.0 * usage.seconds / wall.as_secs_f64(),
            usage.peak_kb as f64 / 1024.0,
            median - alone
        );
    }
}

fn at(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(((sorted.len().max(1) - 1) as f64 * share).round() as usize).copied().unwrap_or_default()
}
