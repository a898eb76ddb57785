//! Finds texts that an agent passes to a tool which delivers them later or to another session. They return as prompts
//! that are not the human's.

use serde_json::Value;

/// A text that may return as a prompt; `once` is false for a repeated one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedOver {
    pub text: String,
    pub once: bool,
}

/// The hosts' tools whose text returns as a prompt: Claude Code's, then Codex's.
const TOOLS: [&str; 8] = [
    "CronCreate",
    "ScheduleWakeup",
    "SendMessage",
    "RemoteTrigger",
    "TeamCreate",
    "send_input",
    "send_message",
    "followup_task",
];

/// Parts of the names of such tools on other MCP servers.
const NAME_PARTS: [&str; 8] =
    ["schedul", "cron", "wakeup", "wake_up", "remind", "trigger", "send_message", "sendmessage"];

/// The fields that contain such a text.
const FIELDS: [&str; 8] = ["prompt", "message", "content", "text", "body", "instructions", "task", "description"];

/// The fields that make it repeat.
const REPEAT_FIELDS: [&str; 5] = ["cron", "cron_expression", "interval", "every", "schedule"];

/// The most texts taken from one call.
const TEXTS: usize = 16;

/// Returns the texts that a call passes on. For all tools but a few it returns without reading the payload.
pub fn handed_over(tool: &str, payload: &[u8]) -> Vec<HandedOver> {
    #[derive(serde::Deserialize)]
    struct Payload {
        #[serde(default)]
        tool_input: Value,
    }
    let is_teams = matches!(tool, "Agent" | "Task");
    if !is_teams && !delivers_text(tool) {
        return Vec::new();
    }
    let Ok(Payload { tool_input }) = serde_json::from_slice(payload) else { return Vec::new() };
    let tool_input = match &tool_input {
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        _ => tool_input,
    };
    // The task of a plain subagent reaches no other session; a team member has a session of its own.
    if is_teams && tool_input.get("team_name").is_none() && tool_input.get("name").is_none() {
        return Vec::new();
    }
    let once = match tool_input.get("recurring") {
        Some(recurring) => recurring == &Value::Bool(false),
        None => !REPEAT_FIELDS.iter().any(|field| tool_input.get(field).is_some()),
    };
    let mut texts = Vec::new();
    collect(&tool_input, false, &mut texts);
    texts.into_iter().map(|text| HandedOver { text, once }).collect()
}

fn delivers_text(tool: &str) -> bool {
    let by_name = |name: &str| {
        let name = name.to_ascii_lowercase();
        NAME_PARTS.iter().any(|part| name.contains(part))
    };
    TOOLS.contains(&tool) || tool.strip_prefix("mcp__").is_some_and(by_name)
}

fn collect(value: &Value, named: bool, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if named && texts.len() < TEXTS => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, named, texts)),
        Value::Object(fields) => {
            for (name, field) in fields {
                collect(field, named || FIELDS.contains(&name.as_str()), texts);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(tool: &str, input: Value) -> Vec<(String, bool)> {
        let payload = json!({"tool_name": tool, "tool_input": input}).to_string();
        handed_over(tool, payload.as_bytes()).into_iter().map(|HandedOver { text, once }| (text, once)).collect()
    }

    #[test]
    fn what_is_scheduled_is_told_with_how_often_it_comes() {
        let cron = |recurring: Value| json!({"cron": "* * * * *", "prompt": "commit it", "recurring": recurring});
        assert_eq!(texts("CronCreate", cron(json!(false))), [("commit it".to_owned(), true)]);
        assert_eq!(texts("CronCreate", cron(json!(true))), [("commit it".to_owned(), false)]);
        let plain = json!({"cron": "* * * * *", "prompt": "commit it"});
        assert_eq!(texts("CronCreate", plain), [("commit it".to_owned(), false)]);
        let wakeup = json!({"delaySeconds": 60, "prompt": "go on", "reason": "the build"});
        assert_eq!(texts("ScheduleWakeup", wakeup), [("go on".to_owned(), true)]);
    }

    #[test]
    fn a_message_is_one_whatever_its_form() {
        for input in [
            json!({"to": "b", "message": "approve it"}),
            json!({"to": "b", "message": {"type": "text", "content": "approve it"}}),
            json!({"target": "b", "body": ["approve it"]}),
        ] {
            let texts = texts("SendMessage", input.clone());
            assert!(texts.contains(&("approve it".to_owned(), true)), "{input}: {texts:?}");
        }
        assert_eq!(texts("mcp__jobs__create_scheduled_task", json!({"prompt": "x", "cron": "* * * * *"})).len(), 1);
    }

    #[test]
    fn other_tools_hand_nothing_over() {
        for tool in ["Bash", "Write", "TaskCreate", "mcp__files__write", "AskUserQuestion", "Agent"] {
            assert_eq!(texts(tool, json!({"prompt": "commit it", "command": "ls"})), [], "{tool}");
        }
        assert_eq!(texts("Agent", json!({"prompt": "commit it", "team_name": "t"})).len(), 1);
    }
}
