use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use steadfast_observe::ObjectId;

use crate::sandbox::{LONG, Sandbox, known, os, unknown};

fn ids(sandbox: &Sandbox, paths: &[&str]) -> BTreeMap<PathBuf, Option<ObjectId>> {
    known(sandbox.repository().object_ids(paths, LONG))
}

fn map(entries: &[(&str, Option<&ObjectId>)]) -> BTreeMap<PathBuf, Option<ObjectId>> {
    entries.iter().map(|(path, id)| (PathBuf::from(path), id.cloned())).collect()
}

impl Sandbox {
    /// As the index has it.
    fn staged(&self, path: &str) -> ObjectId {
        self.git(&["rev-parse", &format!(":{path}")]).trim().parse().unwrap()
    }
}

#[test]
fn ids_are_those_git_would_store_with_its_filters() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitattributes", "*.txt text\n").write("a.txt", "one\r\ntwo\r\n").link("link", "a.txt").commit();
    let (a, link) = (sandbox.staged("a.txt"), sandbox.staged("link"));
    assert_eq!(
        ids(&sandbox, &["a.txt", "link", "none"]),
        map(&[("a.txt", Some(&a)), ("link", Some(&link)), ("none", None)])
    );
}

#[test]
fn a_folder_stands_for_its_files() {
    let sandbox = Sandbox::new();
    sandbox.write("src/new.txt", "n").write("src/x.log", "").write(".gitignore", "*.log\n");
    let asked = ids(&sandbox, &["src", "empty"]);
    sandbox.git(&["add", "--all"]);
    let (b, new) = (sandbox.staged("src/b.txt"), sandbox.staged("src/new.txt"));
    assert_eq!(asked, map(&[("src/b.txt", Some(&b)), ("src/new.txt", Some(&new)), ("empty", None)]));
}

#[test]
fn a_path_may_be_absolute_or_go_through_a_link_inside() {
    let sandbox = Sandbox::new();
    sandbox.link("same", "src");
    let (b, absolute) = (sandbox.staged("src/b.txt"), sandbox.root.join("src/b.txt"));
    let paths = [absolute.to_str().unwrap(), "same/b.txt", "src/../src/b.txt"];
    assert_eq!(ids(&sandbox, &paths), map(&paths.map(|path| (path, Some(&b)))));
}

#[test]
fn what_is_outside_is_not_read() {
    let sandbox = Sandbox::new();
    sandbox.link("etc", "/etc");
    let asked = ["../x", "etc/hosts", "/etc/hosts"].map(|path| unknown(sandbox.repository().object_ids(&[path], LONG)));
    assert_eq!(asked, ["../x", "etc/hosts", "/etc/hosts"].map(|path| format!("`{path}` is outside the checkout")));
}

#[test]
fn names_may_hold_anything_but_nul() {
    let sandbox = Sandbox::new();
    let names: [&[u8]; 6] = [b" lead", b"\"quoted\"", b"caf\xe9", b"cr\r", b"new\nline", b"tab\tand\\"];
    names.iter().for_each(|name| {
        sandbox.write(os(name), "a\n");
    });
    let a = sandbox.staged("a.txt");
    let expected = names.iter().map(|name| (os(name).to_owned(), Some(a.clone()))).collect();
    assert_eq!(known(sandbox.repository().object_ids(&names.map(os), LONG)), expected);
}

#[test]
fn a_submodule_has_the_id_of_its_commit() {
    let (sandbox, other) = (Sandbox::new(), Sandbox::new());
    let url = other.root.to_str().unwrap();
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "libs/sub"]);
    let commit = sandbox.staged("libs/sub");
    assert_eq!(ids(&sandbox, &["libs"]), map(&[("libs/sub", Some(&commit))]));
    assert_eq!(ids(&sandbox, &["libs/sub"]), map(&[("libs/sub", Some(&commit))]));
}

#[test]
fn outside_git_ids_are_those_of_a_sha256_repository() {
    let plain = Sandbox::without_git();
    let git = Sandbox::init(&["init", "--quiet", "--object-format=sha256", "."]);
    for sandbox in [&plain, &git] {
        sandbox.write("a.txt", "x".repeat(300_000)).write("src/b.txt", "").link("link", "a.txt").link("src/l", "/etc");
    }
    git.git(&["add", "--all"]);
    let paths = ["a.txt", "src", "link", "none"];
    assert_eq!(ids(&plain, &paths), ids(&git, &paths));
    let expected = ["a.txt", "src/b.txt", "link", "src/l"].map(|path| (path, git.staged(path)));
    let expected = expected.iter().map(|(path, id)| (*path, Some(id))).chain([("none", None)]).collect::<Vec<_>>();
    assert_eq!(ids(&plain, &paths), map(&expected));
}

#[test]
fn a_pipe_is_not_waited_for() {
    let (plain, git) = (Sandbox::without_git(), Sandbox::new());
    for sandbox in [&plain, &git] {
        let made = crate::sandbox::command("mkfifo").arg(sandbox.root.join("pipe")).status().unwrap();
        assert!(made.success());
        let why = unknown(sandbox.repository().object_ids(&["pipe"], LONG));
        assert_eq!(why, "`pipe` is neither a file, a folder nor a link");
    }
}

#[test]
fn the_repository_is_not_written_to() {
    let sandbox = Sandbox::new();
    let count = || fs::read_dir(sandbox.root.join(".git/objects")).unwrap().count();
    let before = count();
    sandbox.write("new.txt", "never seen before");
    ids(&sandbox, &["new.txt"]);
    assert_eq!((before, Path::new(".git/index.lock").exists()), (count(), false));
}

#[test]
fn what_is_no_id_is_named() {
    let error = "HEAD".parse::<ObjectId>().unwrap_err();
    assert_eq!(error.to_string(), "invalid object id `HEAD`: expected 40 or 64 hexadecimal digits");
}
