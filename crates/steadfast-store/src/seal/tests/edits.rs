//! Whatever is done to a checkout: the breaks are what changed, all of it comes back, and nothing is lost.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Edit {
    Write(usize, u8),
    Delete(usize),
    Link(usize),
    Touch(usize),
    Mkdir(usize),
}

/// Sealed are `docs/`, `*.md` and `none.txt`; the last three are nobody's.
const PATHS: [&str; 10] = [
    "docs/a",
    "docs/b",
    "docs/deep/c",
    "docs/new",
    "plan.md",
    "new.md",
    "none.txt",
    "src/free",
    "free.txt",
    "docs.txt",
];

const SEALED: [&str; 4] = ["docs/a", "docs/b", "docs/deep/c", "plan.md"];

fn edit() -> impl Strategy<Value = Edit> {
    let path = 0..PATHS.len();
    prop_oneof![
        (path.clone(), any::<u8>()).prop_map(|(path, text)| Edit::Write(path, text)),
        path.clone().prop_map(Edit::Delete),
        path.clone().prop_map(Edit::Link),
        path.clone().prop_map(Edit::Touch),
        path.prop_map(Edit::Mkdir),
    ]
}

/// Describes a path: its bytes, `link`, `folder`, or nothing.
fn content(at: &Path) -> Option<String> {
    let found = fs::symlink_metadata(at).ok()?;
    Some(match (found.is_symlink(), found.is_dir()) {
        (true, _) => format!("link {}", fs::read_link(at).unwrap().display()),
        (_, true) => "folder".to_owned(),
        _ => format!("file {}", fs::read_to_string(at).unwrap()),
    })
}

fn remove(at: &Path) {
    match fs::symlink_metadata(at) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(at).unwrap(),
        Ok(_) => fs::remove_file(at).unwrap(),
        Err(_) => {}
    }
}

fn apply(world: &World, edit: &Edit) {
    let (Edit::Write(path, _) | Edit::Delete(path) | Edit::Link(path) | Edit::Touch(path) | Edit::Mkdir(path)) = edit;
    let at = world.root().join(PATHS[*path]);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    match edit {
        Edit::Write(_, text) => {
            if content(&at).is_some_and(|found| !found.starts_with("file")) {
                remove(&at);
            }
            // Sometimes what was sealed, by somebody else.
            fs::write(at, if text % 4 == 0 { "sealed".to_owned() } else { format!("by {text}") }).unwrap();
        }
        Edit::Delete(_) => remove(&at),
        Edit::Link(path) => {
            remove(&at);
            symlink(PATHS[(path + 1) % PATHS.len()], at).unwrap();
        }
        Edit::Touch(_) => {
            if let Ok(file) = fs::File::options().append(true).open(&at).and_then(|file| file.set_len(0).map(|()| file))
            {
                drop(file);
                fs::write(&at, "sealed").unwrap();
            }
        }
        Edit::Mkdir(_) => {
            remove(&at);
            fs::create_dir(at).unwrap();
        }
    }
}

fn is_sealed(path: &str) -> bool {
    SEALED.contains(&path)
}

/// What the seal has to say of a path.
fn expected(world: &World, path: &str) -> Option<SealChange> {
    let now = content(&world.root().join(path));
    match (is_sealed(path), now.as_deref()) {
        (true, Some("file sealed")) | (false, None) => None,
        (true, Some(_)) => Some(SealChange::Changed),
        (true, None) => Some(SealChange::Removed),
        // A folder without files is nothing, but where a path was named by itself.
        (false, Some("folder")) if path != "none.txt" => None,
        (false, Some(_)) => Some(SealChange::Created),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn breaks_are_what_changed_all_comes_back_and_every_intruder_is_kept(
        edits in proptest::collection::vec(edit(), 1..12),
    ) {
        let world = World::new(&["docs/", "*.md", "none.txt"]);
        for path in SEALED.iter().chain(&["src/free", "free.txt"]) {
            world.write(path, "sealed");
        }
        world.seal();
        for edit in &edits {
            apply(&world, edit);
        }
        let everything = || -> BTreeMap<&str, Option<String>> {
            PATHS.iter().map(|path| (*path, content(&world.root().join(path)))).collect()
        };
        let before = everything();
        let protected = |path: &&str| !["src/free", "free.txt", "docs.txt"].contains(path);
        let breaks: Vec<(String, SealChange)> = PATHS
            .into_iter()
            .filter(protected)
            .filter_map(|path| Some((path.to_owned(), expected(&world, path)?)))
            .collect::<BTreeMap<_, _>>()
            .into_iter()
            .collect();
        prop_assert_eq!(&world.breaks(), &breaks);

        for (path, _) in &breaks {
            world.restore(path);
        }
        prop_assert_eq!(world.breaks(), []);
        for (path, now) in everything() {
            match (is_sealed(path), breaks.iter().any(|(broken, _)| broken == path)) {
                (true, _) => prop_assert_eq!(now.as_deref(), Some("file sealed"), "{}", path),
                (false, true) => prop_assert_eq!(now, None, "{}", path),
                (false, false) => prop_assert_eq!(&now, &before[path], "{}", path),
            }
        }
        let intruders: BTreeSet<(String, String)> = breaks
            .iter()
            .filter_map(|(path, _)| Some((path.rsplit('/').next()?.to_owned(), before[path.as_str()].clone()?)))
            .collect();
        let kept: BTreeSet<(String, String)> = kept_aside(&world.place)
            .iter()
            .map(|at| (at.to_str().unwrap().rsplit('-').next().unwrap().to_owned(), content(at).unwrap()))
            .collect();
        prop_assert_eq!(kept, intruders);
    }
}
