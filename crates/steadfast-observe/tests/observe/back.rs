//! From a tree id back to the files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use steadfast_observe::{InTree, TreeId};

use crate::sandbox::{LONG, Sandbox, known, os, unknown};

const LONGEST: u64 = 1_000;

impl Sandbox {
    fn held(&self, tree: &TreeId, path: impl AsRef<Path>) -> InTree {
        let held = self.repository().in_tree(tree, &self.private_dir(), &[path], LONGEST, LONG);
        known(held).into_iter().next().unwrap()
    }

    fn ignored(&self, paths: &[&str]) -> Vec<PathBuf> {
        known(self.repository().ignored(paths, LONG))
    }
}

fn file(text: &str) -> InTree {
    InTree::File { bytes: text.into(), executable: false }
}

#[test]
fn what_lay_at_a_path_comes_back_whatever_became_of_it() {
    let sandbox = Sandbox::new();
    sandbox.write("new.txt", "not committed").link("link", "nowhere").write("run.sh", "x");
    fs::set_permissions(sandbox.root.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let tree = sandbox.tree();
    sandbox.write("a.txt", "intruder").write("new.txt", "intruder").remove("src/b.txt").remove("link");
    let paths = ["a.txt", "new.txt", "src/b.txt", "link", "run.sh", "never", "src"];
    let held = known(sandbox.repository().in_tree(&tree, &sandbox.private_dir(), &paths, LONGEST, LONG));
    let expected = [
        file("a\n"),
        file("not committed"),
        file("b\n"),
        InTree::Link(b"nowhere".to_vec()),
        InTree::File { bytes: b"x".to_vec(), executable: true },
        InTree::Nothing,
        InTree::Folder,
    ];
    assert_eq!(held, expected);
}

#[test]
fn it_comes_back_as_git_lays_it_down() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitattributes", "*.bat text eol=crlf\n").write("run.bat", "one\r\ntwo\r\n");
    assert_eq!(sandbox.held(&sandbox.tree(), "run.bat"), file("one\r\ntwo\r\n"));
}

#[test]
fn what_is_large_is_told_and_not_read() {
    let sandbox = Sandbox::new();
    sandbox.write("large", "x".repeat(1_001));
    assert_eq!(sandbox.held(&sandbox.tree(), "large"), InTree::Large { size: 1_001, executable: false });
}

#[test]
fn a_repository_inside_has_no_content() {
    let sandbox = Sandbox::new();
    sandbox.write("inside/x", "");
    crate::sandbox::git(&sandbox.root.join("inside"), &["init", "--quiet", "."]);
    crate::sandbox::git(&sandbox.root.join("inside"), &["add", "--all"]);
    crate::sandbox::git(&sandbox.root.join("inside"), &["commit", "--quiet", "--message=x"]);
    assert_eq!(sandbox.held(&sandbox.tree(), "inside"), InTree::Nested);
}

#[test]
fn a_name_is_a_name_and_no_pattern() {
    let sandbox = Sandbox::new();
    let names = [":(top)x", "a*", "a?[b]", "two\nlines", " ends in a space "];
    for name in names {
        sandbox.write(name, name);
    }
    sandbox.write("ab", "").write(os(b"caf\xe9"), "not UTF-8");
    let tree = sandbox.tree();
    assert_eq!(names.map(|name| sandbox.held(&tree, name)), names.map(file));
    assert_eq!(sandbox.held(&tree, os(b"caf\xe9")), file("not UTF-8"));
}

#[test]
fn what_git_passes_over_is_named_and_folders_as_wholes() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log\nbuild/\n").write("src/x.log", "").write("src/build/a", "");
    sandbox.write("src/build/b", "").write("other/y.log", "").write("src/seen", "");
    assert_eq!(sandbox.ignored(&["src"]), [PathBuf::from("src/build/"), PathBuf::from("src/x.log")]);
    assert_eq!(sandbox.ignored(&["other/y.log", "src/seen"]), [PathBuf::from("other/y.log")]);
}

#[test]
fn where_there_is_no_git_nothing_is_known() {
    let sandbox = Sandbox::without_git();
    let tree = TreeId::new("a".repeat(40).parse().unwrap());
    let held = sandbox.repository().in_tree(&tree, &sandbox.private_dir(), &["a"], LONGEST, LONG);
    assert_eq!(unknown(held), "not a git repository");
    assert_eq!(unknown(sandbox.repository().ignored(&["a"], LONG)), "not a git repository");
}
