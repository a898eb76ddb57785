use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

use super::cut;

/// What a host writes to a hook's standard input. Nothing is required here and no field has a required type: what an
/// event cannot do without is asked for by whoever reads it.
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
    /// Cursor runs the hooks of `.claude/settings.json` too, and says who it is.
    #[serde(borrow)]
    pub(crate) cursor_version: Option<&'a RawValue>,
    /// Copilot CLI, Gemini CLI and Qwen Code send one; Claude Code and Codex do not.
    #[serde(borrow)]
    pub(crate) timestamp: Option<&'a RawValue>,
}

/// The parts of a tool's input that say what it does. Of contents only the words are read, as numbers.
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

/// One line, not long, with something in it that a path has.
fn is_path_like(text: &str) -> bool {
    text.len() <= 4_096 && text.contains(['/', '.', '\\']) && !text.contains('\n')
}

/// A field read as `T`, or nothing where it is absent or of another type.
pub(crate) fn read<'a, T: Deserialize<'a>>(field: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(field?.get()).ok()
}

/// A text field. Hosts have sent numbers where names were expected.
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

    /// How many elements a list has; nothing where it is no list.
    pub(crate) fn length(field: Option<&RawValue>) -> Option<usize> {
        read::<Vec<serde::de::IgnoredAny>>(field).map(|list| list.len())
    }

    /// A list of objects of which `pick` reads what it needs.
    pub(crate) fn list<'a, T: Deserialize<'a>>(field: Option<&'a RawValue>) -> Option<Vec<T>> {
        let items: Vec<&RawValue> = read(field)?;
        Some(items.into_iter().filter_map(|item| serde_json::from_str(item.get()).ok()).collect())
    }

    /// What the human answered in a dialog, by question.
    pub(crate) fn answers(&self) -> Vec<(String, String)> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Response {
            answers: std::collections::BTreeMap<String, String>,
        }
        read::<Response>(self.tool_response).unwrap_or_default().answers.into_iter().collect()
    }

    /// Texts anywhere in the tool's input that may be paths, as many as `limit`.
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

    /// The tool's input, which some hosts send as an object and some as a text that holds one.
    pub(crate) fn tool_input<T>(&self, look: impl FnOnce(&ToolInput<'_>) -> T) -> T {
        look(&ToolInput::read(&self.plain_input()))
    }

    /// The text of the object that is the tool's input.
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
    /// What a dialog asks, each question with its heading.
    pub(crate) fn questions(&self, limit: usize) -> Vec<String> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct AskedQuestion {
            header: String,
            question: String,
        }
        let asked = Input::list::<AskedQuestion>(self.questions).unwrap_or_default();
        asked
            .into_iter()
            .map(|AskedQuestion { header, question }| cut(&format!("{header}: {question}"), limit))
            .collect()
    }

    fn read(raw: &'a str) -> Self {
        // A list would be read as an object whose fields come in order.
        if raw.starts_with('{') { serde_json::from_str(raw).unwrap_or_default() } else { Self::default() }
    }

    pub(crate) fn text(field: Option<&RawValue>) -> Option<String> {
        text(field)
    }
}
