//! Removes secrets from text. Pure: no files, no regular expressions, linear time.
//!
//! Stored text is redacted on its way in: events before they are decided on (`steadfast-hook/src/privacy.rs`), journal
//! lines, statement parameters of the ledger (`ledger/database/bind.rs`), the files beside them. Shown text is redacted on its
//! way out: `output.rs` of the binary, answers of the hook, MCP messages, rendered pages, agent logs. The command of a
//! check is stored as given, because it is executed from there, and redacted where it is shown.
//!
//! Three kinds of rules find a secret: a **token** has a shape of its own (`rule/table.rs`), a **name** announces a
//! value (`password=`, `"api_key":`, `--token`; `name.rs`), and a **place** always holds one (`user:password@` in a
//! URL, `Authorization:`, `mysql -p…`). A new key format is one line in `rule/table.rs`, with examples.
//!
//! Left as they are: references (`$TOKEN`, `${X}`, `<your-token>`, `{{ x }}`), fillers (`xxxx`, `***`) and the usual
//! placeholders (`changeme`, `postgres`, a password equal to its user name). A journal that blacks out every example is
//! useless. `placeholder.rs` has the list; `tests/misses.rs` lists and tests the known misses.
//!
//! Start with [`redact`], then `scan.rs`.

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

/// Replaces every secret in the text by `[redacted:<rule>]`. Borrows the text if there is none.
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

/// Returns true if [`redact`] would change the text.
pub fn contains_secret(text: &str) -> bool {
    Scanner::new(text).next().is_some()
}
