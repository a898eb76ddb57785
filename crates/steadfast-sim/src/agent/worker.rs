//! An agent without a script: it asks the ledger for the next task, does plausible work, and stops when no task is
//! left.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde::Deserialize;

use super::misbehave::{Conduct, also, conduct, takes};
use crate::scenario::{Action, Turn};

/// The ledger returns a task whose check fails again and again. After this number of attempts the agent reports it.
const ATTEMPTS: u32 = 3;

/// The exit code of a crashed program.
const CRASHED: i32 = 70;

#[derive(Debug)]
pub(super) struct Worker {
    /// The program, by its name in the shell.
    steadfast: String,
    session: String,
    /// The time that a task takes.
    pace: Duration,
    state: State,
    /// The last task, and how often in a row the ledger returned it.
    last: Option<(String, u32)>,
}

#[derive(Debug)]
enum State {
    Idle,
    Asked,
    Busy {
        turns: VecDeque<(Before, Turn)>,
        /// The final message when the steps are done. Without one, the agent asks for the next task.
        then: Option<String>,
    },
    /// The agent repeats this message, whatever the input.
    Settled(String),
}

/// The action before a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    Rest(Duration),
    Hang,
    Crash,
}

#[derive(Debug, Deserialize)]
struct Next {
    tasks: Vec<Task>,
}

#[derive(Debug, Deserialize)]
struct Task {
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    files: Vec<String>,
    /// `None`: only the agent's word closes the task.
    check: Option<String>,
}

impl Task {
    /// Returns the files to write for the task. A task without files and check gets a file of its own.
    fn targets(&self) -> Vec<String> {
        if self.files.is_empty() && self.check.is_none() && self.kind == "main" {
            return vec![format!("{}.md", self.id)];
        }
        self.files.iter().filter(|path| names_a_file(path)).cloned().collect()
    }
}

impl Before {
    pub(super) fn happen(self) {
        match self {
            Self::Nothing => {}
            Self::Rest(time) => thread::sleep(time),
            Self::Hang => loop {
                thread::sleep(Duration::from_secs(3_600));
            },
            Self::Crash => std::process::exit(CRASHED),
        }
    }
}

impl Worker {
    pub(super) fn new(steadfast: &str, session: &str, pace: Duration) -> Self {
        let (steadfast, session) = (steadfast.to_owned(), session.to_owned());
        Self { steadfast, session, pace, state: State::Idle, last: None }
    }

    /// Returns the next turn after `heard`, the result of the last call.
    pub(super) fn next(&mut self, heard: &str, cwd: &Path) -> (Before, Turn) {
        match std::mem::replace(&mut self.state, State::Idle) {
            // The refusal says that the evidence of a done task is stale.
            State::Idle if heard.contains("`steadfast task check`") => {
                (Before::Nothing, Turn::doing([self.steadfast("task check")]))
            }
            State::Idle => {
                self.state = State::Asked;
                (Before::Nothing, Turn::saying("What is next?").calling([self.steadfast("task next --json")]))
            }
            State::Asked => self.take(heard, cwd),
            State::Busy { mut turns, then } => match turns.pop_front() {
                Some(turn) => {
                    self.state = State::Busy { turns, then };
                    turn
                }
                None => {
                    self.state = then.map_or(State::Idle, State::Settled);
                    self.next(heard, cwd)
                }
            },
            State::Settled(text) => {
                self.state = State::Settled(text.clone());
                (Before::Nothing, Turn::saying(text))
            }
        }
    }

