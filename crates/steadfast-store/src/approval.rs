//! Approvals: a human's signed yes to the plan with one hash. The marker line in the plan's file is only for readers; the
//! signed record decides.

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
