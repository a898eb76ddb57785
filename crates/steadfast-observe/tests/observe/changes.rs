use std::fs;
use std::os::unix::fs::PermissionsExt;

use steadfast_observe::ChangeKind::{Added, Deleted, Modified};
use steadfast_observe::{ChangeKind, ChangedFile, Checkout, Point};

use crate::sandbox::{LONG, Sandbox, changed, git, known, os, unknown};
use crate::trees::contents;

fn expect(list: &[(&str, ChangeKind)]) -> Vec<(String, ChangeKind)> {
    list.iter().map(|(path, kind)| ((*path).to_owned(), *kind)).collect()
}

#[test]
fn nothing_changed_in_a_fresh_checkout() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.changed(&Point::Head), []);
}

#[test]
fn changes_are_seen_staged_or_not_tracked_or_not() {
    let sandbox = Sandbox::new();
    sandbox.write("staged.txt", "").write("src/b.txt", "other").git(&["add", "--all"]);
    sandbox.remove("a.txt").write("new/deep/er.txt", "");
    let expected = [("a.txt", Deleted), ("new/deep/er.txt", Added), ("src/b.txt", Modified), ("staged.txt", Added)];
    assert_eq!(sandbox.changed(&Point::Head), expect(&expected));
}

#[test]
fn ignored_files_and_our_own_are_left_out() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log\n").write("x.log", "").write(".steadfast/PROGRESS.md", "");
    assert_eq!(sandbox.changed(&Point::Head), expect(&[(".gitignore", Added)]));
}

#[test]
fn what_was_changed_back_is_no_change_though_the_index_differs() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "other").write("gone.txt", "").git(&["add", "--all"]);
    sandbox.write("a.txt", "a\n").remove("gone.txt");
    sandbox.git(&["rm", "--quiet", "--cached", "src/b.txt"]);
    assert_eq!(sandbox.changed(&Point::Head), []);
    sandbox.write("src/b.txt", "other");
    assert_eq!(sandbox.changed(&Point::Head), expect(&[("src/b.txt", Modified)]));
}

#[test]
fn the_users_index_is_not_refreshed() {
    let sandbox = Sandbox::new();
    let dot_git = sandbox.root.join(".git");
    // The same content at another time: a plain `git status` would note that down.
    let file = fs::File::options().write(true).open(sandbox.root.join("a.txt")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + LONG).unwrap();
    let before = contents(&dot_git);
    assert_eq!(sandbox.changed(&Point::Head), []);
    assert_eq!(contents(&dot_git), before);
}

#[test]
fn a_renamed_file_is_one_gone_and_one_added() {
    let sandbox = Sandbox::new();
    sandbox.git(&["mv", "a.txt", "c.txt"]);
    assert_eq!(sandbox.changed(&Point::Head), expect(&[("a.txt", Deleted), ("c.txt", Added)]));
}

#[test]
fn a_mode_and_a_type_are_changes() {
    let sandbox = Sandbox::new();
    fs::set_permissions(sandbox.root.join("a.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.remove("src/b.txt").link("src/b.txt", "../a.txt");
    assert_eq!(sandbox.changed(&Point::Head), expect(&[("a.txt", Modified), ("src/b.txt", Modified)]));
}

#[test]
fn before_the_first_commit_every_file_is_added() {
    let sandbox = Sandbox::empty();
    assert_eq!(sandbox.changed(&Point::Head), []);
    sandbox.write("a.txt", "").write("b.txt", "").git(&["add", "a.txt"]);
    assert_eq!(sandbox.changed(&Point::Head), expect(&[("a.txt", Added), ("b.txt", Added)]));
}

#[test]
fn names_may_hold_anything_but_nul() {
    let sandbox = Sandbox::new();
    let names: [&[u8]; 6] = [b" lead", b"\"quoted\"", b"caf\xe9", b"cr\r", b"new\nline", b"tab\tand\\"];
    names.iter().for_each(|name| {
        sandbox.write(os(name), "x");
    });
    let expected = names.map(|name| ChangedFile { path: os(name).to_owned(), kind: Added });
    assert_eq!(known(sandbox.repository().changed_since(&Point::Head, LONG)), expected);
    // Staged, and then changed back or not: now their content has to be looked at by name.
    let tree = sandbox.tree();
    sandbox.write(os(b"cr\r"), "y");
    let expected = [ChangedFile { path: os(b"cr\r").to_owned(), kind: Modified }];
    assert_eq!(known(sandbox.repository().changed_since(&sandbox.since(tree), LONG)), expected);
}

#[test]
fn since_a_commit_what_was_committed_and_what_was_not_count_together() {
    let sandbox = Sandbox::new();
    let first = sandbox.git(&["rev-parse", "HEAD"]).trim().parse().unwrap();
    sandbox.write("a.txt", "2").write("src/b.txt", "2").write("c.txt", "c").commit();
    sandbox.write("src/b.txt", "b\n").remove("c.txt").write("d.txt", "");
    assert_eq!(sandbox.changed(&Point::Commit(first)), expect(&[("a.txt", Modified), ("d.txt", Added)]));
}

#[test]
fn since_a_tree_unknown_files_count_by_their_content() {
    let sandbox = Sandbox::new();
    sandbox.write("same.txt", "s").write("new.txt", "1").write("gone.txt", "").write("a.txt", "x");
    let tree = sandbox.tree();
    assert_eq!(sandbox.changed(&sandbox.since(tree.clone())), []);
    sandbox.write("new.txt", "2").remove("gone.txt").write("later.txt", "").write("a.txt", "a\n");
    let expected = [("a.txt", Modified), ("gone.txt", Deleted), ("later.txt", Added), ("new.txt", Modified)];
    assert_eq!(sandbox.changed(&sandbox.since(tree.clone())), expect(&expected));
    sandbox.commit();
    assert_eq!(sandbox.changed(&sandbox.since(tree)), expect(&expected));
}

#[test]
fn a_commit_that_does_not_exist_is_unknown() {
    let sandbox = Sandbox::new();
    let nowhere = Point::Commit("1".repeat(40).parse().unwrap());
    let why = unknown(sandbox.repository().changed_since(&nowhere, LONG));
    assert!(why.starts_with("`git diff-tree` failed: "), "{why}");
}

#[test]
fn a_submodule_is_one_path_whatever_happens_inside() {
    let (sandbox, other) = (Sandbox::new(), Sandbox::new());
    let url = other.root.to_str().unwrap();
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "sub"]);
    let before = sandbox.commit();
    assert_eq!(sandbox.changed(&Point::Head), []);
    sandbox.write("sub/a.txt", "dirty");
    assert_eq!(sandbox.changed(&Point::Head), expect(&[("sub", Modified)]));
    git(&sandbox.root.join("sub"), &["commit", "--quiet", "--all", "--message=inside"]);
    assert_eq!(sandbox.changed(&Point::Head), expect(&[("sub", Modified)]));
    sandbox.commit();
    assert_eq!(sandbox.changed(&Point::Commit(before.clone())), expect(&[("sub", Modified)]));
    git(&sandbox.root.join("sub"), &["checkout", "--quiet", "HEAD~"]);
    assert_eq!(sandbox.changed(&Point::Commit(before.clone())), []);
    sandbox.write("sub/new.txt", "");
    assert_eq!(sandbox.changed(&Point::Commit(before)), expect(&[("sub", Modified)]));
}

