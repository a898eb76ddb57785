//! Prompts in other languages: whoever seems to forbid something is told once that only English is understood.

use steadfast_engine::decide;
use steadfast_model::{Event, EventKind, Facts, Host, Millis, PromptOrigin, SessionId, State};

fn told(state: &mut State, prompt: &str) -> Option<String> {
    let kind = EventKind::prompt(prompt, PromptOrigin::Human);
    let event = Event::plain(SessionId::new("s"), Host::Claude, "/repo", Millis(1), kind);
    let decision = decide(state, &event, &Facts::default());
    decision.changes.iter().for_each(|change| state.apply(change));
    decision.answer.note.filter(|note| note.contains("goal forbid"))
}

fn fresh() -> State {
    State::new(SessionId::new("s"), Host::Claude, Millis(0))
}

#[test]
fn who_forbids_in_another_language_is_told_so_and_nobody_else() {
    let mut wrong = Vec::new();
    for (language, prompt) in include_str!("foreign.tsv").lines().filter_map(|line| line.split_once('\t')) {
        let note = told(&mut fresh(), prompt);
        let name = match language {
            "de" => "German",
            "fr" => "French",
            "es" => "Spanish",
            "zh" => "Chinese",
            "ja" => "Japanese",
            "ru" => "Russian",
            _ => "",
        };
        let right = match &note {
            Some(note) => !name.is_empty() && note.contains(name),
            None => name.is_empty(),
        };
        if !right {
            wrong.push(format!("{language}: {prompt} -> {note:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn it_is_told_once_in_a_session() {
    let mut state = fresh();
    assert!(told(&mut state, "Bitte nicht committen.").is_some());
    assert_eq!(told(&mut state, "Und pushe nicht."), None);
}
