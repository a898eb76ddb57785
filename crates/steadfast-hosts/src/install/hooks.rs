//! Edits our hooks in a settings file. Claude Code and Codex use the same shape: `{"hooks": {"<event>": [{"matcher"?,
//! "hooks": [handler, …]}, …]}}`.

use steadfast_model::Host;

use super::error::SettingsError;
use super::json::{Document, Node, Step, Value};
use super::original::Original;
use super::wiring::{HookLine, Wiring, is_ours, lines};

const HOOKS: Step<'static> = Step::Key("hooks");

/// The position of a handler: index of its group in the event, and index in the group.
type Place = (usize, usize);

pub(super) fn merge(document: &mut Document, wiring: &Wiring) -> Result<(), SettingsError> {
    document.expect(&[], "an object", |node| node.members().is_some())?;
    if document.get(&[HOOKS])?.is_none() {
        let events =
            lines(wiring.host).iter().map(|line| (line.event.as_str(), Value::List(vec![wiring.group(*line)])));
        return document.insert(&[], "hooks", &Value::object(events));
    }
    document.expect(&[HOOKS], "an object", |node| node.members().is_some())?;
    for line in lines(wiring.host) {
        merge_event(document, wiring, *line)?;
    }
    let registered = |event: &str| lines(wiring.host).iter().any(|line| line.event.as_str() == event);
    for event in events(document)?.into_iter().filter(|event| !registered(event)) {
        strip_event(document, wiring.host, &event, &Original::default())?;
    }
    Ok(())
}

fn merge_event(document: &mut Document, wiring: &Wiring, line: HookLine) -> Result<(), SettingsError> {
    let event = Step::Key(line.event.as_str());
    if document.get(&[HOOKS, event])?.is_none() {
        return document.insert(&[HOOKS], line.event.as_str(), &Value::List(vec![wiring.group(line)]));
    }
    let groups = document.expect(&[HOOKS, event], "an array", |node| node.elements().is_some())?;
    let places = places_of_ours(groups, wiring.host);
    let Some(((group, handler), surplus)) = places.split_first() else {
        return document.append(&[HOOKS, event], &wiring.group(line));
    };
    for place in surplus.iter().rev() {
        remove_handler(document, event, *place)?;
    }
    let ours = [HOOKS, event, Step::Index(*group), HOOKS, Step::Index(*handler)];
    update_handler(document, &ours, &wiring.handler_members(line))
}

/// Changes only members that differ, so a correct entry keeps its bytes and a user's additions stay.
fn update_handler(
    document: &mut Document,
    handler: &[Step<'_>],
    members: &[(&'static str, Value)],
) -> Result<(), SettingsError> {
    for (key, value) in members {
        let path = [handler, &[Step::Key(key)]].concat();
        match document.get(&path)? {
            None => document.insert(handler, key, value)?,
            Some(node) if !node.reads_as(value) => document.replace(&path, value)?,
            Some(_) => {}
        }
    }
    let in_args = members.iter().any(|(key, _)| *key == "args");
    let args = [handler, &[Step::Key("args")]].concat();
    if !in_args && document.get(&args)?.is_some() {
        document.remove(&args)?;
    }
    Ok(())
}

/// Removes all our handlers, and the containers that did not exist before us.
pub(super) fn strip(document: &mut Document, host: Host, original: &Original) -> Result<(), SettingsError> {
    for event in events(document)? {
        strip_event(document, host, &event, original)?;
    }
    Ok(())
}

fn strip_event(document: &mut Document, host: Host, event: &str, original: &Original) -> Result<(), SettingsError> {
    let event = Step::Key(event);
    let Some(groups) = document.get(&[HOOKS, event])? else { return Ok(()) };
    let places = places_of_ours(groups, host);
    for place in places.iter().rev() {
        remove_handler(document, event, *place)?;
    }
    if places.is_empty() { Ok(()) } else { original.restore(document, &[HOOKS, event]) }
}

fn remove_handler(document: &mut Document, event: Step<'_>, (group, handler): Place) -> Result<(), SettingsError> {
    let group = [HOOKS, event, Step::Index(group)];
    let handlers = [group.as_slice(), &[HOOKS]].concat();
    document.remove(&[handlers.as_slice(), &[Step::Index(handler)]].concat())?;
    // We never add a handler to an existing group, so an emptied group was ours.
    if document.get(&handlers)?.is_some_and(Node::is_empty) { document.remove(&group) } else { Ok(()) }
}

/// Finds our handlers. Nodes of another shape than a hook are not ours.
fn places_of_ours(groups: &Node, host: Host) -> Vec<Place> {
    let mut places = Vec::new();
    for (group, node) in groups.elements().unwrap_or_default().iter().enumerate() {
        let handlers = node.member("hooks").and_then(Node::elements).unwrap_or_default();
        let ours = handlers.iter().enumerate().filter(|(_, handler)| is_ours(handler, host));
        places.extend(ours.map(|(handler, _)| (group, handler)));
    }
    places
}

fn events(document: &Document) -> Result<Vec<String>, SettingsError> {
    let members = document.get(&[HOOKS])?.and_then(Node::members).unwrap_or_default();
    Ok(members.iter().map(|member| member.key.clone()).collect())
}

/// The setting `env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`: how often in a row Stop hooks may keep Claude Code from stopping.
pub const STOP_BLOCK_CAP: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";

const ENV: Step<'static> = Step::Key("env");
const CAP: [Step<'static>; 2] = [ENV, Step::Key(STOP_BLOCK_CAP)];

/// Raises the cap. An equal or higher value stays.
pub(super) fn raise_cap(document: &mut Document, cap: u32) -> Result<(), SettingsError> {
    let value = Value::text(cap.to_string());
    if document.get(&[ENV])?.is_none() {
        return document.insert(&[], "env", &Value::object([(STOP_BLOCK_CAP, value)]));
    }
    document.expect(&[ENV], "an object", |node| node.members().is_some())?;
    match document.get(&CAP)? {
        None => document.insert(&[ENV], STOP_BLOCK_CAP, &value),
        Some(node) if node.as_count().is_some_and(|granted| granted >= u64::from(cap)) => Ok(()),
        Some(_) => document.replace(&CAP, &value),
    }
}

/// Restores the cap if the value is still ours. The file does not show who set it; only our record does.
pub(super) fn restore_cap(
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
            original.restore(document, &[ENV])
        }
    }
}
