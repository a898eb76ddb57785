//! Builds a binary for another machine with Debian's cross compiler.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask::process::{cargo, run, target as target_folder};
use xtask::{Result, tool};
use xtask_package::PackageTarget;

/// The requirements for another machine.
struct Cross {
    triple: &'static str,
    linker: &'static str,
    /// The packages of the linker. It only recommends the C library, so that is listed too.
    packages: &'static str,
    /// Runs a program of that machine.
    emulator: (&'static str, &'static str),
}

const CROSS: [Cross; 1] = [Cross {
    triple: "aarch64-unknown-linux-gnu",
    linker: "aarch64-linux-gnu-gcc",
    packages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    emulator: ("qemu-aarch64-static", "qemu-user-static"),
}];

fn of(target: &PackageTarget) -> Result<&'static Cross> {
    CROSS.iter().find(|cross| cross.triple == target.triple).ok_or_else(|| {
        format!("`{}` cannot be built on this machine: run `cargo xtask release` on such a machine", target.triple)
            .into()
    })
}

/// Builds with the profile `dist`.
pub(crate) fn build(target: &PackageTarget) -> Result<PathBuf> {
    let cross = of(target)?;
    tool::provide(cross.linker, cross.packages)?;
    provide_std(cross.triple)?;
    let linker = format!("CARGO_TARGET_{}_LINKER", cross.triple.to_uppercase().replace('-', "_"));
    let mut build =
        cargo(["build", "--quiet", "--package", "steadfast", "--profile", "dist", "--target", cross.triple]);
    run(build.env(linker, cross.linker))?;
    Ok(target_folder().join(cross.triple).join("dist/steadfast"))
}

/// Installs Rust's standard library for a target, unless it is there.
fn provide_std(triple: &str) -> Result<()> {
    let asked =
        Command::new("rustc").args(["--print", "target-libdir", "--target", triple]).stdin(Stdio::null()).output();
    let folder = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    if has_std(Path::new(&folder)) {
        return Ok(());
    }
    let rustup = Command::new("rustup").args(["target", "add", triple]).stdin(Stdio::null()).output();
    match rustup {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(no_std(triple, &folder, String::from_utf8_lossy(&output.stderr).trim()).into()),
        Err(error) => Err(no_std(triple, &folder, &error.to_string()).into()),
    }
}

fn has_std(folder: &Path) -> bool {
    let mut files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.any(|file| file.file_name().to_string_lossy().starts_with("libstd-"))
}

fn no_std(triple: &str, folder: &str, why: &str) -> String {
    format!(
        "Rust's standard library for `{triple}` is missing in `{folder}`, and `rustup target add {triple}` failed: {why}\n\n\
         hint: rustup needs the network, or a mirror in `RUSTUP_DIST_SERVER`. Without rustup, install the package `rust-std` \
         of this target for the version that `rustc --version` prints"
    )
}

/// Runs the binary in an emulator. A missing emulator is reported, and is no failure.
pub(crate) fn try_out(target: &PackageTarget, binary: &Path, version: &str) -> Result<()> {
    let (emulator, package) = of(target)?.emulator;
    if let Err(why) = tool::provide(emulator, package) {
        eprintln!("note: the binary for {} was not run: {why}", target.triple);
        return Ok(());
    }
    let output = Command::new(emulator).arg(binary).arg("-V").stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if said.trim() != format!("steadfast {version}") {
        return Err(format!("the binary for {} says: {said}", target.triple).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_without_a_standard_library_is_named_with_the_way_to_get_it() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_std(folder.path()) && !has_std(Path::new("")));
        std::fs::write(folder.path().join("libstd-0123.rlib"), "").unwrap();
        assert!(has_std(folder.path()));
        let said = no_std("t", "/lib/t", "no network");
        assert!(said.starts_with("Rust's standard library for `t` is missing in `/lib/t`"), "{said}");
        assert!(said.contains("failed: no network\n\nhint: ") && said.contains("RUSTUP_DIST_SERVER"), "{said}");
    }
}
