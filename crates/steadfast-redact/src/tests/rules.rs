use super::filler::filled;
use crate::name::NAMES;
use crate::redact;
use crate::rule::RULES;

#[test]
fn every_rule_finds_its_examples_alone_and_in_a_sentence() {
    for rule in RULES {
        for example in rule.finds {
            let secret = filled(example);
            let marker = format!("[redacted:{}]", rule.name);
            assert!(redact(&secret).contains(&marker), "{}: {secret}: {}", rule.name, redact(&secret));
            let sentence = format!("it said \"{secret}\", then stopped");
            assert!(redact(&sentence).contains(&marker), "{}: {sentence}: {}", rule.name, redact(&sentence));
        }
    }
}

#[test]
fn every_rule_leaves_what_only_resembles_its_key() {
    for rule in RULES {
        for example in rule.leaves {
            let text = filled(example);
            assert_eq!(redact(&text), text, "{}", rule.name);
        }
    }
}

#[test]
fn no_rule_stands_in_the_shadow_of_a_shorter_one_above_it() {
    for (row, rule) in RULES.iter().enumerate() {
        for above in &RULES[..row] {
            let (text, shorter) = (rule.anchor.text(), above.anchor.text());
            assert!(!text.starts_with(shorter) || above.name == rule.name, "{text} is behind {shorter}");
        }
    }
}

#[test]
fn names_of_rules_are_what_a_marker_can_hold() {
    for name in RULES.iter().map(|rule| rule.name).chain(NAMES.iter().map(|name| name.rule)) {
        assert!(name.len() <= 40 && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
    }
}
