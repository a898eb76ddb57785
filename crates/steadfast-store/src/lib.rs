//! The memory of Steadfast: session files for the hot path, the ledger for everything else.

mod check_lock;
mod claim;
mod config;
mod file;
mod gate;
mod hook_log;
pub mod ledger;
mod place;
pub mod redact;
mod session;

pub use check_lock::{forget_check, is_check_running, lock_check};
pub use claim::{claim_of_call, drop_claim, drop_claims_of, find_claim, leave_claim, stale_claims};
pub use config::{CONFIG_FILE, ConfigError, ConfigFiles, parse_options};
pub use gate::{Gate, GateScope};
pub use hook_log::{log_line, read_log, rotated_log};
pub use place::Place;
pub use session::{Glance, Keep, Line, Removal, SessionError, SessionFiles, read_lines, sweep_removed};
