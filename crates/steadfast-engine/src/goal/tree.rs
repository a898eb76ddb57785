//! Looks up names in the tree: folders of that name, and files of that name with any ending.

use std::collections::BTreeMap;

use steadfast_model::{Goal, NamedPath};

/// A name with more places than this, beside one folder, does not locate the work.
const PLACES: usize = 8;

/// Returns the places of these names among the files of a tree. `token_store`, `token-store` and `TokenStore` are one
/// name.
///
/// ```
/// use steadfast_engine::goal::found;
///
/// let tree = ["src/billing/mod.rs", "src/billing/tax.rs", "src/token_store.rs", "web/theme.css"].map(str::to_owned);
/// let found = found(&["billing".into(), "TokenStore".into(), "menu".into()], &tree);
/// let paths: Vec<(&str, &str)> = found.iter().map(|found| (found.name.as_str(), found.path.as_str())).collect();
/// assert_eq!(paths, [("billing", "src/billing/"), ("TokenStore", "src/token_store.rs")]);
/// ```
pub fn found(names: &[String], tree: &[String]) -> Vec<NamedPath> {
    let mut all = Vec::new();
    for name in names {
        let paths = places(&plain(name), tree);
        all.extend(paths.into_iter().map(|path| NamedPath { name: name.clone(), path }));
    }
    all.truncate(Goal::SCOPE);
    all
}

fn places(name: &[u8], tree: &[String]) -> Vec<String> {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    let mut files: Vec<&str> = Vec::new();
    for path in tree {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        if let Some(outermost) = called(folder, name) {
            *folders.entry(outermost).or_default() += 1;
        } else if is(file.split('.').next().unwrap_or(file), name) {
            files.push(path);
        }
    }
    let largest = folders.values().max().copied().unwrap_or_default();
    if folders.values().sum::<usize>() - largest + files.len() > PLACES {
        return Vec::new();
    }
    let folders = folders.keys().map(|folder| format!("{folder}/"));
    folders.chain(files.into_iter().map(str::to_owned)).collect()
}

/// Returns the path up to the topmost folder that has the name.
fn called<'p>(folder: &'p str, name: &[u8]) -> Option<&'p str> {
    let mut end = 0;
    folder.split('/').find_map(|part| {
        let here = end + part.len();
        end = here + 1;
        is(part, name).then(|| &folder[..here])
    })
}

/// Returns a name without the characters that only join its words.
fn plain(name: &str) -> Vec<u8> {
    bytes(name).collect()
}

fn bytes(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().filter(|byte| !matches!(byte, b'_' | b'-')).map(|byte| byte.to_ascii_lowercase())
}

fn is(part: &str, name: &[u8]) -> bool {
    // A hundred thousand paths are compared with a dozen names; the length rules out most of them.
    part.len() >= name.len() && !name.is_empty() && bytes(part).eq(name.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str, tree: &[&str]) -> Vec<String> {
        let tree: Vec<String> = tree.iter().map(|path| (*path).to_owned()).collect();
        found(&[name.to_owned()], &tree).into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn a_folder_stands_for_all_that_is_in_it() {
        let tree = ["src/auth/mod.rs", "src/auth/auth.rs", "src/auth/auth/token.rs", "tests/auth.rs", "web/a.ts"];
        assert_eq!(at("auth", &tree), ["src/auth/", "tests/auth.rs"]);
    }

    #[test]
    fn words_are_joined_in_any_way() {
        let tree = ["a/token-store.test.ts", "b/TokenStore.tsx", "c/token_store/mod.rs", "d/tokens.rs"];
        for name in ["TokenStore", "token_store", "token-store"] {
            assert_eq!(at(name, &tree), ["c/token_store/", "a/token-store.test.ts", "b/TokenStore.tsx"], "{name}");
        }
    }

    #[test]
    fn a_name_that_is_everywhere_says_nothing() {
        let everywhere: Vec<String> = (0..9).map(|n| format!("part{n}/index.ts")).collect();
        let everywhere: Vec<&str> = everywhere.iter().map(String::as_str).collect();
        assert_eq!(at("index", &everywhere), Vec::<String>::new());
        assert_eq!(at("index", &everywhere[1..]).len(), 8);
        // One folder may be as large as it likes.
        let large: Vec<String> = (0..100).map(|n| format!("src/index/{n}.ts")).collect();
        let large: Vec<&str> = large.iter().map(String::as_str).chain(["a/index.ts"]).collect();
        assert_eq!(at("index", &large), ["src/index/", "a/index.ts"]);
    }

    #[test]
    fn a_hidden_file_is_not_called_by_its_ending() {
        assert_eq!(at("env", &[".env", "src/.env.local"]), Vec::<String>::new());
    }
}
