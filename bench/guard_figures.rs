//! Measures how often the guard is right, for each source of commands separately.
//!
//! `cargo xtask bench guard` runs it. Four kinds of figures:
//!
//! - **in-sample**: the rows of a source of the corpora. The authors of the rules have seen all of them;
//! - **left out**: the same rows, with unknown names for the programs that neither another source nor everyday commands
//!   name. The result shows how well the general rules work;
//! - **strangers**: commands through unusual programs (`tests/strangers`). The authors of the rules have seen two thirds.
//!   The other third, chosen by a hash, is judged with `held-back` and was judged once. `programs unknown`: the same, with
//!   unknown names for all programs except interpreters and the programs of everyday commands;
//! - **everyday**: commands that agents really ran, and harmless ones with `src/` and `tests/` protected.
//!
//! `errors` lists the wrong decisions, ten of each kind, but never of the held-back third.
#![expect(clippy::disallowed_methods, reason = "the corpora's place is asked for")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table is the result")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use steadfast_shell::{Context, GuardDecision, effects, judge};
use steadfast_testkit::unescaped;

const ERRORS: usize = 10;
const GUARDED: [&str; 5] = [".claude/", ".git/hooks/", ".steadfast/", "SPEC.md", ".tdd-progress.md"];
/// The replacements of `%P`, in turn.
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
    let harmless = lines(include_str!("../crates/steadfast-shell/tests/strangers/harmless.txt")).map(|command| Case {
        command: command.to_owned(),
        protected: protected.clone(),
        expected: Expected::Allowed,
    });
    table.row("harmless, `src/` and `tests/` protected", &harmless.collect::<Vec<_>>(), true);
    if !everyday.is_empty() {
        let everyday = everyday.lines().skip(1).filter_map(|line| line.split('\t').nth(4)).map(|command| Case {
            command: unescaped(command),
            protected: GUARDED.map(str::to_owned).to_vec(),
            expected: Expected::Allowed,
        });
        let everyday: Vec<Case> = everyday.collect();
        table.row("everyday commands", &everyday, true);
        table.handed_over("everyday commands, our state and the wiring", &everyday);
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
            command: unescaped(command),
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
    let (mut seen, mut held) = (Vec::new(), Vec::new());
    let sets = [
        include_str!("../crates/steadfast-shell/tests/strangers/writes.txt"),
        include_str!("../crates/steadfast-shell/tests/strangers/reads.txt"),
    ];
    for (line, case) in cases(sets) {
        if is_held_back(line) { held.push(case) } else { seen.push(case) }
    }
    table.row("strangers, looked at", &seen, true);
    table.row("strangers, looked at, programs unknown", &unknown(&seen, &programs(&seen), known).1, true);
    if held_back {
        table.row("strangers, held back", &held, false);
        table.row("strangers, held back, programs unknown", &unknown(&held, &programs(&held), known).1, false);
    }
    let sets = [
        include_str!("../crates/steadfast-shell/tests/strangers/later_writes.txt"),
        include_str!("../crates/steadfast-shell/tests/strangers/later_reads.txt"),
    ];
    let later: Vec<Case> = cases(sets).into_iter().map(|(_, case)| case).collect();
    table.row("strangers, written after the rules", &later, true);
    let sets = [
        include_str!("../crates/steadfast-shell/tests/strangers/last_writes.txt"),
        include_str!("../crates/steadfast-shell/tests/strangers/last_reads.txt"),
    ];
    let last: Vec<Case> = cases(sets).into_iter().map(|(_, case)| case).collect();
    table.row("strangers, a second time", &last, true);
}

/// The lines of a file of writes and of one of reads.
fn cases(sets: [&str; 2]) -> Vec<(&str, Case)> {
    let mut cases = Vec::new();
    for (text, expected) in sets.into_iter().zip([Expected::Denied, Expected::Allowed]) {
        for (at, line) in lines(text).enumerate() {
            let command = line.replace("%P", PATHS[at % PATHS.len()]);
            cases.push((line, Case { command, protected: GUARDED.map(str::to_owned).to_vec(), expected }));
        }
    }
    cases
}

struct Table {
    errors: bool,
    listed: Vec<String>,
}

