use std::fs;
use std::path::Path;
use std::time::Duration;

use steadfast_model::Fact;
use steadfast_observe::{Checkout, CheckoutKind};

use crate::sandbox::{Sandbox, git};

fn kind(git_dir: &Path, common_dir: &Path) -> CheckoutKind {
    CheckoutKind::Git { git_dir: git_dir.to_owned(), common_dir: common_dir.to_owned() }
}

#[test]
fn a_repository_is_found_from_any_folder_in_it() {
    let sandbox = Sandbox::new();
    let (root, dot_git) = (sandbox.root.clone(), sandbox.root.join(".git"));
    let expected = Checkout { root, kind: kind(&dot_git, &dot_git), project: None };
    let from = ["", "src", ".git", ".git/refs"].map(|dir| Checkout::find(&sandbox.root.join(dir)));
    assert_eq!(from, [(); 4].map(|()| expected.clone()));
}

#[test]
fn a_linked_worktree_shares_the_common_directory() {
    let sandbox = Sandbox::new();
    sandbox.git(&["worktree", "add", "--quiet", "../side"]);
    let side = sandbox.root.with_file_name("side");
    let dot_git = sandbox.root.join(".git");
    assert_eq!(
        Checkout::find(&side.join("src")),
        Checkout { root: side, kind: kind(&dot_git.join("worktrees/side"), &dot_git), project: None }
    );
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let sandbox = Sandbox::new();
    let other = Sandbox::new();
    let url = other.root.to_str().unwrap();
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "sub"]);
    let modules = sandbox.root.join(".git/modules/sub");
    assert_eq!(
        Checkout::find(&sandbox.root.join("sub/src")),
        Checkout { root: sandbox.root.join("sub"), kind: kind(&modules, &modules), project: None }
    );
}

#[test]
fn a_bare_repository_is_bare_and_its_worktree_is_not() {
    let sandbox = Sandbox::new();
    let bare = sandbox.root.with_file_name("bare.git");
    let side = sandbox.root.with_file_name("side");
    sandbox.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    git(&bare, &["worktree", "add", "--quiet", side.to_str().unwrap()]);
    assert_eq!(Checkout::find(&bare.join("refs")).kind, CheckoutKind::Bare { git_dir: bare.clone() });
    assert_eq!(Checkout::find(&side).kind, kind(&bare.join("worktrees/side"), &bare));
}

#[test]
fn outside_git_there_is_none() {
    let sandbox = Sandbox::without_git();
    let expected = Checkout { root: sandbox.root.clone(), kind: CheckoutKind::None, project: None };
    assert_eq!(sandbox.repository(), expected);
}

#[test]
fn an_empty_git_folder_is_passed_over_as_git_does() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.root.join("src/.git")).unwrap();
    assert_eq!(Checkout::find(&sandbox.root.join("src")).root, sandbox.root);
}

#[test]
fn a_pointer_into_nowhere_is_the_end_as_for_git() {
    let sandbox = Sandbox::new();
    sandbox.write("src/.git", "gitdir: /nowhere\n");
    let found = Checkout::find(&sandbox.root.join("src"));
    assert_eq!(found.kind, CheckoutKind::Broken);
    let ids = found.object_ids(&[Path::new("main.rs")], Duration::from_secs(1));
    assert!(matches!(ids, Fact::Unknown(_)), "{ids:?}");
}

#[test]
fn the_project_is_the_nearest_folder_with_a_configuration_inside_the_checkout() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.root.with_file_name("steadfast.toml"), "").unwrap();
    assert_eq!(Checkout::find(&sandbox.root.join("src")).project, None);
    sandbox.write("steadfast.toml", "").write("apps/web/steadfast.toml", "").write("apps/web/src/x", "");
    let project = |dir: &str| Checkout::find(&sandbox.root.join(dir)).project;
    assert_eq!(
        ["src", "apps", "apps/web/src"].map(project),
        [Some(sandbox.root.clone()), Some(sandbox.root.clone()), Some(sandbox.root.join("apps/web"))]
    );
}

#[test]
fn a_link_into_the_repository_leads_to_it() {
    let sandbox = Sandbox::new();
    let shortcut = sandbox.root.with_file_name("shortcut");
    std::os::unix::fs::symlink(sandbox.root.join("src"), &shortcut).unwrap();
    assert_eq!(Checkout::find(&shortcut).root, sandbox.root);
}
