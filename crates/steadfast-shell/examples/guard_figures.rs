//! How often the guard is right, on sources of commands that are kept apart.
//!
//! `cargo xtask bench guard` runs it. Four kinds of figures:
//!
//! - **in-sample**: the rows of a source of the corpora, all of which were seen while the rules were written;
//! - **left out**: the same rows, where each program that neither another source nor everyday commands name has a name that
//!   no table has. What is left is what the general rules see;
//! - **strangers**: commands through unusual programs (`tests/strangers`). Two thirds were looked at while the rules were
//!   written. One third, chosen by a hash, is judged with `held-back` and was judged once. `programs unknown`: the same,
//!   where each program that is neither an interpreter nor met in everyday commands has a name that no table has;
//! - **everyday**: commands that agents really ran, and harmless ones with `src/` and `tests/` protected.
//!
//! `errors` lists what is wrong, ten of each kind; never of the third that is held back.
#![expect(clippy::disallowed_methods, reason = "the corpora's place is asked for")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table is the result")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use steadfast_shell::{Context, Decision, effects, judge};

const ERRORS: usize = 10;
const GUARDED: [&str; 5] = [".claude/", ".git/hooks/", ".steadfast/", "SPEC.md", ".tdd-progress.md"];
/// What stands for `%P`, in turn.
const PATHS: [&str; 4] = ["SPEC.md", ".claude/settings.json", "/repo/.claude/hooks/a.sh", "./.claude/../.claude/x.md"];

struct Case {
    command: String,
    protected: Vec<String>,
    expected: Expected,
}

#[derive(Clone, Copy, PartialEq)]
enum Expected {
    Denied,
    DeniedOrAsked,
    Allowed,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|given| given == word);
    let mut table = Table { errors: has("errors"), listed: Vec::new() };
    println!("| rows | writes | denied | asked | harmless | denied or asked |");
    println!("|---|---|---|---|---|---|");
    let place = std::env::var_os("STEADFAST_CORPORA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora")), PathBuf::from);
    let everyday = std::fs::read_to_string(place.join("benign_commands.tsv")).unwrap_or_default();
    let known = well_known(&everyday);
    match std::fs::read_to_string(place.join("protected_writes.tsv")) {
        Ok(text) => corpora(&text, &mut table, &known),
        Err(error) => eprintln!("SKIPPED: {}: {error}", place.join("protected_writes.tsv").display()),
    }
    strangers(&mut table, has("held-back"), &known);
    let protected = ["src/", "tests/"].map(str::to_owned).to_vec();
    let harmless = lines(include_str!("../tests/strangers/harmless.txt")).map(|command| Case {
        command: command.to_owned(),
        protected: protected.clone(),
        expected: Expected::Allowed,
    });
    table.row("harmless, `src/` and `tests/` protected", &harmless.collect::<Vec<_>>(), true);
    if !everyday.is_empty() {
        let everyday = everyday.lines().skip(1).filter_map(|line| line.split('\t').nth(4)).map(|command| Case {
            command: plain(command),
            protected: GUARDED.map(str::to_owned).to_vec(),
            expected: Expected::Allowed,
        });
        table.row("everyday commands", &everyday.collect::<Vec<_>>(), true);
    }
    for line in &table.listed {
        println!("{line}");
    }
}

fn corpora(text: &str, table: &mut Table, known: &BTreeSet<String>) {
    let mut sources: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [command, protected, expected, source, ..] = columns.as_slice() else { continue };
        let source = ["autonomous-dev", "cupcake"].into_iter().find(|name| source.contains(name));
        sources.entry(source.unwrap_or("issue cases")).or_default().push(Case {
            command: plain(command),
            protected: protected.split('|').map(str::to_owned).collect(),
            expected: match *expected {
                "deny" => Expected::Denied,
                "allow" => Expected::Allowed,
                _ => Expected::DeniedOrAsked,
            },
        });
    }
    for (source, cases) in &sources {
        table.row(&format!("{source}, in-sample"), cases, true);
    }
    for (source, cases) in &sources {
        let others: BTreeSet<String> =
            sources.iter().filter(|(name, _)| *name != source).flat_map(|(_, cases)| programs(cases)).collect();
        let own: BTreeSet<String> = programs(cases).into_iter().filter(|name| !others.contains(name)).collect();
        let (count, left_out) = unknown(cases, &own, known);
        table.row(&format!("{source}, left out ({count} programs unknown)"), &left_out, true);
    }
}

