//! `env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP` of Claude Code's settings: how many refusals to stop it grants in a row.

use super::error::SettingsError;
use super::json::{Document, Step, Value};
use super::original::Original;

pub const VARIABLE: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";

const ENV: Step<'static> = Step::Key("env");
const CAP: [Step<'static>; 2] = [ENV, Step::Key(VARIABLE)];

/// Raises the cap; one that is as high already stays.
pub(super) fn raise(document: &mut Document, cap: u32) -> Result<(), SettingsError> {
    let value = Value::text(cap.to_string());
    if document.get(&[ENV])?.is_none() {
        return document.insert(&[], "env", &Value::object([(VARIABLE, value)]));
    }
    document.expect(&[ENV], "an object", |node| node.members().is_some())?;
    match document.get(&CAP)? {
        None => document.insert(&[ENV], VARIABLE, &value),
        Some(node) if node.as_count().is_some_and(|granted| granted >= u64::from(cap)) => Ok(()),
        Some(_) => document.replace(&CAP, &value),
    }
}

/// Takes our cap back, if it is still the one we set: nothing in the file says whose it is, only our record does.
pub(super) fn give_back(
    document: &mut Document,
    original: &Original,
    installed: Option<&str>,
) -> Result<(), SettingsError> {
    let Some(installed) = installed.and_then(|text| Document::parse_settings(text).ok()) else { return Ok(()) };
    let Some(ours) = installed.get(&CAP)?.map(|node| installed.raw(node)) else { return Ok(()) };
    let Some(current) = document.get(&CAP)? else { return Ok(()) };
    let before = original.document().and_then(|original| Some(original.raw(original.get(&CAP).ok()??)));
    if document.raw(current) != ours || before == Some(ours) {
        return Ok(());
    }
    match before {
        Some(before) => document.replace_raw(&CAP, before),
        None => {
            document.remove(&CAP)?;
            original.give_back(document, &[ENV])
        }
    }
}
