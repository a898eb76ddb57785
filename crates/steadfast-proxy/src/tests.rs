//! The whole proxy between a raw client and a raw upstream.

pub(crate) mod client;
mod correcting;
mod differential;
mod double;
mod network;
mod refusing;
mod serving;
