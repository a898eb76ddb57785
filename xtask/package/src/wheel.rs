//! The Python wheel: a zip with the binary among its scripts, so that an installer puts it into the environment's
//! `bin`.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use xtask::Result;

use crate::format::zip;
use crate::{PACKAGE, PackagedFile, Product, write};

/// Writes the wheel of this machine. Any Python 3 can install it, since the binary does not use Python.
pub fn wheel(product: &Product<'_>, folder: &Path) -> Result<PathBuf> {
    // In file names, `-` separates the parts.
    let stem = format!("{}-{}", PACKAGE.replace('-', "_"), product.version);
    let info = format!("{stem}.dist-info");
    let tags: String = product.target.wheel.iter().map(|platform| format!("Tag: py3-none-{platform}\n")).collect();
    let mut entries = vec![
        PackagedFile::program(format!("{stem}.data/scripts/steadfast"), product.binary()?),
        PackagedFile::text(format!("{info}/METADATA"), product.template("python/METADATA", &[])?),
        PackagedFile::text(format!("{info}/WHEEL"), product.template("python/WHEEL", &[("TAGS", tags.trim_end())])?),
    ];
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        entries.push(PackagedFile::text(format!("{info}/licenses/{file}"), product.document(file)?));
    }
    let record = format!("{info}/RECORD");
    let mut lines: String = entries.iter().map(line).collect();
    // The record cannot contain its own checksum.
    lines.push_str(&format!("{record},,\n"));
    entries.push(PackagedFile::text(record, lines));
    let name = format!("{stem}-py3-none-{}.whl", product.target.wheel.join("."));
    write(folder, &name, zip(&entries, product.effort)?)
}

fn line(entry: &PackagedFile) -> String {
    let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(&entry.content));
    format!("{},sha256={sum},{}\n", entry.path, entry.content.len())
}
