use std::collections::HashSet;
use std::fmt;

use steadfast_model::{Event, EventKind, Millis};

use crate::action::{folder, inside, read, written};
use crate::corpus::Corpus;
use crate::kind::Kind;
use crate::mask::ROOT;
use crate::measure::{Dice, Share, area, median};
use crate::scorer::{Start, Step, Variant, steps};
use crate::session::{Half, Session};
use crate::world::World;

/// The number of writes in each part of a session that is cut in two.
const WRITES: usize = 5;
/// The number of partners of each kind per session.
const PARTNERS: usize = 4;
const SEED: u64 = 20_260_301;

/// The origin of the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// The session itself continues, including its human's prompts.
    Untouched,
    /// The session itself continues without its human's prompts. A scorer must not mistake it for a graft.
    Silent,
    SameRepository,
    OtherRepository,
}

/// A session that continues with the steps of another one, which its human did not request.
pub(crate) struct Graft<'c> {
    pub(crate) base: &'c Session,
    pub(crate) donor: &'c Session,
    pub(crate) from: From,
}

/// Returns the cases, always the same ones. A session and its partner are in the same half.
pub(crate) fn grafts(corpus: &Corpus) -> Vec<Graft<'_>> {
    grafts_of(corpus, WRITES)
}

pub(crate) fn grafts_of(corpus: &Corpus, writes: usize) -> Vec<Graft<'_>> {
    let long: Vec<&Session> = corpus.sessions.iter().filter(|session| session.writes().len() >= 2 * writes).collect();
    let mut dice = Dice(SEED);
    let mut grafts = Vec::new();
    for base in &long {
        grafts.extend([From::Untouched, From::Silent].map(|from| Graft { base, donor: base, from }));
        let mut partners: Vec<&&Session> =
            long.iter().filter(|donor| donor.half == base.half && donor.name != base.name).collect();
        dice.shuffle(&mut partners);
        for from in [From::SameRepository, From::OtherRepository] {
            let is_same = from == From::SameRepository;
            let of_kind = partners.iter().filter(|donor| (donor.repository == base.repository) == is_same);
            grafts.extend(of_kind.take(PARTNERS).map(|donor| Graft { base, donor, from }));
        }
    }
    grafts
}

impl Graft<'_> {
    fn tail(&self) -> Vec<Event> {
        let tail = &self.donor.events[cut(self.donor)..];
        if self.from == From::Untouched {
            return tail.to_vec();
        }
        let (Some(last), Some(first)) = (self.base.events.get(cut(self.base) - 1), tail.first()) else {
            return Vec::new();
        };
        let moved = |event: &Event| Event {
            at: Millis(last.at.0 + event.at.since(first.at).max(0)),
            host: last.host,
            session: last.session.clone(),
            turn: last.turn.clone(),
            ..event.clone()
        };
        tail.iter().filter(|event| is_work(&event.kind)).map(moved).collect()
    }

    pub(crate) fn run(&self, corpus: &Corpus, kind: &Kind, variant: Variant<'_>) -> Told {
        let both = [self.base, self.donor];
        let (tree, others) = (corpus.tree(&both), corpus.others(&both));
        let world = World { tree: &tree, others: &others };
        let mut scorer = (kind.make)(&Start { root: ROOT, world, variant });
        let (cut, tail) = (cut(self.base), self.tail());
        let all = steps(&mut *scorer, self.base.events[..cut].iter().chain(&tail));
        let after: Vec<Step> = all.into_iter().filter(|step| step.at >= cut).collect();
        Told { from: self.from, half: self.base.half, mean: mean(&after), first: first_correction(&after) }
    }
}

impl fmt::Display for Graft<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} at {}", self.base.name, cut(self.base))?;
        if matches!(self.from, From::Untouched | From::Silent) {
            Ok(())
        } else {
            write!(to, ", then {} from {}", self.donor.name, cut(self.donor))
        }
    }
}

