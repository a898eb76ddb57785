//! Properties of every package, whichever binary is in it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use xtask_package::{Effort, Product, SHELLS, ShellCompletions, TARGETS};

/// Returns every package of every machine, by name, from a binary that was written at `time`.
fn packages(folder: &Path, time: Duration) -> Vec<(String, Vec<u8>)> {
    let binary = folder.join("steadfast");
    fs::write(&binary, "a binary").unwrap();
    fs::File::options().append(true).open(&binary).unwrap().set_modified(UNIX_EPOCH + time).unwrap();
    let completions: Vec<_> =
        SHELLS.map(|(shell, file)| ShellCompletions { shell, file, script: shell.as_bytes().to_vec() }).into();
    let out = folder.join("out");
    fs::create_dir(&out).unwrap();
    let mut files = Vec::new();
    for target in &TARGETS {
        let product = Product {
            sources: &xtask::process::root(),
            binary: &binary,
            target,
            version: "1.2.3",
            completions: &completions,
            seconds: 1_700_000_000,
            effort: Effort::Best,
        };
        files.extend([
            xtask_package::archive(&product, &out).unwrap(),
            xtask_package::npm_platform(&product, &out).unwrap(),
            xtask_package::wheel(&product, &out).unwrap(),
            xtask_package::npm_meta(&product, &out).unwrap(),
            xtask_package::installer(&product, None, &out).unwrap(),
        ]);
        files.extend(xtask_package::debian(&product, &out).unwrap());
    }
    files.sort();
    files.dedup();
    xtask_package::checksums(&files, &out).unwrap();
    files.push(out.join("SHA256SUMS"));
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

#[test]
fn the_same_files_make_the_same_packages_wherever_and_whenever_they_were_written() {
    let [one, other] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let one = packages(one.path(), Duration::from_secs(1_000_000_000));
    let other = packages(other.path(), Duration::from_secs(1_500_000_000));
    let names: Vec<_> = one.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "install.sh",
            "steadfast-1.2.3-aarch64-apple-darwin.tar.gz",
            "steadfast-1.2.3-aarch64-unknown-linux-gnu.tar.gz",
            "steadfast-1.2.3-x86_64-apple-darwin.tar.gz",
            "steadfast-1.2.3-x86_64-unknown-linux-gnu.tar.gz",
            "steadfast-cli-1.2.3.tgz",
            "steadfast-cli-darwin-arm64-1.2.3.tgz",
            "steadfast-cli-darwin-x64-1.2.3.tgz",
            "steadfast-cli-linux-arm64-1.2.3.tgz",
            "steadfast-cli-linux-x64-1.2.3.tgz",
            "steadfast_1.2.3_amd64.deb",
            "steadfast_1.2.3_arm64.deb",
            "steadfast_cli-1.2.3-py3-none-macosx_10_12_x86_64.whl",
            "steadfast_cli-1.2.3-py3-none-macosx_11_0_arm64.whl",
            "steadfast_cli-1.2.3-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl",
            "steadfast_cli-1.2.3-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl",
            "SHA256SUMS",
        ]
    );
    for ((name, one), (_, other)) in one.iter().zip(&other) {
        assert!(one == other, "{name} differs");
    }
}

#[test]
fn an_address_that_would_end_its_quotes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let product = Product {
        sources: &xtask::process::root(),
        binary: folder.path(),
        target: &TARGETS[0],
        version: "1.2.3",
        completions: &[],
        seconds: 0,
        effort: Effort::Fast,
    };
    let error = xtask_package::installer(&product, Some("https://x'; touch LURED; '"), folder.path()).unwrap_err();
    assert_eq!(error.to_string(), "`https://x'; touch LURED; '` cannot be the address of a release");
}

/// Returns all templates with their paths.
fn templates(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(templates(&path));
        } else {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

#[test]
fn the_templates_name_no_registry_and_no_path_of_a_machine() {
    let templates = templates(&xtask::process::root().join("packaging"));
    assert!(templates.len() > 10, "{}", templates.len());
    for (path, text) in templates {
        for word in
            ["registry", "npmjs", "pypi", "crates.io", "/home/", "/root/", "/Users/", "/work/", "/tmp/", "localhost"]
        {
            assert!(!text.contains(word), "{} names {word}", path.display());
        }
        let hosts = text.match_indices("https://").map(|(at, found)| &text[at + found.len()..]);
        let mut hosts = hosts.filter_map(|rest| rest.split(['/', ' ', '*']).next()).filter(|host| !host.is_empty());
        // A template of the Debian package names its format with this URL.
        assert!(hosts.all(|host| host == "www.debian.org"), "{} names a host", path.display());
    }
}
