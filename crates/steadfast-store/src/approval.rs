//! Approvals: a human's yes to the plan of one hash, signed. The line in the plan's file is for people; this counts.

mod grant;
mod key;
mod record;
mod status;

pub use grant::{Consent, GrantError, Granted, grant, grant_signed};
pub use key::approval_key;
pub use record::{ApprovalRecord, Signer, SigningError, Verifier, approval_record, valid_approval, write_approval};
pub use status::{ApprovalQuery, approval_of};

#[cfg(test)]
mod tests;
