//! What the human reads of a correction.

use super::*;

fn notes(state: &mut State, paths: &[&str]) -> Vec<String> {
    paths.iter().filter_map(|path| go(state, &edit(path)).answer.note).collect()
}

const ASTRAY: [&str; 8] = [
    "site/theme.css",
    "site/fonts.css",
    "site/layout.css",
    "docs/logo.svg",
    "site/menu.css",
    "site/print.css",
    "site/form.css",
    "site/table.css",
];

#[test]
fn each_level_is_one_line_in_a_session() {
    let mut state = at_work();
    let lines = notes(&mut state, &ASTRAY);
    assert!(!lines.is_empty(), "nothing was corrected");
    for line in &lines {
        assert!(line.starts_with("Steadfast") && !line.contains('\n') && line.chars().count() < 140, "{line}");
    }
    let heads: Vec<&str> = lines.iter().map(|line| &line[..line.find(['?', '.']).unwrap()]).collect();
    let mut once = heads.clone();
    once.dedup();
    assert_eq!(heads, once, "{lines:?}");
    go(&mut state, &prompt("Go on with the tokens."));
    assert_eq!(notes(&mut state, &["site/more.css"]), [""; 0], "also after the next prompt");
}

#[test]
fn quiet_reads_no_correction_and_the_agent_still_does() {
    let mut state = at_work();
    state.rules.verbosity = Verbosity::Quiet;
    let decisions: Vec<_> = ASTRAY.iter().map(|path| go(&mut state, &edit(path)).answer).collect();
    assert!(decisions.iter().any(|answer| answer.context.is_some()));
    assert!(decisions.iter().all(|answer| answer.note.is_none()), "{decisions:?}");
}

#[test]
fn what_only_is_recorded_is_no_line() {
    let mut state = at_work();
    state.rules.drift_mode = Mode::Observe;
    assert_eq!(notes(&mut state, &ASTRAY), [""; 0]);
}
