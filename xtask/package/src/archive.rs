//! The archive for users: the binary, its documents, and completions for every shell.

use std::path::{Path, PathBuf};

use xtask::Result;

use crate::format::{TarFolders, tar_gz};
use crate::{PackagedFile, Product, write};

/// The documents beside the binary.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Writes `steadfast-VERSION-TRIPLE.tar.gz`. All its files are in a folder of that name.
pub fn archive(product: &Product<'_>, folder: &Path) -> Result<PathBuf> {
    let name = format!("steadfast-{}-{}", product.version, product.target.triple);
    let mut entries = vec![PackagedFile::program(format!("{name}/steadfast"), product.binary()?)];
    for document in DOCUMENTS {
        entries.push(PackagedFile::text(format!("{name}/{document}"), product.document(document)?));
    }
    for completions in product.completions {
        let path = format!("{name}/completions/{}", completions.file);
        entries.push(PackagedFile::text(path, completions.script.as_slice()));
    }
    let bytes = tar_gz(&entries, TarFolders::Listed, product.seconds, product.effort)?;
    write(folder, &format!("{name}.tar.gz"), bytes)
}
