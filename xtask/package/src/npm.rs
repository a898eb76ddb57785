//! The npm packages: one with the binary for each machine, and one with the command, which depends on all of them. npm
//! installs the one with the matching `os` and `cpu`.

use std::path::{Path, PathBuf};

use xtask::Result;

use crate::format::{TarFolders, tar_gz};
use crate::{PACKAGE, PackageTarget, PackagedFile, Product, TARGETS, write};

/// npm unpacks the contents of this folder.
const INSIDE: &str = "package";

/// Writes the package with the command.
pub fn npm_meta(product: &Product<'_>, folder: &Path) -> Result<PathBuf> {
    let dependencies = TARGETS.each_ref().map(|target| format!("    \"{}\": \"{}\"", name(target), product.version));
    let values = [("DEPENDENCIES", dependencies.join(",\n"))];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut entries = licences(product)?;
    for (file, is_program) in [
        ("package.json", false),
        ("README.md", false),
        ("native.js", false),
        ("postinstall.js", false),
        ("bin/steadfast", true),
    ] {
        let content = product.template(&format!("npm/{file}"), &values)?.into_bytes();
        entries.push(PackagedFile { path: format!("{INSIDE}/{file}"), content, is_program });
    }
    pack(product, PACKAGE, &entries, folder)
}

/// Writes the package with the binary.
pub fn npm_platform(product: &Product<'_>, folder: &Path) -> Result<PathBuf> {
    let name = name(product.target);
    let (os, cpu) = product.target.npm;
    let manifest = product.template("npm/platform/package.json", &[("NAME", &name), ("OS", os), ("CPU", cpu)])?;
    let readme = product.template("npm/platform/README.md", &[("OS", os), ("CPU", cpu)])?;
    let mut entries = licences(product)?;
    entries.push(PackagedFile::text(format!("{INSIDE}/package.json"), manifest));
    entries.push(PackagedFile::text(format!("{INSIDE}/README.md"), readme));
    entries.push(PackagedFile::program(format!("{INSIDE}/bin/steadfast"), product.binary()?));
    pack(product, &name, &entries, folder)
}

fn name(target: &PackageTarget) -> String {
    let (os, cpu) = target.npm;
    format!("{PACKAGE}-{os}-{cpu}")
}

fn licences(product: &Product<'_>) -> Result<Vec<PackagedFile>> {
    let mut entries = Vec::new();
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        entries.push(PackagedFile::text(format!("{INSIDE}/{file}"), product.document(file)?));
    }
    Ok(entries)
}

fn pack(product: &Product<'_>, name: &str, entries: &[PackagedFile], folder: &Path) -> Result<PathBuf> {
    let bytes = tar_gz(entries, TarFolders::Implied, product.seconds, product.effort)?;
    write(folder, &format!("{name}-{}.tgz", product.version), bytes)
}
