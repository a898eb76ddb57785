//! Real commands, from the corpora.

#![expect(clippy::unwrap_used, reason = "a corpus that cannot be read is a failure")]

use std::time::Instant;

use steadfast_shell::{Context, GuardDecision, effects, is_plain, judge};
use steadfast_testkit::{corpus, unescaped};

/// `None` after a skip: the corpus is not there.
fn rows(name: &str) -> Option<Vec<Vec<String>>> {
    let text = std::fs::read_to_string(corpus(name)?).unwrap();
    Some(text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

fn context() -> Context {
    Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() }
}

#[test]
fn writes_to_protected_paths_are_seen_and_reads_are_not() {
    let Some(rows) = rows("protected_writes.tsv") else { return };
    let mut wrong = Vec::new();
    for row in rows {
        let protected: Vec<String> = row[1].split('|').map(str::to_owned).collect();
        let decision = judge(&effects(&unescaped(&row[0]), &context()), &protected).decision;
        let right = match row[2].as_str() {
            "deny" => decision == GuardDecision::Deny,
            "allow" => decision == GuardDecision::Allow,
            _ => decision != GuardDecision::Allow,
        };
        if !right {
            wrong.push(format!("{decision:?} for {}: {}  [{}]", row[2], row[0], row[1]));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
#[expect(clippy::print_stdout, reason = "the numbers are what a reader of the corpus wants")]
fn ordinary_commands_are_left_alone() {
    let Some(rows) = rows("benign_commands.tsv") else { return };
    let protected = [".claude/", ".git/hooks/", ".steadfast/", "SPEC.md", ".tdd-progress.md"].map(str::to_owned);
    let (mut disturbed, mut times) = (Vec::new(), Vec::new());
    let (mut uses, mut disturbed_uses) = (0, 0);
    for row in rows {
        let command = unescaped(&row[4]);
        let count: usize = row[0].parse().unwrap();
        uses += count;
        let start = Instant::now();
        let verdict = judge(&effects(&command, &context()), &protected);
        times.push(start.elapsed());
        if verdict.decision != GuardDecision::Allow {
            disturbed_uses += count;
            disturbed.push(format!("{:?} {} : {}", verdict.decision, verdict.reason, row[4]));
        }
    }
    times.sort();
    if let (Some(median), Some(p99)) = (times.get(times.len() / 2), times.get(times.len() * 99 / 100)) {
        println!(
            "median {median:?}, p99 {p99:?}; disturbed {}, uses {disturbed_uses} of {uses}\n{}",
            disturbed.len(),
            disturbed.join("\n")
        );
    }
    assert!(disturbed_uses * 200 <= uses, "{disturbed_uses} of {uses} uses");
    assert!(disturbed.len() * 200 <= times.len(), "{} of {}:\n{}", disturbed.len(), times.len(), disturbed.join("\n"));
}

#[test]
#[expect(clippy::print_stdout, reason = "the share is what a reader of the corpus wants")]
fn a_plain_command_is_allowed_when_it_is_read() {
    let names = [".claude", "hooks", ".steadfast", "SPEC.md", ".tdd-progress.md", "steadfast"];
    let protected = [".claude/", ".git/hooks/", ".steadfast/", "SPEC.md", ".tdd-progress.md"].map(str::to_owned);
    let mut wrong = Vec::new();
    for (file, column) in [("benign_commands.tsv", 4), ("nl2bash.tsv", 0), ("protected_writes.tsv", 0)] {
        let Some(rows) = rows(file) else { continue };
        let mut plain_ones = 0;
        for row in &rows {
            let command = unescaped(&row[column]);
            if !is_plain(&command, &context(), &names) {
                continue;
            }
            plain_ones += 1;
            let reading = effects(&command, &context());
            let runs = reading.runs().any(|run| names.iter().any(|name| run.may_run(name)));
            if judge(&reading, &protected).decision != GuardDecision::Allow || runs {
                wrong.push(row[column].clone());
            }
        }
        println!("{file}: {plain_ones} of {} are plain", rows.len());
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_bash_parses_is_parsed_and_what_it_refuses_is_never_allowed() {
    let Some(rows) = rows("nl2bash.tsv") else { return };
    let mut wrong = Vec::new();
    for row in rows {
        let reading = effects(&unescaped(&row[0]), &context());
        // `w`: bash warns, and runs it.
        if reading.parsed != (row[2] != "0") {
            wrong.push(format!("parsed: {}, bash: {}: {}", reading.parsed, row[2], row[0]));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
