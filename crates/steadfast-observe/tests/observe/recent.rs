use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use steadfast_model::Millis;

use crate::sandbox::{LONG, Sandbox, known, unknown};

/// Beyond what a file system tells apart.
const MOMENT: Duration = Duration::from_millis(50);

fn now() -> Millis {
    std::thread::sleep(MOMENT);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    std::thread::sleep(MOMENT);
    Millis(i64::try_from(now.as_millis()).unwrap())
}

fn after(sandbox: &Sandbox, since: Millis) -> Vec<PathBuf> {
    known(sandbox.repository().changed_after(since, 32, LONG))
}

#[test]
fn what_changed_before_is_not_told() {
    let sandbox = Sandbox::new();
    sandbox.write("before.txt", "").write("a.txt", "mine");
    let began = now();
    sandbox.write("new/deep.txt", "").write("src/b.txt", "other");
    assert_eq!(after(&sandbox, began), [PathBuf::from("new/deep.txt"), PathBuf::from("src/b.txt")]);
}

#[test]
fn a_file_that_was_put_there_with_an_old_time_is_new() {
    let sandbox = Sandbox::new();
    sandbox.write("old.txt", "");
    fs::File::options()
        .write(true)
        .open(sandbox.root.join("old.txt"))
        .unwrap()
        .set_modified(UNIX_EPOCH + LONG)
        .unwrap();
    let began = now();
    fs::rename(sandbox.root.join("old.txt"), sandbox.root.join("moved.txt")).unwrap();
    assert_eq!(after(&sandbox, began), [PathBuf::from("moved.txt")]);
}

#[test]
fn written_again_as_it_was_is_no_change_and_what_is_gone_has_no_time() {
    let sandbox = Sandbox::new();
    let began = now();
    sandbox.write("a.txt", "a\n").remove("src/b.txt");
    assert_eq!(after(&sandbox, began), Vec::<PathBuf>::new());
}

#[test]
fn no_more_are_told_than_were_asked_for() {
    let sandbox = Sandbox::new();
    let began = now();
    for n in 0..40 {
        sandbox.write(format!("new/{n}.txt"), "");
    }
    assert_eq!(known(sandbox.repository().changed_after(began, 32, LONG)).len(), 32);
}

#[test]
fn without_git_it_is_not_known() {
    let sandbox = Sandbox::without_git();
    assert_eq!(unknown(sandbox.repository().changed_after(Millis(0), 32, LONG)), "not a git repository");
}
