//! Seals as a git tree, in a real repository with the real git.

use std::process::Command;

use steadfast_model::Fact;

use super::*;

impl World {
    /// A repository with a commit of 80 files in `many/`.
    fn repository(protected: &[&str]) -> Self {
        let world = Self::new(protected);
        world.git(&["init", "--quiet", "."]);
        for number in 0..80 {
            world.write(&many(number), "sealed");
        }
        world.commit();
        world
    }

    #[expect(clippy::disallowed_methods, reason = "the tests set repositories up with git")]
    fn git(&self, args: &[&str]) {
        let mut command = Command::new("git");
        command.current_dir(self.root()).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message=x"]);
    }

    fn in_tree(&self) -> Vec<(String, SealChange)> {
        let Fact::Known(breaks) = tree_breaks(&self.place, &self.gate.scope, self.root(), LONG) else {
            panic!("not known");
        };
        breaks.into_iter().map(|SealBreak { path, what, .. }| (path, what)).collect()
    }

    fn reseal(&self, path: &str) {
        reseal(&self.place, &self.gate.scope, self.root(), path).unwrap();
    }

    /// Returns the contents of the files that were moved aside.
    fn intruders(&self) -> Vec<String> {
        kept_aside(&self.place).iter().map(|path| fs::read_to_string(path).unwrap()).collect()
    }
}

fn many(number: usize) -> String {
    format!("many/{number:02}")
}

fn broken(path: &str, what: SealChange) -> (String, SealChange) {
    (path.to_owned(), what)
}

#[test]
fn of_too_many_files_the_first_are_sealed_singly_and_the_rest_as_a_tree() {
    let world = World::repository(&["many/", "one.md"]);
    let sealed = world.seal();
    assert_eq!((sealed.paths.len(), sealed.in_tree, sealed.not_sealed), (64, vec!["many/".to_owned()], vec![]));
    assert_eq!((world.breaks(), world.in_tree()), (vec![], vec![]));
}

#[test]
fn what_changed_came_or_went_beyond_them_is_found_put_back_and_kept() {
    let world = World::repository(&["many/"]);
    world.write("many/70", "not committed");
    world.write("many/folder/new", "not known to git");
    world.seal();
    world.write("many/70", "intruder");
    world.write("many/79", "intruder");
    world.write("many/added/x", "intruder");
    fs::remove_file(world.root().join("many/78")).unwrap();
    fs::remove_dir_all(world.root().join("many/folder")).unwrap();
    world.write("other", "not protected");
    let expected = [
        broken("many/70", SealChange::Changed),
        broken("many/78", SealChange::Removed),
        broken("many/79", SealChange::Changed),
        broken("many/added/x", SealChange::Created),
        broken("many/folder/new", SealChange::Removed),
    ];
    assert_eq!((world.breaks(), world.in_tree()), (vec![], expected.to_vec()));
    for (path, _) in expected {
        world.restore(&path);
    }
    assert_eq!(world.in_tree(), []);
    let contents = ["many/70", "many/78", "many/79", "many/folder/new"].map(|path| world.read(path));
    assert_eq!(contents, ["not committed", "sealed", "sealed", "not known to git"]);
    assert!(!world.root().join("many/added/x").exists());
    assert_eq!(world.intruders(), ["intruder"; 3]);
}

#[test]
fn a_commit_of_the_intruder_hides_nothing() {
    let world = World::repository(&["many/"]);
    world.seal();
    world.write("many/79", "intruder");
    world.commit();
    assert_eq!(world.in_tree(), changed("many/79"));
    world.restore("many/79");
    assert_eq!((world.in_tree(), world.read("many/79")), (vec![], "sealed".into()));
}