/// The paths that only the integrity policy protects.
const UNSEALED: [&str; 8] = [
    ".git/steadfast/",
    ".git/steadfast.gates/",
    "steadfast/places/",
    "steadfast/install/",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/config.toml",
    ".codex/hooks.json",
];

impl Table {
    /// Commands that pass a path to an unknown program, where no seal watches the path.
    fn handed_over(&mut self, name: &str, cases: &[Case]) {
        let context = Context { cwd: "/repo".to_owned(), home: "~".to_owned() };
        let is_asked = |case: &&Case| effects(&case.command, &context).handed_over(&UNSEALED).is_some();
        let asked: Vec<&Case> = cases.iter().filter(is_asked).collect();
        let share = 100.0 * asked.len() as f64 / cases.len().max(1) as f64;
        println!("| {name} | 0 | 0 (0.0 %) | 0 | {} | {} ({share:.2} %) |", cases.len(), asked.len());
        if self.errors {
            self.listed.push(format!("\n{name}: asked about"));
            self.listed
                .extend(asked.iter().take(ERRORS).map(|case| format!("  {}", case.command.replace('\n', "\\n"))));
        }
    }

    fn row(&mut self, name: &str, cases: &[Case], may_list: bool) {
        let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
        let (mut writes, mut denied, mut asked, mut harmless, mut disturbed) = (0, 0, 0, 0, 0);
        let mut wrong: [Vec<String>; 2] = Default::default();
        for case in cases {
            let decision = judge(&effects(&case.command, &context), &case.protected).decision;
            let shown = || format!("  {decision:?}: {}", case.command.replace('\n', "\\n"));
            if case.expected == Expected::Allowed {
                harmless += 1;
                if decision != GuardDecision::Allow {
                    disturbed += 1;
                    wrong[1].push(shown());
                }
                continue;
            }
            writes += 1;
            match decision {
                GuardDecision::Deny => denied += 1,
                GuardDecision::Ask => asked += 1,
                GuardDecision::Allow => {}
            }
            let enough = if case.expected == Expected::Denied { GuardDecision::Deny } else { GuardDecision::Ask };
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

/// FNV-1a selects the same third on every machine.
fn is_held_back(line: &str) -> bool {
    let hash = line
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (hash >> 20) % 3 == 0
}

/// Returns interpreters and the programs of everyday commands. They need no source to be known.
fn well_known(everyday: &str) -> BTreeSet<String> {
    let cases: Vec<Case> = everyday
        .lines()
        .skip(1)
        .filter_map(|line| line.split('\t').nth(4))
        .map(|command| Case { command: unescaped(command), protected: Vec::new(), expected: Expected::Allowed })
        .collect();
    let mut known = programs(&cases);
    let interpreters = lines(include_str!("../crates/steadfast-shell/src/command/interpreters.txt"))
        .filter_map(|line| line.split(" | ").next());
    known.extend(interpreters.flat_map(|names| names.split(' ')).map(str::to_owned));
    known
}

/// Returns the cases with unknown names for all programs except the well-known ones, and the number of renamed
/// programs.
fn unknown(cases: &[Case], programs: &BTreeSet<String>, known: &BTreeSet<String>) -> (usize, Vec<Case>) {
    let base = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
    let names: Vec<&String> =
        programs.iter().filter(|name| !known.contains(*name) && !known.contains(&base(name))).collect();
    let changed = cases.iter().map(|case| Case {
        command: renamed(&case.command, &names),
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

/// Returns the command with other names for its programs, wherever one is run.
fn renamed(command: &str, names: &[&String]) -> String {
    let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
    let mut ends: BTreeSet<usize> = BTreeSet::new();
    for run in effects(command, &context).runs() {
        let word = command.get(run.span.clone()).unwrap_or_default();
        let name = word.rsplit('/').next().unwrap_or_default();
        // A program that a quoted text runs has the position of that text.
        if run.argv.first().and_then(|program| program.known()) == Some(word)
            && names.iter().any(|known| *known == name)
        {
            ends.insert(run.span.end);
        }
    }
    let mut out = command.to_owned();
    for end in ends.into_iter().rev() {
        out.insert_str(end, "-x");
    }
    out
}
