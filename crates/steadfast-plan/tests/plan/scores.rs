//! How the rules of the spec score agree with forty specs that were marked by hand before there was a rule. What the marks
//! mean stands in `tests/score/README.md`.

use std::collections::BTreeMap;
use std::fmt::Write;

use proptest::prelude::*;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use steadfast_plan::{Dimension, THRESHOLD, score};

use crate::corpus::corpus;

#[derive(Deserialize)]
struct Own {
    specs: Vec<OwnSpec>,
}

#[derive(Deserialize)]
struct OwnSpec {
    name: String,
    half: String,
    text: String,
    marks: Marks,
}

#[derive(Deserialize)]
struct Corpus {
    specs: Vec<CorpusSpec>,
}

#[derive(Deserialize)]
struct CorpusSpec {
    path: String,
    issue: Option<String>,
    sha256: String,
    marks: Marks,
}

type Marks = BTreeMap<String, u8>;

#[derive(Deserialize)]
struct Issue {
    id: String,
    title: String,
    description: Option<String>,
}

/// Of so many specs, how many agree.
#[derive(Debug, Default, PartialEq, Eq)]
struct Agreement {
    specs: usize,
    /// Dimensions with the same points, and those that are one apart at most.
    exact: [usize; 5],
    near: [usize; 5],
    totals_within_one: usize,
    same_side: usize,
}

impl Agreement {
    fn add(&mut self, name: &str, text: &str, marks: &Marks) {
        let scored = score(text);
        let by_hand = Dimension::ALL.map(|dimension| marks[dimension.as_str()]);
        let by_rule = Dimension::ALL.map(|dimension| scored.points(dimension));
        for (index, (hand, rule)) in by_hand.into_iter().zip(by_rule).enumerate() {
            self.exact[index] += usize::from(hand == rule);
            self.near[index] += usize::from(hand.abs_diff(rule) <= 1);
        }
        let total: u8 = by_hand.iter().sum();
        self.specs += 1;
        self.totals_within_one += usize::from(total.abs_diff(scored.total()) <= 1);
        self.same_side += usize::from((total >= THRESHOLD) == scored.is_clear());
        if by_hand != by_rule {
            tell(&format!("{name}: by hand {by_hand:?}, by rule {by_rule:?}"));
            for mark in scored.marks {
                let because = mark.because.map(|sentence| sentence.text).unwrap_or_default();
                tell(&format!("    {} {} {}: {because:.120}", mark.dimension.as_str(), mark.points, mark.rule));
            }
        }
    }

    /// At least as much as that: dimensions with the same points and dimensions one apart at most, of all of them; totals
    /// within one; totals on the same side of the threshold.
    fn is_at_least(&self, exact: usize, near: usize, totals: usize, same_side: usize) {
        let found = (self.exact.iter().sum(), self.near.iter().sum(), self.totals_within_one, self.same_side);
        let (a, b, c, d): (usize, usize, usize, usize) = found;
        assert!(a >= exact && b >= near && c >= totals && d >= same_side, "{found:?}");
    }

    fn said(&self, name: &str) -> String {
        let specs = self.specs;
        let mut said = format!("{name}, {specs} specs:");
        for (index, dimension) in Dimension::ALL.into_iter().enumerate() {
            let _ = write!(said, " {} {} (near {}),", dimension.as_str(), self.exact[index], self.near[index]);
        }
        let _ = write!(said, " totals within one {}, same side {}", self.totals_within_one, self.same_side);
        said
    }
}

#[expect(clippy::print_stderr, reason = "says what was measured")]
fn tell(line: &str) {
    eprintln!("{line}");
}

fn of_own(half: &str) -> Agreement {
    let own: Own = serde_json::from_str(include_str!("../score/own.json")).unwrap();
    let mut agreement = Agreement::default();
    for spec in own.specs.iter().filter(|spec| spec.half == half) {
        agreement.add(&spec.name, &spec.text, &spec.marks);
    }
    tell(&agreement.said(half));
    agreement
}

#[test]
fn rules_agree_with_our_own_specs_that_they_were_written_beside() {
    let agreement = of_own("first");
    assert_eq!(agreement.specs, 10);
    agreement.is_at_least(50, 50, 10, 10);
}

#[test]
fn rules_agree_with_our_own_specs_that_were_kept_apart() {
    let agreement = of_own("judging");
    assert_eq!(agreement.specs, 10);
    agreement.is_at_least(47, 50, 10, 10);
}

/// `None` after a skip: the corpus is not there.
fn of_corpus(name: &str, marks: &str) -> Option<Agreement> {
    let (dir, _) = corpus()?;
    let marked: Corpus = serde_json::from_str(marks).unwrap();
    let mut agreement = Agreement::default();
    for spec in &marked.specs {
        let file = std::fs::read_to_string(dir.path().join(&spec.path)).unwrap();
        let text = match &spec.issue {
            None => file,
            Some(id) => {
                let mut issues = file.lines().filter_map(|line| serde_json::from_str::<Issue>(line).ok());
                let issue = issues.find(|issue| issue.id == *id).unwrap();
                format!("{}\n\n{}", issue.title, issue.description.unwrap_or_default())
            }
        };
        let hash: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, spec.sha256, "{}", spec.path);
        agreement.add(spec.issue.as_ref().unwrap_or(&spec.path), &text, &spec.marks);
    }
    tell(&agreement.said(name));
    Some(agreement)
}

#[test]
fn rules_agree_with_specs_of_others() {
    let Some(agreement) = of_corpus("corpus", include_str!("../score/corpus.json")) else { return };
    assert_eq!(agreement.specs, 20);
    agreement.is_at_least(95, 100, 20, 19);
}

#[test]
fn rules_agree_with_specs_of_others_that_were_marked_later_and_not_looked_at_before() {
    let Some(agreement) = of_corpus("later", include_str!("../score/later.json")) else { return };
    assert_eq!(agreement.specs, 16);
    agreement.is_at_least(60, 77, 12, 16);
}

proptest! {
    /// Whatever stands in a text: five marks, and each that has points has the sentence that earned them.
    #[test]
    fn any_text_has_five_marks_with_their_sentences(text in "(\\PC|[\n`#*|. -]){0,400}") {
        let scored = score(&text);
        for mark in &scored.marks {
            prop_assert!(mark.points <= 2);
            prop_assert_eq!(mark.points > 0, mark.because.is_some());
            if let Some(because) = &mark.because {
                prop_assert!((1..=text.lines().count()).contains(&because.line), "{:?}", because);
            }
        }
    }
}

#[test]
fn of_a_text_without_an_end_the_beginning_is_judged() {
    let text = format!("Add `x` to src/a.rs. {}Done when `make` exits 0.", "é ".repeat(100_000));
    let scored = score(&text);
    assert_eq!((scored.points(Dimension::Scope), scored.points(Dimension::Done)), (2, 0));
}
