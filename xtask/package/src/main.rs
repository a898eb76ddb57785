//! `cargo xtask release`: builds everything that users install, with checksums, and checks that it runs.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "chores talk")]
#![expect(clippy::disallowed_methods, reason = "chores run programs and read the environment")]

mod cross;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use xtask::Result;
use xtask::process::{build, root, run, target, triple};
use xtask_package::{Effort, PackageTarget, Product, SHELLS, ShellCompletions};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match ReleaseOptions::of(&arguments).and_then(|wanted| release(&wanted)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[derive(Debug)]
struct ReleaseOptions<'a> {
    /// In addition to this machine's target.
    targets: Vec<&'static PackageTarget>,
    /// The web folder of the archives, for `install.sh`.
    from: Option<&'a str>,
}

impl<'a> ReleaseOptions<'a> {
    fn of(arguments: &'a [String]) -> Result<Self> {
        let mut wanted = Self { targets: Vec::new(), from: None };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("`{argument}` requires a value"))?;
            match argument.as_str() {
                "--target" => {
                    let target =
                        PackageTarget::of(value).ok_or_else(|| format!("there are no packages for `{value}`"))?;
                    wanted.targets.push(target);
                }
                "--from" => wanted.from = Some(value),
                other => return Err(format!("unknown option `{other}`").into()),
            }
        }
        Ok(wanted)
    }
}

fn release(wanted: &ReleaseOptions<'_>) -> Result<()> {
    let host = triple()?;
    let host = PackageTarget::of(&host).ok_or_else(|| format!("there are no packages for `{host}`"))?;
    let binary = build("dist")?;
    let said = output(Command::new(&binary).arg("--version"))?;
    let version = output(Command::new(&binary).arg("-V"))?;
    let version = version.trim().strip_prefix("steadfast ").ok_or("the binary does not say its version")?;
    if let Some(note) = not_from_a_commit(&said) {
        eprintln!("{note}");
    }
    let sources = root();
    let completions = completions(&binary)?;
    let seconds = seconds()?;
    let folder = target().join("release-files");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;

    let own = Product {
        sources: &sources,
        binary: &binary,
        target: host,
        version,
        completions: &completions,
        seconds,
        effort: Effort::Best,
    };
    let mut files = packages(&own, &folder)?;
    for target in wanted.targets.iter().copied().filter(|target| *target != host) {
        let binary = cross::build(target)?;
        files.extend(packages(&Product { binary: &binary, target, ..own }, &folder)?);
        cross::try_out(target, &binary, version)?;
    }
    files.push(xtask_package::npm_meta(&own, &folder)?);
    files.push(xtask_package::installer(&own, wanted.from, &folder)?);
    let sums = xtask_package::checksums(&files, &folder)?;
    try_out(&folder, &said)?;
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        println!("{:>10.1} KB  {name}", fs::metadata(file)?.len() as f64 / 1e3);
    }
    print!("in {}:\n{sums}", folder.display());
    Ok(())
}

/// Builds every package of one machine.
fn packages(product: &Product<'_>, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = vec![
        xtask_package::archive(product, folder)?,
        xtask_package::npm_platform(product, folder)?,
        xtask_package::wheel(product, folder)?,
    ];
    files.extend(xtask_package::debian(product, folder)?);
    Ok(files)
}

/// Returns a warning if the binary cannot be built again from a commit, according to its own version text.
fn not_from_a_commit(said: &str) -> Option<String> {
    let commit = said.lines().find_map(|line| line.strip_prefix("commit "))?;
    let why = match commit {
        "unknown" => "it was built without git, or outside of its repository",
        commit if commit.ends_with(", dirty") => "files differed from the commit",
        _ => return None,
    };
    Some(format!(
        "note: this is not built from a commit (`{commit}`: {why}), so it is nothing to publish\n\n\
         hint: commit what `git status` shows, and run `cargo xtask release` again"
    ))
}

fn completions(binary: &Path) -> Result<Vec<ShellCompletions>> {
    let script = |(shell, file)| {
        let script = output(Command::new(binary).args(["completions", shell]))?.into_bytes();
        Ok(ShellCompletions { shell, file, script })
    };
    SHELLS.into_iter().map(script).collect()
}

/// Installs as a user does: `install.sh` checks the sum and unpacks, and the program runs.
fn try_out(folder: &Path, said: &str) -> Result<()> {
    let prefix = tempfile::tempdir()?;
    run(Command::new("sh")
        .arg(folder.join("install.sh"))
        .arg("--from")
        .arg(folder)
        .arg("--prefix")
        .arg(prefix.path()))?;
    let found = output(Command::new(prefix.path().join("bin/steadfast")).arg("--version"))?;
    if found != said {
        return Err(format!("the installed binary says something else: {found}").into());
    }
    Ok(())
}

/// Returns the time of every packed file: `SOURCE_DATE_EPOCH`, or the time of the commit; without git, the epoch.
fn seconds() -> Result<u64> {
    if let Ok(seconds) = std::env::var("SOURCE_DATE_EPOCH") {
        return seconds.parse().map_err(|_| format!("SOURCE_DATE_EPOCH is no number of seconds: `{seconds}`").into());
    }
    let git = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()).output();
    match git {
        Ok(output) if output.status.success() => Ok(String::from_utf8(output.stdout)?.trim().parse()?),
        _ => Ok(0),
    }
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot start {command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_built_from_a_commit_is_noted_with_the_next_command() {
        let note =
            |commit: &str| not_from_a_commit(&format!("steadfast 0.1.0\ncommit {commit}\ntarget x\nprofile dist\n"));
        assert_eq!(note("c29007a1b2, 2026-11-15"), None);
        assert_eq!(
            note("unknown").unwrap(),
            "note: this is not built from a commit (`unknown`: it was built without git, or outside of its repository), \
             so it is nothing to publish\n\nhint: commit what `git status` shows, and run `cargo xtask release` again"
        );
        assert_eq!(
            note("c29007a1b2, 2026-11-15, dirty").unwrap(),
            "note: this is not built from a commit (`c29007a1b2, 2026-11-15, dirty`: files differed from the commit), so \
             it is nothing to publish\n\nhint: commit what `git status` shows, and run `cargo xtask release` again"
        );
    }

    #[test]
    fn a_machine_without_packages_is_named() {
        let words = ["--target".to_owned(), "sparc-sun-solaris".to_owned()];
        assert_eq!(
            ReleaseOptions::of(&words).unwrap_err().to_string(),
            "there are no packages for `sparc-sun-solaris`"
        );
    }
}
