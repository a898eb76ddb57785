//! An empty root: a few programs with their libraries, and nothing else of this machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use steadfast_testkit::skip;

use super::super::{BASICS, both, on_path, package, said, target};
use super::{LIMIT, python};
use crate::sandbox::{may_mount, program};

/// Mounts what a container has, and goes on in the root `$0` with the script `$1`.
const ENTER: &str =
    "mount --rbind /dev \"$0/dev\" && mount --rbind /proc \"$0/proc\" && exec chroot \"$0\" /bin/sh -ec \"$1\"";

/// The surroundings of every script in the root.
const SURROUNDINGS: &str = "cd /home; export HOME=/home PATH=/bin TMPDIR=/tmp";

struct Image {
    root: tempfile::TempDir,
}

impl Image {
    /// Has the basics. None, and a skip, where no root can be made or entered.
    fn new() -> Option<Self> {
        if let Some(missing) = ["unshare", "chroot", "mount", "ldd"].into_iter().find(|name| on_path(name).is_none()) {
            skip("an empty root", &format_args!("`{missing}` is missing"));
            return None;
        }
        if !may_mount() {
            return None;
        }
        let root = tempfile::Builder::new().prefix("steadfast-image").tempdir().unwrap();
        let image = Self { root };
        for folder in ["bin", "dev", "proc", "tmp", "home", "etc", "usr/bin", "packages"] {
            fs::create_dir_all(image.at(folder)).unwrap();
        }
        fs::write(image.at("etc/passwd"), "root:x:0:0:root:/home:/bin/sh\n").unwrap();
        for name in BASICS {
            image.add_program(&on_path(name).unwrap(), &format!("bin/{name}"));
        }
        std::os::unix::fs::symlink("/bin/env", image.at("usr/bin/env")).unwrap();
        Some(image)
    }

    fn at(&self, inside: impl AsRef<Path>) -> PathBuf {
        let inside = inside.as_ref();
        self.root.path().join(inside.strip_prefix("/").unwrap_or(inside))
    }

    fn add_program(&self, program: &Path, inside: &str) {
        self.add_file(&program.canonicalize().unwrap(), Path::new(inside));
        self.add_libraries(program);
    }

    /// Adds what `ldd` names. A script or a static program needs nothing.
    fn add_libraries(&self, file: &Path) {
        let listed = Command::new("ldd").arg(file).output().unwrap().stdout;
        let listed = String::from_utf8(listed).unwrap();
        let libraries: BTreeSet<&str> = listed.split_whitespace().filter(|word| word.starts_with('/')).collect();
        for library in libraries.into_iter().filter(|library| Path::new(library).is_file()) {
            self.add_file(&Path::new(library).canonicalize().unwrap(), Path::new(library));
        }
    }

    fn add_file(&self, file: &Path, inside: &Path) {
        let place = self.at(inside);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        if !place.exists() && fs::hard_link(file, &place).is_err() {
            fs::copy(file, &place).unwrap();
        }
    }

    /// Adds a folder at its own path, with the libraries of the modules in it.
    fn add_folder(&self, folder: &Path) {
        fs::create_dir_all(self.at(folder)).unwrap();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.add_folder(&path);
            } else if path.is_file() {
                self.add_file(&path.canonicalize().unwrap(), &path);
                if path.extension().is_some_and(|end| end == "so") {
                    self.add_libraries(&path);
                }
            }
        }
    }

    /// Runs a script in the root, without a network.
    fn run(&self, script: &str) -> Output {
        let script = format!("{SURROUNDINGS}; {script}");
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "--net", "sh", "-c", ENTER]).arg(self.root.path()).arg(script);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").output().unwrap()
    }

    /// Installs, and plays the demo of the program that is then at `steadfast`.
    fn try_out(&self, install: &str, steadfast: &str) {
        let started = Instant::now();
        let output = self.run(&format!("{install}; {steadfast} demo"));
        let all = both(&output);
        assert!(output.status.success(), "{all}");
        assert!(all.contains("Without Steadfast") && all.contains("With Steadfast"), "{all}");
        assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    }

    fn lacks(&self, programs: &[&str]) {
        for name in programs {
            assert!(!self.run(&format!("command -v {name}")).status.success(), "{name}");
        }
    }
}

#[test]
fn an_image_with_neither_node_nor_python() {
    let Some(image) = Image::new() else { return };
    image.lacks(&["node", "python3", "gcc", "cargo", "curl", "perl"]);
    let folder = image.at("packages");
    package(&program(), |product| {
        let files = [xtask_package::archive(product, &folder)?, xtask_package::installer(product, None, &folder)?];
        xtask_package::checksums(&files, &folder)
    });
    image.try_out("sh /packages/install.sh", "/home/.local/bin/steadfast");
}

#[test]
fn an_image_with_only_node() {
    let (Some(node), Some(npm)) = (on_path("node"), on_path("npm")) else {
        skip("npm packages", &"`node` and `npm` are missing");
        return;
    };
    let Some(image) = Image::new() else { return };
    image.add_program(&node, "bin/node");
    // `npm-cli.js` is in `bin` of its package.
    let npm = npm.canonicalize().unwrap();
    let Some(package_of_npm) = npm.ancestors().nth(2).filter(|folder| folder.join("package.json").is_file()) else {
        skip("npm packages", &format_args!("{} is not in a package", npm.display()));
        return;
    };
    image.add_folder(package_of_npm);
    image.lacks(&["python3", "gcc", "cargo", "curl"]);
    let folder = image.at("packages");
    package(&program(), |product| {
        xtask_package::npm_meta(product, &folder)?;
        xtask_package::npm_platform(product, &folder)
    });
    let install = format!("node {} install --global --offline --prefix /home/prefix /packages/*.tgz", npm.display());
    image.try_out(&install, "/home/prefix/bin/steadfast");
    let native =
        format!("/home/prefix/lib/node_modules/{}-{}-{}", xtask_package::PACKAGE, target().npm.0, target().npm.1);
    assert!(image.at(native).join("bin/steadfast").is_file());
}

#[test]
fn an_image_with_only_python() {
    let Some(python) = python() else { return };
    let Some(image) = Image::new() else { return };
    let places = "import sys, sysconfig; print(sysconfig.get_paths()['stdlib']); print(sys.executable)";
    let places = said(Command::new(&python).args(["-c", places]));
    let [stdlib, executable] = places.lines().collect::<Vec<_>>().try_into().unwrap();
    image.add_folder(Path::new(stdlib));
    // At its own path, from which it finds its library.
    image.add_program(Path::new(executable), executable);
    image.lacks(&["node", "gcc", "cargo", "curl"]);
    let folder = image.at("packages");
    package(&program(), |product| xtask_package::wheel(product, &folder));
    let install = format!(
        "{executable} -m venv /home/environment; /home/environment/bin/python -m pip install --no-index \
         --disable-pip-version-check /packages/*.whl"
    );
    image.try_out(&install, "/home/environment/bin/steadfast");
}
