//! Prompts as people type them: what they forbid, what they lift, and what only sounds like it.

use steadfast_engine::decide;
use steadfast_engine::goal::read;
use steadfast_model::{Event, EventKind, Facts, Host, Millis, PromptOrigin, SessionId, State};

fn spelled(text: &str) -> Vec<String> {
    let found = read(text).constraints;
    found
        .iter()
        .map(|one| {
            if one.of.is_empty() {
                one.kind.as_str().to_owned()
            } else {
                format!("{}:{}", one.kind.as_str(), one.of.join(","))
            }
        })
        .collect()
}

/// What holds after these prompts.
fn after(prompts: &[&str]) -> Vec<String> {
    let mut state = State::new(SessionId::new("s"), Host::Claude, Millis(0));
    for prompt in prompts {
        let event = Event::plain(
            SessionId::new("s"),
            Host::Claude,
            "/repo",
            Millis(1),
            EventKind::prompt(*prompt, PromptOrigin::Human),
        );
        let decision = decide(&state, &event, &Facts::default());
        decision.changes.iter().for_each(|change| state.apply(change));
    }
    let found = state.constraints();
    found
        .iter()
        .map(|one| {
            if one.of.is_empty() {
                one.kind.as_str().to_owned()
            } else {
                format!("{}:{}", one.kind.as_str(), one.of.join(","))
            }
        })
        .collect()
}

fn rows(list: &str) -> Vec<(&str, &str)> {
    list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t')).collect()
}

#[test]
fn every_prompt_is_read_as_it_is_meant() {
    let mut wrong = Vec::new();
    for (prompt, meant) in rows(include_str!("spoken.tsv")) {
        let found = spelled(&prompt.replace("\\n", "\n"));
        let meant: Vec<&str> = meant.split(';').filter(|one| *one != "-").collect();
        if found != meant {
            wrong.push(format!("{prompt}\n  meant {meant:?}, read {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_allowed_again_holds_no_more() {
    let mut wrong = Vec::new();
    for (prompts, meant) in rows(include_str!("lifted.tsv")) {
        let prompts: Vec<&str> = prompts.split(" / ").collect();
        let found = after(&prompts);
        let meant: Vec<&str> = meant.split(';').filter(|one| *one != "-").collect();
        if found != meant {
            wrong.push(format!("{prompts:?}\n  meant {meant:?}, left {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
