use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn merged(text: &str) -> Value {
    let text = merge_claude_settings(text, &wiring()).unwrap();
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

fn entry(event: &str) -> Value {
    json!({"hooks": [{"type": "command", "command": format!("{LINK}-{event}"), "args": [], "timeout": 10}]})
}

/// As an older version wrote it.
fn old_entry(event: &str, program: &str) -> Value {
    let args = ["hook", "--host", "claude", "--via", "local", event];
    json!({"hooks": [{"type": "command", "command": program, "args": args, "timeout": 10}]})
}

/// What a merge has to come to, whatever the text looks like.
fn expected(before: &Value) -> Value {
    let mut settings = before.clone();
    for line in lines(Host::Claude) {
        let event = line.event.as_str();
        let groups = &mut settings["hooks"][event];
        if groups.is_null() {
            *groups = json!([]);
        }
        groups.as_array_mut().unwrap().push(entry(event));
    }
    settings
}

#[test]
fn an_empty_file_is_an_object_without_members() {
    for text in ["", "\n", "{}", " { } "] {
        assert_eq!(merged(text), expected(&json!({})), "{text:?}");
    }
}

#[test]
fn a_new_file_looks_like_one_that_claude_code_writes() {
    let text = merge_claude_settings("", &wiring()).unwrap();
    let head = r#"{
  "hooks": {
    "SessionStart": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/opt/hooks/steadfast-hook-claude-local-SessionStart",
            "args": [],
            "timeout": 10
          }
        ]
      }
    ],
    "SessionEnd": ["#;
    assert!(text.starts_with(head), "{text}");
    assert!(text.ends_with("\n    ]\n  }\n}\n"), "{text}");
}

#[test]
fn other_settings_stay() {
    let before = json!({"model": "opus", "permissions": {"allow": ["Bash(ls)"]}});
    assert_eq!(merged(&before.to_string()), expected(&before));
}

#[test]
fn other_hooks_on_the_same_event_stay_first() {
    let theirs = json!({"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt"}]});
    let before = json!({"hooks": {"PostToolUse": [theirs]}});
    assert_eq!(merged(&before.to_string()), expected(&before));
}

#[test]
fn only_our_lines_are_added_to_a_file() {
    let before = "{\r\n\t\"model\" : \"opus\",\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [ ]\r\n\t}\r\n}";
    let after = merge_claude_settings(before, &wiring()).unwrap();
    assert!(after.starts_with("{\r\n\t\"model\" : \"opus\",\r\n\t\"hooks\": {\r\n\t\t\"Stop\": ["), "{after}");
    assert!(!after.replace("\r\n", "").contains('\n'), "{after}");
}

#[test]
fn an_entry_with_another_path_is_changed_in_place() {
    let old = Wiring { program: LINK.replace("/opt/", "/old/"), ..wiring() };
    let before = merge_claude_settings(r#"{"hooks": {}, "model": "opus"}"#, &old).unwrap();
    let after = merge_claude_settings(&before, &wiring()).unwrap();
    assert_eq!(after, before.replace("/old/", "/opt/"));
}

#[test]
fn what_a_user_added_to_our_entry_stays() {
    let handler = r#"{"type":"command","command":"/old/steadfast","args":["hook","--host","claude","--via","local","Stop"],"timeout":10,"statusMessage":"hm"}"#;
    let before = format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{handler}]}}]}}}}"#);
    let stop = &merged(&before)["hooks"]["Stop"];
    assert_eq!(stop[0]["hooks"][0]["statusMessage"], "hm");
    assert_eq!(stop[0]["hooks"][0]["command"], format!("{LINK}-Stop"));
    assert_eq!(stop.as_array().unwrap().len(), 1);
}

#[test]
fn two_entries_of_ours_become_one() {
    let twice = json!([old_entry("Stop", "/a/steadfast"), {"hooks": [{"command": "theirs"}]}, old_entry("Stop", "/b/steadfast")]);
    let after = merged(&json!({"hooks": {"Stop": twice}}).to_string());
    let once = json!([entry("Stop"), {"hooks": [{"command": "theirs"}]}]);
    assert_eq!(after["hooks"]["Stop"], once);
}

#[test]
fn an_event_that_we_no_longer_register_is_given_up() {
    let after = merged(&json!({"hooks": {"Setup": [old_entry("Setup", "/a/steadfast")]}}).to_string());
    assert_eq!(after, expected(&json!({})));
}

