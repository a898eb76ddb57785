//! Sentences of humans and what they forbid, and as many that only sound like it: how much of it the reader finds, and
//! how much it makes up. A sentence a line (`\n` for a new one in it), a tab, what it forbids: `commit;touch:schema`,
//! `allow push`, `-` for nothing.
#![expect(clippy::print_stderr, reason = "the table is what the test is for")]

use std::collections::BTreeMap;

use steadfast_engine::goal::read;

/// Below these it is not good enough to refuse anything by.
const PRECISION: f64 = 0.95;
const RECALL: f64 = 0.9;

/// Found and meant, found only, meant only.
#[derive(Default)]
struct Count {
    both: usize,
    found: usize,
    meant: usize,
}

impl Count {
    fn precision(&self) -> f64 {
        ratio(self.both, self.both + self.found)
    }

    fn recall(&self) -> f64 {
        ratio(self.both, self.both + self.meant)
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

fn rows(list: &str) -> Vec<(&str, Vec<String>)> {
    list.lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(sentence, forbids)| {
            let forbids = forbids.split(';').filter(|one| *one != "-").map(str::to_owned).collect();
            (sentence, forbids)
        })
        .collect()
}

/// What the reader finds, as the lists spell it.
fn found(sentence: &str, meant: &[String]) -> Vec<String> {
    let said = read(&sentence.replace("\\n", "\n"));
    let spell =
        |kind: &str, of: &[String]| if of.is_empty() { kind.to_owned() } else { format!("{kind}:{}", of.join(",")) };
    let constraints = said.constraints.iter().map(|found| spell(found.kind.as_str(), &found.of));
    let lifts = said.lifts.iter().map(|lift| format!("allow {}", spell(lift.kind.as_str(), &lift.of)));
    // Every order to make something ends being read to; that is no statement of these sentences.
    // Nor is a name that widens a fence or could be a package: it lets nothing pass that nobody forbade.
    let beside = ["allow only:", "allow dependencies:", "allow install:", "allow create:"];
    let plain = |one: &String| {
        meant.contains(one) || one != "allow write" && !beside.iter().any(|start| one.starts_with(start))
    };
    constraints.chain(lifts.filter(plain)).collect()
}

#[test]
fn what_humans_forbid_is_found_and_what_only_sounds_like_it_is_not() {
    let lists = [("forbids", include_str!("forbids.tsv")), ("harmless", include_str!("harmless.tsv"))];
    let mut kinds: BTreeMap<String, Count> = BTreeMap::new();
    let mut all = Count::default();
    let mut misses = Vec::new();
    for (list, text) in lists {
        let rows = rows(text);
        assert!(rows.len() >= 100, "{list}: {}", rows.len());
        for (sentence, meant) in rows {
            let found = found(sentence, &meant);
            let mut count = |one: &String, add: fn(&mut Count)| {
                let kind = one.split(':').next().unwrap_or(one).to_owned();
                add(kinds.entry(kind).or_default());
                add(&mut all);
            };
            for one in &found {
                if meant.contains(one) {
                    count(one, |count| count.both += 1);
                } else {
                    count(one, |count| count.found += 1);
                    misses.push(format!("{list}: {sentence:?} makes up {one}"));
                }
            }
            for one in meant.iter().filter(|one| !found.contains(one)) {
                count(one, |count| count.meant += 1);
                misses.push(format!("{list}: {sentence:?} misses {one}"));
            }
        }
    }
    eprintln!("{:<24} {:>5} {:>9} {:>6}", "kind", "cases", "precision", "recall");
    for (kind, count) in kinds.iter().chain([(&"all".to_owned(), &all)]) {
        let cases = count.both + count.meant;
        eprintln!("{kind:<24} {cases:>5} {:>9.3} {:>6.3}", count.precision(), count.recall());
    }
    for miss in &misses {
        eprintln!("{miss}");
    }
    assert!(all.precision() >= PRECISION, "precision {:.3}", all.precision());
    assert!(all.recall() >= RECALL, "recall {:.3}", all.recall());
}
