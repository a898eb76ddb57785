//! The claims of the documents.

mod executed;
mod keys;
mod links;
mod named;
mod page;
mod reference;

use std::fs;
use std::path::Path;

use page::root;

/// All Rust of the repository, without build folders.
fn sources(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_built = path.file_name().is_some_and(|name| name == "target");
        if path.is_dir() && !is_built {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

/// A claim needs its test.
#[test]
fn every_test_that_the_threat_model_names_is_there() {
    let mut source = String::new();
    for folder in ["crates", "tests"] {
        sources(&root().join(folder), &mut source);
    }
    let text = fs::read_to_string(root().join("docs/threat-model.md")).unwrap();
    let mut named = 0;
    for code in text.split('`').skip(1).step_by(2).filter(|code| code.contains("::") || code.starts_with('…')) {
        let Some(name) = code.rsplit("::").next().filter(|name| !name.is_empty()) else { continue };
        // `…_of_it`: the rest of a name that differs in its beginning alone; else a test, or a module of tests.
        let is_there = match name.strip_prefix('…') {
            Some(end) => source.contains(&format!("{end}(")),
            None => source.contains(&format!("fn {name}(")) || source.contains(&format!("mod {name}")),
        };
        assert!(is_there, "docs/threat-model.md names `{code}`");
        named += 1;
    }
    assert!(named > 50, "{named}");
}
