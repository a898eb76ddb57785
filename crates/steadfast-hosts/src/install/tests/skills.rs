//! Files of ours alone: in, in again, another version, changed by somebody, out.

use super::*;

const SKILL: &str = "repo/.claude/skills/steadfast-run-tasks/SKILL.md";

fn skills(world: &World) -> Vec<String> {
    let paths = world.files().into_iter().map(|(path, _)| path);
    let relative = paths.map(|path| path.strip_prefix(&world.home).unwrap().to_str().unwrap().to_owned());
    relative.filter(|path| path.contains("/skills/") || path.contains("/agents/")).collect()
}

fn all() -> Vec<String> {
    let files = [
        "steadfast-counsel/SKILL.md",
        "steadfast-implement/SKILL.md",
        "steadfast-loop/SKILL.md",
        "steadfast-plan/SKILL.md",
        "steadfast-read-spec/SKILL.md",
        "steadfast-read-spec/reference.md",
        "steadfast-run-tasks/SKILL.md",
    ];
    let of = |folder: &str| files.map(|file| format!("repo/{folder}/skills/{file}"));
    let agents = ["expert-correctness", "expert-security", "expert-simplicity", "expert-tests", "planner"]
        .map(|agent| format!("repo/.claude/agents/steadfast-{agent}.md"));
    of(".agents").into_iter().chain(agents).chain(of(".claude")).collect()
}

/// A file as another version wrote it.
fn of_another_version(world: &World) -> String {
    let text = world.read(SKILL).unwrap();
    let (body, _) = text.rsplit_once("\n<!-- ").unwrap();
    let body = format!("{body}\nAnother word.\n");
    let stamp = steadfast_model::fnv([body.as_bytes()]);
    format!("{body}\n<!-- written by `steadfast init`, {stamp:016x} -->\n")
}

/// Also those of the user's wiring, which acts only where `init` was run: a skill at home would be offered everywhere.
#[test]
fn the_skills_of_every_scope_are_in_the_checkout() {
    for scope in InstallScope::ALL {
        let world = World::new();
        world.install(scope);
        assert_eq!(skills(&world), all(), "{scope:?}");
    }
}

#[test]
fn a_host_that_is_not_wired_gets_no_skills() {
    let world = World::new();
    let (place, hosts, binary) = (world.place(), [Host::Claude], Path::new("/opt/bin/steadfast"));
    let request = InstallRequest {
        hosts: &hosts,
        scope: InstallScope::Local,
        place: &place,
        binary,
        stop_block_cap: None,
        allow: &[],
    };
    apply(&plan_install(&request).unwrap()).unwrap();
    assert!(!world.home.join("repo/.agents").exists() && world.read(SKILL).is_some());
}

#[test]
fn another_version_is_brought_up_to_date_and_goes_all_the_same() {
    let world = World::new();
    world.install(InstallScope::Local);
    let ours = world.read(SKILL).unwrap();
    let other = of_another_version(&world);
    world.write(SKILL, &other);
    let plan = world.plan(InstallScope::Local).unwrap();
    let paths: Vec<_> = plan.changes.iter().map(|change| change.path.clone()).collect();
    assert_eq!((paths, &plan.left), (vec![world.home.join(SKILL)], &vec![]));
    apply(&plan).unwrap();
    assert_eq!(world.read(SKILL).unwrap(), ours);
    world.write(SKILL, &other);
    world.uninstall();
    assert_eq!(world.files(), []);
}

#[test]
fn what_somebody_changed_is_left_and_named() {
    let world = World::new();
    world.install(InstallScope::Local);
    let mine = format!("{}\nAlso: run the linter.\n", world.read(SKILL).unwrap());
    world.write(SKILL, &mine);
    let again = world.plan(InstallScope::Local).unwrap();
    assert_eq!((again.is_empty(), &again.left), (true, &vec![world.home.join(SKILL)]));
    let out = world.plan_out().unwrap();
    assert_eq!(out.left, [world.home.join(SKILL)]);
    apply(&out).unwrap();
    assert_eq!(world.files(), [(world.home.join(SKILL), mine)]);
}

#[test]
fn what_is_somebody_elses_is_never_overwritten() {
    let world = World::new();
    for mine in ["---\nname: steadfast-run-tasks\n---\nMine.\n", ""] {
        world.write(SKILL, mine);
        let plan = world.plan(InstallScope::Local).unwrap();
        assert_eq!(plan.left, [world.home.join(SKILL)]);
        apply(&plan).unwrap();
        assert_eq!(world.read(SKILL).as_deref(), Some(mine));
        let out = world.plan_out().unwrap();
        assert_eq!(out.left, Vec::<PathBuf>::new(), "it was never ours");
        apply(&out).unwrap();
        assert_eq!(world.files(), [(world.home.join(SKILL), mine.to_owned())]);
    }
}

#[test]
fn a_skill_that_was_deleted_comes_back_with_the_next_install() {
    let world = World::new();
    world.install(InstallScope::Local);
    let before = world.files();
    fs::remove_dir_all(world.home.join("repo/.claude/skills")).unwrap();
    world.install(InstallScope::Local);
    assert_eq!(world.files(), before);
    world.uninstall();
    assert_eq!(world.files(), []);
    assert!(!world.home.join("repo/.claude").exists());
}

#[test]
fn a_colleague_takes_out_what_came_with_the_repository() {
    let world = World::new();
    world.install(InstallScope::Shared);
    fs::remove_dir_all(world.home.join("repo/.git/steadfast")).unwrap();
    let crlf = world.read(SKILL).unwrap().replace('\n', "\r\n");
    world.write(SKILL, &crlf);
    let again = world.plan(InstallScope::Shared).unwrap();
    assert_eq!((again.changes.len(), again.left.len()), (0, 0), "other line ends are no change");
    world.uninstall();
    assert_eq!(skills(&world), Vec::<String>::new());
}

#[test]
fn wiring_from_before_there_were_skills_leaves_no_folder() {
    let world = World::new();
    world.install(InstallScope::Local);
    world.uninstall();
    world.install(InstallScope::Local);
    for folder in ["repo/.claude/skills", "repo/.claude/agents", "repo/.agents"] {
        fs::remove_dir_all(world.home.join(folder)).unwrap();
    }
    for record in fs::read_dir(world.place().repository_records).unwrap() {
        let path = record.unwrap().path();
        let record = fs::read_to_string(&path).unwrap();
        if record.contains("\"skill\"") || record.contains("\"agent\"") {
            fs::remove_file(path).unwrap();
        }
    }
    world.install(InstallScope::Local);
    world.uninstall();
    let left = fs::read_dir(world.home.join("repo")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), [".git"]);
}

#[test]
fn one_folder_of_skills_for_both_hosts_is_written_once_and_stays_a_link() {
    let world = World::new();
    fs::create_dir_all(world.home.join("repo/.agents/skills")).unwrap();
    fs::create_dir_all(world.home.join("repo/.claude")).unwrap();
    let link = world.home.join("repo/.claude/skills");
    std::os::unix::fs::symlink("../.agents/skills", &link).unwrap();
    world.install(InstallScope::Local);
    assert!(world.plan(InstallScope::Local).unwrap().is_empty());
    assert_eq!(fs::read_dir(world.home.join("repo/.agents/skills")).unwrap().count(), 6);
    world.uninstall();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_dir(world.home.join("repo/.agents/skills")).unwrap().count(), 0);
}
