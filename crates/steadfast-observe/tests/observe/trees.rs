use std::fs;
use std::path::Path;

use steadfast_observe::{Checkout, ObjectId, TreeId};

use crate::sandbox::{LONG, Sandbox, command, git, known, unknown};

impl Sandbox {
    /// The tree that a commit of everything would have.
    fn committed(&self) -> TreeId {
        self.commit();
        TreeId::new(self.git(&["rev-parse", "HEAD^{tree}"]).trim().parse().unwrap())
    }
}

/// Everything in a git directory but what is ours, with sizes and times. The times of objects are left out: git sets
/// them anew when it meets an object again, so that it is not cleared away.
pub(crate) fn contents(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let metadata = entry.metadata().unwrap();
            if metadata.is_dir() && entry.file_name() != "steadfast" {
                dirs.push(entry.path());
            } else if metadata.is_file() {
                let is_object = entry.path().starts_with(root.join("objects"));
                let time = (!is_object).then(|| metadata.modified().unwrap());
                found.push(format!("{} {} {time:?}", entry.path().display(), metadata.len()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_id_is_that_of_a_commit_of_everything() {
    let sandbox = Sandbox::new();
    sandbox.write("new.txt", "").write("a.txt", "other").remove("src/b.txt").link("link", "nowhere");
    let tree = sandbox.tree();
    assert_eq!(tree, sandbox.committed());
}

#[test]
fn the_users_git_is_not_touched() {
    let sandbox = Sandbox::new();
    sandbox.write("staged.txt", "staged").git(&["add", "staged.txt"]);
    sandbox.write("new.txt", "never seen before").write("a.txt", "other");
    let before = contents(&sandbox.root.join(".git"));
    sandbox.tree();
    sandbox.write("a.txt", "and again");
    sandbox.tree();
    assert_eq!(contents(&sandbox.root.join(".git")), before);
}

#[test]
fn ours_is_left_out_even_where_somebody_committed_it() {
    let sandbox = Sandbox::new();
    let without = sandbox.tree();
    sandbox.write(".steadfast/PROGRESS.md", "1").commit();
    let committed = sandbox.tree();
    sandbox.write(".steadfast/PROGRESS.md", "2");
    assert_eq!([committed, sandbox.tree()], [without.clone(), without]);
}

#[test]
fn an_empty_repository_has_the_empty_tree_and_then_its_files() {
    let sandbox = Sandbox::empty();
    assert_eq!(sandbox.tree().to_string(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    sandbox.write("a.txt", "");
    assert_eq!(sandbox.listed(&sandbox.tree()), ["100644 a.txt"]);
}

#[test]
fn a_sha256_repository_has_long_ids() {
    let sandbox = Sandbox::init(&["init", "--quiet", "--object-format=sha256", "."]);
    sandbox.write("a.txt", "a").commit();
    sandbox.write("b.txt", "b");
    let tree = sandbox.tree();
    assert_eq!((tree.object().as_str().len(), &tree), (64, &sandbox.committed()));
}

#[test]
fn what_is_ignored_but_tracked_counts() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log\n").write("kept.log", "1").write("other.log", "");
    sandbox.git(&["add", "--force", "kept.log"]);
    let expected = ["100644 .gitignore", "100644 a.txt", "100644 kept.log", "100644 src/b.txt"];
    assert_eq!(sandbox.listed(&sandbox.tree()), expected);
    let before = sandbox.tree();
    sandbox.write("kept.log", "2");
    assert_ne!(sandbox.tree(), before);
}

#[test]
fn outside_a_sparse_checkout_files_count_as_committed() {
    for index in ["--no-sparse-index", "--sparse-index"] {
        let sandbox = Sandbox::new();
        let full = sandbox.tree();
        sandbox.git(&["sparse-checkout", "set", index, "other"]);
        assert!(!sandbox.root.join("src/b.txt").exists());
        assert_eq!(sandbox.tree(), full);
        sandbox.write("src/b.txt", "written nevertheless").write("src/new.txt", "");
        let expected = ["100644 a.txt", "100644 src/b.txt", "100644 src/new.txt"];
        let tree = sandbox.tree();
        assert_eq!((sandbox.listed(&tree).as_slice(), tree != full), (expected.map(str::to_owned).as_slice(), true));
    }
}

#[test]
fn a_submodule_counts_by_its_commit() {
    let (sandbox, other) = (Sandbox::new(), Sandbox::new());
    let url = other.root.to_str().unwrap();
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "sub"]);
    sandbox.commit();
    let before = sandbox.tree();
    sandbox.write("sub/a.txt", "inside");
    assert_eq!(sandbox.tree(), before);
    git(&sandbox.root.join("sub"), &["commit", "--quiet", "--all", "--message=inside"]);
    let after = sandbox.tree();
    assert_eq!((after != before, &after), (true, &sandbox.committed()));
}

#[test]
fn worktrees_with_the_same_files_have_the_same_id() {
    let sandbox = Sandbox::new();
    sandbox.git(&["worktree", "add", "--quiet", "../side"]);
    let side = Checkout::find(&sandbox.root.with_file_name("side"));
    // Even when somebody gives both the same folder.
    let of_side = || known(side.tree_id(&sandbox.private_dir(), LONG));
    assert_eq!([sandbox.tree(), of_side()], [sandbox.tree(), of_side()]);
    fs::write(side.root.join("a.txt"), "side").unwrap();
    assert_ne!(of_side(), sandbox.tree());
}

#[test]
fn a_split_index_stays_the_users() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "core.splitIndex", "true"]);
    sandbox.git(&["update-index", "--split-index"]);
    sandbox.write("new.txt", "");
    let shared = || {
        let names = fs::read_dir(sandbox.root.join(".git")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("sharedindex")).collect::<Vec<_>>()
    };
    let before = shared();
    assert!(!before.is_empty());
    assert_eq!((sandbox.listed(&sandbox.tree()).len(), shared()), (3, before));
}

