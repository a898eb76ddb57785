//! `project.yaml`, which other tools also read. Steadfast reads only `workflow.stop_hook`.
//!
//! A file without that key is not parsed: a template or another tool's dialect is not an error here. This file builds the
//! YAML tree itself because the loaders of the YAML crates do not limit nesting: dropping a tree with 100,000 levels
//! overflows the stack of a hook.

use std::path::Path;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span};
use steadfast_model::{ExitOn, Options, Settings, StopOptions};

use crate::config::ConfigError;

/// The file name, at the root of the checkout.
pub(crate) const PROJECT_YAML: &str = "project.yaml";

/// The maximum nesting depth, far above that of any real file.
const DEEPEST: usize = 64;

/// Returns the options of the file. `None` if it has none.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Option<Options>, ConfigError> {
    if !text.contains("stop_hook") {
        return Ok(None);
    }
    let invalid = |wrong: YamlError| ConfigError::Invalid {
        path: path.to_owned(),
        line: wrong.at.line(),
        column: wrong.at.col() + 1,
        message: wrong.message,
    };
    let document = document(text).map_err(invalid)?;
    let Some(hook) = document.as_ref().and_then(|all| all.get("workflow")?.get("stop_hook")) else { return Ok(None) };
    let stop = stop_options(hook).map_err(invalid)?;
    Ok(Some(Options { stop, ..Options::default() }))
}

/// An error and its position.
struct YamlError {
    at: Marker,
    message: String,
}

