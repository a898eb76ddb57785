//! What an agent did last, from the log of its output.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use steadfast_hosts::price::Prices;
use steadfast_hosts::stream::{AgentEvent, AgentStream};
use steadfast_model::{Host, Run, RunUnit};

/// The end of a log that is read. An agent that printed more since its last action is shown without one.
const TAIL: u64 = 64 << 10;

/// Returns the last tool of a unit's agent with its target, or the last words of the agent.
pub fn last_action(state: &Path, run: &Run, unit: &RunUnit) -> Option<String> {
    let name = Path::new(unit.directory.as_deref()?).file_name()?;
    let mut path: PathBuf = state.join("runs").join(run.id.as_str()).join(name);
    path.as_mut_os_string().push(".log");
    last_of(&tail(&path)?, run.host, unit.directory.as_deref())
}

fn tail(path: &Path) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// `Edit src/token.rs`: a path in the worktree of the unit is relative to it.
pub(crate) fn tool_call(name: &str, target: Option<&str>, directory: Option<&str>) -> String {
    let Some(target) = target else { return name.to_owned() };
    let target = directory.map_or_else(|| target.to_owned(), |directory| target.replace(&format!("{directory}/"), ""));
    format!("{name} {target}")
}

fn last_of(log: &[u8], host: Host, directory: Option<&str>) -> Option<String> {
    let mut stream = AgentStream::of(host, &Prices::built_in());
    let events = log.split(|byte| *byte == b'\n').flat_map(|line| stream.line(line));
    let words = events.filter_map(|event| match event {
        AgentEvent::Tool { name, target } => Some(tool_call(&name, target.as_deref(), directory)),
        AgentEvent::Said { text } => Some(text).filter(|text| !text.trim().is_empty()),
        _ => None,
    });
    words.last()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = concat!(
        "a torn line\n",
        r#"{"type":"assistant","message":{"id":"m1","model":"claude-x","content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"src/token.rs"}}]}}"#,
        "\n",
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}"#,
        "\n",
    );

    #[test]
    fn the_last_tool_is_named_with_its_target() {
        assert_eq!(last_of(LOG.as_bytes(), Host::Claude, None).as_deref(), Some("Edit src/token.rs"));
        assert_eq!(last_of(b"", Host::Claude, None), None);
        let log = LOG.replace("src/token.rs", "/state/runs/1.1/src/token.rs");
        let relative = last_of(log.as_bytes(), Host::Claude, Some("/state/runs/1.1"));
        assert_eq!(relative.as_deref(), Some("Edit src/token.rs"));
    }

    #[test]
    fn only_the_end_of_a_long_log_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("unit.log");
        std::fs::write(&path, format!("{}\n{LOG}", "x".repeat(1 << 20))).unwrap();
        assert_eq!(last_of(&tail(&path).unwrap(), Host::Claude, None).as_deref(), Some("Edit src/token.rs"));
    }
}
