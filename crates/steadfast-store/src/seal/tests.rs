mod edits;
mod trees;

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use steadfast_model::{DraftLine, Millis, SealBreak, SealCause, SealChange, SessionId};
use steadfast_testkit::{skip, wait_for};

use super::*;
use crate::{close_gate, read_log};

const NOW: Millis = Millis(1_700_000_000_000);

/// Long enough for any machine.
const LONG: Duration = Duration::from_secs(60);

struct World {
    _dir: tempfile::TempDir,
    place: Place,
    gate: Gate,
}

impl World {
    fn new(protected: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap().join("checkout");
        fs::create_dir(&root).unwrap();
        let place = Place { state: dir.path().join("state"), root };
        let gate = Gate {
            root: place.worktree(),
            protected: protected.iter().map(|path| (*path).to_owned()).collect(),
            ..Gate::new(GateScope::Session(SessionId::new("s/1")), "not approved", NOW)
        };
        Self { _dir: dir, place, gate }
    }

    fn root(&self) -> &Path {
        &self.place.root
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    fn seal(&self) -> Sealed {
        seal(&self.place, &self.gate, LONG).unwrap()
    }

    fn breaks(&self) -> Vec<(String, SealChange)> {
        let breaks = seal_breaks(&self.place, &self.gate.scope, self.root());
        breaks.into_iter().map(|SealBreak { path, what, .. }| (path, what)).collect()
    }

    fn restore(&self, path: &str) -> Restored {
        restore(&self.place, &self.gate.scope, self.root(), path, NOW).unwrap()
    }

    fn stamp(&self, path: &str) -> Option<table::Stamp> {
        SealFolder::of(&self.place, &self.gate.scope).table().unwrap().entries[path].stamp
    }

    fn kept(&self, name: &str) -> PathBuf {
        self.place.state.join("seals/kept").join(name)
    }
}

fn changed(path: &str) -> Vec<(String, SealChange)> {
    vec![(path.to_owned(), SealChange::Changed)]
}

#[test]
fn a_changed_file_comes_back_with_its_mode_and_the_intruder_is_kept() {
    let world = World::new(&["plan.md"]);
    world.write("plan.md", "sealed");
    fs::set_permissions(world.root().join("plan.md"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(world.seal(), Sealed { paths: vec!["plan.md".into()], ..Sealed::default() });
    assert_eq!(world.breaks(), []);
    world.write("plan.md", "intruder");
    assert_eq!(world.breaks(), changed("plan.md"));
    let kept = world.kept("2023-11-14T221320Z-plan.md");
    assert_eq!(world.restore("plan.md"), Restored::PutBack { kept: Some(kept.clone()) });
    assert_eq!((world.read("plan.md"), fs::read_to_string(&kept).unwrap()), ("sealed".into(), "intruder".into()));
    assert_eq!(fs::metadata(world.root().join("plan.md")).unwrap().mode() & 0o7777, 0o640);
    assert_eq!((world.breaks(), world.restore("plan.md")), (vec![], Restored::AsSealed));
    assert_eq!(kept_aside(&world.place), std::slice::from_ref(&kept));
    let log = read_log(&world.place);
    let said = format!(
        "2023-11-14T22:13:20Z `plan.md` was put back as sealed; the replaced version is in `{}`",
        kept.display()
    );
    assert_eq!(log, [said]);
}

#[test]
fn intruders_of_the_same_second_are_all_kept() {
    let world = World::new(&["plan.md"]);
    world.write("plan.md", "sealed");
    world.seal();
    for text in ["one", "two", "three"] {
        world.write("plan.md", text);
        world.restore("plan.md");
    }
    let kept: Vec<String> = kept_aside(&world.place).iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    assert_eq!(kept, ["two", "three", "one"]);
}

#[test]
fn what_was_removed_comes_back_with_its_folder() {
    let world = World::new(&["docs/"]);
    world.write("docs/a/plan.md", "sealed");
    world.seal();
    fs::remove_dir_all(world.root().join("docs")).unwrap();
    assert_eq!(world.breaks(), [("docs/a/plan.md".into(), SealChange::Removed)]);
    assert_eq!(world.restore("docs/a/plan.md"), Restored::PutBack { kept: None });
    assert_eq!((world.read("docs/a/plan.md"), world.breaks()), ("sealed".into(), vec![]));
}

#[test]
fn what_was_not_there_is_moved_aside() {
    let world = World::new(&["docs/", "*.md", ".tdd-progress.md"]);
    world.write("docs/a.txt", "sealed");
    assert_eq!(world.seal().paths, [".tdd-progress.md", "docs/a.txt"]);
    for path in [".tdd-progress.md", "docs/new/b.txt", "c.md", "d.txt"] {
        world.write(path, path);
    }
    let created = [".tdd-progress.md", "c.md", "docs/new/b.txt"].map(|path| (path.to_owned(), SealChange::Created));
    assert_eq!(world.breaks(), created);
    for (path, _) in created {
        let name = path.rsplit('/').next().unwrap();
        let kept = world.kept(&format!("2023-11-14T221320Z-{name}"));
        assert_eq!(world.restore(&path), Restored::MovedAside { kept: kept.clone() });
        assert_eq!(fs::read_to_string(kept).unwrap(), path);
        assert_eq!(
            world.restore(&path),
            if path == ".tdd-progress.md" { Restored::AsSealed } else { Restored::NotSealed }
        );
    }
    assert_eq!((world.breaks(), world.restore("d.txt")), (vec![], Restored::NotSealed));
}

#[test]
fn a_touch_is_no_break_and_is_looked_at_once() {
    // Right after it was written a stamp cannot be trusted. A busy machine may come to the seal too late for that.
    let world = wait_for("a seal right after the write", || {
        let world = World::new(&["plan.md"]);
        world.write("plan.md", "sealed");
        world.seal();
        world.stamp("plan.md").map_or(Ok(world), |stamp| Err(format!("{stamp:?}")))
    });
    let settled = |unlike: Option<table::Stamp>| {
        wait_for("a new stamp", || {
            assert_eq!(world.breaks(), []);
            let stamp = world.stamp("plan.md");
            stamp.filter(|_| stamp != unlike).ok_or_else(|| format!("{stamp:?}"))
        })
    };
    let first = settled(None);
    world.write("plan.md", "sealed");
    settled(Some(first));
}

#[test]
fn a_write_of_the_same_length_right_after_the_seal_is_seen_whatever_the_clock_says() {
    for round in 0..50 {
        let world = World::new(&["plan.md"]);
        world.write("plan.md", "sealed");
        world.seal();
        if round % 2 == 0 {
            assert_eq!(world.breaks(), []);
        }
        let modified = fs::metadata(world.root().join("plan.md")).unwrap().modified().unwrap();
        world.write("plan.md", "SEALED");
        fs::File::options().write(true).open(world.root().join("plan.md")).unwrap().set_modified(modified).unwrap();
        assert_eq!(world.breaks(), changed("plan.md"));
    }
}

#[test]
fn a_file_that_became_a_folder_is_moved_aside_with_all_that_is_in_it() {
    let world = World::new(&["docs/"]);
    world.write("docs/plan.md", "sealed");
    world.seal();
    fs::remove_file(world.root().join("docs/plan.md")).unwrap();
    world.write("docs/plan.md/deep/x", "intruder");
    assert_eq!(world.breaks(), changed("docs/plan.md"));
    let kept = world.kept("2023-11-14T221320Z-plan.md");
    assert_eq!(world.restore("docs/plan.md"), Restored::PutBack { kept: Some(kept.clone()) });
    assert_eq!(world.read("docs/plan.md"), "sealed");
    assert_eq!(fs::read_to_string(kept.join("deep/x")).unwrap(), "intruder");
}

#[test]
fn a_link_in_a_files_place_is_not_written_through() {
    let world = World::new(&["plan.md"]);
    world.write("plan.md", "sealed");
    world.seal();
    let outside = world.place.state.join("outside.md");
    fs::write(&outside, "theirs").unwrap();
    fs::remove_file(world.root().join("plan.md")).unwrap();
    symlink(&outside, world.root().join("plan.md")).unwrap();
    assert_eq!(world.breaks(), changed("plan.md"));
    world.restore("plan.md");
    assert!(fs::symlink_metadata(world.root().join("plan.md")).unwrap().is_file());
    assert_eq!((world.read("plan.md"), fs::read_to_string(&outside).unwrap()), ("sealed".into(), "theirs".into()));
    assert_eq!(fs::read_link(&kept_aside(&world.place)[0]).unwrap(), outside);
}

#[test]
fn a_folder_that_became_a_link_leads_nothing_out_of_the_checkout() {
    let world = World::new(&["docs/", "notes/none.md"]);
    world.write("docs/plan.md", "sealed");
    world.write("docs/gone.md", "sealed, too");
    world.seal();
    let outside = world.place.state.join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("plan.md"), "theirs").unwrap();
    fs::write(outside.join("none.md"), "theirs").unwrap();
    fs::rename(world.root().join("docs"), world.root().join("old")).unwrap();
    symlink(&outside, world.root().join("docs")).unwrap();
    symlink(&outside, world.root().join("notes")).unwrap();
    let breaks = world.breaks();
    let expected = [
        ("docs", SealChange::Created),
        ("docs/gone.md", SealChange::Removed),
        ("docs/plan.md", SealChange::Changed),
        ("notes/none.md", SealChange::Created),
    ];
    assert_eq!(breaks, expected.map(|(path, what)| (path.to_owned(), what)));
    for (path, _) in breaks.iter().rev() {
        world.restore(path);
    }
    assert_eq!(world.breaks(), []);
    assert_eq!((world.read("docs/plan.md"), world.read("docs/gone.md")), ("sealed".into(), "sealed, too".into()));
    assert_eq!(fs::read_to_string(outside.join("plan.md")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 2);
}

#[test]
fn a_link_is_sealed_with_what_is_behind_it_in_the_checkout() {
    let world = World::new(&["plan.md", "docs/"]);
    world.write("real/plan.md", "sealed");
    world.write("real/more.md", "sealed");
    symlink("real/plan.md", world.root().join("plan.md")).unwrap();
    symlink("real", world.root().join("docs")).unwrap();
    assert_eq!(world.seal().paths, ["docs", "plan.md", "real/more.md", "real/plan.md"]);
    world.write("plan.md", "through the link");
    world.write("real/new.md", "");
    fs::remove_file(world.root().join("docs")).unwrap();
    let breaks = world.breaks();
    let expected =
        [("docs", SealChange::Removed), ("real/new.md", SealChange::Created), ("real/plan.md", SealChange::Changed)];
    assert_eq!(breaks, expected.map(|(path, what)| (path.to_owned(), what)));
    for (path, _) in &breaks {
        world.restore(path);
    }
    assert_eq!((world.breaks(), world.read("docs/plan.md")), (vec![], "sealed".into()));
}

#[test]
fn what_lies_outside_or_is_no_file_is_named_as_not_sealed() {
    let world = World::new(&["../x", "/etc/hosts", "out/a", "socket", "in/"]);
    symlink("/etc", world.root().join("out")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(world.root().join("socket")).unwrap();
    world.write("in/a", "");
    let _other = std::os::unix::net::UnixListener::bind(world.root().join("in/socket")).unwrap();
    let sealed = world.seal();
    assert_eq!(sealed.paths, ["in/a", "out"]);
    assert_eq!(sealed.not_sealed, ["../x", "/etc/hosts", "in/socket", "out/a", "socket"]);
    assert_eq!(world.breaks(), []);
}

#[test]
fn a_path_may_be_named_from_the_root_of_the_system() {
    let mut world = World::new(&[]);
    world.gate.protected = vec![world.root().join("./plan.md").to_string_lossy().into_owned(), "./b.md".into()];
    assert_eq!(world.seal().paths, ["b.md", "plan.md"]);
}

#[test]
fn of_too_many_files_the_first_are_sealed_and_the_folder_is_named() {
    let mut world = World::new(&["many/", "few/", "one.md"]);
    for number in 0..80 {
        world.write(&format!("many/{number:02}"), "");
    }
    world.write("few/a", "");
    world.gate.draft =
        Some(DraftLine { hash: "aa".into(), title: String::new(), tasks: 0, path: "many/79".into(), call: None });
    let sealed = world.seal();
    assert_eq!((sealed.paths.len(), sealed.not_sealed), (64, vec!["few/".to_owned(), "many/".to_owned()]));
    assert!(["many/00", "many/61", "many/79", "one.md"].iter().all(|path| sealed.paths.contains(&(*path).to_owned())));
    // Which one is new cannot be told where not all were known.
    world.write("many/new", "");
    world.write("many/61", "x");
    assert_eq!(world.breaks(), changed("many/61"));
}

#[test]
fn what_is_large_has_no_copy_and_its_change_is_told() {
    let world = World::new(&["large", "huge"]);
    let sparse = |path: &str, size| fs::File::create(world.root().join(path)).unwrap().set_len(size).unwrap();
    sparse("large", look::COPIED + 1);
    sparse("huge", look::READ + 1);
    assert_eq!(world.seal().without_copy, ["huge", "large"]);
    assert_eq!(world.breaks(), []);
    sparse("large", look::COPIED + 1);
    assert_eq!(world.breaks().iter().filter(|(path, _)| path == "large").count(), 0);
    for path in ["large", "huge"] {
        let file = fs::File::options().append(true).open(world.root().join(path)).unwrap();
        io::Write::write_all(&mut &file, b"x").unwrap();
    }
    assert_eq!(world.breaks(), [changed("huge"), changed("large")].concat());
    assert_eq!(["huge", "large"].map(|path| world.restore(path)), [Restored::NoCopy, Restored::NoCopy]);
    assert_eq!(kept_aside(&world.place), Vec::<PathBuf>::new());
}

#[test]
fn sealing_twice_seals_no_intruder_and_adds_what_is_new() {
    let mut world = World::new(&["plan.md"]);
    world.write("plan.md", "sealed");
    world.seal();
    close_gate(&world.place, &world.gate).unwrap();
    world.write("plan.md", "intruder");
    world.seal();
    world.gate.closed_at = Millis(NOW.0 + 1);
    world.gate.protected.push("more.md".into());
    assert_eq!(world.seal().paths, ["more.md", "plan.md"]);
    assert_eq!(world.breaks(), changed("plan.md"));
}

#[test]
fn what_an_earlier_gate_left_behind_is_not_taken_for_this_one() {
    let mut world = World::new(&["plan.md"]);
    world.write("plan.md", "long ago");
    world.seal();
    world.write("plan.md", "today");
    world.gate.closed_at = Millis(NOW.0 + 1);
    world.seal();
    assert_eq!(world.breaks(), []);
}

#[test]
fn a_new_seal_holds_what_is_there_now() {
    let world = World::new(&["docs/"]);
    world.write("docs/a", "old");
    world.seal();
    world.write("docs/a", "a human's");
    world.write("docs/b", "new");
    for path in ["docs/a", "docs/b"] {
        reseal(&world.place, &world.gate.scope, world.root(), path).unwrap();
    }
    assert_eq!(world.breaks(), []);
    fs::remove_file(world.root().join("docs/b")).unwrap();
    world.write("docs/a", "intruder");
    world.restore("docs/a");
    world.restore("docs/b");
    assert_eq!((world.read("docs/a"), world.read("docs/b")), ("a human's".into(), "new".into()));
}

#[test]
fn a_torn_table_breaks_nothing_and_is_told_from_a_whole_one() {
    let world = World::new(&["plan.md"]);
    world.write("plan.md", "sealed");
    world.seal();
    let scope = &world.gate.scope;
    let table = world.place.state.join("seals").join(crate::gate::scope_name(scope)).join("table");
    let bytes = fs::read(&table).unwrap();
    fs::write(&table, &bytes[..bytes.len() / 2]).unwrap();
    world.write("plan.md", "intruder");
    assert_eq!((world.breaks(), sealed(&world.place, scope)), (vec![], None));
    assert_eq!(world.restore("plan.md"), Restored::NotSealed);
    reseal(&world.place, scope, world.root(), "plan.md").unwrap();
    world.seal();
    assert!(sealed(&world.place, scope).is_some());
}

#[test]
fn a_torn_copy_is_never_put_back() {
    let world = World::new(&["plan.md"]);
    world.write("plan.md", "sealed");
    world.seal();
    let id = crate::digest::of_bytes(b"sealed");
    let folder = world.place.state.join("seals").join(crate::gate::scope_name(&world.gate.scope));
    fs::write(folder.join(id), "sea").unwrap();
    world.write("plan.md", "intruder");
    assert_eq!((world.restore("plan.md"), world.read("plan.md")), (Restored::NoCopy, "intruder".into()));
}

#[test]
fn without_a_seal_nothing_is_made() {
    let world = World::new(&["plan.md"]);
    let scope = &world.gate.scope;
    world.write("plan.md", "x");
    assert_eq!(
        (world.breaks(), world.restore("plan.md"), sealed(&world.place, scope)),
        (vec![], Restored::NotSealed, None)
    );
    reseal(&world.place, scope, world.root(), "plan.md").unwrap();
    unseal(&world.place, scope).unwrap();
    assert!(!world.place.state.exists());
}

#[test]
fn a_checkout_that_is_gone_is_not_made_again() {
    let world = World::new(&["plan.md"]);
    world.write("plan.md", "sealed");
    world.seal();
    fs::remove_dir_all(world.root()).unwrap();
    assert_eq!((world.breaks(), world.restore("plan.md")), (vec![], Restored::NotSealed));
    assert!(!world.root().exists());
}

#[test]
fn taking_the_seal_off_leaves_what_was_kept() {
    let world = World::new(&["plan.md"]);
    world.seal();
    world.write("plan.md", "intruder");
    world.restore("plan.md");
    unseal(&world.place, &world.gate.scope).unwrap();
    unseal(&world.place, &world.gate.scope).unwrap();
    assert_eq!((sealed(&world.place, &world.gate.scope), kept_aside(&world.place).len()), (None, 1));
}

#[test]
fn many_who_put_back_at_once_lose_nothing() {
    let world = World::new(&["docs/"]);
    for number in 0..8 {
        world.write(&format!("docs/{number}"), "sealed");
    }
    world.seal();
    for number in 0..8 {
        world.write(&format!("docs/{number}"), &format!("intruder {number}"));
    }
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for (path, _) in world.breaks() {
                    world.restore(&path);
                }
            });
        }
    });
    assert_eq!(world.breaks(), []);
    let mut kept: Vec<_> = kept_aside(&world.place).iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    kept.sort();
    kept.retain(|text| text != "sealed");
    assert_eq!(kept, (0..8).map(|number| format!("intruder {number}")).collect::<Vec<_>>());
}

