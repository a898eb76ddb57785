//! Whatever an agent does between two stops, no session ends as complete while a task of its plan is open, stale, or closed
//! on the agent's word alone.

mod runs;

use std::collections::BTreeMap;
use std::fs;
use std::panic::resume_unwind;
use std::thread;

use serde_json::{Value, json};
use steadfast_model::{Release, SessionId};

use crate::run::git;
use crate::sandbox::Sandbox;

/// How many random sequences there are, and how long each is. Another seed is another set of them.
const SEQUENCES: u64 = 10;
const STEPS: usize = 22;
const SEED: u64 = 0x5eed;

/// Two tasks with files, one with a check and no files, and, where it is said, one that only the agent's word closes.
fn spec(title: &str, claimed: bool) -> String {
    let mut spec = format!("# {title}\n\n## Phase 1: P\n\n");
    for name in ["one", "two"] {
        let number = if name == "one" { 1 } else { 2 };
        spec +=
            &format!("- [ ] 1.{number} Write {name}\n  - files: `{name}.txt`\n  - verify: `grep -q good {name}.txt`\n");
    }
    spec += "- [ ] 1.3 Write three\n  - verify: `grep -q good three.txt`\n";
    if claimed {
        spec += "- [ ] 1.4 Write four\n  - files: `four.txt`\n";
    }
    spec
}

/// xorshift: the same sequence everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

struct Night {
    sandbox: Sandbox,
    /// No other test has this session: what runs beside it is looked for by its name.
    session: String,
    calls: u32,
    claimed: bool,
    /// What the files of 1.1 and 1.2 held when their checks were last seen to pass.
    proven: BTreeMap<&'static str, Option<String>>,
    story: Vec<String>,
}

impl Night {
    fn begin(sequence: u64, claimed: bool) -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("SPEC.md", spec("Files", claimed));
        for name in ["one", "two", "three", "four"] {
            sandbox.write(&format!("{name}.txt"), "bad\n");
        }
        let session = format!("done-is-true-{sequence}");
        let night = Self { sandbox, session, calls: 0, claimed, proven: BTreeMap::new(), story: Vec::new() };
        night.commit();
        git(&night.sandbox, &["checkout", "--quiet", "-b", "other"]);
        night.sandbox.write("two.txt", "good, from elsewhere\n");
        night.commit();
        git(&night.sandbox, &["checkout", "--quiet", "-"]);
        night.sandbox.ok(&["plan", "load", "SPEC.md"]);
        night.sandbox.ok(&["decide", "Text", "--why", "it is read"]);
        night.sandbox.ok(&["task", "done", "1.0"]);
        night.sandbox.hook("SessionStart", &night.session, json!({"source": "startup"}));
        night.ask();
        night
    }

    fn commit(&self) {
        git(&self.sandbox, &["add", "--all"]);
        git(
            &self.sandbox,
            &["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "--allow-empty", "-m", "x"],
        );
    }

    fn ask(&self) {
        self.sandbox.hook("UserPromptSubmit", &self.session, json!({"prompt": "Run the plan."}));
    }

    /// A command of the agent's, with the hooks around it.
    fn shell(&mut self, command: &str) {
        self.story.push(command.to_owned());
        self.calls += 1;
        let call = json!({"tool_name": "Bash", "tool_use_id": format!("call-{}", self.calls), "tool_input": {"command": command}});
        self.sandbox.hook("PreToolUse", &self.session, call.clone());
        let mut shell = self.sandbox.command_of("/bin/sh".as_ref());
        // It may fail.
        let _ =
            shell.args(["-c", command]).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", &self.session).output();
        let mut back = call;
        back["tool_response"] = json!({"stdout": "", "stderr": "", "interrupted": false});
        self.sandbox.hook("PostToolUse", &self.session, back);
    }

    fn write(&mut self, name: &str, text: &str) {
        self.story.push(format!("{name}.txt: {text}"));
        self.calls += 1;
        let path = self.sandbox.root().join(format!("{name}.txt"));
        let call = json!({"tool_name": "Write", "tool_use_id": format!("call-{}", self.calls),
            "tool_input": {"file_path": path, "content": text}});
        self.sandbox.hook("PreToolUse", &self.session, call.clone());
        fs::write(&path, format!("{text}\n")).unwrap();
        let mut back = call;
        back["tool_response"] = json!({"success": true});
        self.sandbox.hook("PostToolUse", &self.session, back);
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.sandbox.root().join(format!("{name}.txt"))).ok()
    }

    fn tasks(&self) -> Vec<Value> {
        let list: Value = serde_json::from_str(&self.sandbox.ok(&["task", "list", "--json"])).unwrap();
        list["tasks"].as_array().unwrap().clone()
    }

    /// What the ledger calls done and fresh right after a check is proven for what is there now.
    fn remember(&mut self) {
        for task in self.tasks() {
            let fresh = task["status"] == "done" && task["evidence"]["stale"] == false;
            for (id, name) in [("1.1", "one"), ("1.2", "two")] {
                if task["id"] == id && fresh {
                    self.proven.insert(name, self.read(name));
                }
            }
        }
    }

    fn step(&mut self, random: &mut Random) {
        let names = ["one", "two", "three", "four"];
        let name = names[random.below(4) as usize];
        let id = format!("1.{}", 1 + random.below(if self.claimed { 4 } else { 3 }));
        match random.below(12) {
            0..=2 => self.write(name, "good"),
            3 => self.write(name, "good as well"),
            4 => self.write(name, "bad"),
            5 => self.shell(&format!("rm -f {name}.txt")),
            6 => self.shell(&format!("git checkout -q -- {name}.txt")),
            7 => self.shell("git -c user.name=U -c user.email=u@u merge -q -X ours other"),
            8 => {
                let title = if random.below(2) == 0 { "Files" } else { "Files, again" };
                self.story.push(format!("plan load {title}"));
                self.sandbox.write("SPEC.md", spec(title, self.claimed));
                self.sandbox.ok(&["plan", "load", "SPEC.md"]);
            }
            9 => {
                self.shell("steadfast task check");
                self.remember();
            }
            _ => {
                self.shell(&format!("steadfast task done {id}"));
                self.remember();
            }
        }
    }

    /// The agent promises that all is complete. What it was let go as, if it was.
    fn stop(&mut self) -> Option<Release> {
        let stop = json!({"stop_hook_active": false, "background_tasks": [],
            "last_assistant_message": "<promise>ALL TASKS COMPLETE</promise>"});
        self.sandbox.hook("Stop", &self.session, stop);
        let released = self
            .sandbox
            .session(SessionId::new(self.session.as_str()).as_str())
            .peek()
            .and_then(|state| state.stop.released);
        self.story.push(format!("stop: {released:?}"));
        released
    }

    fn holds(&self) -> Result<(), String> {
        for task in self.tasks() {
            if task["status"] != "done" {
                return Err(format!("{} is {}", task["id"], task["status"]));
            }
            if task["evidence"]["class"] == "claimed" {
                return Err(format!("{} is only claimed", task["id"]));
            }
        }
        for name in ["one", "two"] {
            let (now, then) = (self.read(name), self.proven.get(name).cloned().flatten());
            if now != then {
                return Err(format!("{name}.txt is {now:?}, its check passed on {then:?}"));
            }
        }
        match self.read("three") {
            Some(text) if text.contains("good") => Ok(()),
            other => Err(format!("three.txt is {other:?}")),
        }
    }
}

