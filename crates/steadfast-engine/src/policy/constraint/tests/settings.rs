//! What the settings forbid.

use super::*;

/// A session under those settings.
fn set(constraints: &[&str], never: &[&str]) -> State {
    let mut state = told(&[]);
    let all = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    state.rules.drift.constraints = all(constraints);
    state.rules.drift.never = all(never);
    state
}

#[test]
fn what_the_settings_forbid_is_refused_as_if_the_human_had_said_it() {
    let state = set(&["don't commit."], &["legacy/", "Makefile", "gen/*.rs"]);
    assert_eq!(
        refusal(&state, &by_subagent(shell("cd x && git commit -m x"))).as_deref(),
        Some("`steadfast.toml` says: \"don't commit\". `git commit` is not run. A prompt cannot lift it.")
    );
    assert_eq!(
        refusal(&state, &write("legacy/a.c")).as_deref(),
        Some("`steadfast.toml` says: \"never legacy/\". `legacy/a.c` is not written. A prompt cannot lift it.")
    );
    for event in [write("Makefile"), write("gen/a.rs"), shell("echo x >> legacy/b"), shell("rm -r legacy")] {
        assert!(refusal(&state, &event).is_some(), "{:?}", event.kind);
    }
    for event in [write("src/legacy.c"), write("gen/a.txt"), shell("cat legacy/a.c"), shell("git status")] {
        assert_eq!(refusal(&state, &event), None, "{:?}", event.kind);
    }
}

#[test]
fn the_humans_word_lifts_their_own_and_not_the_settings() {
    let mut state = set(&["don't commit"], &[]);
    go(&mut state, &prompt("don't commit or push"));
    go(&mut state, &prompt("ok, commit and push it"));
    assert_eq!(state.constraints(), []);
    assert!(refusal(&state, &shell("git commit")).is_some_and(|reason| reason.starts_with("`steadfast.toml` says")));
    assert_eq!(refusal(&state, &shell("git push")), None);
}
