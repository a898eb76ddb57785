//! The Debian package: an `ar` of two tars, with the files and with dpkg's metadata.

use std::path::{Path, PathBuf};

use xtask::Result;

use crate::format::{TarFolders, ar, tar_gz};
use crate::{PackagedFile, Product, write};

/// The paths of completions in Debian.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/steadfast"),
    ("zsh", "usr/share/zsh/vendor-completions/_steadfast"),
    ("fish", "usr/share/fish/vendor_completions.d/steadfast.fish"),
];

/// Writes the package. `None` for a machine without a Debian architecture.
pub fn debian(product: &Product<'_>, folder: &Path) -> Result<Option<PathBuf>> {
    let Some(architecture) = product.target.debian else { return Ok(None) };
    let licence = String::from_utf8(product.document("LICENSE-MIT")?)?;
    let mut files = vec![
        PackagedFile::program("usr/bin/steadfast", product.binary()?),
        PackagedFile::text(
            "usr/share/doc/steadfast/copyright",
            product.template("debian/copyright", &[("MIT", &indented(&licence))])?,
        ),
        PackagedFile::text("usr/share/doc/steadfast/README.md", product.document("README.md")?),
    ];
    for (shell, path) in COMPLETIONS {
        files.push(PackagedFile::text(path, product.completions(shell)?));
    }
    // In KiB, with each file rounded up.
    let installed: usize = files.iter().map(|file| file.content.len().div_ceil(1024)).sum();
    let values = [("ARCHITECTURE", architecture), ("INSTALLED_SIZE", &installed.to_string())];
    let control = [PackagedFile::text("control", product.template("debian/control", &values)?)];
    let control = tar_gz(&control, TarFolders::Listed, product.seconds, product.effort)?;
    let data = tar_gz(&files, TarFolders::Listed, product.seconds, product.effort)?;
    let members = [("debian-binary", b"2.0\n".as_slice()), ("control.tar.gz", &control), ("data.tar.gz", &data)];
    let name = format!("steadfast_{}_{architecture}.deb", product.version);
    write(folder, &name, ar(&members, product.seconds)).map(Some)
}

/// Returns the text as a continued field of Debian's control files: a blank before each line, a dot on an empty one.
fn indented(text: &str) -> String {
    let lines: Vec<_> =
        text.trim().lines().map(|line| format!(" {}", if line.is_empty() { "." } else { line })).collect();
    lines.join("\n")
}
