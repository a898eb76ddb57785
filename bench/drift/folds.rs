//! Cross-validation: each repository is left out once, and the constants fitted on the others are judged on it.

use std::collections::BTreeSet;

use steadfast_engine::drift::Fit;

use crate::corpus::Corpus;
use crate::graft::{From, Graft, grafts_of};
use crate::kind::Kind;
use crate::mask::ROOT;
use crate::measure::{Share, area};
use crate::quiet::quiet_sessions;
use crate::scorer::{Start, Variant, steps};
use crate::session::Session;
use crate::world::World;

/// Writes on both sides of the cut.
const WRITES: [usize; 2] = [5, 2];
/// A correction is in time within this number of writes.
const IN_TIME: usize = 3;
/// The candidates for the two constants of the words.
const USUAL: [u8; 3] = [80, 85, 90];
const WEIGHTS: [u8; 3] = [4, 6, 8];
/// The highest accepted number of corrections per 1,000 quiet actions, if any candidate is below it.
const CORRECTIONS: f64 = 3.0;

/// The results of one variant in every case, so that any case can be left out.
struct Outcome<'c> {
    fit: Fit,
    /// For both numbers of writes.
    grafts: [Vec<Case<'c>>; 2],
    quiet: Vec<Day<'c>>,
}

struct Case<'c> {
    base: &'c str,
    donor: &'c str,
    from: From,
    mean: f64,
    in_time: bool,
}

/// A session without a complaint of its human.
struct Day<'c> {
    repository: &'c str,
    actions: usize,
    corrected: usize,
}

impl<'c> Outcome<'c> {
    fn of(corpus: &'c Corpus, grafts: &[Vec<Graft<'c>>; 2], kind: &Kind, variant: Variant<'_>) -> Self {
        let case = |graft: &Graft<'c>| {
            let told = graft.run(corpus, kind, variant);
            Case {
                base: &graft.base.repository,
                donor: &graft.donor.repository,
                from: graft.from,
                mean: told.mean,
                in_time: told.first.is_some_and(|first| first <= IN_TIME),
            }
        };
        let day = |session: &'c Session| {
            let (tree, others) = (corpus.tree(&[session]), corpus.others(&[session]));
            let world = World { tree: &tree, others: &others };
            let mut scorer = (kind.make)(&Start { root: ROOT, world, variant });
            let steps = steps(&mut *scorer, &session.events);
            let corrected = steps.iter().filter(|step| step.is_corrected()).count();
            Day { repository: &session.repository, actions: steps.len(), corrected }
        };
        Self {
            fit: variant.fit,
            grafts: [0, 1].map(|writes| grafts[writes].iter().map(case).collect()),
            quiet: quiet_sessions(corpus).map(day).filter(|day| day.actions > 0).collect(),
        }
    }
}

/// Decides from the repositories of a case: its session's and its partner's.
type Belongs<'b> = dyn Fn(&str, &str) -> bool + 'b;
/// An outcome, and its selected cases.
type Part<'a, 'b> = (&'a Outcome<'a>, &'b Belongs<'b>);

/// The figures of the selected cases.
struct Figures {
    /// For both numbers of writes: the same repository, another.
    area: [[f64; 2]; 2],
    in_time: [[Share; 2]; 2],
    corrected: Share,
    sessions: Share,
    untouched: [usize; 2],
}