/// Returns the share of files written after the cut whose folder was touched before it. A scorer cannot compute it,
/// since it does not know the cut. It shows how far apart the cases are.
pub(crate) fn oracle(grafts: &[Graft<'_>]) -> [[f64; 2]; 2] {
    let share = |graft: &Graft<'_>| {
        let before = graft.base.events[..cut(graft.base)].iter().flat_map(|event| [read(event), written(event)]);
        let known: HashSet<&str> = before.flat_map(|paths| inside(paths, ROOT)).map(folder).collect();
        let after = graft.donor.events[cut(graft.donor)..].iter();
        let mut share = Share::default();
        after.flat_map(|event| inside(written(event), ROOT)).for_each(|path| share.add(known.contains(folder(path))));
        share.ratio()
    };
    let shares = |from: From, half: Half| -> Vec<f64> {
        grafts.iter().filter(|graft| graft.from == from && graft.base.half == half).map(share).collect()
    };
    [From::SameRepository, From::OtherRepository]
        .map(|from| Half::BOTH.map(|half| area(&shares(from, half), &shares(From::Untouched, half))))
}

/// The scores after the cut.
pub(crate) struct Told {
    from: From,
    half: Half,
    pub(crate) mean: f64,
    /// The index of the first corrected write.
    pub(crate) first: Option<usize>,
}

/// Returns the index after the middle write.
fn cut(session: &Session) -> usize {
    let writes = session.writes();
    writes.get(writes.len() / 2 - 1).map_or(session.events.len(), |at| at + 1)
}

fn is_work(kind: &EventKind) -> bool {
    use EventKind::{PostTool, PreTool, SubagentStart, SubagentStop};
    matches!(kind, PreTool(_) | PostTool(_) | SubagentStart | SubagentStop(_))
}

/// Returns the mean of the scored steps. Without a score it is the best value.
fn mean(steps: &[Step]) -> f64 {
    let scores: Vec<f64> = steps.iter().filter_map(|step| step.scored).map(|scored| scored.score).collect();
    if scores.is_empty() { 10.0 } else { scores.iter().sum::<f64>() / scores.len() as f64 }
}

fn first_correction(steps: &[Step]) -> Option<usize> {
    let at = steps.iter().position(|step| step.is_corrected())?;
    Some(steps[..=at].iter().filter(|step| step.writes).count().max(1))
}

/// The results for both halves.
pub(crate) struct Grafted {
    pub(crate) same: [Against; 2],
    pub(crate) other: [Against; 2],
    /// Untouched sessions with a correction after the cut.
    pub(crate) untouched: [Share; 2],
}

pub(crate) struct Against {
    pub(crate) area: f64,
    /// The same, compared with sessions that continued without prompts.
    pub(crate) silent: f64,
    pub(crate) first: Option<usize>,
    pub(crate) corrected: Share,
}

pub(crate) fn grafted(corpus: &Corpus, grafts: &[Graft<'_>], kind: &Kind, variant: Variant<'_>) -> Grafted {
    let told: Vec<Told> = grafts.iter().map(|graft| graft.run(corpus, kind, variant)).collect();
    let of = |from: From, half: Half| told.iter().filter(move |told| told.from == from && told.half == half);
    let against = |from: From, half: Half| {
        let means = |from| of(from, half).map(|told| told.mean).collect::<Vec<f64>>();
        let mut corrected = Share::default();
        of(from, half).for_each(|told| corrected.add(told.first.is_some()));
        Against {
            area: area(&means(from), &means(From::Untouched)),
            silent: area(&means(from), &means(From::Silent)),
            first: median(of(from, half).map(|told| told.first).collect()),
            corrected,
        }
    };
    let untouched = Half::BOTH.map(|half| {
        let mut share = Share::default();
        of(From::Untouched, half).for_each(|told| share.add(told.first.is_some()));
        share
    });
    Grafted {
        same: Half::BOTH.map(|half| against(From::SameRepository, half)),
        other: Half::BOTH.map(|half| against(From::OtherRepository, half)),
        untouched,
    }
}
