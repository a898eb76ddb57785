//! Whether a host stands above this process. An environment can be emptied; the process that started this one cannot be
//! changed.

use steadfast_model::Host;

/// How far up to look.
const GENERATIONS: usize = 32;

/// The host among the ancestors of this process, where the system tells.
#[cfg(target_os = "linux")]
pub(crate) fn host_above() -> Option<Host> {
    let mut process = std::os::unix::process::parent_id();
    for _ in 0..GENERATIONS {
        if process <= 1 {
            return None;
        }
        let (name, parent) = read(process)?;
        match name.as_str() {
            "claude" => return Some(Host::Claude),
            "codex" => return Some(Host::Codex),
            _ => process = parent,
        }
    }
    None
}

/// Elsewhere the environment and the claim have to do.
#[cfg(not(target_os = "linux"))]
pub(crate) fn host_above() -> Option<Host> {
    let _ = GENERATIONS;
    None
}

/// A process's name and parent: `pid (name) state parent …`, where the name may hold anything.
#[cfg(target_os = "linux")]
fn read(process: u32) -> Option<(String, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (name, rest) = (stat.get(stat.find('(')? + 1..stat.rfind(')')?)?, stat.get(stat.rfind(')')? + 1..)?);
    Some((name.to_owned(), rest.split_whitespace().nth(1)?.parse().ok()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_line_up_to_the_first_process_can_be_read() {
        let mut process = std::process::id();
        while process > 1 {
            let (name, parent) = read(process).unwrap();
            assert!(!name.is_empty());
            process = parent;
        }
    }
}