#[test]
fn a_repository_that_nobody_added_is_one_path() {
    let sandbox = Sandbox::new();
    sandbox.write("inner/x", "").git(&["init", "--quiet", "inner"]);
    assert_eq!(sandbox.changed(&Point::Head), expect(&[("inner", Added)]));
    sandbox.git(&["config", "core.untrackedCache", "true"]);
    assert_eq!(sandbox.changed(&Point::Head), expect(&[("inner", Added)]));
}

#[test]
fn with_a_cache_of_unknown_files_the_answer_is_the_same() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "core.untrackedCache", "true"]);
    sandbox.write(".gitignore", "*.log\n").write("new/x.log", "").write("new/a", "").write("new/deep/*b", "");
    sandbox.write("top", "").git(&["status", "--porcelain"]);
    let expected = [(".gitignore", Added), ("new/a", Added), ("new/deep/*b", Added), ("top", Added)];
    assert_eq!(sandbox.changed(&Point::Head), expect(&expected));
}

#[test]
fn outside_a_sparse_checkout_nothing_is_gone() {
    let sandbox = Sandbox::new();
    sandbox.git(&["sparse-checkout", "set", "--sparse-index", "other"]);
    assert!(!sandbox.root.join("src/b.txt").exists());
    assert_eq!(sandbox.changed(&Point::Head), []);
    sandbox.write("src/b.txt", "written nevertheless");
    assert_eq!(sandbox.changed(&Point::Head), expect(&[("src/b.txt", Modified)]));
}

#[test]
fn a_linked_worktree_has_its_own_changes() {
    let sandbox = Sandbox::new();
    sandbox.git(&["worktree", "add", "--quiet", "../side"]);
    let side = Checkout::find(&sandbox.root.with_file_name("side"));
    fs::write(side.root.join("a.txt"), "side").unwrap();
    assert_eq!((sandbox.changed(&Point::Head), changed(&side, &Point::Head)), (vec![], expect(&[("a.txt", Modified)])));
}

#[test]
fn line_ends_that_git_converts_are_modified_for_git_status_and_no_change_where_content_is_looked_at() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitattributes", "*.txt text\n").commit();
    sandbox.write("a.txt", "a\r\n").write("untracked.txt", "u\r\n");
    assert_eq!(sandbox.changed(&Point::Head), expect(&[("a.txt", Modified), ("untracked.txt", Added)]));
    sandbox.git(&["config", "core.safecrlf", "true"]);
    let tree = sandbox.tree();
    sandbox.write("untracked.txt", "u\n");
    assert_eq!(sandbox.changed(&sandbox.since(tree)), expect(&[("a.txt", Modified)]));
}

#[test]
fn a_file_in_conflict_is_modified() {
    let sandbox = Sandbox::new();
    sandbox.git(&["switch", "--quiet", "--create", "other"]);
    sandbox.write("a.txt", "theirs\n").commit();
    sandbox.git(&["switch", "--quiet", "main"]);
    sandbox.write("a.txt", "ours\n").commit();
    let merge = crate::sandbox::command("git").current_dir(&sandbox.root).args(["merge", "other"]).output().unwrap();
    assert!(!merge.status.success());
    assert_eq!(sandbox.changed(&Point::Head), expect(&[("a.txt", Modified)]));
    sandbox.write("a.txt", "ours\n");
    assert_eq!(sandbox.changed(&Point::Head), []);
}
