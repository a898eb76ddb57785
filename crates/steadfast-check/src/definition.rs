//! The definition of a check: the text that its command line leads to.
//!
//! `npm test` means what `package.json` says. So a command is frozen with the text behind it: scripts of manifests
//! with their pre and post scripts, recipes with their prerequisites, whole script files, and whatever these lead to
//! in turn. Other parts of those manifests do not count: a dependency, the order, white space.
//!
//! A command without such text (`cargo test`, `pytest`, `go test`) has no parts: it finds tests, and tests are part of
//! the work. Also left out, because a change may be work or come from the machine:
//!
//! - the configuration of test runners (`vitest.config.ts`, `jest.config.js`, `pytest.ini`, `turbo.json`),
//! - what a package manager installed (`node_modules/.bin`, `.venv`) and the programs on the `PATH`,
//! - the settings of the user and the environment (`~/.npmrc`, `MAKEFLAGS`),
//! - the source behind a name: an `xtask`, or the callees of a script in a language other than shell,
//! - the values of shell variables, and make variables that are only arguments.
//!
//! Tampering with these shows in the change under review, not here.

mod file;
mod justfile;
mod makefile;
mod manifest;
mod package;
mod part;
mod program;
mod reader;
mod recipe;
mod reference;
mod taskfile;

pub use file::DefineError;
pub use part::{Definition, DefinitionPart, PartState};
pub use reader::define;
pub use reference::{FileRunner, ManifestEntry, Reference, ReferenceTarget, references};
