//! Text functions for every crate. Pure: no files, no clock, no terms of the product.
//!
//! - [`one_line`], [`truncate`], [`printable`]: fit text into one line of a terminal or a prompt.
//! - [`count`], [`and_more`]: counts with their noun, and shortened lists.
//! - [`glob`]: patterns for names and paths; [`clean`], [`absolute`]: paths without `.` and `..`.
//! - [`quote`], [`hex`]: shell words and hexadecimal.
//! - [`parse_time`], [`parse_span`], [`ago`], [`duration`], [`Zone`]: times and durations.
//! - [`columns`], [`fit`], [`wrap`]: text in the columns of a terminal.

mod column;
pub mod glob;
mod hex;
mod line;
mod list;
mod path;
mod quote;
mod time;
mod zone;

pub use column::{HANG, MARKS, columns, fit, pad, wrap};
pub use hex::{from_hex, hex};
pub use line::{one_line, printable, truncate, truncate_bytes, truncate_line};
pub use list::{Number, and_more, count, count_of, noun};
pub use path::{absolute, clean, clean_path, is_within};
pub use quote::quote;
pub use time::{ago, duration, parse_span, parse_time};
pub use zone::Zone;
