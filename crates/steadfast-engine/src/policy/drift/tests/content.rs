//! What is written, by its words, and the same lines changed to and fro.

use steadfast_model::{Content, Replaced, WordFilter};

use super::*;

const AUTH: &str = "refresh cookie expiry rotate login credential issuer audience claim signature nonce bearer \
    revoke grant principal tenant salt digest keyring vault renewal lifetime subject verifier challenge passkey \
    federation broker consent realm introspect jwks kerberos saml oidc totp fido webauthn";
const THEME: &str = "palette gradient footer banner typography carousel hover shadow margin ornament";

fn saying(event: Event, text: &str) -> Event {
    let mut content = Content::default();
    content.read(text);
    Event { content, ..event }
}

/// Asked to fix auth, it read a file with many words and wrote there.
fn knowing() -> State {
    let mut state = State::new(SessionId::new(ME), Host::Claude, Millis(0));
    go(&mut state, &prompt("Fix the expiry of cookies."));
    go(&mut state, &saying(read("src/auth/cookie.rs"), AUTH));
    go(&mut state, &saying(edit("src/auth/cookie.rs"), "refresh cookie expiry rotate"));
    state
}

#[test]
fn what_lies_beside_the_work_and_speaks_of_something_else_leads_away() {
    let mut state = knowing();
    assert_eq!(
        scored(&mut state, &saying(edit("src/auth/store.rs"), "rotate bearer revoke grant")),
        Some((9, Level::None))
    );
    assert_eq!(scored(&mut state, &saying(edit("src/auth/page.rs"), THEME)), Some((7, Level::Nudge)));
    let decision = go(&mut state, &saying(edit("src/auth/menu.rs"), THEME));
    let step = steps(&decision)[0];
    assert_eq!(step.level, Level::Correct);
    assert!(step.reasons.contains(&"its text has few words of the work".to_owned()), "{:?}", step.reasons);
}

#[test]
fn what_is_beside_the_work_and_speaks_of_it_does_not_lead_away() {
    let mut state = knowing();
    let elsewhere = ["src/web/a.ts", "src/lib/b.ts", "src/ops/c.ts"];
    let scores = elsewhere.map(|path| scored(&mut state, &saying(edit(path), AUTH)).unwrap().1);
    assert!(scores.iter().all(|level| *level < Level::Correct), "{scores:?}");
    let mut state = knowing();
    let scores = elsewhere.map(|path| scored(&mut state, &saying(edit(path), THEME)).unwrap().1);
    assert!(scores.iter().any(|level| *level >= Level::Correct), "{scores:?}");
}

#[test]
fn a_file_of_the_work_leads_away_by_no_word() {
    let mut state = knowing();
    for _ in 0..5 {
        assert_eq!(scored(&mut state, &saying(edit("src/auth/cookie.rs"), THEME)), Some((8, Level::None)));
    }
}

#[test]
fn what_was_written_is_known_when_the_human_spoke_again() {
    let mut state = knowing();
    let strange = saying(edit("src/auth/page.rs"), THEME);
    go(&mut state, &strange);
    go(&mut state, &prompt("Go on."));
    go(&mut state, &saying(edit("src/auth/cookie.rs"), "refresh cookie"));
    assert_eq!(
        scored(&mut state, &saying(edit("src/auth/other.rs"), THEME)).map(|(_, level)| level),
        Some(Level::None)
    );
}

#[test]
fn what_is_read_on_the_way_adds_no_words() {
    let mut state = knowing();
    let before = state.drift.vocabulary.clone();
    go(&mut state, &saying(read("web/theme.css"), THEME));
    assert_eq!(state.drift.vocabulary, before);
}

