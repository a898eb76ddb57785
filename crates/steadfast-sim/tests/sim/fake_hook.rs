//! A hook that is a real program: a shell script that records its input and returns the given answers.

use std::fs;
use std::path::Path;

use serde_json::Value;
use steadfast_sim::agent::{Agent, Work};
use steadfast_sim::{HookCommand, Scenario};
use tempfile::TempDir;

pub(crate) struct FakeHook {
    folder: TempDir,
}

impl FakeHook {
    /// `answers` is shell text with the event in `$1`, the payload in `$payload` and its own folder in `$here`.
    pub(crate) fn new(answers: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("cwd")).unwrap();
        let here = folder.path().display();
        let script = format!(
            r#"here='{here}'
payload=$(cat)
while ! mkdir "$here/lock" 2>/dev/null; do sleep 0.005; done
printf '%s\n' "$payload" >> "$here/log"
rmdir "$here/lock"
{answers}
exit 0
"#
        );
        let program = folder.path().join("hook");
        fs::write(&program, script).unwrap();
        Self { folder }
    }

    pub(crate) fn cwd(&self) -> std::path::PathBuf {
        self.folder.path().join("cwd")
    }

    pub(crate) fn here(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn agent(&self, scenario: Scenario) -> Agent {
        // Through `sh`: a child that another test has just forked may still have the new file open, and such a file
        // cannot be executed.
        let hook = HookCommand::new("sh", [self.folder.path().join("hook").to_str().unwrap()]);
        Agent::new(hook, self.cwd(), Work::Scenario(scenario))
    }

    /// Returns all payloads so far, in order of arrival.
    pub(crate) fn seen(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn events(&self) -> Vec<String> {
        self.seen().iter().map(|payload| payload["hook_event_name"].as_str().unwrap().to_owned()).collect()
    }
}
