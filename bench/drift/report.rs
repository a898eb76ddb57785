use std::time::Instant;

use crate::corpus::Corpus;
use crate::graft::{Against, From, Graft, Grafted, grafted, grafts, oracle};
use crate::kind::Kind;
use crate::measure::Share;
use crate::plan::{Hits, Planned, listed, planned};
use crate::quiet::{Quiet, quiet, quiet_sessions};
use crate::refusal::{Refused, refused};
use crate::scorer::Variant;

/// The results of one scorer in all cases.
struct Row {
    name: String,
    quiet: Quiet,
    grafted: Grafted,
    refused: Refused,
    planned: Planned,
}

impl Row {
    fn of(corpus: &Corpus, grafts: &[Graft<'_>], name: String, kind: &Kind, variant: Variant<'_>) -> Self {
        Self {
            name,
            quiet: quiet(corpus, kind, variant),
            grafted: grafted(corpus, grafts, kind, variant),
            refused: refused(corpus, kind, variant),
            planned: planned(corpus, kind, variant),
        }
    }
}

pub(crate) fn print(corpus: &Corpus, kinds: &[Kind]) {
    let began = Instant::now();
    let grafts = grafts(corpus);
    println!("{}\n", counted(corpus, &grafts));
    let whole: Vec<Row> =
        kinds.iter().map(|kind| Row::of(corpus, &grafts, kind.name.to_owned(), kind, Variant::default())).collect();
    println!("Everything at one threshold; tune / held.\n");
    quiet_table(&whole);
    graft_table(&grafts, &whole);
    refusal_table(&whole);
    plan_table(corpus, &whole);
    for kind in kinds.iter().filter(|kind| !kind.signals.is_empty()) {
        println!("{}, without one signal each:\n", kind.name);
        let all = Row::of(corpus, &grafts, "all signals".to_owned(), kind, Variant::default());
        let without = kind.signals.iter().map(|signal| {
            let variant = Variant { without: &[*signal], ..Variant::default() };
            Row::of(corpus, &grafts, format!("without {signal}"), kind, variant)
        });
        ablation_table(&std::iter::once(all).chain(without).collect::<Vec<_>>());
    }
    println!("{:.0} s", began.elapsed().as_secs_f64());
}

fn counted(corpus: &Corpus, grafts: &[Graft<'_>]) -> String {
    let quiet: Vec<usize> = quiet_sessions(corpus).map(|session| session.actions()).collect();
    let of = |from: From| grafts.iter().filter(|graft| graft.from == from).count();
    format!(
        "{} sessions, {} of them quiet with {} actions; {} cut in two, {} grafts of the same repository and {} of \
         another; {} refusals, {} of them name scope or a constraint; {} plans",
        corpus.sessions.len(),
        quiet.len(),
        quiet.iter().sum::<usize>(),
        of(From::Untouched),
        of(From::SameRepository),
        of(From::OtherRepository),
        corpus.refusals.len(),
        corpus.refusals.iter().filter(|refusal| refusal.counts).count(),
        corpus.plans.len(),
    )
}

fn quiet_table(rows: &[Row]) {
    println!("| quiet sessions | corrections per 1,000 actions | sessions with one | µs per event, median | p99 |");
    println!("|---|---|---|---|---|");
    for Row { name, quiet, .. } in rows {
        let micros = |time: std::time::Duration| time.as_secs_f64() * 1e6;
        println!(
            "| {name} | {} | {} | {:.2} | {:.2} |",
            both(quiet.corrected, |share| format!("{:.1}", share.per_1000())),
            both(quiet.sessions, of_all),
            micros(quiet.median),
            micros(quiet.p99)
        );
    }
    println!();
}

fn graft_table(grafts: &[Graft<'_>], rows: &[Row]) {
    println!(
        "| grafts | area, same repository | another | against silence, same | another | writes to a correction, same \
         | another | corrected, same | another | untouched |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let [same, other] = oracle(grafts).map(|halves| both(halves, |area| format!("{area:.3}")));
    println!("| folder touched before the cut, if one knew it | {same} | {other} | | | | | | | |");
    for Row { name, grafted, .. } in rows {
        let Grafted { same, other, untouched } = grafted;
        let silent = |halves: &[Against; 2]| both([&halves[0], &halves[1]], |against| format!("{:.3}", against.silent));
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            areas(same),
            areas(other),
            silent(same),
            silent(other),
            firsts(same),
            firsts(other),
            both([same[0].corrected, same[1].corrected], of_all),
            both([other[0].corrected, other[1].corrected], of_all),
            both(*untouched, of_all)
        );
    }
    println!();
}

fn refusal_table(rows: &[Row]) {
    println!("| refusals | recall | other refusals | accepted writes and commands, per 1,000 |");
    println!("|---|---|---|---|");
    for Row { name, refused, .. } in rows {
        println!(
            "| {name} | {} | {} | {} |",
            both(refused.named, of_all),
            both(refused.other, of_all),
            both(refused.accepted, |share| format!("{:.1}", share.per_1000()))
        );
    }
    println!();
}

fn plan_table(corpus: &Corpus, rows: &[Row]) {
    println!("| plans | undeclared, precision | recall | reported as a departure, precision | recall |");
    println!("|---|---|---|---|---|");
    let listed = listed(corpus);
    let rows = rows.iter().map(|row| (row.name.as_str(), &row.planned));
    for (name, planned) in std::iter::once(("the list itself", &listed)).chain(rows) {
        println!("| {name} | {} | {} |", hits(planned.undeclared), hits(planned.reported));
    }
    println!();
}

fn ablation_table(rows: &[Row]) {
    println!(
        "| | quiet, per 1,000 | area, same | another | writes, same | another | refusals | undeclared, precision \
         | recall | departure, precision | recall |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for Row { name, quiet, grafted, refused, planned } in rows {
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} |",
            both(quiet.corrected, |share| format!("{:.1}", share.per_1000())),
            areas(&grafted.same),
            areas(&grafted.other),
            firsts(&grafted.same),
            firsts(&grafted.other),
            both(refused.named, of_all),
            hits(planned.undeclared),
            hits(planned.reported)
        );
    }
    println!();
}

/// Prints both halves as `tune / held`.
fn both<T>(halves: [T; 2], show: impl Fn(T) -> String) -> String {
    halves.map(show).join(" / ")
}

fn of_all(share: Share) -> String {
    format!("{} of {}", share.some, share.all)
}

fn areas(halves: &[Against; 2]) -> String {
    both([&halves[0], &halves[1]], |against| format!("{:.3}", against.area))
}

fn firsts(halves: &[Against; 2]) -> String {
    both([&halves[0], &halves[1]], |against| against.first.map_or("never".to_owned(), |first| first.to_string()))
}

fn hits(halves: [Hits; 2]) -> String {
    let share = |share: Share| format!("{:.2}", share.ratio());
    format!("{} | {}", both(halves, |hits| share(hits.precision)), both(halves, |hits| share(hits.recall)))
}
