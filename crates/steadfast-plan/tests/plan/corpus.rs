use std::path::Path;
use std::process::Command;

use steadfast_plan::{Options, compile};

/// Task files of other projects, where they are at hand: those that list tasks become plans.
#[test]
#[expect(clippy::disallowed_methods, reason = "the corpus is packed")]
#[expect(clippy::print_stderr, reason = "says what was not looked at")]
fn task_files_of_others_become_plans() {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora/tasks.tar.zst");
    if !archive.exists() {
        eprintln!("SKIPPED: there is no corpus beside this repository");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let unpacked = Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(dir.path()).output();
    if !unpacked.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: `tar` cannot read zstd here");
        return;
    }
    let mut files = Vec::new();
    find(dir.path(), &mut files);
    assert!(!files.is_empty());
    let plans = files.iter().filter(|file| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        compile(&text, "tasks.md", &Options::default()).is_ok()
    });
    let plans = plans.count();
    assert!(plans * 10 >= files.len() * 9, "{plans} of {}", files.len());
}

fn find(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, files);
        } else if path.to_string_lossy().ends_with("tasks.md") {
            files.push(path);
        }
    }
}
