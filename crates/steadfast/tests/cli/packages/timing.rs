//! Each package: installed, and the demo run from it, within 20 s.

mod image;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use steadfast_testkit::skip;

use super::{Machine, native, on_path, package, said, wired, with_node, write_npm, write_release};
use crate::sandbox::{may_mount, program};

/// From the package file to the end of the demo.
const LIMIT: Duration = Duration::from_secs(20);

/// Calls the program by its name and plays the demo. Fails if that ends too long after `started`.
fn try_out(machine: &Machine, bin: &Path, package: &Path, started: Instant) {
    let installed = started.elapsed();
    let version = said(machine.command(bin.join("steadfast"), Some(bin)).arg("--version"));
    assert!(version.starts_with(&format!("steadfast {}\n", env!("CARGO_PKG_VERSION"))), "{version}");
    let demo = said(machine.command(bin.join("steadfast"), Some(bin)).arg("demo"));
    assert!(demo.contains("Without Steadfast") && demo.contains("With Steadfast"), "{demo}");
    let (all, size) = (started.elapsed(), fs::metadata(package).unwrap().len());
    // Not `eprintln`: the test harness shows captured output of failed tests only.
    let _ = writeln!(
        std::io::stderr(),
        "{}: {:.1} MB, installed after {:.1} s, demo over after {:.1} s",
        package.file_name().unwrap().display(),
        size as f64 / 1e6,
        installed.as_secs_f64(),
        all.as_secs_f64()
    );
    assert!(all < LIMIT, "{all:?}");
}

#[test]
fn install_sh_needs_no_root_and_no_other_program() {
    let machine = Machine::with(&[]);
    write_release(&machine, &program());
    let archive = fs::read_dir(machine.packages()).unwrap().map(|entry| entry.unwrap().path());
    let archive = archive.into_iter().find(|path| path.extension().is_some_and(|end| end == "gz")).unwrap();
    let started = Instant::now();
    said(machine.command("sh", None).arg(machine.packages().join("install.sh")));
    try_out(&machine, &machine.path("home/.local/bin"), &archive, started);
}

#[test]
fn npm_installs_the_program_itself_and_init_wires_that() {
    let Some(machine) = with_node() else { return };
    let packages = write_npm(&machine);
    let prefix = machine.path("home/prefix");
    let Some(mut npm) = machine.offline("npm", None) else { return };
    let started = Instant::now();
    said(npm.args(["install", "--global", "--offline", "--prefix"]).arg(&prefix).args(&packages));
    let bin = prefix.join("bin");
    try_out(&machine, &bin, &packages[1], started);

    let installed = fs::read(bin.join("steadfast")).unwrap();
    assert!(installed == fs::read(native(&prefix)).unwrap(), "the command is not the program itself");
    let repository = machine.repository();
    let mut init = machine.command("steadfast", Some(&bin));
    said(init.args(["init", "--host", "claude", "--yes"]).current_dir(&repository));
    assert_eq!(wired(&machine, &repository), bin.join("steadfast").canonicalize().unwrap());
}

#[test]
fn pip_installs_the_wheel() {
    let Some(python) = python() else { return };
    let machine = Machine::with(&[&python]);
    let folder = machine.packages();
    let wheel = package(&program(), |product| xtask_package::wheel(product, &folder));
    let environment = machine.path("home/environment");
    let started = Instant::now();
    said(machine.command(python.file_name().unwrap(), None).args(["-m", "venv"]).arg(&environment));
    let bin = environment.join("bin");
    let Some(mut pip) = machine.offline(bin.join("python"), None) else { return };
    said(pip.args(["-m", "pip", "install", "--no-index", "--disable-pip-version-check"]).arg(&wheel));
    try_out(&machine, &bin, &wheel, started);

    // pip does not look at the checksums.
    let check = "import base64, csv, hashlib, io, sys, zipfile\n\
        wheel = zipfile.ZipFile(sys.argv[1])\n\
        record = [name for name in wheel.namelist() if name.endswith('/RECORD')][0]\n\
        rows = list(csv.reader(io.StringIO(wheel.read(record).decode())))\n\
        assert [row[0] for row in rows] == wheel.namelist(), rows\n\
        for name, sum, size in rows:\n\
        \x20   data = wheel.read(name)\n\
        \x20   own = 'sha256=' + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')\n\
        \x20   assert name == record or (sum, int(size)) == (own, len(data)), name\n";
    said(machine.command(bin.join("python"), None).args(["-c", check]).arg(&wheel));
}

/// The interpreter itself, where it can make an environment with pip: what is on the PATH may be a script that chooses one.
fn python() -> Option<PathBuf> {
    let probe = "import ensurepip, venv, sys; print(sys.executable)";
    match Command::new("python3").args(["-c", probe]).output() {
        Ok(output) if output.status.success() => Some(String::from_utf8(output.stdout).unwrap().trim().into()),
        _ => {
            skip("the wheel", &"`python3` or its package python3-venv is missing");
            None
        }
    }
}

#[test]
fn dpkg_installs_the_deb() {
    let programs = ["dpkg", "dpkg-deb", "dpkg-query", "dpkg-split"].map(on_path);
    let [Some(_), ..] = programs else {
        skip("the Debian package", &"`dpkg` is missing");
        return;
    };
    let programs = programs.map(Option::unwrap);
    let machine = Machine::with(&programs.each_ref().map(PathBuf::as_path));
    let folder = machine.packages();
    let Some(deb) = package(&program(), |product| xtask_package::debian(product, &folder)) else { return };
    let root = machine.path("root");
    for folder in ["info", "updates", "triggers"] {
        fs::create_dir_all(root.join("var/lib/dpkg").join(folder)).unwrap();
    }
    for file in ["status", "available"] {
        fs::write(root.join("var/lib/dpkg").join(file), "").unwrap();
    }
    // Files of a package belong to root, which dpkg has to be to write them.
    if !may_mount() {
        return;
    }
    let started = Instant::now();
    let Some(mut install) = machine.offline("dpkg", None) else { return };
    // It looks for what scripts of packages call; this one has none.
    install.arg("--root").arg(&root).args(["--force-bad-path", "--install"]).arg(&deb);
    said(&mut install);
    try_out(&machine, &root.join("usr/bin"), &deb, started);

    let status = said(machine.command("dpkg", None).arg("--root").arg(&root).args(["--status", "steadfast"]));
    assert!(status.contains("\nStatus: install ok installed\n"), "{status}");
    let list = said(machine.command("dpkg", None).arg("--root").arg(&root).args(["--listfiles", "steadfast"]));
    for file in [
        "/usr/bin/steadfast",
        "/usr/share/bash-completion/completions/steadfast",
        "/usr/share/doc/steadfast/copyright",
        "/usr/share/zsh/vendor-completions/_steadfast",
    ] {
        assert!(list.lines().any(|line| line == file), "{file}: {list}");
    }
}