#[test]
fn what_is_touched_or_written_again_is_no_break() {
    let world = World::repository(&["many/"]);
    world.seal();
    world.write("many/79", "sealed");
    fs::set_permissions(world.root().join("many/78"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(world.in_tree(), []);
}

#[test]
fn a_break_is_found_behind_many_that_are_none() {
    let world = World::repository(&["many/"]);
    for number in 100..150 {
        world.write(&many(number), "sealed");
    }
    world.seal();
    for number in 100..149 {
        let path = world.root().join(many(number));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    world.write("many/99", "new");
    world.write("many/149", "intruder");
    let expected = [broken("many/149", SealChange::Changed), broken("many/99", SealChange::Created)];
    assert_eq!(world.in_tree(), expected);
}

#[test]
fn what_git_begins_to_ignore_is_not_taken_for_removed() {
    let world = World::repository(&["many/"]);
    world.write("many/new", "not committed");
    world.seal();
    world.write(".gitignore", "many/new\n");
    assert_eq!(world.in_tree(), []);
    world.write("many/new", "intruder");
    assert_eq!(world.in_tree(), changed("many/new"));
}

#[test]
fn what_a_human_changed_is_sealed_from_then_on() {
    let world = World::repository(&["many/"]);
    world.seal();
    world.write("many/79", "a human's");
    world.write("many/new", "a human's");
    fs::remove_file(world.root().join("many/78")).unwrap();
    for (path, _) in world.in_tree() {
        world.reseal(&path);
    }
    assert_eq!(world.in_tree(), []);
    world.write("many/79", "sealed");
    world.write("many/78", "sealed");
    fs::remove_file(world.root().join("many/new")).unwrap();
    let expected = [
        broken("many/78", SealChange::Created),
        broken("many/79", SealChange::Changed),
        broken("many/new", SealChange::Removed),
    ];
    assert_eq!(world.in_tree(), expected);
    for (path, _) in expected {
        world.restore(&path);
    }
    assert_eq!((world.read("many/79"), world.read("many/new")), ("a human's".into(), "a human's".into()));
}

#[test]
fn of_very_much_that_a_human_changed_the_whole_tree_is_taken_again() {
    let world = World::repository(&["many/"]);
    for number in 100..300 {
        world.write(&many(number), "sealed");
    }
    world.seal();
    for number in 100..300 {
        world.write(&many(number), "pulled");
    }
    assert_eq!(world.in_tree().len(), SealBreak::AT_ONCE);
    reseal_tree(&world.place, &world.gate.scope, world.root(), LONG).unwrap();
    assert_eq!(world.in_tree(), []);
    world.write("many/250", "intruder");
    world.in_tree();
    world.restore("many/250");
    assert_eq!(world.read("many/250"), "pulled");
}

#[test]
fn a_folder_that_became_a_link_comes_back_and_nothing_leaves_the_checkout() {
    let world = World::repository(&["many/"]);
    world.seal();
    let outside = world.place.state.join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::rename(world.root().join("many"), world.root().join("old")).unwrap();
    symlink(&outside, world.root().join("many")).unwrap();
    for breaks in [world.breaks(), world.in_tree()] {
        for (path, _) in breaks {
            world.restore(&path);
        }
    }
    assert_eq!((world.breaks(), world.in_tree(), world.read("many/79")), (vec![], vec![], "sealed".into()));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn what_git_ignores_is_named_as_not_sealed() {
    let world = World::repository(&["many/", "*.log"]);
    world.write(".gitignore", "*.log\n/many/build/\n");
    world.write("many/zz.log", "");
    world.write("many/build/a", "");
    world.write("other.log", "");
    let sealed = world.seal();
    // `*.log` comes after `many/`, for which all entries are taken.
    assert_eq!(sealed.in_tree, ["*.log", "many/"]);
    assert_eq!(sealed.not_sealed, ["many/build/", "many/zz.log", "other.log"]);
}

#[test]
fn closing_a_gate_twice_seals_no_intruder_into_the_tree() {
    let world = World::repository(&["many/"]);
    world.seal();
    close_gate(&world.place, &world.gate).unwrap();
    world.write("many/79", "intruder");
    world.seal();
    assert_eq!(world.in_tree(), changed("many/79"));
}

#[test]
fn what_is_protected_only_later_is_in_no_tree_of_before() {
    let mut world = World::repository(&["many/"]);
    world.seal();
    close_gate(&world.place, &world.gate).unwrap();
    world.gate.protected.push("more/".into());
    world.write("more/x", "");
    assert_eq!(world.seal().not_sealed, ["more/"]);
}

#[test]
fn without_time_nothing_is_concluded() {
    let world = World::repository(&["many/"]);
    assert_eq!(seal(&world.place, &world.gate, Duration::ZERO).unwrap().not_sealed, ["many/"]);
    world.seal();
    world.write("many/79", "intruder");
    let found = tree_breaks(&world.place, &world.gate.scope, world.root(), Duration::ZERO);
    assert!(matches!(found, Fact::Unknown(_)), "{found:?}");
}

#[test]
fn where_all_is_sealed_singly_git_is_not_asked() {
    let world = World::repository(&["few/"]);
    world.write("few/a", "");
    assert_eq!(world.seal().in_tree, Vec::<String>::new());
    assert_eq!(tree_breaks(&world.place, &world.gate.scope, world.root(), LONG), Fact::NotAsked);
}

#[test]
fn taking_the_seal_off_takes_the_tree_with_it() {
    let world = World::repository(&["many/"]);
    world.seal();
    unseal(&world.place, &world.gate.scope).unwrap();
    assert_eq!(tree_breaks(&world.place, &world.gate.scope, world.root(), LONG), Fact::NotAsked);
    assert_eq!(fs::read_dir(world.place.state.join("seals")).unwrap().count(), 0);
}
