//! Looks at everything that has to be right and says what is not. What it looks for is in the table [`checks::CHECKS`].

mod checks;
mod finding;
mod here;
mod measure;
mod program;
mod version;

use clap::Args;
use serde_json::json;
use steadfast_store::Place;

use crate::error::CommandError;
use crate::output::{note, put};
use crate::setup::Setup;
use crate::surroundings;
use checks::CHECKS;
use finding::{Finding, Severity};
use here::Here;

/// Looks at this repository and its wiring, and says what is wrong and what to do about it.
///
/// Exits with 1 if something does not work, with 0 if there are only warnings and notes.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Print JSON with stable keys: `{ok, findings: [{code, severity, message, hint}]}`; severity: error, warning, note.
    #[arg(long)]
    json: bool,
    /// Mend what can be mended without losing anything, and say what was done.
    #[arg(long)]
    fix: bool,
}

impl Doctor {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let mut setup = Setup::here()?;
        // Outside git a folder above may be the one that was set up.
        let found = Place::find(&setup.place.root, surroundings::user_state().as_deref());
        let set_up = found.is_some();
        if let Some(place) = found {
            setup.install.root.clone_from(&place.root);
            setup.place = place;
        }
        let findings =
            if set_up { examine(&Here::look(setup), self.fix) } else { vec![checks::not_set_up(&setup.place)] };
        put(&if self.json { to_json(&findings) } else { to_text(&findings) })?;
        match count(&findings, Severity::Error) {
            0 => Ok(()),
            errors => Err(CommandError::failure(format!("{} found", Severity::Error.counted(errors)))
                .hint("each says above what to do")),
        }
    }
}

fn examine(here: &Here, fix: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for check in CHECKS {
        let mut found = check(here);
        if fix && mend(here, &found) {
            found = check(here);
        }
        findings.extend(found);
    }
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// Whether something was done.
fn mend(here: &Here, findings: &[Finding]) -> bool {
    let mut done = false;
    for finding in findings {
        let Some(fix) = finding.fix else { continue };
        match fix(here) {
            Ok(said) => note!("fixed {}: {said}", finding.code),
            Err(why) => note!("not fixed {}: {why}", finding.code),
        }
        done = true;
    }
    done
}

fn to_json(findings: &[Finding]) -> String {
    let ok = count(findings, Severity::Error) == 0;
    let findings: Vec<_> = findings
        .iter()
        .map(|Finding { code, severity, message, hint, .. }| {
            json!({"code": code, "severity": severity.as_str(), "message": message, "hint": hint})
        })
        .collect();
    format!("{}\n", json!({"ok": ok, "findings": findings}))
}

fn to_text(findings: &[Finding]) -> String {
    let mut text = format!("{}\n", summary(findings));
    for Finding { code, severity, message, hint, .. } in findings {
        text += &format!("\n{} {code}: {message}\n    hint: {hint}\n", severity.as_str());
    }
    text
}

/// `3 findings: 1 error, 2 notes`; where nothing has to be done, `all well`.
fn summary(findings: &[Finding]) -> String {
    let counts = Severity::ALL.map(|severity| (severity, count(findings, severity)));
    let counted: Vec<_> =
        counts.iter().filter(|(_, count)| *count > 0).map(|(severity, count)| severity.counted(*count)).collect();
    match counts {
        [(_, 0), (_, 0), (_, 0)] => "all well".to_owned(),
        [(_, 0), (_, 0), _] => format!("all well, {}", counted.join(", ")),
        _ if findings.len() == 1 => format!("1 finding: {}", counted.join(", ")),
        _ => format!("{} findings: {}", findings.len(), counted.join(", ")),
    }
}

fn count(findings: &[Finding], severity: Severity) -> usize {
    findings.iter().filter(|finding| finding.severity == severity).count()
}
