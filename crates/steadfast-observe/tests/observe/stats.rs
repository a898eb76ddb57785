use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use steadfast_model::Fact;
use steadfast_observe::{FileKind, Stat};

use crate::sandbox::{LONG, Sandbox, known};

fn stat(sandbox: &Sandbox, path: impl AsRef<Path>) -> Stat {
    let mut answers = sandbox.repository().stat(&[path], LONG);
    known(answers.remove(0).1)
}

fn seen(sandbox: &Sandbox, path: &str) -> (FileKind, bool) {
    let stat = stat(sandbox, path);
    (stat.kind, stat.outside)
}

#[test]
fn a_file_is_described_as_the_system_does() {
    let sandbox = Sandbox::without_git();
    sandbox.write("run.sh", "12345");
    let path = sandbox.root.join("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let found = fs::metadata(&path).unwrap();
    let mtime_ns = found.mtime() * 1_000_000_000 + found.mtime_nsec();
    let expected = Stat { kind: FileKind::File, outside: false, len: 5, mtime_ns, mode: 0o100_755 };
    assert_eq!([stat(&sandbox, "run.sh"), stat(&sandbox, &path)], [expected.clone(), expected]);
}

#[test]
fn a_link_is_described_itself_and_said_to_lead_out() {
    let sandbox = Sandbox::without_git();
    sandbox.write("in.txt", "").link("near", "in.txt").link("far", "/etc/hosts").link("gone", "../not-yet");
    let link = |target: &str, outside| (FileKind::Link(target.into()), outside);
    assert_eq!(
        ["near", "far", "gone"].map(|path| seen(&sandbox, path)),
        [link("in.txt", false), link("/etc/hosts", true), link("../not-yet", true)]
    );
}

#[test]
fn what_lies_behind_a_link_to_a_folder_is_said_to_be_outside() {
    let sandbox = Sandbox::without_git();
    sandbox.link("etc", "/etc").link("loop", "loop").write("src/x", "").link("same", "src");
    assert_eq!(
        ["etc/hosts", "etc/not-there", "same/x", "same/not-there", "../other", "src/../../root/src"]
            .map(|path| seen(&sandbox, path)),
        [
            (FileKind::File, true),
            (FileKind::Missing, true),
            (FileKind::File, false),
            (FileKind::Missing, false),
            (FileKind::Missing, true),
            (FileKind::Folder, false)
        ]
    );
    assert_eq!(seen(&sandbox, "loop"), (FileKind::Link("loop".into()), true));
}

#[test]
fn what_is_missing_is_known_to_be() {
    let sandbox = Sandbox::without_git();
    sandbox.write("file", "");
    let missing = Stat { kind: FileKind::Missing, outside: false, len: 0, mtime_ns: 0, mode: 0 };
    assert_eq!(
        ["nothing", "file/below", "no/such/folder"].map(|path| stat(&sandbox, path)),
        [(); 3].map(|()| missing.clone())
    );
}

#[test]
fn a_spent_budget_is_said_for_each_path() {
    let sandbox = Sandbox::without_git();
    let over = Fact::Unknown("no answer within 0 ms".to_owned());
    let answers = sandbox.repository().stat(&["a", "b"], Duration::ZERO);
    assert_eq!(answers, ["a", "b"].map(|path| (path.into(), over.clone())));
}
