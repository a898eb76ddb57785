//! Words that say nothing.

use super::fails;
use crate::sandbox::Sandbox;

#[test]
fn a_decision_without_a_reason() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    insta::assert_snapshot!(fails(&sandbox, &["decide", "Keep it", "--why", ""]), @r"
    exit 64
    error: a decision says what, and `--why` says why: one of them is empty

    hint: `steadfast decide TEXT --why REASON` keeps it for every session after this one
    ");
}
