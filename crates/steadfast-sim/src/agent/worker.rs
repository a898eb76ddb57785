//! An agent without a script: it asks the ledger what to do, does something plausible, and stops when nothing is left.

use std::collections::VecDeque;
use std::path::Path;

use serde::Deserialize;

use crate::scenario::{Action, Turn};

/// A task whose check keeps failing is handed out again and again; an honest agent says so at some point.
const ATTEMPTS: u32 = 3;

#[derive(Debug)]
pub(super) struct Worker {
    /// As the shell finds it.
    steadfast: String,
    state: State,
    /// The task it was last given, and how often in a row.
    last: Option<(String, u32)>,
}

#[derive(Debug)]
enum State {
    Idle,
    Asked,
    Busy(VecDeque<Turn>),
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
}

impl Worker {
    pub(super) fn new(steadfast: &str) -> Self {
        Self { steadfast: steadfast.to_owned(), state: State::Idle, last: None }
    }

    /// What to do after `heard`, the result of the last call.
    pub(super) fn next(&mut self, heard: &str, cwd: &Path) -> Turn {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle => {
                self.state = State::Asked;
                Turn::saying("What is next?").calling([self.steadfast("task next --json")])
            }
            State::Asked => self.take(heard, cwd),
            State::Busy(mut turns) => match turns.pop_front() {
                Some(turn) => {
                    if !turns.is_empty() {
                        self.state = State::Busy(turns);
                    }
                    turn
                }
                None => self.next(heard, cwd),
            },
        }
    }

    fn take(&mut self, heard: &str, cwd: &Path) -> Turn {
        // The answer of the command may follow words of its own on the other stream.
        let answer = heard.find('{').map(|start| &heard[start..]);
        let mut parsed =
            answer.map(|text| serde_json::Deserializer::from_str(text).into_iter::<Next>()).into_iter().flatten();
        let task = match parsed.next() {
            Some(Ok(next)) => match next.tasks.into_iter().next() {
                Some(task) => task,
                None => return Turn::saying("No task is left. I am finished."),
            },
            Some(Err(_)) | None => {
                return Turn::saying(format!("I cannot read the ledger's answer: {heard}"));
            }
        };
        let attempt = match &self.last {
            Some((id, attempt)) if *id == task.id => attempt + 1,
            Some(_) | None => 1,
        };
        if attempt > ATTEMPTS {
            self.last = None;
            return Turn::saying(format!("Task {} does not get done, after {ATTEMPTS} attempts.", task.id));
        }
        self.last = Some((task.id.clone(), attempt));
        let mut turns = VecDeque::from([Turn::saying(format!("I start {} {}.", task.id, task.title))
            .calling([self.steadfast(&format!("task start {}", quoted(&task.id)))])]);
        turns.extend(
            task.files.iter().filter(|path| names_a_file(path)).map(|path| Turn::doing([written(&task, path, cwd)])),
        );
        if task.kind == "decision" {
            turns.push_back(Turn::doing([self.steadfast("decide 'the plain way' --why 'it is enough'")]));
        }
        turns.push_back(Turn::doing([self.steadfast(&format!("task done {}", quoted(&task.id)))]));
        self.state = State::Busy(turns);
        self.next(heard, cwd)
    }

    fn steadfast(&self, arguments: &str) -> Action {
        Action::shell(format!("{} {arguments}", quoted(&self.steadfast)))
    }
}

/// The file with one more line, in whatever language its name suggests.
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
    let mut content = std::fs::read_to_string(cwd.join(path)).unwrap_or_default();
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    content.push_str(&format!("{open}{} {}{close}\n", task.id, task.title));
    Action::write(path, content)
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

    #[test]
    fn a_task_is_started_worked_on_and_done() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/auth.rs"), "fn a() {}").unwrap();
        let mut worker = Worker::new("steadfast");
        let turns: Vec<Turn> =
            ["", NEXT, "ok", "ok", "ok", "ok"].iter().map(|heard| worker.next(heard, folder.path())).collect();
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
        let mut worker = Worker::new("steadfast");
        let _asks = worker.next("", Path::new("/"));
        let turn = worker.next(r#"{"tasks": []}"#, Path::new("/"));
        assert_eq!(turn, Turn::saying("No task is left. I am finished."));
    }

    #[test]
    fn it_says_what_it_cannot_read() {
        let mut worker = Worker::new("steadfast");
        let _asks = worker.next("", Path::new("/"));
        let turn = worker.next("no plan here", Path::new("/"));
        assert_eq!(turn, Turn::saying("I cannot read the ledger's answer: no plan here"));
    }

    #[test]
    fn it_gives_up_on_a_task_that_comes_back_for_ever() {
        let next = r#"{"tasks": [{"id": "1"}]}"#;
        let mut worker = Worker::new("steadfast");
        for _attempt in 0..ATTEMPTS {
            let _asks = worker.next("", Path::new("/"));
            let _starts = worker.next(next, Path::new("/"));
            let _finishes = worker.next("", Path::new("/"));
        }
        let _asks = worker.next("", Path::new("/"));
        assert_eq!(worker.next(next, Path::new("/")), Turn::saying("Task 1 does not get done, after 3 attempts."));
    }

    #[test]
    fn a_program_in_a_folder_with_spaces_is_quoted() {
        let mut worker = Worker::new("/my tools/steadfast");
        let turn = worker.next("", Path::new("/"));
        assert_eq!(turn.actions, [Action::shell("'/my tools/steadfast' task next --json")]);
    }
}
