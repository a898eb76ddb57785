//! Recall and learnings.

use steadfast_model::{Step, StepKind};

use super::work::{step, stepped};
use super::*;
use crate::ledger::{
    Decision, Learned, Learning, LearningKind, LearningSource, LearningStatus, LedgerError, NewLearning, Query,
    RecalledItem,
};

fn edit(path: &str) -> Step {
    Step { paths: vec![path.into()], ..step(1, 10) }
}

fn bash(command: &str) -> Step {
    Step { kind: StepKind::Bash, paths: Vec::new(), command: Some(command.into()), ..step(1, 10) }
}

fn remember(ledger: &mut Ledger, name: &str, steps: impl IntoIterator<Item = (i64, Step)>) {
    let id = session(name);
    let steps = steps.into_iter().map(|(now, step)| stepped(&id, now, step));
    ledger.drain(&id, 0, journal(steps)).unwrap();
}

fn decided(ledger: &mut Ledger, what: &str, now: i64) {
    let plan = list(ledger);
    let decision =
        Decision { phase: None, what: what.into(), why: "it is so".into(), added_by: AddedBy::Agent, at: at(now) };
    ledger.decide(&plan, &decision).unwrap();
}

fn learning(text: &str) -> NewLearning {
    NewLearning {
        kind: LearningKind::Discovery,
        text: text.into(),
        why: String::new(),
        files: Vec::new(),
        session: None,
        source: LearningSource::Agent,
    }
}

fn learned(ledger: &mut Ledger, new: &NewLearning, now: i64) -> Learning {
    match ledger.learn(new, at(now)).unwrap() {
        Learned::New(learning) => learning,
        other => panic!("{other:?}"),
    }
}

fn query(files: &[&str], words: &str) -> Query {
    let files = files.iter().map(|&file| file.to_owned()).collect();
    Query { files, words: words.into(), limit: 10, without: None }
}

/// Each with its reason, in a line.
fn recalled(ledger: &Ledger, query: &Query) -> Vec<String> {
    let all = ledger.recall(query).unwrap();
    all.iter()
        .map(|recalled| {
            let what = match &recalled.memory {
                RecalledItem::Learning(learning) => &learning.text,
                RecalledItem::Step(step) => step.files.first().or(step.command.as_ref()).unwrap(),
                RecalledItem::Decision(decision) => &decision.what,
            };
            format!("{}: {what}", recalled.reason.as_str())
        })
        .collect()
}

#[test]
fn the_nearest_comes_first_and_of_those_as_near_the_newest() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let steps = [
        (1, edit("src/auth/token.rs")),
        (2, edit("src/auth/session.rs")),
        (3, bash("cargo test refresh_login")),
        (4, bash("cargo test login")),
        (5, edit("src/auth/cookie.rs")),
        (6, edit("theme/dark.css")),
    ];
    remember(&mut ledger, "s", steps);
    decided(&mut ledger, "The colours stay as they are", 7);
    decided(&mut ledger, "Login keeps its cookie", 8);
    decided(&mut ledger, "src/auth/token.rs is the only door", 9);
    assert_eq!(
        recalled(&ledger, &query(&["src/auth/token.rs"], "refresh the login")),
        [
            "same file: src/auth/token.rs is the only door",
            "same file: src/auth/token.rs",
            "same folder: src/auth/cookie.rs",
            "same folder: src/auth/session.rs",
            "keyword: cargo test refresh_login",
            "keyword: Login keeps its cookie",
            "keyword: cargo test login",
            "key decision: The colours stay as they are",
        ]
    );
}

#[test]
fn a_step_that_led_away_is_never_recalled() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let with = |score: u8| Step { paths: vec![format!("src/score_{score}.rs")], ..step(1, score) };
    remember(&mut ledger, "s", (1..=10).map(|score| (i64::from(score), with(score))));
    let found = recalled(&ledger, &query(&["src/"], "score"));
    assert_eq!(found, (5..=10).rev().map(|score| format!("same folder: src/score_{score}.rs")).collect::<Vec<_>>());
}

#[test]
fn what_was_done_often_is_recalled_once_and_never_more_than_asked_for() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    remember(&mut ledger, "s", (1..=30).map(|now| (now, edit("src/a.rs"))));
    remember(&mut ledger, "t", (1..=100).map(|now| (now, edit(&format!("src/b{now}.rs")))));
    remember(&mut ledger, "u", (101..=200).map(|now| (now, edit("src/a.rs"))));
    let found = recalled(&ledger, &query(&["src/a.rs"], ""));
    assert_eq!(
        (found.len(), found[0].as_str(), found[1].as_str()),
        (10, "same file: src/a.rs", "same folder: src/b100.rs")
    );
    let without = Query { without: Some(session("t")), ..query(&["src/a.rs"], "") };
    assert_eq!(recalled(&ledger, &without), ["same file: src/a.rs"]);
    let own = Query { without: Some(session("u")), limit: 1, ..query(&["src/a.rs"], "") };
    let [found] = &ledger.recall(&own).unwrap()[..] else { panic!() };
    assert!(
        matches!(&found.memory, RecalledItem::Step(step) if step.session == session("s") && step.at == at(30)),
        "{found:?}"
    );
    assert_eq!(recalled(&ledger, &Query { limit: 0, ..query(&["src/a.rs"], "") }), [""; 0]);
}

#[test]
fn a_file_at_the_top_has_no_neighbours() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    remember(&mut ledger, "s", [(1, edit("Makefile")), (2, edit("README.md"))]);
    assert_eq!(recalled(&ledger, &query(&["README.md"], "")), ["same file: README.md"]);
    assert_eq!(recalled(&ledger, &query(&[], "")), [""; 0]);
}