impl YamlError {
    fn at(at: Marker, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

impl From<ScanError> for YamlError {
    fn from(error: ScanError) -> Self {
        Self::at(*error.marker(), format!("invalid YAML: {}", error.info()))
    }
}

struct Node {
    at: Marker,
    value: Value,
}

enum Value {
    /// The text, and true if it is quoted.
    Scalar(String, bool),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    /// A reference, which is not followed.
    Alias,
}

impl Node {
    /// If a key occurs twice, the last one counts.
    fn get(&self, key: &str) -> Option<&Self> {
        let Value::Map(members) = &self.value else { return None };
        let named = members.iter().rev().find(|(name, _)| matches!(&name.value, Value::Scalar(name, _) if name == key));
        named.map(|(_, value)| value)
    }

    fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(text, false) if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }
}

type Events<'a> = Parser<'a, saphyr_parser::StrInput<'a>>;

/// Parses the first document of the file.
fn document(text: &str) -> Result<Option<Node>, YamlError> {
    let mut events: Events<'_> = Parser::new_from_str(text);
    while let Some(next) = events.next() {
        match next? {
            (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
            (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(None),
            (event, span) => return node(event, span, &mut events, DEEPEST).map(Some),
        }
    }
    Ok(None)
}

fn node(event: Event<'_>, span: Span, events: &mut Events<'_>, depth: usize) -> Result<Node, YamlError> {
    let at = span.start;
    if depth == 0 {
        return Err(YamlError::at(at, format!("more than {DEEPEST} nested levels")));
    }
    let value = match event {
        Event::Scalar(text, style, ..) => Value::Scalar(text.into_owned(), style != ScalarStyle::Plain),
        Event::SequenceStart(..) => {
            let mut list = Vec::new();
            loop {
                match next_event(events, at)? {
                    (Event::SequenceEnd, _) => break Value::List(list),
                    (event, span) => list.push(node(event, span, events, depth - 1)?),
                }
            }
        }
        Event::MappingStart(..) => {
            let mut members = Vec::new();
            loop {
                let name = match next_event(events, at)? {
                    (Event::MappingEnd, _) => break Value::Map(members),
                    (event, span) => node(event, span, events, depth - 1)?,
                };
                let (event, span) = next_event(events, at)?;
                members.push((name, node(event, span, events, depth - 1)?));
            }
        }
        _ => Value::Alias,
    };
    Ok(Node { at, value })
}

fn next_event<'a>(events: &mut Events<'a>, at: Marker) -> Result<(Event<'a>, Span), YamlError> {
    match events.next() {
        Some(next) => Ok(next?),
        None => Err(YamlError::at(at, "invalid YAML: the file ends too early")),
    }
}

fn stop_options(hook: &Node) -> Result<StopOptions, YamlError> {
    let mut stop = StopOptions::default();
    let members = match &hook.value {
        Value::Map(members) => members,
        _ if hook.is_null() => return Ok(stop),
        _ => return Err(YamlError::at(hook.at, "expected keys with values below `stop_hook`")),
    };
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        let Value::Scalar(key, _) = &name.value else {
            return Err(YamlError::at(name.at, "expected the name of a key"));
        };
        match key.as_str() {
            "enabled" => stop.enabled = Some(boolean(value)?),
            "check_ready_tasks" => stop.check_ready_tasks = Some(boolean(value)?),
            "check_in_progress" => stop.check_in_progress = Some(boolean(value)?),
            "max_cycles" => stop.max_cycles = Some(number(value)?),
            "max_idle" => stop.max_idle = Some(number(value)?),
            "allow_exit_on" => stop.allow_exit_on = Some(list(value, exit_on)?),
            "completion_promises" => stop.completion_promises = Some(list(value, text)?),
            other => return Err(unknown(name, other)),
        }
    }
    Ok(stop)
}

fn unknown(name: &Node, key: &str) -> YamlError {
    let keys = Settings::KEYS.iter().filter_map(|key| key.name.strip_prefix("stop."));
    let known: Vec<String> = keys.map(|key| format!("`{key}`")).collect();
    YamlError::at(name.at, format!("unknown field `{key}`, expected one of {}", known.join(", ")))
}

fn text(node: &Node) -> Result<String, YamlError> {
    match &node.value {
        Value::Scalar(text, _) => Ok(text.clone()),
        _ => Err(YamlError::at(node.at, "expected a string")),
    }
}

fn boolean(node: &Node) -> Result<bool, YamlError> {
    match &node.value {
        Value::Scalar(word, false) if word.eq_ignore_ascii_case("true") => Ok(true),
        Value::Scalar(word, false) if word.eq_ignore_ascii_case("false") => Ok(false),
        _ => Err(YamlError::at(node.at, "expected `true` or `false`")),
    }
}

fn number(node: &Node) -> Result<u32, YamlError> {
    let found = match &node.value {
        Value::Scalar(digits, false) => digits.parse().ok(),
        _ => None,
    };
    found.ok_or_else(|| YamlError::at(node.at, "expected a number"))
}

fn exit_on(node: &Node) -> Result<ExitOn, YamlError> {
    let word = text(node)?;
    ExitOn::parse(&word).ok_or_else(|| {
        let known: Vec<String> = ExitOn::ALL.iter().map(|known| format!("`{}`", known.as_str())).collect();
        YamlError::at(node.at, format!("unknown variant `{word}`, expected one of {}", known.join(", ")))
    })
}

fn list<T>(node: &Node, entry: fn(&Node) -> Result<T, YamlError>) -> Result<Vec<T>, YamlError> {
    match &node.value {
        Value::List(entries) => entries.iter().map(entry).collect(),
        _ => Err(YamlError::at(node.at, "expected a list")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<StopOptions>, String> {
        match parse(Path::new("project.yaml"), text) {
            Ok(options) => Ok(options.map(|options| options.stop)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// A typical file.
    const FILE: &str = "name: greet\nworkflow:\n  stop_hook:\n    enabled: true\n\n    # What triggers re-feed\n    \
                        check_ready_tasks: true\n    check_in_progress: false\n\n    max_cycles: 50\n\n    allow_exit_on:\n      \
                        - all_complete\n      - all_blocked  # Escalate to user\n      - context_checkpoint\n\n    \
                        completion_promises:\n      - \"ALL TASKS COMPLETE\"\n      - BLOCKED - NEEDS USER\n";

    #[test]
    fn the_stop_hook_is_read_and_the_rest_is_not_ours() {
        let stop = StopOptions {
            enabled: Some(true),
            check_ready_tasks: Some(true),
            check_in_progress: Some(false),
            max_cycles: Some(50),
            max_idle: None,
            allow_exit_on: Some(vec![ExitOn::AllComplete, ExitOn::AllBlocked, ExitOn::ContextCheckpoint]),
            completion_promises: Some(vec!["ALL TASKS COMPLETE".into(), "BLOCKED - NEEDS USER".into()]),
        };
        assert_eq!(read(FILE), Ok(Some(stop)));
        for nothing in
            ["", "a: [", "{{ template }}", "# stop_hook\n", "stop_hook: {enabled: false}\n", "workflow:\n  x: 1\n"]
        {
            assert_eq!(read(nothing), Ok(None), "{nothing}");
        }
        for empty in ["workflow: {stop_hook: }\n", "workflow:\n  stop_hook:\n    enabled:\n"] {
            assert_eq!(read(empty), Ok(Some(StopOptions::default())), "{empty}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let hook = |line: &str| read(&format!("workflow:\n  stop_hook:\n    {line}\n")).unwrap_err();
        for (line, said) in [
            ("max_cycle: 3", "project.yaml:3:5: unknown field `max_cycle`, expected one of `enabled`, "),
            ("max_cycles: many", "project.yaml:3:17: expected a number"),
            ("max_cycles: -1", "project.yaml:3:17: expected a number"),
            ("enabled: \"true\"", "project.yaml:3:14: expected `true` or `false`"),
            ("allow_exit_on: [never]", "project.yaml:3:21: unknown variant `never`, expected one of `all_complete`, "),
            ("completion_promises: DONE", "project.yaml:3:26: expected a list"),
            ("enabled: *x", "project.yaml:3:14: "),
            ("enabled: [", "project.yaml:"),
        ] {
            assert!(hook(line).starts_with(said), "{line}: {}", hook(line));
        }
        assert!(read(&format!("workflow: {}stop_hook", "[".repeat(5_000))).is_err());
    }
}