impl Figures {
    fn of<'a>(parts: &[Part<'a, '_>]) -> Self {
        let cases = |writes: usize, from: From| -> Vec<&Case<'_>> {
            let of = |(outcome, belongs): &Part<'a, '_>| {
                let all = outcome.grafts[writes].iter();
                all.filter(|case| case.from == from && belongs(case.base, case.donor)).collect::<Vec<_>>()
            };
            parts.iter().flat_map(of).collect()
        };
        let kinds = [From::SameRepository, From::OtherRepository];
        let means = |cases: Vec<&Case<'_>>| cases.iter().map(|case| case.mean).collect::<Vec<f64>>();
        let (mut corrected, mut sessions) = (Share::default(), Share::default());
        for (outcome, belongs) in parts {
            for day in outcome.quiet.iter().filter(|day| belongs(day.repository, day.repository)) {
                corrected.some += day.corrected;
                corrected.all += day.actions;
                sessions.add(day.corrected > 0);
            }
        }
        Self {
            area: [0, 1].map(|writes| {
                let untouched = means(cases(writes, From::Untouched));
                kinds.map(|from| area(&means(cases(writes, from)), &untouched))
            }),
            in_time: [0, 1].map(|writes| {
                kinds.map(|from| {
                    let mut share = Share::default();
                    cases(writes, from).iter().for_each(|case| share.add(case.in_time));
                    share
                })
            }),
            corrected,
            sessions,
            untouched: [0, 1].map(|writes| cases(writes, From::Untouched).len()),
        }
    }

    /// Returns the value to maximize: good separation and timely corrections with few false alarms.
    fn worth(&self) -> f64 {
        let areas: f64 = self.area.iter().flatten().filter(|area| area.is_finite()).sum();
        let in_time: f64 = self.in_time.iter().flatten().map(|share| share.ratio()).filter(|r| r.is_finite()).sum();
        areas + in_time / 2.0 - (self.corrected.per_1000() - CORRECTIONS).max(0.0)
    }

    fn row(&self, name: &str, fit: &str) {
        let [[same5, other5], [same2, other2]] = self.area;
        let [[soon5, far5], [soon2, far2]] = self.in_time;
        let soon = |share: Share| format!("{} of {}", share.some, share.all);
        println!(
            "| {name} | {fit} | {} / {} | {same5:.3} / {other5:.3} | {same2:.3} / {other2:.3} | {} / {} | {} / {} | {:.1} | {} of {} |",
            self.untouched[0],
            self.untouched[1],
            soon(soon5),
            soon(far5),
            soon(soon2),
            soon(far2),
            self.corrected.per_1000(),
            self.sessions.some,
            self.sessions.all,
        );
    }
}

fn head() {
    println!(
        "| | usual, weight | sessions cut in two, 5 / 2 writes | area with 5 writes, same repository / another | with 2 \
         | corrected within {IN_TIME} writes, with 5 | with 2 | corrections per 1,000 quiet actions | sessions with one |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
}

fn told(fit: Fit) -> String {
    format!("{}, {}", fit.usual, fit.weight)
}

/// Prints the figures of repositories that the constants were not fitted on, beside those of all repositories.
pub(crate) fn print(corpus: &Corpus, kind: &Kind) {
    let grafts = WRITES.map(|writes| grafts_of(corpus, writes));
    let of = |variant: Variant<'_>| Outcome::of(corpus, &grafts, kind, variant);
    let everything: &Belongs<'_> = &|_, _| true;
    let own = of(Variant::default());
    println!("{}, all repositories, constants as they are:\n", kind.name);
    head();
    Figures::of(&[(&own, everything)]).row("in-sample", &told(own.fit));
    let without = Variant { without: &["content"], ..Variant::default() };
    Figures::of(&[(&of(without), everything)]).row("without content", "");
    let grid = USUAL.iter().flat_map(|usual| WEIGHTS.map(|weight| Fit { usual: *usual, weight }));
    let grid: Vec<Outcome<'_>> = grid.map(|fit| of(Variant { fit, ..Variant::default() })).collect();
    println!("\nThe grid, all repositories:\n");
    head();
    for outcome in &grid {
        Figures::of(&[(outcome, everything)]).row("", &told(outcome.fit));
    }
    let repositories: BTreeSet<&str> = corpus.sessions.iter().map(|session| session.repository.as_str()).collect();
    println!("\nOne repository left out: the constants are chosen on the others.\n");
    head();
    let mut pooled: Vec<(&Outcome<'_>, String)> = Vec::new();
    for left_out in &repositories {
        let others = |base: &str, donor: &str| base != *left_out && donor != *left_out;
        let worth = |outcome: &&Outcome<'_>| Figures::of(&[(outcome, &others)]).worth();
        let Some(chosen) = grid.iter().max_by(|one, other| worth(one).total_cmp(&worth(other))) else { continue };
        let only = |base: &str, _: &str| base == *left_out;
        Figures::of(&[(chosen, &only)]).row(left_out, &told(chosen.fit));
        pooled.push((chosen, (*left_out).to_owned()));
    }
    let only: Vec<Box<Belongs<'_>>> = pooled
        .iter()
        .map(|(_, left_out)| {
            let left_out = left_out.clone();
            Box::new(move |base: &str, _: &str| base == left_out) as Box<Belongs<'_>>
        })
        .collect();
    let parts: Vec<Part<'_, '_>> = pooled.iter().zip(&only).map(|((outcome, _), only)| (*outcome, &**only)).collect();
    Figures::of(&parts).row("pooled", "");
    println!();
}
