//! The source files of the product.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;

/// The Rust files below a folder without its tests, sorted by path.
pub fn production_sources(folder: &Path) -> Result<Vec<PathBuf>> {
    files(folder, "rs")
}

/// The files with an extension below a folder, sorted by path. Files and folders named `tests` are left out.
pub(crate) fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files_found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if is_test {
            continue;
        }
        if path.is_dir() {
            files_found.extend(files(&path, extension)?);
        } else if path.extension().is_some_and(|found| found == extension) {
            files_found.push(path);
        }
    }
    files_found.sort();
    Ok(files_found)
}
