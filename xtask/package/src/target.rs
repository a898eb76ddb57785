//! The machines with packages, and their name in each packager.

/// A machine with packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackageTarget {
    /// The name in Rust.
    pub triple: &'static str,
    /// npm's `os` and `cpu`.
    pub npm: (&'static str, &'static str),
    /// The platform tags of a wheel. A static binary needs no C library, so it fits glibc and musl. The numbers are the
    /// oldest versions that pip still accepts for the processor.
    pub wheel: &'static [&'static str],
    /// The architecture of a `.deb`.
    pub debian: Option<&'static str>,
}

pub const TARGETS: [PackageTarget; 4] = [
    PackageTarget {
        triple: "x86_64-unknown-linux-gnu",
        npm: ("linux", "x64"),
        wheel: &["manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"],
        debian: Some("amd64"),
    },
    PackageTarget {
        triple: "aarch64-unknown-linux-gnu",
        npm: ("linux", "arm64"),
        wheel: &["manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"],
        debian: Some("arm64"),
    },
    // The oldest systems that Rust's own targets support.
    PackageTarget {
        triple: "x86_64-apple-darwin",
        npm: ("darwin", "x64"),
        wheel: &["macosx_10_12_x86_64"],
        debian: None,
    },
    PackageTarget {
        triple: "aarch64-apple-darwin",
        npm: ("darwin", "arm64"),
        wheel: &["macosx_11_0_arm64"],
        debian: None,
    },
];

impl PackageTarget {
    pub fn of(triple: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.triple == triple)
    }
}