#[test]
fn on_another_file_system_the_intruder_is_copied() {
    let other = match tempfile::tempdir_in("/dev/shm") {
        Ok(other) => other,
        Err(error) => return skip("another file system", &format_args!("no folder in /dev/shm: {error}")),
    };
    let mut world = World::new(&["plan.md", "folder"]);
    world.place.state = other.path().join("state");
    world.write("plan.md", "sealed");
    world.write("folder", "sealed");
    world.seal();
    world.write("plan.md", "intruder");
    fs::remove_file(world.root().join("folder")).unwrap();
    world.write("folder/a/b", "intruder");
    symlink("nowhere", world.root().join("folder/link")).unwrap();
    world.restore("plan.md");
    world.restore("folder");
    assert_eq!(
        (world.breaks(), world.read("plan.md"), world.read("folder")),
        (vec![], "sealed".into(), "sealed".into())
    );
    assert_eq!(fs::read_to_string(world.kept("2023-11-14T221320Z-plan.md")).unwrap(), "intruder");
    let folder = world.kept("2023-11-14T221320Z-folder");
    assert_eq!(fs::read_to_string(folder.join("a/b")).unwrap(), "intruder");
    assert_eq!(fs::read_link(folder.join("link")).unwrap(), Path::new("nowhere"));
    assert_eq!(fs::read_dir(world.root()).unwrap().count(), 2);
}

#[test]
fn what_is_left_for_later_is_known_as_the_agents_until_it_is_put_back() {
    let world = World::new(&["a.md", "b.md"]);
    world.write("a.md", "plan");
    world.write("b.md", "plan");
    world.seal();
    world.write("a.md", "intruder");
    world.write("b.md", "intruder");
    restore_later(&world.place, &world.gate.scope, world.root(), &["b.md".into()]).unwrap();
    let causes = || -> Vec<(String, SealCause)> {
        let breaks = seal_breaks(&world.place, &world.gate.scope, world.root());
        breaks.into_iter().map(|SealBreak { path, cause, .. }| (path, cause)).collect()
    };
    assert_eq!(causes(), [("a.md".to_owned(), SealCause::Unknown), ("b.md".to_owned(), SealCause::Stuck)]);
    assert!(matches!(world.restore("b.md"), Restored::PutBack { .. }));
    assert_eq!(causes(), [("a.md".to_owned(), SealCause::Unknown)]);
    world.write("b.md", "by hand");
    assert_eq!(causes()[1], ("b.md".to_owned(), SealCause::Unknown));
}
