use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

use super::cut;

/// The JSON that a host writes to a hook's standard input. All fields are optional and of any type; the code that reads
/// an event checks the fields it requires.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Input<'a> {
    #[serde(borrow)]
    pub(crate) session_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) cwd: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) prompt_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) turn_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) permission_mode: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) agent_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) agent_type: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) source: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) reason: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) prompt: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) command_name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) tool_name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) tool_input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) tool_response: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) tool_use_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) duration_ms: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) is_interrupt: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) stop_hook_active: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) last_assistant_message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) background_tasks: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) session_crons: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) trigger: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) notification_type: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) file_path: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) task_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) task_subject: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) task_description: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) teammate_name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) team_name: Option<&'a RawValue>,
    /// Set by Cursor, which also runs the hooks of `.claude/settings.json`.
    #[serde(borrow)]
    pub(crate) cursor_version: Option<&'a RawValue>,
    /// Sent by Copilot CLI, Gemini CLI and Qwen Code, but not by Claude Code and Codex.
    #[serde(borrow)]
    pub(crate) timestamp: Option<&'a RawValue>,
}

/// The fields of a tool's input that show what it does. Contents are read as hashed words only.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ToolInput<'a> {
    #[serde(borrow)]
    pub(crate) file_path: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) notebook_path: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) path: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) command: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) subagent_type: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) agent_type: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) skill: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) run_in_background: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) questions: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) plan: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) old_string: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) new_string: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) edits: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) new_source: Option<&'a RawValue>,
}

/// Returns true for a short text on one line that contains a character of paths.
fn is_path_like(text: &str) -> bool {
    text.len() <= 4_096 && text.contains(['/', '.', '\\']) && !text.contains('\n')
}

/// Reads a field as `T`; `None` if it is absent or of another type.
pub(crate) fn read<'a, T: Deserialize<'a>>(field: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(field?.get()).ok()
}

/// Reads a text field. Some hosts have sent numbers for names.
pub(crate) fn text(field: Option<&RawValue>) -> Option<String> {
    let raw = field?.get();
    match raw.as_bytes().first()? {
        b'"' => serde_json::from_str(raw).ok(),
        b'0'..=b'9' | b'-' => Some(raw.to_owned()),
        _ => None,
    }
}

impl Input<'_> {
    pub(crate) fn flag(field: Option<&RawValue>) -> bool {
        read::<bool>(field).unwrap_or(false)
    }

    pub(crate) fn text(field: Option<&RawValue>) -> Option<String> {
        text(field)
    }

    /// Returns the length of a list; `None` if the field is not a list.
    pub(crate) fn length(field: Option<&RawValue>) -> Option<usize> {
        read::<Vec<serde::de::IgnoredAny>>(field).map(|list| list.len())
    }

    /// Reads the objects of a list, and skips elements of another type.
    pub(crate) fn list<'a, T: Deserialize<'a>>(field: Option<&'a RawValue>) -> Option<Vec<T>> {
        let items: Vec<&RawValue> = read(field)?;
        Some(items.into_iter().filter_map(|item| serde_json::from_str(item.get()).ok()).collect())
    }

    /// Returns the human's answers to a dialog, by question.
    pub(crate) fn answers(&self) -> Vec<(String, String)> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Response {
            answers: std::collections::BTreeMap<String, String>,
        }
        read::<Response>(self.tool_response).unwrap_or_default().answers.into_iter().collect()
    }

    /// Collects up to `limit` texts from the tool's input that may be paths.
    pub(crate) fn path_like(&self, limit: usize) -> Vec<String> {
        fn collect(value: &serde_json::Value, limit: usize, found: &mut Vec<String>) {
            match value {
                serde_json::Value::String(text) if found.len() < limit && is_path_like(text) => {
                    found.push(text.clone());
                }
                serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, limit, found)),
                serde_json::Value::Object(fields) => fields.values().for_each(|field| collect(field, limit, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        if let Some(input) = read::<serde_json::Value>(self.tool_input) {
            collect(&input, limit, &mut found);
        }
        found
    }

    /// Reads the tool's input, which hosts send as an object or as a text that contains one.
    pub(crate) fn tool_input<T>(&self, look: impl FnOnce(&ToolInput<'_>) -> T) -> T {
        look(&ToolInput::read(&self.plain_input()))
    }

    /// Returns the tool's input as JSON text.
    pub(crate) fn plain_input(&self) -> Cow<'_, str> {
        let raw = self.tool_input.map(RawValue::get).unwrap_or_default();
        if raw.starts_with('"') {
            Cow::Owned(serde_json::from_str(raw).unwrap_or_default())
        } else {
            Cow::Borrowed(raw)
        }
    }
}

impl<'a> ToolInput<'a> {
    /// Returns the questions of a dialog, each with its heading.
    pub(crate) fn questions(&self, limit: usize) -> Vec<String> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct AskedQuestion {
            header: String,
            question: String,
        }
        let entries = Input::list::<AskedQuestion>(self.questions).unwrap_or_default();
        entries
            .into_iter()
            .map(|AskedQuestion { header, question }| cut(&format!("{header}: {question}"), limit))
            .collect()
    }

    fn read(raw: &'a str) -> Self {
        // serde would read a list as an object with its fields in order.
        if raw.starts_with('{') { serde_json::from_str(raw).unwrap_or_default() } else { Self::default() }
    }

    pub(crate) fn text(field: Option<&RawValue>) -> Option<String> {
        text(field)
    }
}