#[test]
fn learnings_come_by_file_folder_and_word_and_not_when_they_were_dismissed() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let about = |text: &str, file: &str| NewLearning { files: vec![file.into()], ..learning(text) };
    learned(&mut ledger, &learning("Tokens live an hour"), 1);
    let sure = learned(&mut ledger, &learning("A token is never logged"), 2);
    learned(&mut ledger, &about("Beside it", "src/auth/b.rs"), 3);
    learned(&mut ledger, &about("In it", "src/auth/a.rs"), 4);
    learned(&mut ledger, &about("The folder is generated", "src/auth/"), 5);
    let wrong = learned(&mut ledger, &about("Not so", "src/auth/a.rs"), 6);
    learned(&mut ledger, &learning("Unrelated"), 7);
    ledger.judge_learning(sure.id, LearningStatus::Confirmed, at(8)).unwrap();
    ledger.judge_learning(wrong.id, LearningStatus::Dismissed, at(8)).unwrap();
    assert_eq!(
        recalled(&ledger, &query(&["src/auth/a.rs"], "token")),
        [
            "same file: In it",
            "same folder: The folder is generated",
            "same folder: Beside it",
            "keyword: A token is never logged",
            "keyword: Tokens live an hour",
        ]
    );
}

#[test]
fn an_agents_learning_is_open_and_a_humans_is_confirmed() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let new = NewLearning {
        kind: LearningKind::Failure,
        why: "it hangs".into(),
        files: vec!["src/a.rs".into()],
        session: Some(session("s")),
        ..learning("`npm ci` needs the proxy")
    };
    let known = Learning {
        id: 1,
        kind: LearningKind::Failure,
        text: "`npm ci` needs the proxy".into(),
        why: "it hangs".into(),
        files: vec!["src/a.rs".into()],
        keywords: vec!["need".into(), "proxy".into(), "hang".into()],
        confidence: 50,
        status: LearningStatus::Open,
        session: Some(session("s")),
        source: LearningSource::Agent,
        created_at: at(1),
        updated_at: at(1),
    };
    assert_eq!(learned(&mut ledger, &new, 1), known);
    let human = NewLearning { source: LearningSource::Human, ..learning("Ask before a release") };
    let said = learned(&mut ledger, &human, 2);
    assert_eq!((said.status, said.confidence), (LearningStatus::Confirmed, 100));
    assert_eq!(ledger.learnings().unwrap(), [known, said]);
}

#[test]
fn the_same_said_again_is_surer_and_what_a_human_dismissed_does_not_come_back() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let (new, human) = (learning("It hangs"), NewLearning { source: LearningSource::Human, ..learning("it hangs") });
    let first = learned(&mut ledger, &new, 1);
    let mut said = Vec::new();
    for now in 2..=7 {
        let Learned::Known(known) = ledger.learn(&new, at(now)).unwrap() else { panic!() };
        said.push(known.confidence);
    }
    assert_eq!(said, [60, 70, 80, 90, 90, 90]);
    let dismissed = ledger.judge_learning(first.id, LearningStatus::Dismissed, at(8)).unwrap();
    assert_eq!((dismissed.status, dismissed.confidence), (LearningStatus::Dismissed, 0));
    assert_eq!(ledger.learn(&new, at(9)).unwrap(), Learned::Dismissed(dismissed));
    let Learned::Known(taken_back) = ledger.learn(&human, at(10)).unwrap() else { panic!() };
    assert_eq!((taken_back.id, taken_back.status, taken_back.confidence), (1, LearningStatus::Confirmed, 100));
    assert_eq!(ledger.learnings().unwrap(), [taken_back]);
}

#[test]
fn learnings_have_bounds_and_no_secrets() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let long = |length: usize| "ö".repeat(length);
    let mut refused = |new: NewLearning| ledger.learn(&new, at(1)).unwrap_err().to_string();
    assert_eq!(
        [
            refused(learning(&long(501))),
            refused(NewLearning { why: long(1_001), ..learning("x") }),
            refused(NewLearning { files: vec![long(4_097)], ..learning("x") }),
            refused(NewLearning { files: vec!["f".into(); 21], ..learning("x") }),
        ],
        [
            "a learning has 501 characters; the limit is 500",
            "the reason for a learning has 1001 characters; the limit is 1000",
            "a path of a learning has 4097 characters; the limit is 4096",
            "a learning names 21 files; the limit is 20",
        ]
    );
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    let secret = NewLearning { why: format!("with {token}"), ..learning(&format!("Log in with {token}")) };
    let kept = learned(&mut ledger, &secret, 1);
    assert!(!format!("{kept:?}").contains(&token), "{kept:?}");

    for number in 1..500 {
        learned(&mut ledger, &learning(&format!("Number {number}")), 2);
    }
    let error = ledger.learn(&learning("One more"), at(3)).unwrap_err();
    assert!(matches!(error, LedgerError::OpenLearnings { bound: 500 }), "{error:?}");
    assert!(matches!(ledger.learn(&learning("Number 1"), at(3)), Ok(Learned::Known(_))), "it is no further one");
    learned(&mut ledger, &NewLearning { source: LearningSource::Human, ..learning("One more") }, 3);
}

#[test]
fn a_learning_that_is_not_there_cannot_be_judged() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    for id in [1, u64::MAX] {
        let error = ledger.judge_learning(id, LearningStatus::Confirmed, at(1)).unwrap_err();
        assert_eq!(error.to_string(), format!("there is no learning {id}"));
    }
}
