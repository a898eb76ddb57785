//! What cannot be edited is named, and then nothing is written; what is edited keeps its nature.

use super::*;

use std::os::unix::fs::{PermissionsExt, symlink};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_file_that_does_not_parse_is_named_with_its_line_and_nothing_is_written() {
    let world = World::new();
    world.write(".codex/hooks.json", "{\n  \"hooks\": {},,\n}");
    let before = world.files();
    let error = world.plan(InstallScope::Local).unwrap_err().to_string();
    let path = world.home.join(".codex/hooks.json");
    assert_eq!(error, format!("{}:2:15: unexpected `,`, expected a key in double quotes", path.display()));
    assert_eq!(world.files(), before);
}

#[test]
fn a_file_that_is_not_text_is_named() {
    let world = World::new();
    let path = world.home.join("repo/.mcp.json");
    fs::write(&path, b"{\"a\": \"\xff\"}").unwrap();
    let error = world.plan(InstallScope::Shared).unwrap_err().to_string();
    assert_eq!(error, format!("{}: not valid UTF-8 at byte 7", path.display()));
}

#[test]
fn a_folder_in_the_place_of_a_file_is_named() {
    let world = World::new();
    let path = world.home.join("repo/.claude/settings.local.json");
    fs::create_dir_all(&path).unwrap();
    assert!(
        matches!(world.plan(InstallScope::Local).unwrap_err(), InstallError::NotAFile { path: named } if named == path)
    );
}

#[test]
fn a_read_only_file_is_named() {
    let world = World::new();
    world.write(".claude/settings.json", "{}");
    let path = world.home.join(".claude/settings.json");
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    assert!(
        matches!(world.plan(InstallScope::User).unwrap_err(), InstallError::ReadOnly { path: named } if named == path)
    );
}

#[test]
fn a_later_failure_puts_the_earlier_files_back() {
    let world = World::new();
    world.write("repo/.claude/settings.local.json", "{ }");
    let before = world.files();
    let plan = world.plan(InstallScope::Local).unwrap();
    // Where a folder has to be made, a file came up.
    fs::write(world.home.join(".codex"), "in the way").unwrap();
    let error = apply(&plan).unwrap_err().to_string();
    assert!(error.contains(".codex/hooks.json: cannot write"), "{error}");
    assert!(error.ends_with("; earlier changes were undone"), "{error}");
    fs::remove_file(world.home.join(".codex")).unwrap();
    assert_eq!(world.files(), before);
}

#[test]
fn a_link_stays_a_link_and_its_target_is_edited() {
    let world = World::new();
    world.write("dotfiles/settings.json", "{\"model\":\"opus\"}");
    fs::create_dir(world.home.join(".claude")).unwrap();
    symlink("../dotfiles/settings.json", world.home.join(".claude/settings.json")).unwrap();
    world.install(InstallScope::User);
    assert!(world.home.join(".claude/settings.json").is_symlink());
    assert!(world.read("dotfiles/settings.json").unwrap().starts_with("{\"model\":\"opus\",\"hooks\":{"));
    world.uninstall();
    assert!(world.home.join(".claude/settings.json").is_symlink());
    assert_eq!(world.read("dotfiles/settings.json").unwrap(), "{\"model\":\"opus\"}");
}

#[test]
fn a_link_to_nothing_is_followed_and_led_to_nothing_again() {
    let world = World::new();
    fs::create_dir(world.home.join(".claude")).unwrap();
    symlink(world.home.join("later.json"), world.home.join(".claude/settings.json")).unwrap();
    world.install(InstallScope::User);
    assert!(world.read("later.json").is_some());
    world.uninstall();
    assert!(!world.home.join("later.json").exists());
    assert!(world.home.join(".claude/settings.json").is_symlink());
}

#[test]
fn permissions_are_kept() {
    let world = World::new();
    world.write("repo/.claude/settings.json", "{}");
    let path = world.home.join("repo/.claude/settings.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    world.install(InstallScope::Shared);
    assert_eq!(mode(&path), 0o640);
}

#[test]
fn a_new_file_of_the_user_is_private_and_one_of_the_repository_is_not() {
    let world = World::new();
    world.install(InstallScope::Local);
    assert_eq!(mode(&world.home.join(".claude.json")), 0o600);
    assert_eq!(mode(&world.home.join(".codex/config.toml")), 0o600);
    assert_eq!(mode(&world.home.join("repo/.claude/settings.local.json")), 0o644);
}

#[test]
fn no_temporary_file_is_left() {
    let world = World::new();
    world.install(InstallScope::Local);
    let left: Vec<_> =
        world.files().into_iter().filter(|(path, _)| path.to_string_lossy().contains(".steadfast-")).collect();
    assert_eq!(left, []);
}
