//! Tasks that are kept elsewhere.

mod beads;
mod claims;
mod corpus;
mod failing;
mod fake_bd;
mod native;
mod real_br;
mod run;
mod secrets;
mod slices;
mod timing;
