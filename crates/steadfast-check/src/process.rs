//! The processes of this machine, as `/proc` has them: nothing where there is none.

use std::fs;

use rustix::process::Pid;

/// What `/proc/<pid>/stat` says.
#[derive(Debug)]
pub struct ProcessStat {
    pub pid: Pid,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    pub dead: bool,
    /// When it was started, in ticks since the machine was.
    pub started: u64,
}

pub fn entries() -> Vec<ProcessStat> {
    pids().into_iter().filter_map(entry).collect()
}

pub fn pids() -> Vec<Pid> {
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    folder.flatten().filter_map(|found| Pid::from_raw(found.file_name().to_str()?.parse().ok()?)).collect()
}

pub fn entry(pid: Pid) -> Option<ProcessStat> {
    let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name of the program is in parentheses and may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let number = |at: usize| fields.get(at)?.parse().ok();
    Some(ProcessStat {
        pid,
        dead: matches!(*fields.first()?, "Z" | "X" | "x"),
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        started: fields.get(19)?.parse().ok()?,
    })
}

/// Whether it was started with this variable, `NAME=value`, and still has it.
pub fn has_variable(pid: Pid, variable: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{}/environ", pid.as_raw_pid())) else { return false };
    environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes())
}

/// A child has a number that is one.
pub fn pid(id: u32) -> Pid {
    i32::try_from(id).ok().and_then(Pid::from_raw).unwrap_or(Pid::INIT)
}
