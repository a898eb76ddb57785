//! Files of the user, which several checkouts rely on; and files that others write too.

use std::time::Duration;

use steadfast_testkit::wait_for;

use super::*;
use crate::install::apply::FolderLock;

fn install_in(world: &World, repository: &str) {
    fs::create_dir_all(world.home.join(repository)).unwrap();
    let place = world.place_of(repository);
    let (hosts, binary) = ([Host::Claude, Host::Codex], Path::new("/opt/bin/steadfast"));
    let request = InstallRequest {
        hosts: &hosts,
        scope: InstallScope::User,
        place: &place,
        binary,
        stop_block_cap: None,
        allow: &[],
    };
    apply(&plan_install(&request).unwrap()).unwrap();
}

fn uninstall_in(world: &World, repository: &str) {
    let place = world.place_of(repository);
    let plan = plan_uninstall(&[Host::Claude, Host::Codex], &InstallScope::ALL, &place, &Path::exists).unwrap();
    apply(&plan).unwrap();
}

/// The files that are no repository's.
fn users_files(world: &World) -> Vec<(PathBuf, String)> {
    let in_a_repository = |path: &Path| ["one", "two"].iter().any(|root| path.starts_with(world.home.join(root)));
    world.files().into_iter().filter(|(path, _)| !in_a_repository(path)).collect()
}

#[test]
fn the_users_wiring_stays_while_another_repository_relies_on_it() {
    let world = World::new();
    install_in(&world, "one");
    install_in(&world, "two");
    let installed = users_files(&world);
    uninstall_in(&world, "one");
    assert_eq!(users_files(&world), installed);
    uninstall_in(&world, "two");
    assert_eq!(world.files(), []);
}

#[test]
fn a_repository_that_is_gone_relies_on_nothing() {
    let world = World::new();
    install_in(&world, "one");
    install_in(&world, "two");
    fs::remove_dir_all(world.home.join("two")).unwrap();
    uninstall_in(&world, "one");
    assert_eq!(world.files(), []);
}

#[test]
fn a_repository_that_never_asked_for_the_users_wiring_does_not_take_it_away() {
    let world = World::new();
    install_in(&world, "one");
    let installed = world.files();
    uninstall_in(&world, "two");
    assert_eq!(world.files(), installed);
}

#[test]
fn the_server_of_two_worktrees_stays_while_one_relies_on_it() {
    let world = World::new();
    for root in ["main", "linked"] {
        fs::create_dir_all(world.home.join(root)).unwrap();
        let place = InstallPaths { main_root: world.home.join("main"), ..world.place_of(root) };
        let binary = Path::new("/opt/bin/steadfast");
        let hosts = [Host::Claude];
        let request = InstallRequest {
            hosts: &hosts,
            scope: InstallScope::Local,
            place: &place,
            binary,
            stop_block_cap: None,
            allow: &[],
        };
        apply(&plan_install(&request).unwrap()).unwrap();
    }
    let out_of = |root: &str| {
        let place = InstallPaths { main_root: world.home.join("main"), ..world.place_of(root) };
        apply(&plan_uninstall(&[Host::Claude], &InstallScope::ALL, &place, &Path::exists).unwrap()).unwrap();
    };
    out_of("linked");
    assert!(world.read(".claude.json").unwrap().contains("steadfast"));
    assert_eq!(world.read("linked/.claude/settings.local.json"), None);
    out_of("main");
    assert_eq!(world.files(), []);
}

#[test]
fn a_file_that_its_host_wrote_since_the_plan_is_edited_as_it_is_now() {
    let world = World::new();
    world.write(".claude.json", "{\"numStartups\":1}");
    let plan = world.plan(InstallScope::Local).unwrap();
    world.write(".claude.json", "{\"numStartups\":2,\"projects\":{}}");
    apply(&plan).unwrap();
    let text = world.read(".claude.json").unwrap();
    assert!(text.starts_with("{\"numStartups\":2,\"projects\":{\""), "{text}");
    assert!(text.contains("\"steadfast\""), "{text}");
}

#[test]
fn a_settings_file_that_changed_since_the_plan_is_left_alone() {
    let world = World::new();
    let plan = world.plan(InstallScope::Local).unwrap();
    world.write("repo/.claude/settings.local.json", "{}");
    let error = apply(&plan).unwrap_err().to_string();
    assert!(error.contains("settings.local.json: changed since it was read; earlier changes were undone"), "{error}");
    assert_eq!(world.files(), [(world.home.join("repo/.claude/settings.local.json"), "{}".to_owned())]);
}

#[test]
fn the_lock_of_claude_code_is_waited_for() {
    let world = World::new();
    world.write(".claude.json", "{}");
    let lock = world.home.join(".claude.json.lock");
    fs::create_dir(&lock).unwrap();
    let plan = world.plan(InstallScope::Local).unwrap();
    std::thread::scope(|scope| {
        let applied = scope.spawn(|| apply(&plan));
        wait_for("the file that is written before", || {
            world.read("repo/.claude/settings.local.json").ok_or_else(|| "no such file".to_owned())
        });
        // Who comes later with less patience is refused, while the first still waits.
        assert!(FolderLock::take(&lock, Duration::from_millis(150)).is_err());
        assert_eq!((applied.is_finished(), world.read(".claude.json").as_deref()), (false, Some("{}")));
        world.write(".claude.json", "{\"written\":\"under the lock\"}");
        fs::remove_dir(&lock).unwrap();
        applied.join().unwrap().unwrap();
    });
    let text = world.read(".claude.json").unwrap();
    assert!(text.starts_with("{\"written\":\"under the lock\",\"projects\":"), "{text}");
    assert!(!lock.exists());
}

#[test]
fn another_configuration_folder_is_used_where_the_user_has_one() {
    let world = World::new();
    let mut place = world.place();
    place.homes.claude_config_dir = Some(world.home.join("claude"));
    place.homes.codex_home = Some(world.home.join("codex"));
    let binary = Path::new("/opt/bin/steadfast");
    let hosts = [Host::Claude, Host::Codex];
    let request = InstallRequest {
        hosts: &hosts,
        scope: InstallScope::User,
        place: &place,
        binary,
        stop_block_cap: None,
        allow: &[],
    };
    let plan = plan_install(&request).unwrap();
    let settings = plan.changes.iter().filter(|change| !change.is_skill());
    let paths: Vec<_> = settings.map(|change| change.path.clone()).collect();
    let expected = ["claude/settings.json", "claude/.claude.json", "codex/hooks.json", "codex/config.toml"];
    assert_eq!(paths, expected.map(|path| world.home.join(path)));
}

#[test]
fn a_host_is_in_use_where_its_program_or_its_folder_is() {
    let world = World::new();
    let mut homes = world.place().homes;
    let root = world.home.join("repo");
    assert_eq!(detect(&homes, &root), []);
    fs::create_dir(root.join(".codex")).unwrap();
    assert_eq!(detect(&homes, &root), [Host::Codex]);
    world.write("bin/claude", "");
    homes.path = Some(world.home.join("bin").into_os_string());
    assert_eq!(detect(&homes, &root), [Host::Codex], "a file that cannot be run is no program");
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(world.home.join("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(detect(&homes, &root), [Host::Claude, Host::Codex]);
    }
}
