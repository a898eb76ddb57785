use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Asked, in_turn, print, print_beside};
use crate::{Result, process};

const SIZES: [u32; 3] = [1_000, 10_000, 100_000];
/// The number of tasks that each task depends on.
const DEPENDENCIES: u32 = 3;
/// The number of tasks without dependencies.
const ROOTS: u32 = 100;
/// The size of the largest compiled spec.
const SPEC: u32 = 10_000;

/// `cargo xtask bench ledger`
pub(crate) fn ledger(arguments: &[&str]) -> Result<()> {
    let Asked { runs, binary, beside } = Asked::parse(arguments, 100)?;
    let folder = tempfile::tempdir()?;
    let mut table = rows(&folder.path().join("this"), &binary)?;
    let Some(beside) = beside else {
        in_turn(table.len(), runs, |row, round| table[row].run(round))?;
        print(table.iter_mut().map(|row| (row.name.clone(), &mut row.times)), runs);
        return Ok(());
    };
    let of_this = table.len();
    table.extend(rows(&folder.path().join("other"), &beside)?);
    in_turn(table.len(), runs, |row, round| table[row].run(round))?;
    let others = table.split_off(of_this);
    let pairs = table.into_iter().zip(others);
    print_beside(pairs.map(|(this, other)| (this.name, [this.times, other.times])), runs);
    Ok(())
}

fn rows(folder: &Path, binary: &Path) -> Result<Vec<Row>> {
    fs::create_dir(folder)?;
    let mut rows = vec![Row::new("/bin/true", Path::new("/bin/true"), folder, [&[], &[]])];
    for size in SIZES {
        let root = scene(folder, binary, size)?;
        let row = |what: &str, calls| Row::new(&format!("{what}, {size} tasks"), binary, &root, calls);
        rows.push(row("task ready", [&["task", "ready", "--json"], &["task", "ready", "--json"]]));
        rows.push(row("task next", [&["task", "next", "--json"], &["task", "next", "--json"]]));
        rows.push(row("a status change", [&["task", "block", "1.1", "--why", "w"], &["task", "unblock", "1.1"]]));
        if size <= SPEC {
            rows.push(row("spec count", [&["spec", "count", "SPEC.json"], &["spec", "count", "SPEC.json"]]));
        }
    }
    Ok(rows)
}

/// Returns a repository with a plan of `size` tasks.
fn scene(folder: &Path, binary: &Path, size: u32) -> Result<PathBuf> {
    let root = folder.join(size.to_string());
    process::run(Command::new("git").args(["init", "--quiet"]).arg(&root))?;
    fs::create_dir(root.join(".git/steadfast"))?;
    write_spec(&root.join("SPEC.json"), size)?;
    let started = Instant::now();
    let mut load = Command::new(binary);
    load.args(["plan", "load", "SPEC.json"]).current_dir(&root).stdout(Stdio::null()).stderr(Stdio::null());
    process::run(&mut load)?;
    eprintln!("loaded {size} tasks in {:.2} s", started.elapsed().as_secs_f64());
    Ok(root)
}

/// Writes one phase: the first tasks have no dependency, every other depends on three before it. It is written in
/// pieces, since a process with a lot of memory starts others more slowly.
fn write_spec(path: &Path, size: u32) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    write!(file, "{{\"feature\": \"Many things\", \"description\": \"All of them.\", \"phases\": [")?;
    write!(file, "{{\"id\": \"1\", \"name\": \"One\", \"tasks\": [")?;
    for number in 1..=size {
        let before: Vec<String> = match number.checked_sub(ROOTS) {
            None | Some(0) => Vec::new(),
            Some(first) => (0..DEPENDENCIES).map(|step| format!("\"1.{}\"", first + step)).collect(),
        };
        write!(
            file,
            "{}{{\"id\": \"1.{number}\", \"task\": \"Do the thing number {number}\", \
             \"files\": [\"src/thing_{number}.rs\"], \"verification\": {{\"command\": \"cargo test\"}}, \
             \"depends_on\": [{}]}}",
            if number == 1 { "" } else { "," },
            before.join(", ")
        )?;
    }
    write!(file, "]}}]}}")?;
    file.flush()?;
    Ok(())
}

/// Two calls in turn. Each undoes the other.
struct Row {
    name: String,
    program: PathBuf,
    cwd: PathBuf,
    calls: [Vec<String>; 2],
    times: Vec<Duration>,
}

impl Row {
    fn new(name: &str, program: &Path, cwd: &Path, calls: [&[&str]; 2]) -> Self {
        let calls = calls.map(|call| call.iter().map(|&word| word.to_owned()).collect());
        Self { name: name.to_owned(), program: program.to_owned(), cwd: cwd.to_owned(), calls, times: Vec::new() }
    }

    fn run(&mut self, round: u32) -> Result<()> {
        let started = Instant::now();
        let output = Command::new(&self.program)
            .args(&self.calls[round as usize % 2])
            .current_dir(&self.cwd)
            .env_remove("CLAUDECODE")
            .stdin(Stdio::null())
            .output()?;
        self.times.push(started.elapsed());
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{} failed: {}", self.name, String::from_utf8_lossy(&output.stderr)).into())
    }
}
