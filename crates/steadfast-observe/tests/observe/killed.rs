//! Whoever dies when: the user's git is as it was, and the next call works.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use steadfast_observe::{Checkout, Point};
use steadfast_testkit::wait_for;

use crate::again::run;
use crate::sandbox::{LONG, Sandbox, command, known, unknown};
use crate::trees::contents;

const ROUNDS: u64 = 50;

#[test]
fn kill_9_at_any_moment_leaves_no_lock_in_the_users_git() {
    let sandbox = Sandbox::new();
    (0..1_500).for_each(|n| {
        sandbox.write(format!("many/{}/{n}", n % 50), n.to_string());
    });
    sandbox.commit();
    let dot_git = sandbox.root.join(".git");
    let before = contents(&dot_git);
    let mut chance = 0x9e37_79b9_u64;
    for round in 0..ROUNDS {
        let mut child = run("works-until-killed", &sandbox.root).stdout(Stdio::piped()).spawn().unwrap();
        wait_for_the_first_answer(&mut child);
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((chance >> 33) % 60_000));
        // Every other time the git it runs dies first.
        if round % 2 == 1 {
            kill_with_children(child.id());
        } else {
            child.kill().unwrap();
        }
        child.wait().unwrap();
        assert_eq!(locks(&dot_git, &dot_git.join("steadfast")), Vec::<PathBuf>::new(), "in round {round}");
    }
    let private = dot_git.join("steadfast/tree");
    let repository = Checkout::find(&sandbox.root);
    sandbox.write("busy.txt", "at the end");
    let tree = known(repository.tree_id(&private, LONG));
    assert_eq!(tree, sandbox.fresh_tree());
    assert_eq!(known(repository.changed_since(&Point::Head, LONG)).len(), 1);
    assert_eq!(contents(&dot_git), before);
    assert_eq!(locks(&dot_git, Path::new("/nowhere")), Vec::<PathBuf>::new());
    assert_eq!(sandbox.git(&["fsck", "--strict", "--no-progress"]), "");
    sandbox.commit();
}

#[test]
fn a_git_that_outlives_its_caller_keeps_its_lock() {
    let sandbox = Sandbox::new();
    let began = sandbox.dir.path().join("began");
    let go_on = sandbox.dir.path().join("go-on");
    // Until it may go on, or the folder is gone with the test.
    let slow = format!(
        "touch '{}'; while [ -d '{}' ] && [ ! -e '{}' ]; do sleep 0.05; done; cat",
        began.display(),
        sandbox.root.display(),
        go_on.display()
    );
    sandbox.git(&["config", "filter.slow.clean", &slow]);
    sandbox.write(".gitattributes", "slow.txt filter=slow\n").write("slow.txt", "");
    let mut child = run("works-until-killed", &sandbox.root).stdout(Stdio::null()).spawn().unwrap();
    wait_for("a git that reads the file", || if began.exists() { Ok(()) } else { Err("none".to_owned()) });
    child.kill().unwrap();
    child.wait().unwrap();
    let private = sandbox.root.join(".git/steadfast/tree");
    let lock = || fs::metadata(private.join("index.lock")).unwrap().ino();
    let before = lock();
    let asked = |budget| sandbox.repository().tree_id(&private, budget);
    assert_eq!(unknown(asked(Duration::from_millis(100))), "no answer within 100 ms");
    assert_eq!(lock(), before);
    fs::write(&go_on, "").unwrap();
    assert_eq!(known(asked(LONG)), sandbox.fresh_tree());
}

fn wait_for_the_first_answer(child: &mut Child) {
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("= ")));
}

/// By the shell alone: until another program has started, that git would have ended by itself.
fn kill_with_children(pid: u32) {
    let script = "for list in /proc/$0/task/*/children; do read pids < $list; kill -9 $pids; done; kill -9 $0";
    command("sh").args(["-c", script, &pid.to_string()]).stderr(Stdio::null()).status().unwrap();
}

fn locks(dir: &Path, but: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()).filter(|path| path != but);
    entries
        .flat_map(|path| match path.is_dir() {
            true => locks(&path, but),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "lock"))
        .collect()
}
