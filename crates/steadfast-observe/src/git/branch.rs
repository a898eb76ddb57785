use std::fs;
use std::path::Path;
use std::time::Duration;

use steadfast_model::Fact;

use super::Git;
use super::object_id::ObjectId;
use crate::checkout::Checkout;
use crate::deadline::Deadline;
use crate::error::{ObserveError, fact};

const BRANCHES: &[u8] = b"refs/heads/";
/// The `HEAD` file of a reftable repository, for programs that only read files.
const REFTABLE: &[u8] = b"refs/heads/.invalid";

/// The branch or commit that is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Branch {
    /// A branch, with or without a commit.
    Named(String),
    Detached(ObjectId),
}

impl Checkout {
    /// Reads `HEAD`. Asks git only if that file does not name a branch or a commit.
    pub fn branch(&self, budget: Duration) -> Fact<Branch> {
        let deadline = Deadline::after(budget);
        let Some(git_dir) = self.git_dir() else { return fact(Err(ObserveError::NotARepository)) };
        fact(read(&git_dir.join("HEAD")).map_or_else(|| ask_git(&self.root, deadline), Ok))
    }
}

fn read(head: &Path) -> Option<Branch> {
    // Old versions of git made `HEAD` a link to the branch's file; git still reads such a link.
    let text = match fs::read_link(head) {
        Ok(target) => [b"ref: ", target.as_os_str().as_encoded_bytes()].concat(),
        Err(_) => fs::read(head).ok()?,
    };
    let text = text.trim_ascii();
    match text.strip_prefix(b"ref:") {
        Some(name) => named(name.trim_ascii()),
        None => ObjectId::from_git(text).map(Branch::Detached),
    }
}

fn named(reference: &[u8]) -> Option<Branch> {
    let name = reference.strip_prefix(BRANCHES).filter(|_| reference != REFTABLE)?;
    Some(Branch::Named(String::from_utf8_lossy(name).into_owned()))
}

fn ask_git(root: &Path, deadline: Deadline) -> Result<Branch, ObserveError> {
    const NO_BRANCH: i32 = 1;
    let output = Git::at(root).call("symbolic-ref").args(["--quiet", "HEAD"]).answer_with(&[0, NO_BRANCH], deadline)?;
    match output.trim_ascii() {
        b"" => head(root, deadline).map(Branch::Detached),
        name => Ok(named(name).unwrap_or_else(|| Branch::Named(String::from_utf8_lossy(name).into_owned()))),
    }
}

pub(crate) fn head(dir: &Path, deadline: Deadline) -> Result<ObjectId, ObserveError> {
    let output = Git::at(dir).call("rev-parse").args(["--verify", "--quiet", "HEAD"]).answer(deadline)?;
    ObjectId::from_git(output.trim_ascii()).ok_or_else(|| ObserveError::unreadable("rev-parse", &output))
}
