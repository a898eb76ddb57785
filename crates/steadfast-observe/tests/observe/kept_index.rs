//! The private index is kept between calls; the id must not show it.

use std::fs::{self, File, FileTimes};
use std::time::Duration;

use steadfast_observe::ChangeKind;

use crate::sandbox::{LONG, Sandbox, known, unknown};

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

/// More than may gather.
const TOO_MUCH: u64 = 80 << 20;

/// As git would leave it, in the directory of the objects.
fn left_over(sandbox: &Sandbox) -> std::path::PathBuf {
    let folder = sandbox.private_dir().join("objects/ab");
    fs::create_dir_all(&folder).unwrap();
    folder.join("c".repeat(38))
}

#[test]
fn objects_that_gathered_past_the_bound_are_thrown_away_and_the_tree_is_the_same() {
    let sandbox = Sandbox::new();
    sandbox.write("new.txt", "new\n");
    let before = sandbox.tree();
    let left = left_over(&sandbox);
    File::create(&left).unwrap().set_len(TOO_MUCH / 2).unwrap();
    assert_eq!((sandbox.tree(), left.exists()), (before.clone(), true), "below the bound");
    File::create(&left).unwrap().set_len(TOO_MUCH).unwrap();
    assert_eq!((sandbox.tree(), left.exists()), (before.clone(), false), "past it");
    // What the tree is made of was written anew.
    assert_eq!(sandbox.listed(&before), ["100644 a.txt", "100644 new.txt", "100644 src/b.txt"]);
    sandbox.write("new.txt", "newer\n");
    assert_eq!(sandbox.changed(&sandbox.since(before)), [("new.txt".to_owned(), ChangeKind::Modified)]);
}

#[test]
fn a_tree_whose_objects_were_thrown_away_is_unknown() {
    let sandbox = Sandbox::new();
    sandbox.write("new.txt", "new\n");
    let before = sandbox.tree();
    sandbox.remove("new.txt");
    File::create(left_over(&sandbox)).unwrap().set_len(TOO_MUCH).unwrap();
    sandbox.tree();
    let why = unknown(sandbox.repository().changed_since(&sandbox.since(before.clone()), LONG));
    assert!(why.starts_with("`git diff-tree` failed: ") && why.contains(&before.to_string()), "{why}");
}

#[test]
fn large_files_that_git_does_not_know_are_not_written_with_every_call() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "core.looseCompression", "0"]);
    File::create(sandbox.root.join("large.bin")).unwrap().set_len(TOO_MUCH).unwrap();
    sandbox.tree();
    let large = || {
        let folders = fs::read_dir(sandbox.private_dir().join("objects")).unwrap().flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
        let mut large = files.map(|file| file.metadata().unwrap()).filter(|file| file.len() >= TOO_MUCH);
        large.next().map(|file| std::os::unix::fs::MetadataExt::ino(&file))
    };
    let first = large();
    assert!(first.is_some(), "it is kept as it is");
    sandbox.write("new.txt", "new\n");
    sandbox.tree();
    assert_eq!(large(), first);
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