#[test]
fn a_list_where_an_object_belongs_is_named() {
    let error = merge_claude_settings("{\n  \"hooks\": []\n}", &wiring()).unwrap_err();
    assert_eq!(error.to_string(), "2:12: `hooks` is an array, expected an object");
}

#[test]
fn an_object_where_a_list_belongs_is_named() {
    let error = merge_claude_settings("{\"hooks\": {\"Stop\": {}}}", &wiring()).unwrap_err();
    assert_eq!(error.to_string(), "1:20: `hooks.Stop` is an object, expected an array");
}

#[test]
fn a_file_that_is_a_list_is_named() {
    let error = merge_claude_settings("[]", &wiring()).unwrap_err();
    assert_eq!(error.to_string(), "1:1: `the file` is an array, expected an object");
}

#[test]
fn the_cap_is_raised_where_it_is_lower() {
    let capped = Wiring { stop_block_cap: Some(51), ..wiring() };
    let cap = |text: &str| {
        let text = merge_claude_settings(text, &capped).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["env"][STOP_BLOCK_CAP].clone()
    };
    assert_eq!(cap("{}"), "51");
    assert_eq!(cap(r#"{"env": {"A": "b"}}"#), "51");
    assert_eq!(cap(r#"{"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "20"}}"#), "51");
    assert_eq!(cap(r#"{"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "100"}}"#), "100");
}

fn settings() -> impl Strategy<Value = Value> {
    let handler = prop_oneof![
        Just(json!({"type": "command", "command": "x"})),
        Just(json!("not a handler")),
        Just(json!({"type": "command", "command": "steadfast hook --host codex --via user Stop"})),
    ];
    let group = prop::collection::vec(handler, 0..3).prop_map(|handlers| json!({"matcher": "*", "hooks": handlers}));
    let event = prop_oneof![Just("Stop"), Just("PreToolUse"), Just("FileChanged"), Just("é\"\\")];
    let hooks = prop::collection::btree_map(event, prop::collection::vec(group, 0..3), 0..4);
    (prop::option::of(hooks), prop::option::of("[a-z\u{e9}\"\\\\\n]{0,5}")).prop_map(|(hooks, other)| {
        let mut settings = json!({});
        if let Some(other) = other {
            settings["model"] = json!({"name": other, "empty": [], "list": [1, {"a": null}]});
        }
        if let Some(hooks) = hooks {
            settings["hooks"] = json!(hooks);
        }
        settings
    })
}

proptest! {
    #[test]
    fn a_merge_adds_our_entries_and_nothing_else(before in settings(), lines in any::<bool>()) {
        let text = if lines { serde_json::to_string_pretty(&before).unwrap() } else { before.to_string() };
        prop_assert_eq!(merged(&text), expected(&before));
    }

    #[test]
    fn merging_again_changes_no_byte(before in settings()) {
        let once = merge_claude_settings(&before.to_string(), &wiring()).unwrap();
        prop_assert_eq!(merge_claude_settings(&once, &wiring()).unwrap(), once);
    }

    #[test]
    fn taking_out_what_was_merged_gives_the_same_bytes(before in settings(), lines in any::<bool>(), gaps in any::<bool>()) {
        let text = if lines { serde_json::to_string_pretty(&before).unwrap() } else { before.to_string() };
        let text = if gaps { text.replace("[]", "[ ]").replace("{}", "{\n}") } else { text };
        let merged = merge_claude_settings(&text, &wiring()).unwrap();
        let remembered = Remembered { before: Some(&text), after: None };
        prop_assert_eq!(Part::Hooks(wiring()).strip(&merged, remembered).unwrap(), text);
    }

    #[test]
    fn no_text_can_make_a_merge_panic_or_yield_what_is_not_json(text in r#"(\u{feff}?[\[\]{}:,"\\ \n]|"hooks"|"Stop"|"env"|null|1){0,20}"#) {
        let capped = Wiring { stop_block_cap: Some(51), ..wiring() };
        if let Ok(merged) = merge_claude_settings(&text, &capped) {
            let body = merged.trim_start_matches('\u{feff}');
            prop_assert!(serde_json::from_str::<Value>(body).is_ok(), "{:?}", merged);
        }
    }
}
