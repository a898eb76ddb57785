//! `install.sh`, and the list of checksums it reads.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use xtask::Result;

use crate::{Product, read, write};

/// The list that `sha256sum --check` reads.
const CHECKSUMS: &str = "SHA256SUMS";

/// Writes `install.sh` for this version. `from` is the web folder with the archives. Without it, the script looks
/// beside itself, or in the place that its user names.
pub fn installer(product: &Product<'_>, from: Option<&str>, folder: &Path) -> Result<PathBuf> {
    let from = from.unwrap_or_default();
    // The script has it between single quotes.
    if from.contains(['\'', '\n']) {
        return Err(format!("`{from}` cannot be the address of a release").into());
    }
    write(folder, "install.sh", product.template("install.sh", &[("FROM", from)])?)
}

/// Writes the checksums of these files in `folder`, and returns the list.
pub fn checksums(files: &[PathBuf], folder: &Path) -> Result<String> {
    let mut lines = Vec::new();
    for file in files {
        let name = file.file_name().ok_or("a file without a name")?.to_string_lossy();
        let sum = Sha256::digest(read(file)?);
        let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
        lines.push((name.into_owned(), sum));
    }
    lines.sort();
    let list: String = lines.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    write(folder, CHECKSUMS, &list)?;
    Ok(list)
}
