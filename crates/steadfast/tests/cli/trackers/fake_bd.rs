//! A `bd` on the PATH that answers from a file of issues, one a line, and changes it: a small shell script. It cannot show
//! what the real program does otherwise than its source says.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, write_program};

const SCRIPT: &str = r#"
dir=${0%/*}
echo "$*" >>"$dir/calls"
case $(cat "$dir/mode" 2>/dev/null) in
slow) sleep 3 ;;
hangs) exec sleep 600 ;;
rubbish) echo 'Welcome to beads.'; exit 0 ;;
silent) exit 0 ;;
object) echo '{"ok": true}'; exit 0 ;;
fails) echo 'Error: no beads database found' >&2; exit 1 ;;
locked) echo 'Error: database is locked' >&2; exit 1 ;;
refuses-writes) case $1 in list | show) ;; *) echo 'Error: read-only file system' >&2; exit 1 ;; esac ;;
old)
    case "$*" in
    *--parent*) echo 'Error: unknown flag: --parent' >&2; exit 1 ;;
    *--append-notes*) echo 'Error: unknown flag: --append-notes' >&2; exit 1 ;;
    *--claim*) echo 'Error: unknown flag: --claim' >&2; exit 1 ;;
    esac
    ;;
esac
store=$dir/issues.jsonl
list() { echo '['; sed '$!s/$/,/'; echo ']'; }
call=$1 parent= status= id=
for word; do
    case $word in
    --parent=*) parent=${word#*=} ;;
    --status=*) status=${word#*=} ;;
    --claim) status=in_progress ;;
    esac
    id=$word
done
put() {
    grep -qF "\"id\":\"$id\"" "$store" || { echo "Error: issue $id not found" >&2; exit 1; }
    line=$(echo "$id" | sed 's/[.]/[.]/g')
    sed -i "/\"id\":\"$line\"/s/\"status\":\"[a-z_]*\"/\"status\":\"$1\"/" "$store"
    echo '{}'
}
case $call in
list)
    if [ -n "$parent" ]; then
        grep -F "\"depends_on_id\":\"$parent\",\"type\":\"parent-child\"" "$store" | list
    else
        list <"$store"
    fi
    ;;
show)
    while [ "$1" != -- ]; do shift; done
    shift
    for id; do grep -F "\"id\":\"$id\"" "$store" || exit 1; done | list
    ;;
close) put closed ;;
reopen) put open ;;
update) put "$status" ;;
comments) echo '{}' ;;
*) echo "Error: unknown command \"$call\"" >&2; exit 1 ;;
esac
"#;

/// A sandbox whose tasks are kept in beads.
pub(super) struct Beads {
    pub(super) sandbox: Sandbox,
}

impl Beads {
    /// With `bd` on the PATH, and an epic `bd-1` in the settings.
    pub(super) fn new(issues: &[Value]) -> Self {
        let beads = Self { sandbox: Sandbox::new() };
        write_program(&beads.file("bd"), SCRIPT);
        beads.put(issues);
        beads.sandbox.write("steadfast.toml", "[ledger]\nsource = \"beads\"\nepic = \"bd-1\"\n");
        beads
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.sandbox.binary().with_file_name(name)
    }

    /// Replaces all issues.
    pub(super) fn put(&self, issues: &[Value]) {
        let lines: String = issues.iter().map(|issue| format!("{issue}\n")).collect();
        fs::write(self.file("issues.jsonl"), lines).unwrap();
    }

    /// How the program behaves from now on.
    pub(super) fn mode(&self, mode: &str) {
        fs::write(self.file("mode"), mode).unwrap();
    }

    /// What it was called with since this was last asked.
    pub(super) fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.file("calls")).unwrap_or_default();
        let _ = fs::remove_file(self.file("calls"));
        calls.lines().map(str::to_owned).collect()
    }

    /// The same, without what only reads.
    pub(super) fn writes(&self) -> Vec<String> {
        self.calls().into_iter().filter(|call| !call.starts_with("list ") && !call.starts_with("show ")).collect()
    }

    /// How an issue stands there.
    pub(super) fn status(&self, id: &str) -> String {
        let issues = fs::read_to_string(self.file("issues.jsonl")).unwrap();
        let issues = issues.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        issues.into_iter().find(|issue| issue["id"] == id).unwrap()["status"].as_str().unwrap().to_owned()
    }

    /// A command with what it says to people.
    pub(super) fn said(&self, arguments: &[&str]) -> String {
        let output = self.sandbox.run(arguments);
        format!("{}{}", self.sandbox.without_paths(&output.stdout), self.sandbox.without_paths(&output.stderr))
    }

    /// `id status` of every task.
    pub(super) fn tasks(&self) -> Vec<String> {
        let listed: Value = serde_json::from_str(&self.sandbox.ok(&["task", "list", "--json"])).unwrap();
        let line = |task: &Value| format!("{} {}", task["id"].as_str().unwrap(), task["status"].as_str().unwrap());
        listed["tasks"].as_array().unwrap().iter().map(line).collect()
    }

    /// A session whose human says that it works on the tasks.
    pub(super) fn begin(&self, session: &str) -> String {
        let start = self.sandbox.hook("SessionStart", session, json!({"source": "startup"}));
        self.sandbox.hook("UserPromptSubmit", session, json!({"prompt": "Work on the tasks."}));
        start
    }

    pub(super) fn stop(&self, session: &str, message: &str) -> Value {
        let stop = json!({"stop_hook_active": false, "background_tasks": [], "last_assistant_message": message});
        let said = self.sandbox.hook("Stop", session, stop);
        if said.is_empty() { Value::Null } else { serde_json::from_str(&said).unwrap() }
    }
}

/// An issue, part of `parent`.
pub(super) fn part(id: &str, parent: &str, status: &str) -> Value {
    issue(id, status, &[(parent, "parent-child")])
}

pub(super) fn issue(id: &str, status: &str, on: &[(&str, &str)]) -> Value {
    let on: Vec<Value> = on.iter().map(|(on, kind)| json!({"depends_on_id": on, "type": kind})).collect();
    json!({"id": id, "title": format!("Work of {id}"), "status": status, "issue_type": "task", "priority": 2,
        "dependencies": on})
}