    fn take(&mut self, heard: &str, cwd: &Path) -> (Before, Turn) {
        let says = |text: String| (Before::Nothing, Turn::saying(text));
        // The command's output may follow text from its standard error.
        let answer = heard.find('{').map(|start| &heard[start..]);
        let mut parsed =
            answer.map(|text| serde_json::Deserializer::from_str(text).into_iter::<Next>()).into_iter().flatten();
        let task = match parsed.next() {
            Some(Ok(next)) => match next.tasks.into_iter().next() {
                Some(task) => task,
                None => return says("No task is left. I am finished.".to_owned()),
            },
            Some(Err(_)) | None => {
                return says(format!("I cannot read the ledger's answer: {heard}"));
            }
        };
        let attempt = match &self.last {
            Some((id, attempt)) if *id == task.id => attempt + 1,
            Some(_) | None => 1,
        };
        if attempt > ATTEMPTS {
            let text = format!("Task {} does not get done, after {ATTEMPTS} attempts.", task.id);
            self.state = State::Settled(text.clone());
            return says(text);
        }
        self.last = Some((task.id.clone(), attempt));
        let starts = Turn::saying(format!("I start {} {}.", task.id, task.title))
            .calling([self.steadfast(&format!("task start {}", quoted(&task.id)))]);
        let done = Turn::doing([self.steadfast(&format!("task done {}", quoted(&task.id)))]);
        let writes = task.targets().into_iter().chain(also(&task.title));
        let decides = (task.kind == "decision")
            .then(|| Turn::doing([self.steadfast("decide 'the plain way' --why 'it is enough'")]));
        let writes = writes.map(|path| Turn::doing([written(&task, &path, cwd)])).chain(decides);
        let writes = writes.map(|turn| (Before::Nothing, turn));
        let pace = takes(&task.title).unwrap_or(self.pace);
        let (turns, then): (VecDeque<_>, _) = match conduct(&task.id, &task.title, &self.session, cwd) {
            Conduct::Good => (writes.chain([(Before::Rest(pace), done)]).collect(), None),
            Conduct::Hang => ([(Before::Hang, done)].into(), None),
            Conduct::Crash => (writes.chain([(Before::Crash, done)]).collect(), None),
            Conduct::Fail => ([(Before::Rest(pace), done)].into(), Some("I am done.")),
            Conduct::StopEarly => (VecDeque::new(), Some("I have made good progress. Let me know!")),
            Conduct::Lie => (VecDeque::new(), Some("All tests pass. <promise>ALL TASKS COMPLETE</promise>")),
        };
        self.state = State::Busy { turns, then: then.map(str::to_owned) };
        (Before::Nothing, starts)
    }

    fn steadfast(&self, arguments: &str) -> Action {
        Action::shell(format!("{} {arguments}", quoted(&self.steadfast)))
    }
}

/// Returns a write with one more line, in the language of the file name. Existing lines are not repeated, and both
/// sides of a conflict are kept. So the file is the same after any order of writers.
fn written(task: &Task, path: &str, cwd: &Path) -> Action {
    let extension = Path::new(path).extension().and_then(|text| text.to_str());
    let (open, close) = match extension {
        Some("rs" | "ts" | "tsx" | "js" | "jsx" | "go" | "c" | "h" | "cpp" | "java" | "swift") => ("// ", ""),
        Some("py" | "sh" | "rb" | "toml" | "yaml" | "yml") => ("# ", ""),
        Some("html" | "svelte" | "vue") => ("<!-- ", " -->"),
        Some("css") => ("/* ", " */"),
        Some("sql" | "lua") => ("-- ", ""),
        Some(_) | None => ("", ""),
    };
    let mut content = resolved(&std::fs::read_to_string(cwd.join(path)).unwrap_or_default());
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    let line = format!("{open}{} {}{close}", task.id, task.title);
    if !content.lines().any(|there| there == line) {
        content.push_str(&line);
        content.push('\n');
    }
    Action::write(path, content)
}

/// Returns the text without conflict markers: the lines of both sides, in an order that does not depend on the writers.
fn resolved(text: &str) -> String {
    let (mut content, mut sides) = (String::new(), None::<BTreeSet<&str>>);
    for line in text.split_inclusive('\n') {
        let mark = line.trim_end();
        match &mut sides {
            None if mark.starts_with("<<<<<<<") => sides = Some(BTreeSet::new()),
            None => content.push_str(line),
            Some(lines) if mark.starts_with(">>>>>>>") => {
                content.extend(std::mem::take(lines));
                sides = None;
            }
            Some(_) if mark == "=======" || mark.starts_with("|||||||") => {}
            Some(lines) => drop(lines.insert(line)),
        }
    }
    content.extend(sides.unwrap_or_default());
    content
}

