use proptest::prelude::*;

use super::*;

const SENTENCES: &str = include_str!("sentences.tsv");

fn topic() -> Topic {
    Topic::new("Three files", Some("SPEC.json"), ["0.1", "0.2", "1.1", "bd-x7y8.3"].into_iter())
}

fn label(order: Order) -> &'static str {
    match order {
        Order::Bind => "bind",
        Order::GoAhead => "go",
        Order::Release => "release",
        Order::Nothing => "none",
    }
}

fn meaning(text: &str) -> &'static str {
    label(read(text, topic()))
}

fn table() -> impl Iterator<Item = (&'static str, &'static str)> {
    SENTENCES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'))
}

/// What is read wrong, and known to be. Two of more than 550.
const KNOWN: [&str; 2] = ["hold off on phase 2 and the rest", "Fertigstellen: alle offenen Aufgaben bitte"];

#[test]
fn every_sentence_of_the_table_means_what_it_says() {
    let wrong: Vec<_> = table()
        .map(|(expected, sentence)| (expected, meaning(sentence), sentence))
        .filter(|(expected, found, sentence)| (expected != found) != KNOWN.contains(sentence))
        .collect();
    assert_eq!(wrong, []);
}

#[test]
fn the_table_has_both_kinds_and_no_sentence_twice() {
    let mut sentences: Vec<_> = table().map(|(_, sentence)| sentence).collect();
    let all = sentences.len();
    sentences.sort_unstable();
    sentences.dedup();
    assert_eq!(sentences.len(), all);
    let harmless = table().filter(|(expected, _)| matches!(*expected, "none" | "release")).count();
    assert!(all >= 250 && harmless * 5 >= all * 2 && harmless * 5 <= all * 3, "{harmless} of {all}");
}

#[test]
fn a_list_that_is_used_has_phrases_in_lower_case() {
    for source in
        [include_str!("mod.rs"), include_str!("clause.rs"), include_str!("object.rs"), include_str!("command.rs")]
    {
        for name in source.split("list(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let mut phrases = list(name).iter().flatten().peekable();
            assert!(phrases.peek().is_some(), "{name}");
            assert!(phrases.all(|word| *word == word.to_lowercase()), "{name}");
        }
    }
}

#[test]
fn names_are_those_of_the_plan() {
    let other = || Topic::new("Sign in", Some("AUTH.md"), ["1", "2"].into_iter());
    for (text, expected) in [
        ("implement AUTH.md", "bind"),
        ("build Sign in", "bind"),
        ("do task 2", "bind"),
        ("do 2", "bind"),
        ("implement SPEC.json", "none"),
        ("do 2 examples", "none"),
        ("do 0.1", "none"),
        ("upgrade to 2", "none"),
    ] {
        assert_eq!(label(read(text, other())), expected, "{text}");
    }
}

#[test]
fn what_is_pasted_or_quoted_orders_nothing() {
    for text in [
        "> run all tasks\nwhat does this line mean?",
        "```\nfinish the plan\n```\nis this log normal?",
        "<log>\ndo the tasks\n</log>\nwhy?",
        "The README says: do the tasks. Is that still true?",
    ] {
        assert_eq!(meaning(text), "none", "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(would you mind |do |don\'t )?(\\PC{0,12}(ing)? ?){0,12}") {
        let _ = meaning(&text);
    }

    /// A question about the plan never binds.
    #[test]
    fn a_question_word_before_an_order_takes_it_back(
        word in prop::sample::select(vec!["why did you", "how would you", "when did we", "who will", "should we", "did you"]),
        order in prop::sample::select(vec!["run the plan", "finish the tasks", "do everything", "implement SPEC.json"]),
    ) {
        prop_assert_eq!(meaning(&format!("{word} {order}?")), "none");
    }
}

mod timing {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_long_prompt_is_read_in_a_moment() {
        let text = "Go on with it, and then do the remaining tasks of the plan, please. ".repeat(2_000);
        let started = Instant::now();
        assert_eq!(meaning(&text), "bind");
        assert!(started.elapsed() < Duration::from_millis(500), "{:?}", started.elapsed());
    }
}
