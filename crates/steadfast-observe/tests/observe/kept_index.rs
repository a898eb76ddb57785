//! The private index is kept between calls; the id must not show it.

use std::fs::{self, File, FileTimes};
use std::time::Duration;

use crate::sandbox::{LONG, Sandbox, known};

#[test]
fn a_file_that_is_ignored_later_leaves_the_tree() {
    let sandbox = Sandbox::new();
    sandbox.write("out.log", "").write("b.txt", "");
    sandbox.tree();
    sandbox.write(".git/info/exclude", "*.log\n");
    let tree = sandbox.tree();
    assert_eq!(sandbox.listed(&tree), ["100644 a.txt", "100644 b.txt", "100644 src/b.txt"]);
    assert_eq!(tree, sandbox.fresh_tree());
}

#[test]
fn what_the_user_stages_between_two_calls_counts() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log\n").write("x.log", "");
    let before = sandbox.tree();
    sandbox.git(&["add", "--force", "x.log"]);
    let with = sandbox.tree();
    sandbox.git(&["rm", "--quiet", "--cached", "x.log"]);
    assert_eq!((with != before, sandbox.tree()), (true, before));
}

#[test]
fn a_write_in_the_same_moment_as_the_index_is_seen() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "core.trustctime", "false"]);
    sandbox.git(&["config", "core.checkStat", "minimal"]);
    let moment = fs::metadata(sandbox.root.join(".git/index")).unwrap().modified().unwrap();
    // Git compares whole seconds; this one is over.
    let moment = moment - Duration::from_secs(100);
    let back_to_that_moment = |path: &str| {
        let file = File::options().write(true).open(sandbox.root.join(path)).unwrap();
        file.set_times(FileTimes::new().set_modified(moment)).unwrap();
    };
    back_to_that_moment("a.txt");
    sandbox.git(&["update-index", "--refresh"]);
    let before = sandbox.fresh_tree();
    // As long as it was, at the time git knows: only the age of the index tells it to look again.
    sandbox.write("a.txt", "z\n");
    back_to_that_moment("a.txt");
    back_to_that_moment(".git/index");
    assert_ne!(sandbox.fresh_tree(), before);
}

#[test]
fn a_dead_git_s_lock_and_half_objects_are_cleared_away() {
    let sandbox = Sandbox::new();
    let before = sandbox.tree();
    let private = sandbox.private_dir();
    fs::write(private.join("index.lock"), "half an index").unwrap();
    fs::create_dir_all(private.join("objects/ab")).unwrap();
    fs::write(private.join("objects/ab/tmp_obj_x1"), "half an object").unwrap();
    assert_eq!(sandbox.tree(), before);
    let left = [private.join("index.lock"), private.join("objects/ab/tmp_obj_x1")].map(|path| path.exists());
    assert_eq!(left, [false, false]);
}

#[test]
fn a_damaged_index_of_ours_is_made_anew() {
    let sandbox = Sandbox::new();
    sandbox.write("new.txt", "");
    let before = sandbox.tree();
    fs::write(sandbox.private_dir().join("index"), "damaged").unwrap();
    assert_eq!(sandbox.tree(), before);
}

#[test]
fn two_at_once_take_turns() {
    let sandbox = Sandbox::new();
    (0..300).for_each(|n| {
        sandbox.write(format!("many/{n}"), n.to_string());
    });
    let (repository, private) = (sandbox.repository(), sandbox.private_dir());
    let ask = || known(repository.tree_id(&private, LONG));
    let trees = std::thread::scope(|scope| [(); 4].map(|()| scope.spawn(ask)).map(|asked| asked.join().unwrap()));
    assert_eq!(trees, [(); 4].map(|()| sandbox.fresh_tree()));
}