fn names_a_file(path: &str) -> bool {
    !path.ends_with('/') && !path.contains(['*', '?', '['])
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEXT: &str = r#"{"tasks": [{"id": "2.1", "title": "add login", "status": "pending",
        "files": ["src/auth.rs", "docs/*.md", "notes.txt"]}]}"#;

    const PACE: Duration = Duration::from_secs(2);

    fn worker(steadfast: &str) -> Worker {
        Worker::new(steadfast, "s-1", PACE)
    }

    /// Returns the turns that follow these results.
    fn turns<const N: usize>(cwd: &Path, heard: [&str; N]) -> [(Before, Turn); N] {
        let mut worker = worker("steadfast");
        heard.map(|heard| worker.next(heard, cwd))
    }

    fn task(title: &str) -> String {
        serde_json::json!({"tasks": [{"id": "1", "title": title, "files": ["a.txt"]}]}).to_string()
    }

    #[test]
    fn a_task_is_started_worked_on_and_done() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/auth.rs"), "fn a() {}").unwrap();
        let turns = turns(folder.path(), ["", NEXT, "ok", "ok", "ok", "ok"]);
        assert_eq!(turns[4].0, Before::Rest(PACE));
        let turns = turns.map(|(_, turn)| turn);
        let expected = [
            Turn::saying("What is next?").calling([Action::shell("steadfast task next --json")]),
            Turn::saying("I start 2.1 add login.").calling([Action::shell("steadfast task start 2.1")]),
            Turn::doing([Action::write("src/auth.rs", "fn a() {}\n// 2.1 add login\n")]),
            Turn::doing([Action::write("notes.txt", "2.1 add login\n")]),
            Turn::doing([Action::shell("steadfast task done 2.1")]),
            Turn::saying("What is next?").calling([Action::shell("steadfast task next --json")]),
        ];
        assert_eq!(turns, expected);
    }

    #[test]
    fn it_stops_when_no_task_is_left() {
        let mut worker = worker("steadfast");
        let _asks = worker.next("", Path::new("/"));
        let turn = worker.next(r#"{"tasks": []}"#, Path::new("/"));
        assert_eq!(turn.1, Turn::saying("No task is left. I am finished."));
    }

    #[test]
    fn it_says_what_it_cannot_read() {
        let mut worker = worker("steadfast");
        let _asks = worker.next("", Path::new("/"));
        let turn = worker.next("no plan here", Path::new("/"));
        assert_eq!(turn.1, Turn::saying("I cannot read the ledger's answer: no plan here"));
    }

    #[test]
    fn it_gives_up_on_a_task_that_comes_back_for_ever() {
        let next = r#"{"tasks": [{"id": "1"}]}"#;
        let mut worker = worker("steadfast");
        for _attempt in 0..ATTEMPTS {
            let _asks = worker.next("", Path::new("/"));
            let _starts = worker.next(next, Path::new("/"));
            let _finishes = worker.next("", Path::new("/"));
        }
        let _asks = worker.next("", Path::new("/"));
        assert_eq!(worker.next(next, Path::new("/")).1, Turn::saying("Task 1 does not get done, after 3 attempts."));
    }

    #[test]
    fn a_program_in_a_folder_with_spaces_is_quoted() {
        let mut worker = worker("/my tools/steadfast");
        let turn = worker.next("", Path::new("/"));
        assert_eq!(turn.1.actions, [Action::shell("'/my tools/steadfast' task next --json")]);
    }

    #[test]
    fn what_is_written_is_the_same_whoever_tried_before() {
        let folder = tempfile::tempdir().unwrap();
        let next = task("one");
        let write = || turns(folder.path(), ["", &next, "ok"])[2].1.clone();
        assert_eq!(write(), Turn::doing([Action::write("a.txt", "1 one\n")]));
        for there in ["1 one\n", "<<<<<<< ours\n1 one\n=======\n1 one\n>>>>>>> theirs\n"] {
            std::fs::write(folder.path().join("a.txt"), there).unwrap();
            assert_eq!(write(), Turn::doing([Action::write("a.txt", "1 one\n")]));
        }
        for (ours, theirs) in [("1 one\n", "0 zero\n"), ("0 zero\n", "1 one\n")] {
            let conflict = format!("first\n<<<<<<< ours\n{ours}||||||| base\n=======\n{theirs}>>>>>>> theirs\nlast\n");
            std::fs::write(folder.path().join("a.txt"), conflict).unwrap();
            assert_eq!(write(), Turn::doing([Action::write("a.txt", "first\n0 zero\n1 one\nlast\n")]));
        }
    }

    #[test]
    fn a_title_asks_for_bad_conduct() {
        let folder = tempfile::tempdir().unwrap();
        let after_start = |title: &str| {
            let next = task(title);
            let [_, _, third, fourth] = turns(folder.path(), ["", &next, "ok", "ok"]);
            [third, fourth]
        };
        let (asks, done) = (
            Turn::saying("What is next?").calling([Action::shell("steadfast task next --json")]),
            Turn::doing([Action::shell("steadfast task done 1")]),
        );
        let nothing = |turn: &Turn| (Before::Nothing, turn.clone());
        assert_eq!(after_start("[sim:hang]"), [(Before::Hang, done.clone()), nothing(&asks)]);
        assert_eq!(after_start("[sim:crash]")[1], (Before::Crash, done.clone()));
        assert_eq!(after_start("[sim:fail]"), [(Before::Rest(PACE), done), nothing(&Turn::saying("I am done."))]);
        let early = Turn::saying("I have made good progress. Let me know!");
        assert_eq!(after_start("[sim:stop-early]"), [nothing(&early), nothing(&early)]);
        let lie = Turn::saying("All tests pass. <promise>ALL TASKS COMPLETE</promise>");
        assert_eq!(after_start("[sim:lie]"), [nothing(&lie), nothing(&lie)]);
        let also = Turn::doing([Action::write("b.txt", "1 [sim:also b.txt]\n")]);
        assert_eq!(after_start("[sim:also b.txt]")[1], nothing(&also));
    }
}
