//! Tasks that are kept elsewhere.

mod beads;
mod fake_bd;
mod failing;
mod native;
