//! Rules in Claude Code's settings (`permissions.allow`) that let an agent call Steadfast without a dialog.

use serde::{Deserialize, Serialize};

use super::error::SettingsError;
use super::json::{Document, Node, Step, Value};
use super::original::Original;
use super::wiring::{SERVER, SHARED_PROGRAM};

const PERMISSIONS: Step<'static> = Step::Key("permissions");
const ALLOW: [Step<'static>; 2] = [PERMISSIONS, Step::Key("allow")];

/// The calls of Steadfast that an agent may make without a dialog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedCalls {
    /// The words after `steadfast`.
    pub commands: Vec<&'static str>,
    /// The tools of our MCP server.
    pub tools: Vec<&'static str>,
}

/// The answer to the offer of `init`. The next `init` goes by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionChoice {
    Allowed,
    Declined,
}

impl AllowedCalls {
    /// Returns the rules in Claude Code's spelling. `:*` allows more words, but no longer command: Claude Code compares
    /// whole words, and each command of a line on its own. Agents call the program by its name, as our texts do.
    pub fn rules(&self) -> Vec<String> {
        let commands = self.commands.iter().map(|command| format!("Bash({SHARED_PROGRAM} {command}:*)"));
        let tools = self.tools.iter().map(|tool| format!("mcp__{SERVER}__{tool}"));
        commands.chain(tools).collect()
    }
}

/// Returns true if one of these rules of a settings file allows what our rule allows.
pub fn is_allowed(rule: &str, by: &[String]) -> bool {
    let whole = if rule.starts_with("Bash(") {
        ["Bash", "Bash(*)", "Bash(steadfast:*)", "Bash(steadfast *)"].as_slice()
    } else {
        ["mcp__steadfast", "mcp__steadfast__*"].as_slice()
    };
    let newer = rule.replace(":*)", " *)");
    by.iter().any(|present| present == rule || *present == newer || whole.contains(&present.as_str()))
}

/// Adds the rules that are missing, and removes those of an earlier installation that are not wanted any more.
pub(super) fn merge(
    document: &mut Document,
    rules: &[String],
    original: &Original,
    installed: Option<&str>,
) -> Result<(), SettingsError> {
    take_out(document, original, installed, rules)?;
    if rules.is_empty() {
        return Ok(());
    }
    if document.get(&[PERMISSIONS])?.is_none() {
        document.insert(&[], "permissions", &Value::object([("allow", Value::List(Vec::new()))]))?;
    }
    document.expect(&[PERMISSIONS], "an object", |node| node.members().is_some())?;
    if document.get(&ALLOW)?.is_none() {
        document.insert(&[PERMISSIONS], "allow", &Value::List(Vec::new()))?;
    }
    for rule in rules {
        let list = document.expect(&ALLOW, "an array", |node| node.elements().is_some())?;
        if !texts(list).any(|present| present == rule) {
            document.append(&ALLOW, &Value::text(rule))?;
        }
    }
    Ok(())
}

/// Removes all rules of an earlier installation.
pub(super) fn strip(
    document: &mut Document,
    original: &Original,
    installed: Option<&str>,
) -> Result<(), SettingsError> {
    take_out(document, original, installed, &[])
}

/// Removes our rules except `kept`. The file does not show who wrote a rule: Claude Code writes the same text after "don't
/// ask again". Only our record does, so without a record every rule stays.
fn take_out(
    document: &mut Document,
    original: &Original,
    installed: Option<&str>,
    kept: &[String],
) -> Result<(), SettingsError> {
    let Some(installed) = installed.and_then(|text| Document::parse_settings(text).ok()) else { return Ok(()) };
    let before = original.document().map(allowed).unwrap_or_default();
    let ours: Vec<String> =
        allowed(&installed).into_iter().filter(|rule| !before.contains(rule) && is_of_ours(rule)).collect();
    let is_surplus = |rule: &str| ours.iter().any(|ours| ours == rule) && !kept.iter().any(|kept| kept == rule);
    let mut removed = false;
    while let Some(place) = document.get(&ALLOW)?.and_then(|list| texts(list).position(is_surplus)) {
        document.remove(&[ALLOW[0], ALLOW[1], Step::Index(place)])?;
        removed = true;
    }
    if removed { original.restore(document, &ALLOW) } else { Ok(()) }
}

/// Returns true for the texts that some version of `init` writes.
fn is_of_ours(rule: &str) -> bool {
    rule.starts_with(&format!("Bash({SHARED_PROGRAM} ")) || rule.starts_with(&format!("mcp__{SERVER}__"))
}

/// The rules of a settings file. An unreadable list has none.
fn allowed(document: &Document) -> Vec<String> {
    document.get(&ALLOW).ok().flatten().map(|list| texts(list).map(str::to_owned).collect()).unwrap_or_default()
}

/// The texts of a list, with an empty text for each other element, so that positions are those of the list.
pub(super) fn texts(list: &Node) -> impl Iterator<Item = &str> {
    list.elements().unwrap_or_default().iter().map(|node| node.as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Vec<String> {
        AllowedCalls { commands: vec!["task next", "why"], tools: vec!["task_next"] }.rules()
    }

    #[test]
    fn a_rule_is_spelled_as_claude_code_spells_it() {
        assert_eq!(rules(), ["Bash(steadfast task next:*)", "Bash(steadfast why:*)", "mcp__steadfast__task_next"]);
    }

    #[test]
    fn a_wider_rule_of_the_user_allows_it_too() {
        let by = |rule: &str, present: &str| is_allowed(rule, &[present.to_owned()]);
        let bash = "Bash(steadfast task next:*)";
        for present in [bash, "Bash(steadfast task next *)", "Bash(steadfast:*)", "Bash(steadfast *)", "Bash"] {
            assert!(by(bash, present), "{present}");
        }
        for present in ["Bash(steadfast task next)", "Bash(steadfast task done:*)", "Read", "mcp__steadfast"] {
            assert!(!by(bash, present), "{present}");
        }
        assert!(by("mcp__steadfast__why", "mcp__steadfast"));
        assert!(!by("mcp__steadfast__why", "mcp__steadfast__task_next"));
    }
}
