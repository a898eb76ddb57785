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
    run(Command::new("rustup").args(["target", "add", cross.triple]).stdin(Stdio::null()))?;
    let linker = format!("CARGO_TARGET_{}_LINKER", cross.triple.to_uppercase().replace('-', "_"));
    let mut build =
        cargo(["build", "--quiet", "--package", "steadfast", "--profile", "dist", "--target", cross.triple]);
    run(build.env(linker, cross.linker))?;
    Ok(target_folder().join(cross.triple).join("dist/steadfast"))
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
