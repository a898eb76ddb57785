//! Tasks that are kept elsewhere.

mod beads;
mod corpus;
mod failing;
mod fake_bd;
mod native;
mod run;
mod slices;