#[test]
fn however_much_is_read_the_words_stay_small_and_then_say_nothing() {
    let mut state = State::new(SessionId::new(ME), Host::Claude, Millis(0));
    go(&mut state, &prompt("Look around."));
    let letters = |n: usize| n.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect::<String>();
    for file in 0..40 {
        let text: String = (0..600).map(|n| format!("q{} ", letters(10_000 + 600 * file + n))).collect();
        go(&mut state, &saying(read("src/auth/cookie.rs"), &text));
    }
    assert!(state.drift.vocabulary.count() > WordFilter::BITS / 2);
    go(&mut state, &edit("src/auth/cookie.rs"));
    assert_eq!(scored(&mut state, &saying(edit("src/auth/page.rs"), THEME)), Some((8, Level::None)));
}

fn replaces(path: &str, old: u32, new: u32) -> Event {
    let mut content = Content::default();
    content.edits.push(Replaced { old, new });
    Event { content, ..edit(path) }
}

#[test]
fn the_same_lines_changed_to_and_fro_are_told_the_third_time() {
    let mut state = knowing();
    let file = "src/auth/cookie.rs";
    assert_eq!(said(&mut state, &replaces(file, 1, 2)), None);
    assert_eq!(said(&mut state, &replaces(file, 2, 1)), None);
    go(&mut state, &replaces("src/auth/other.rs", 1, 2));
    let told = said(&mut state, &replaces(file, 1, 2)).unwrap();
    assert!(told.starts_with("The same lines were changed back and forth 3 times."), "{told}");
}

#[test]
fn changing_on_is_no_turning_back_and_a_prompt_begins_anew() {
    let mut state = knowing();
    let file = "src/auth/cookie.rs";
    for (old, new) in [(1, 2), (2, 3), (3, 1), (1, 4), (4, 2)] {
        assert_eq!(said(&mut state, &replaces(file, old, new)), None, "{old} {new}");
    }
    let mut state = knowing();
    go(&mut state, &replaces(file, 1, 2));
    go(&mut state, &replaces(file, 2, 1));
    go(&mut state, &prompt("No, the other one was right."));
    assert_eq!(said(&mut state, &replaces(file, 1, 2)), None);
}

/// An event as a session on Windows has it: in all paths, not in words.
fn on_windows(event: &Event, mixed: bool) -> Event {
    let path = |path: &String| {
        let path = path.replace("/repo", r"C:\Users\anna\repo");
        if mixed { path } else { path.replace('/', r"\") }
    };
    let mut event = event.clone();
    event.cwd = path(&event.cwd);
    if let EventKind::PostTool(result) = &mut event.kind
        && let Action::Write { paths } | Action::Read { paths } = &mut result.call.action
    {
        *paths = paths.iter().map(path).collect();
    }
    event
}

#[test]
fn a_session_on_windows_is_scored_like_its_twin() {
    let events = [
        prompt("Fix the expiry of tokens in `src/auth/token.rs`."),
        read("src/auth/token.rs"),
        shell("cargo test", Outcome::Ok),
        edit("src/auth/token.rs"),
        edit("src/auth/session.rs"),
        edit("tests/token_test.rs"),
        edit("web/menu.ts"),
        edit("web/footer.ts"),
        shell("echo 1 > web/a.ts", Outcome::Ok),
        edit("target/debug/x.rs"),
        edit("src/auth/token.rs"),
    ];
    let scores = |events: &[Event]| {
        let mut state = State::new(SessionId::new(ME), Host::Claude, Millis(0));
        events.iter().map(|event| scored(&mut state, event)).collect::<Vec<_>>()
    };
    let unix = scores(&events);
    assert!(unix.iter().flatten().any(|(_, level)| *level >= Level::Correct));
    for mixed in [false, true] {
        assert_eq!(scores(&events.each_ref().map(|event| on_windows(event, mixed))), unix, "mixed: {mixed}");
    }
    let mut named = events.each_ref().map(|event| on_windows(event, false));
    named[0] = on_windows(&prompt(r"Fix the expiry of tokens in `src\auth\token.rs`."), false);
    assert_eq!(scores(&named), unix);
}
