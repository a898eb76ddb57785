//! Steadfast's storage: files of sessions and gates for the hot path, and the ledger (SQLite) for everything else. No rules.
//!
//! - [`Place`]: the state folder of a repository, and the checkout. Start here, then read `session/mod.rs`.
//! - [`SessionFiles`]: the lock, journal and cached state of one session. Tool events use it instead of the ledger.
//! - [`ledger::Ledger`]: plans, tasks, evidence, runs, loops and learnings. Commands, stops and session starts open it.
//! - `gate`, `seal`, `draft`, `approval`: the plan gate. A marker closes it, a seal records the protected files, a draft is
//!   a proposed plan, an approval is a human's signed yes.
//! - `claim`, `scheduled`, `wiring`: which session runs a command, which prompts come from agents, how the hosts call us.
//! - `config`, `project_yaml`: the settings of a checkout.

mod approval;
mod checkout;
mod claim;
mod config;
mod digest;
mod draft;
mod file;
mod file_lock;
mod gate;
mod hook_log;
pub mod ledger;
mod marker;
mod neighbour;
mod next_session;
mod notice;
mod place;
mod project_yaml;
mod scheduled;
mod seal;
mod session;
mod unseen;
mod wiring;

pub use approval::{
    ApprovalQuery, ApprovalRecord, Consent, GrantError, Granted, Signer, SigningError, Verifier, approval_key,
    approval_of, approval_record, grant, grant_signed, valid_approval, write_approval,
};
pub use checkout::{MoveError, Moved, settle_checkout};
pub use claim::{claim_of_call, drop_claim, drop_claims_of, find_claim, leave_claim, stale_claims};
pub use config::{CONFIG_FILE, ConfigError, ConfigFiles, parse_options};
pub use draft::{Draft, draft, drafts, keep_draft};
pub use file_lock::{forget_check, is_check_running, lock_check, lock_following, lock_loop};
pub use gate::{
    Later, OldMarker, close_and_seal, close_gate, forget_gates, gate_before, gate_for, gate_of, gates,
    has_marker_before, open_and_unseal, open_gate,
};
pub use hook_log::{log_line, read_log, rotated_log};
pub use marker::{DraftFormat, has_marker, text_hash, with_marker, without_marker};
pub use neighbour::{make_neighbours, neighbours_are_due, neighbours_of};
pub use next_session::{add_waiting, remove_waiting, take_waiting, waiting_commands};
pub use notice::is_new_notice;
pub use place::Place;
pub use scheduled::{Scheduled, is_scheduled, is_scheduled_command, keep_scheduled};
pub use seal::{
    Restored, Sealed, kept_aside, mark_checkouts, reseal, reseal_tree, restore, restore_later, seal, seal_breaks,
    sealed, take_kept, tree_breaks, unseal,
};
pub use session::{Glance, Keep, KeptCorrection, Line, Removal, SessionError, SessionFiles, read_lines, sweep_removed};
pub use unseen::{UnseenFile, UnseenRequests, unseen_requests};
pub use wiring::{FileStamp, WatchedFile, WatchedWay, WiringTable, keep_wiring, read_wiring};
