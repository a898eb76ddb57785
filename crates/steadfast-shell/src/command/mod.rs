//! Commands with a language of their own, a module for each, and the builtins.

pub(crate) mod archive;
pub(crate) mod awk;
pub(crate) mod builtin;
pub(crate) mod container;
pub(crate) mod editor;
pub(crate) mod find;
pub(crate) mod foreign;
pub(crate) mod git;
pub(crate) mod interpreter;
pub(crate) mod listing;
pub(crate) mod output;
pub(crate) mod sed;
pub(crate) mod shell;
