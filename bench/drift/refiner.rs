use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use steadfast_engine::goal::in_tree;
use steadfast_model::{Goal, GoalWord};

/// The measured command of `drift.refine`, if any.
static COMMAND: OnceLock<String> = OnceLock::new();

pub(crate) fn measure(command: String) {
    let _ = COMMAND.set(command);
}

thread_local! {
    /// The answers by prompt: a prompt occurs in many cases, and a model can be slow and expensive.
    static SAID: RefCell<HashMap<String, Value>> = RefCell::default();
}

/// Returns the command's additions to a goal. A transcript has no tree, so the command runs in a folder with empty
/// files: those that sessions of the repository touched.
pub(crate) fn refined(text: &str, goal: &Goal, prompt: u64, tree: &BTreeSet<String>) -> Option<GoalWord> {
    let command = COMMAND.get()?;
    let told = json!({"prompt": text, "goal": goal.text, "scope": goal.scope}).to_string();
    let known = SAID.with_borrow(|said| said.get(&told).cloned());
    let said = known.unwrap_or_else(|| {
        let said = ask(command, &told, tree).unwrap_or_default();
        SAID.with_borrow_mut(|all| all.insert(told, said.clone()));
        said
    });
    let texts = |key: &str| -> Vec<String> {
        let all = said[key].as_array().into_iter().flatten();
        all.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let tree: Vec<String> = tree.iter().cloned().collect();
    let scope = in_tree(&texts("scope"), &tree);
    Some(GoalWord::Refined { prompt, goal: goal.text.clone(), scope, keywords: texts("keywords") })
}

/// Every failure counts as an empty answer, as in a session.
#[expect(clippy::disallowed_methods, reason = "the command is what is measured")]
fn ask(command: &str, told: &str, tree: &BTreeSet<String>) -> Option<Value> {
    let folder = std::env::temp_dir().join(format!("steadfast-drift-bench-{}", std::process::id()));
    lay_out(&folder, tree).ok()?;
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    // A command may ignore its input.
    let _ = child.stdin.take()?.write_all(told.as_bytes());
    let output = child.wait_with_output().ok()?;
    let _ = fs::remove_dir_all(&folder);
    output.status.success().then(|| serde_json::from_slice(&output.stdout).ok()).flatten()
}

fn lay_out(folder: &Path, tree: &BTreeSet<String>) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for file in tree.iter().map(PathBuf::from) {
        if file.components().all(|part| matches!(part, Component::Normal(_))) {
            let file = folder.join(file);
            // A name that is a file in one session and a folder in another is left out.
            let _ = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&file, ""));
        }
    }
    Ok(())
}