/// One sequence to its end: how often each of its stops ended as what.
fn sequence(sequence: u64) -> BTreeMap<&'static str, u32> {
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    let mut random = Random(SEED + 1 + sequence * 7_919);
    let mut night = Night::begin(sequence, sequence.is_multiple_of(3));
    for step in 0..STEPS {
        night.step(&mut random);
        let is_last = step + 1 == STEPS;
        if is_last {
            // Most sequences would never come to an end by themselves.
            for (name, id) in [("one", "1.1"), ("two", "1.2"), ("three", "1.3"), ("four", "1.4")] {
                night.write(name, "good at last");
                night.shell(&format!("steadfast task done {id}"));
            }
            night.remember();
        }
        if !is_last && random.below(4) > 0 {
            continue;
        }
        for _ in 0..if is_last { 2 } else { 1 } {
            let released = night.stop();
            *ends.entry(released.map_or("held", Release::as_str)).or_default() += 1;
            if released == Some(Release::Complete) {
                let story = night.story.join("\n  ");
                assert!(!night.claimed, "sequence {sequence}: complete with a claimed task\n  {story}");
                assert_eq!(night.holds(), Ok(()), "sequence {sequence}:\n  {story}");
            }
            night.ask();
            if is_last {
                night.shell("steadfast task check");
                night.remember();
            }
        }
    }
    ends
}

/// All sequences at once, each in a repository of its own: most of their time is waiting for processes.
fn side_by_side(sequences: u64, run: fn(u64) -> BTreeMap<&'static str, u32>) -> BTreeMap<&'static str, u32> {
    let mut all: BTreeMap<&str, u32> = BTreeMap::new();
    let ends: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> = (0..sequences).map(|sequence| scope.spawn(move || run(sequence))).collect();
        running.into_iter().map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    for (end, count) in ends.into_iter().flatten() {
        *all.entry(end).or_default() += count;
    }
    all
}

#[test]
fn no_session_ends_as_complete_while_a_task_is_open_stale_or_only_claimed() {
    let ends = side_by_side(SEQUENCES, sequence);
    assert!(ends["held"] > 10 && ends["complete"] > 2 && ends["needs review"] > 1, "{ends:?}");
}

#[test]
fn a_check_that_fails_opens_every_task_it_closed_whatever_their_files() {
    let sandbox = Sandbox::new();
    for (number, file) in ["a.txt", "b.txt", "c.txt"].iter().enumerate() {
        sandbox.write(file, "one\n");
        let check = if number == 2 { "test -f other.txt" } else { "test -f ok.txt" };
        sandbox.ok(&["task", "add", &format!("Write {file}"), "--file", file, "--verify", check]);
    }
    sandbox.write("ok.txt", "");
    sandbox.write("other.txt", "");
    for id in ["1", "2", "3"] {
        sandbox.ok(&["task", "done", id]);
    }
    // The check needs what it names no file of; only the file of the first task changes.
    fs::remove_file(sandbox.root().join("ok.txt")).unwrap();
    sandbox.write("a.txt", "two\n");
    let output = sandbox.run(&["task", "check"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let listed: Value = serde_json::from_str(&sandbox.ok(&["task", "list", "--json"])).unwrap();
    let statuses: Vec<&str> =
        listed["tasks"].as_array().unwrap().iter().map(|t| t["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["pending", "pending", "done"], "{said}");
    assert!(said.contains('1') && said.contains('2'), "{said}");
}
