use clap::Args;
use serde_json::json;
use steadfast_hosts::install::STOP_BLOCK_CAP;
use steadfast_work::chain;
use steadfast_work::doctor::{Diagnostic, DiagnosticSeverity, Given, examine};

use super::authority;
use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, put};

/// Check this repository and its wiring, and suggest fixes.
///
/// Exits with 1 if something does not work, and with 0 if there are only warnings and notes.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Print JSON with stable keys: `{ok, findings: [{code, severity, message, hint}]}`; severity: error, warning, note.
    #[arg(long)]
    json: bool,
    /// Fix the problems that can be fixed without losing data, and print each fix.
    #[arg(long)]
    fix: bool,
}

impl Doctor {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let stop_block_cap = environment::text(STOP_BLOCK_CAP).and_then(|text| text.parse().ok());
        let given = Given { stop_block_cap, offered: authority::allowed_calls() };
        let examined = examine(here::setup()?, environment::current(), given, self.fix);
        for (code, fixed) in &examined.fixes {
            match fixed {
                Ok(said) => note!("fixed {code}: {said}"),
                Err(error) => note!("not fixed {code}: {}", chain(error)),
            }
        }
        let findings = examined.findings;
        put(&if self.json { to_json(&findings) } else { to_text(&findings) })?;
        match count(&findings, DiagnosticSeverity::Error) {
            0 => Ok(()),
            errors => Err(CommandError::failure(format!("{} found", DiagnosticSeverity::Error.counted(errors)))
                .hint("each problem above names its fix")),
        }
    }
}

fn to_json(findings: &[Diagnostic]) -> String {
    let ok = count(findings, DiagnosticSeverity::Error) == 0;
    let findings: Vec<_> = findings
        .iter()
        .map(|Diagnostic { code, severity, message, hint, .. }| {
            json!({"code": code, "severity": severity.as_str(), "message": message, "hint": hint})
        })
        .collect();
    format!("{}\n", json!({"ok": ok, "findings": findings}))
}

fn to_text(findings: &[Diagnostic]) -> String {
    let mut text = format!("{}\n", summary(findings));
    for Diagnostic { code, severity, message, hint, .. } in findings {
        text += &format!("\n{} {code}: {message}\n    hint: {hint}\n", severity.as_str());
    }
    text
}

/// `3 findings: 1 error, 2 notes`; `all well` if there are only notes.
fn summary(findings: &[Diagnostic]) -> String {
    let counts = DiagnosticSeverity::ALL.map(|severity| (severity, count(findings, severity)));
    let counted: Vec<_> =
        counts.iter().filter(|(_, count)| *count > 0).map(|(severity, count)| severity.counted(*count)).collect();
    match counts {
        [(_, 0), (_, 0), (_, 0)] => "all well".to_owned(),
        [(_, 0), (_, 0), _] => format!("all well, {}", counted.join(", ")),
        _ if findings.len() == 1 => format!("1 finding: {}", counted.join(", ")),
        _ => format!("{} findings: {}", findings.len(), counted.join(", ")),
    }
}

fn count(findings: &[Diagnostic], severity: DiagnosticSeverity) -> usize {
    findings.iter().filter(|finding| finding.severity == severity).count()
}
