//! The database file: opening it, its migrations, and the only connection to it.

pub(super) mod bind;
pub(super) mod column;
pub(super) mod connection;
pub(super) mod migration;
pub(super) mod open;
