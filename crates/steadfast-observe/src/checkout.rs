use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::Fact;

use crate::deadline::Deadline;
use crate::error::{ObserveError, fact};
use crate::git::Git;
use crate::git::path::from_git;

const CONFIGURATION: &str = "steadfast.toml";

/// A checkout, found by reading `.git` without starting a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// The root of the checkout, links resolved. Outside git: the project, or the folder where the search began.
    pub root: PathBuf,
    pub kind: CheckoutKind,
    /// The nearest folder inside the checkout, upward from where the search began, that has a `steadfast.toml`.
    pub project: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutKind {
    Git {
        /// The data of this checkout alone: `HEAD`, the index.
        git_dir: PathBuf,
        /// The data that all worktrees share: objects, branches, configuration.
        common_dir: PathBuf,
    },
    Bare {
        git_dir: PathBuf,
    },
    /// There is a `.git` that git cannot use, so nothing is known about the files.
    Broken,
    None,
}

/// The state of a folder's `.git`.
enum DotGit {
    Absent,
    Broken,
    Dir(PathBuf),
}

impl Checkout {
    pub fn find(cwd: &Path) -> Self {
        let cwd = fs::canonicalize(cwd).or_else(|_| std::path::absolute(cwd)).unwrap_or_else(|_| cwd.to_owned());
        let mut kind = CheckoutKind::None;
        for dir in cwd.ancestors() {
            match dot_git(dir) {
                DotGit::Dir(git_dir) => {
                    let common_dir = common(&git_dir);
                    let project = project(&cwd, Some(dir));
                    return Self { root: dir.to_owned(), kind: CheckoutKind::Git { git_dir, common_dir }, project };
                }
                // Git stops searching here, so Steadfast does too.
                DotGit::Broken => {
                    kind = CheckoutKind::Broken;
                    break;
                }
                // Seen from inside, a `.git` folder looks like a bare repository; its checkout is the parent.
                DotGit::Absent if !dir.ends_with(".git") && is_git_dir(dir) => {
                    return Self {
                        root: dir.to_owned(),
                        kind: CheckoutKind::Bare { git_dir: dir.to_owned() },
                        project: None,
                    };
                }
                DotGit::Absent => {}
            }
        }
        let project = project(&cwd, None);
        Self { root: project.clone().unwrap_or(cwd), kind, project }
    }

    pub fn git_dir(&self) -> Option<&Path> {
        match &self.kind {
            CheckoutKind::Git { git_dir, .. } | CheckoutKind::Bare { git_dir } => Some(git_dir),
            CheckoutKind::Broken | CheckoutKind::None => None,
        }
    }

    pub fn common_dir(&self) -> Option<&Path> {
        match &self.kind {
            CheckoutKind::Git { common_dir, .. } => Some(common_dir),
            CheckoutKind::Bare { git_dir } => Some(git_dir),
            CheckoutKind::Broken | CheckoutKind::None => None,
        }
    }

    /// Returns the git directory and the common directory, or an error if there is no usable checkout.
    pub(crate) fn checkout(&self) -> Result<(&Path, &Path), ObserveError> {
        match &self.kind {
            CheckoutKind::Git { git_dir, common_dir } => Ok((git_dir, common_dir)),
            CheckoutKind::Bare { .. } => Err(ObserveError::Bare),
            CheckoutKind::Broken => Err(ObserveError::BrokenGit(self.root.clone())),
            CheckoutKind::None => Err(ObserveError::NotARepository),
        }
    }

    /// Lists the files that git tracks, relative to the root of the checkout. Names that are not UTF-8 are left out.
    pub fn tracked(&self, budget: Duration) -> Fact<Vec<String>> {
        fact(self.read_tracked(Deadline::after(budget)))
    }

    fn read_tracked(&self, deadline: Deadline) -> Result<Vec<String>, ObserveError> {
        self.checkout()?;
        let listed = Git::at(&self.root).call("ls-files").args(["-z", "--full-name"]).answer(deadline)?;
        let names = listed.split(|byte| *byte == 0).filter_map(|name| str::from_utf8(name).ok());
        Ok(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }
}

fn dot_git(dir: &Path) -> DotGit {
    let path = dir.join(".git");
    let Ok(found) = fs::metadata(&path) else { return DotGit::Absent };
    if found.is_dir() {
        return if is_git_dir(&path) { DotGit::Dir(path) } else { DotGit::Absent };
    }
    match pointed_to(dir, &path) {
        Some(git_dir) if is_git_dir(&git_dir) => DotGit::Dir(git_dir),
        _ => DotGit::Broken,
    }
}

/// Reads the target of the `.git` file of a worktree or a submodule.
fn pointed_to(dir: &Path, file: &Path) -> Option<PathBuf> {
    let text = fs::read(file).ok()?;
    let target = from_git(text.strip_prefix(b"gitdir:")?.trim_ascii());
    let target = dir.join(target);
    Some(fs::canonicalize(&target).unwrap_or(target))
}

/// Uses git's own criteria: `HEAD`, objects and references; the latter two may be in the common directory.
fn is_git_dir(dir: &Path) -> bool {
    if dir.join("HEAD").symlink_metadata().is_err() {
        return false;
    }
    let common = common(dir);
    common.join("objects").is_dir() && common.join("refs").is_dir()
}

fn common(git_dir: &Path) -> PathBuf {
    let Ok(text) = fs::read(git_dir.join("commondir")) else { return git_dir.to_owned() };
    let common = git_dir.join(from_git(text.trim_ascii()));
    fs::canonicalize(&common).unwrap_or(common)
}

fn project(cwd: &Path, root: Option<&Path>) -> Option<PathBuf> {
    let inside = |dir: &&Path| root.is_none_or(|root| dir.starts_with(root));
    cwd.ancestors().take_while(inside).find(|dir| dir.join(CONFIGURATION).is_file()).map(Path::to_owned)
}
