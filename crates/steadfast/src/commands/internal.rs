//! The commands that only Steadfast itself runs. No help lists them.

pub(super) mod neighbours;
pub(super) mod notify;
pub(super) mod refine;
pub(super) mod sim;
pub(super) mod supervise;
