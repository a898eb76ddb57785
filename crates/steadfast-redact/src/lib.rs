//! Secrets out of text.
//!
//! What is stored passes one of these doors: an event before it is decided on (`steadfast-hook/src/privacy.rs`), a line of
//! the journal, a parameter of a statement of the ledger (`ledger/bind.rs`), a file beside them. What is shown passes
//! another: `output.rs` of the binary, the answer of a hook, a message of the MCP server, a rendered page, an agent's log.
//! The command of a check is kept as given where it is executed from, and redacted where it is shown.
//! Three ways lead to a secret: a **token** that shows
//! itself by its own shape (`rule/table.rs`), a **name** that announces a value (`password=`, `"api_key":`,
//! `--token`; `name.rs`), and a **place** that always holds one (`user:password@` in a URL, `Authorization:`,
//! `mysql -p…`). A new key format is one line in `rule/table.rs` with its examples beside it.
//!
//! What is left alone on purpose: references (`$TOKEN`, `${X}`, `<your-token>`, `{{ x }}`), fillers (`xxxx`, `***`),
//! and the placeholders that everybody commits (`changeme`, `postgres`, a password equal to its user name), because
//! a journal in which every example is blacked out helps nobody; `placeholder.rs` has the list. What is missed
//! knowingly is listed, and tested, in `tests/misses.rs`.

mod assignment;
mod class;
mod command;
mod flag;
mod header;
mod json;
mod marker;
mod name;
mod placeholder;
mod private_key;
mod rule;
mod scan;
#[cfg(test)]
#[expect(clippy::print_stderr, reason = "a test says what it found in the corpus")]
mod tests;
mod url;
mod value;

use std::borrow::Cow;

pub use json::{redact_document, redact_json};

use scan::Scanner;

/// The text with every secret replaced by `[redacted:<rule>]`; borrowed when there is none.
///
/// One pass, linear in the length of the text, and idempotent.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut findings = Scanner::new(text).peekable();
    if findings.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut copied = 0;
    for finding in findings {
        clean.push_str(&text[copied..finding.start]);
        marker::write(&mut clean, finding.rule);
        copied = finding.end;
    }
    clean.push_str(&text[copied..]);
    Cow::Owned(clean)
}

/// Whether [`redact`] would change the text.
pub fn contains_secret(text: &str) -> bool {
    Scanner::new(text).next().is_some()
}
