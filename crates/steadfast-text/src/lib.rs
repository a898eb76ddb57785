//! Text functions that every crate may use: lines, counts, globs, paths, quoting, times. Pure: no files, no clock, nothing of
//! the product.

pub mod glob;
mod hex;
mod line;
mod list;
mod path;
mod quote;
mod time;

pub use hex::{from_hex, hex};
pub use line::{one_line, printable, truncate, truncate_bytes, truncate_line};
pub use list::{Number, and_more, count, count_of, noun};
pub use path::{absolute, clean, clean_path, is_within};
pub use quote::quote;
pub use time::{ago, parse_span, parse_time};