#[test]
fn files_in_conflict_count_as_they_lie_there() {
    let sandbox = Sandbox::new();
    sandbox.git(&["switch", "--quiet", "--create", "other"]);
    sandbox.write("a.txt", "theirs\n").commit();
    sandbox.git(&["switch", "--quiet", "main"]);
    sandbox.write("a.txt", "ours\n").commit();
    let before = sandbox.tree();
    let merge = command("git").current_dir(&sandbox.root).args(["merge", "other"]).output().unwrap();
    assert!(!merge.status.success());
    assert_ne!(sandbox.tree(), before);
    sandbox.write("a.txt", "ours\n");
    assert_eq!(sandbox.tree(), before);
}

#[test]
fn a_hook_of_the_user_is_not_run() {
    let sandbox = Sandbox::new();
    sandbox.write(".git/hooks/post-index-change", "#!/bin/sh\necho ran > ran.txt\n");
    let hook = sandbox.root.join(".git/hooks/post-index-change");
    fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    sandbox.write("new.txt", "");
    sandbox.tree();
    assert!(!sandbox.root.join("ran.txt").exists());
}

#[test]
fn without_a_checkout_there_is_no_tree() {
    let bare = Sandbox::init(&["init", "--quiet", "--bare", "."]);
    let none = Sandbox::without_git();
    let asked = [bare, none].map(|sandbox| unknown(sandbox.repository().tree_id(&sandbox.private_dir(), LONG)));
    assert_eq!(asked, ["a bare repository has no checkout", "not a git repository"]);
}

#[test]
fn a_folder_with_a_separator_in_its_name_works_too() {
    let sandbox = Sandbox::without_git();
    let odd = sandbox.root.join("odd:\"name");
    fs::create_dir(&odd).unwrap();
    git(&odd, &["init", "--quiet"]);
    fs::write(odd.join("a"), "a").unwrap();
    git(&odd, &["add", "a"]);
    git(&odd, &["commit", "--quiet", "--message=x"]);
    let expected: ObjectId = git(&odd, &["rev-parse", "HEAD^{tree}"]).trim().parse().unwrap();
    assert_eq!(known(Checkout::find(&odd).tree_id(&odd.join(".git/steadfast/tree"), LONG)), TreeId::new(expected));
}
