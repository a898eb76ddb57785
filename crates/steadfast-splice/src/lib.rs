//! Reads and changes JSON and streams of server-sent events in place: what is not changed keeps its bytes.
//!
//! Pure, and apart from the proxy that uses it, so that the fuzz targets build without its network.

pub mod json;
pub mod sse;
