//! Adds the answer of the user's own command to a goal. It only adds: a wrong answer makes the score milder and nothing
//! else.

use std::collections::BTreeSet;

use steadfast_model::{Change, Effect, Event, EventKind, Goal, PromptOrigin, State};

use crate::drift;

/// The most keywords of one answer.
const KEYWORDS: usize = 16;

/// The longest keyword, in bytes.
const LONGEST: usize = 40;

/// Asks the user's command, if there is one, when a prompt of the human set or changed the goal. `state` is the state
/// after the changes.
pub(crate) fn refining(state: &State, event: &Event, changes: &[Change]) -> Option<Effect> {
    if !state.rules.drift.refine || state.is_paused(event.at) {
        return None;
    }
    let by_human = matches!(event.kind, EventKind::Prompt { origin: PromptOrigin::Human, .. }) && event.agent.is_none();
    let changed = || changes.iter().any(|change| matches!(change, Change::GoalSet { .. }));
    (by_human && changed()).then_some(Effect::Refine { prompt: state.prompts })
}

/// Returns the goal change that an answer makes.
pub(super) fn refined(scope: &[String], said: &[String]) -> Change {
    let words = drift::words_of(&keywords(said).join(" "));
    Change::GoalRefined { scope: scope.iter().take(Goal::SCOPE).cloned().collect(), words }
}

/// Returns the usable keywords of an answer.
pub fn keywords(said: &[String]) -> Vec<String> {
    said.iter().filter(|keyword| keyword.len() <= LONGEST).take(KEYWORDS).cloned().collect()
}

/// Returns the paths of an answer that exist in the tree: files, and folders with a trailing `/`. The whole tree is not
/// a scope.
///
/// ```
/// use steadfast_engine::goal::in_tree;
///
/// let tree = ["src/auth/token.rs", "src/auth.rs", "web/menu.ts"].map(str::to_owned);
/// let said = ["./src/auth", "web/menu.ts", "src/gone.rs", "../x", "/etc/passwd", ".", "src/*"].map(str::to_owned);
/// assert_eq!(in_tree(&said, &tree), ["src/auth/", "web/menu.ts"]);
/// ```
pub fn in_tree(said: &[String], tree: &[String]) -> Vec<String> {
    let files: BTreeSet<&str> = tree.iter().map(String::as_str).collect();
    let mut found: Vec<String> = Vec::new();
    for path in said {
        let path = path.strip_prefix("./").unwrap_or(path);
        let folder = format!("{}/", path.trim_end_matches('/'));
        let is_folder = || files.range(folder.as_str()..).next().is_some_and(|file| file.starts_with(&folder));
        let known =
            if files.contains(path) { Some(path.to_owned()) } else { (folder != "/" && is_folder()).then_some(folder) };
        found.extend(known.filter(|known| !found.contains(known)));
        if found.len() >= Goal::SCOPE {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use steadfast_model::{Facts, GoalWord, Host, Millis, SessionId};

    use super::*;
    use crate::decide;

    const TEXT: &str = "Fix the expiry in src/token.rs, don't commit";

    fn event(kind: EventKind) -> Event {
        Event::plain(SessionId::new("s"), Host::Claude, "/repo", Millis(1), kind)
    }

    fn prompt(text: &str) -> Event {
        event(EventKind::prompt(text, PromptOrigin::Human))
    }

    fn with_command() -> State {
        let mut state = State::new(SessionId::new("s"), Host::Claude, Millis(1));
        state.rules.drift.refine = true;
        state
    }

    /// What is to be done after an event, which is taken in.
    fn take(state: &mut State, event: &Event) -> Vec<Effect> {
        let decision = decide(state, event, &Facts::default());
        state.advance(state.sequence + 1, event.at, &decision.changes);
        decision.effects
    }

    fn answer(prompt: u64, goal: &str) -> Event {
        let scope = vec!["src/clock.rs".to_owned()];
        let keywords = vec!["Session cookies".to_owned(), "the".to_owned()];
        event(EventKind::Goal(GoalWord::Refined { prompt, goal: goal.into(), scope, keywords }))
    }

    #[test]
    fn it_is_asked_for_when_a_human_set_or_changed_the_goal() {
        let mut state = with_command();
        assert_eq!(take(&mut state, &prompt("hi")), []);
        assert_eq!(take(&mut state, &prompt(TEXT)), [Effect::Refine { prompt: 2 }]);
        assert_eq!(take(&mut state, &prompt("go on")), []);
        assert_eq!(take(&mut state, &prompt("and src/clock.rs")), [Effect::Refine { prompt: 4 }]);
        let hosts = event(EventKind::prompt("Mend src/other.rs, too", PromptOrigin::Machine));
        assert_eq!(take(&mut state, &hosts), []);
    }

    #[test]
    fn it_is_not_asked_for_where_there_is_no_command_or_nobody_wants_us() {
        let mut state = State::new(SessionId::new("s"), Host::Claude, Millis(1));
        assert_eq!(take(&mut state, &prompt(TEXT)), []);
        let mut state = State { paused_until: Some(Millis(9)), ..with_command() };
        assert_eq!(take(&mut state, &prompt(TEXT)), []);
    }

    #[test]
    fn an_answer_adds_to_scope_and_words_and_to_nothing_else() {
        let mut state = with_command();
        take(&mut state, &prompt(TEXT));
        let mut expected = state.clone();
        take(&mut state, &answer(1, TEXT));
        let goal = expected.goal.as_mut().unwrap();
        goal.scope.push("src/clock.rs".into());
        goal.refined.push("src/clock.rs".into());
        expected.drift.words.splice(0..0, ["cookie".into(), "session".into()]);
        expected.sequence += 1;
        assert_eq!(state, expected);
    }

    #[test]
    fn who_spoke_since_is_heard_and_not_a_late_answer() {
        let mut state = with_command();
        take(&mut state, &prompt(TEXT));
        take(&mut state, &prompt("never mind the clock"));
        for late in [answer(1, TEXT), answer(2, "another goal")] {
            let before = state.goal.clone();
            take(&mut state, &late);
            assert_eq!(state.goal, before);
        }
        take(&mut state, &event(EventKind::Goal(GoalWord::Clear)));
        take(&mut state, &answer(2, TEXT));
        assert_eq!(state.goal, None);
    }

    #[test]
    fn however_much_is_answered_a_goal_takes_what_it_has_room_for() {
        let tree: Vec<String> = (0..1_000).map(|number| format!("src/{number}.rs")).collect();
        assert_eq!(in_tree(&tree, &tree).len(), Goal::SCOPE);
        let letters = ('a'..='z').flat_map(|one| ('a'..='z').map(move |other| format!("{one}{other}x")));
        let keywords: Vec<String> = ["long".repeat(11)].into_iter().chain(letters).collect();
        let words = keywords[1..=KEYWORDS].to_vec();
        assert_eq!(refined(&tree, &keywords), Change::GoalRefined { scope: tree[..Goal::SCOPE].to_vec(), words });
    }
}
