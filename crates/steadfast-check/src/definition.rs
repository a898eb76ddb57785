//! What a check's command line stands for.
//!
//! `npm test` is what `package.json` says it is. So a command is frozen together with the text it leads to: scripts of
//! manifests with those before and after them, recipes with those of their prerequisites, script files as a whole, and
//! what these lead to in turn. Other bytes of those manifests do not count: a dependency, an order, a space.
//!
//! A command that is its own definition (`cargo test`, `pytest`, `go test`) has no part here: what it finds are tests,
//! and tests are the work. Also not here, because they cannot be told from work or from the machine:
//!
//! - the configuration of test runners (`vitest.config.ts`, `jest.config.js`, `pytest.ini`, `turbo.json`),
//! - what a package manager installed (`node_modules/.bin`, `.venv`) and the programs on the `PATH`,
//! - the settings of the user and the environment (`~/.npmrc`, `MAKEFLAGS`),
//! - the source behind a name: of an `xtask`, of what a script in another language than that of the shell calls,
//! - what a variable of the shell leads to, and variables of make that are only arguments.
//!
//! What of this was tampered with shows in the change, not here.

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