fn strangers(table: &mut Table, held_back: bool, known: &BTreeSet<String>) {
    let sets = [
        (include_str!("../tests/strangers/writes.txt"), Expected::Denied),
        (include_str!("../tests/strangers/reads.txt"), Expected::Allowed),
    ];
    let (mut seen, mut held) = (Vec::new(), Vec::new());
    for (text, expected) in sets {
        for (at, line) in lines(text).enumerate() {
            let case = Case {
                command: line.replace("%P", PATHS[at % PATHS.len()]),
                protected: GUARDED.map(str::to_owned).to_vec(),
                expected,
            };
            if is_held_back(line) { held.push(case) } else { seen.push(case) }
        }
    }
    table.row("strangers, looked at", &seen, true);
    table.row("strangers, looked at, programs unknown", &unknown(&seen, &programs(&seen), known).1, false);
    if held_back {
        table.row("strangers, held back", &held, false);
        table.row("strangers, held back, programs unknown", &unknown(&held, &programs(&held), known).1, false);
    }
}

struct Table {
    errors: bool,
    listed: Vec<String>,
}

impl Table {
    fn row(&mut self, name: &str, cases: &[Case], may_list: bool) {
        let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
        let (mut writes, mut denied, mut asked, mut harmless, mut disturbed) = (0, 0, 0, 0, 0);
        let mut wrong: [Vec<String>; 2] = Default::default();
        for case in cases {
            let decision = judge(&effects(&case.command, &context), &case.protected).decision;
            let shown = || format!("  {decision:?}: {}", case.command.replace('\n', "\\n"));
            if case.expected == Expected::Allowed {
                harmless += 1;
                if decision != Decision::Allow {
                    disturbed += 1;
                    wrong[1].push(shown());
                }
                continue;
            }
            writes += 1;
            match decision {
                Decision::Deny => denied += 1,
                Decision::Ask => asked += 1,
                Decision::Allow => {}
            }
            let enough = if case.expected == Expected::Denied { Decision::Deny } else { Decision::Ask };
            if decision < enough {
                wrong[0].push(shown());
            }
        }
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        println!(
            "| {name} | {writes} | {denied} ({:.1} %) | {asked} | {harmless} | {disturbed} ({:.2} %) |",
            share(denied, writes),
            share(disturbed, harmless)
        );
        if self.errors && may_list {
            let limit = std::env::var("ERRORS").ok().and_then(|text| text.parse().ok()).unwrap_or(ERRORS);
            for (kind, lines) in
                ["writes that are not denied", "harmless commands that are disturbed"].iter().zip(wrong)
            {
                self.listed.extend((!lines.is_empty()).then(|| format!("\n{name}: {kind}")));
                self.listed.extend(lines.into_iter().take(limit));
            }
        }
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

/// FNV-1a: the same third on every machine.
fn is_held_back(line: &str) -> bool {
    let hash = line
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (hash >> 20) % 3 == 0
}

/// Programs that everyday commands run, and interpreters: no source is needed to have heard of them.
fn well_known(everyday: &str) -> BTreeSet<String> {
    let cases: Vec<Case> = everyday
        .lines()
        .skip(1)
        .filter_map(|line| line.split('\t').nth(4))
        .map(|command| Case { command: plain(command), protected: Vec::new(), expected: Expected::Allowed })
        .collect();
    let mut known = programs(&cases);
    let interpreters = lines(include_str!("../src/interpreters.txt")).filter_map(|line| line.split(" | ").next());
    known.extend(interpreters.flat_map(|names| names.split(' ')).map(str::to_owned));
    known
}

/// The cases with those programs under names that no table has, but for the well-known ones; and how many those are.
fn unknown(cases: &[Case], programs: &BTreeSet<String>, known: &BTreeSet<String>) -> (usize, Vec<Case>) {
    let base = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
    let names: Vec<&String> =
        programs.iter().filter(|name| !known.contains(*name) && !known.contains(&base(name))).collect();
    let command = |case: &Case| names.iter().fold(case.command.clone(), |command, name| renamed(&command, name));
    let changed = cases.iter().map(|case| Case {
        command: command(case),
        protected: case.protected.clone(),
        expected: case.expected,
    });
    (names.len(), changed.collect())
}

fn programs(cases: &[Case]) -> BTreeSet<String> {
    let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
    let mut names = BTreeSet::new();
    for case in cases {
        for run in effects(&case.command, &context).runs() {
            let name = run.argv.first().and_then(|program| program.known()).unwrap_or_default();
            names.insert(name.rsplit('/').next().unwrap_or_default().to_owned());
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The command with another name for a program, wherever the word stands.
fn renamed(command: &str, name: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let mut out = String::new();
    let mut rest = command;
    while let Some(at) = rest.find(name) {
        let (before, after) = (rest[..at].chars().next_back().or(out.chars().next_back()), &rest[at + name.len()..]);
        out.push_str(&rest[..at + name.len()]);
        if !before.is_some_and(is_part) && !after.starts_with(is_part) {
            out.push_str("-x");
        }
        rest = after;
    }
    out + rest
}

fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some('\\') | None) => out.push('\\'),
            ('\\', Some(other)) => out.extend(['\\', other]),
            (c, _) => out.push(c),
        }
    }
    out
}
