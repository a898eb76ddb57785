use std::time::Duration;

use crate::corpus::Corpus;
use crate::kind::Kind;
use crate::mask::ROOT;
use crate::measure::Share;
use crate::scorer::{Start, Variant, timed};
use crate::session::Session;
use crate::world::World;

/// Sessions in which no human stopped, refused or complained. A correction there is a false alarm, or drift that the
/// human accepted. The rate is corrections per action, including reads.
pub(crate) struct Quiet {
    pub(crate) corrected: [Share; 2],
    /// Sessions with a correction.
    pub(crate) sessions: [Share; 2],
    pub(crate) median: Duration,
    pub(crate) p99: Duration,
}

pub(crate) fn quiet_sessions(corpus: &Corpus) -> impl Iterator<Item = &Session> {
    corpus.sessions.iter().filter(|session| !session.pushback)
}

pub(crate) fn quiet(corpus: &Corpus, kind: &Kind, variant: Variant<'_>) -> Quiet {
    let mut times = Vec::new();
    let (mut corrected, mut sessions) = ([Share::default(); 2], [Share::default(); 2]);
    for session in quiet_sessions(corpus) {
        let (tree, others) = (corpus.tree(&[session]), corpus.others(&[session]));
        let world = World { tree: &tree, others: &others };
        let mut scorer = (kind.make)(&Start { root: ROOT, world, variant });
        let steps = timed(&mut *scorer, &session.events, &mut times);
        let half = session.half.column();
        for step in &steps {
            corrected[half].add(step.is_corrected());
        }
        if !steps.is_empty() {
            sessions[half].add(steps.iter().any(|step| step.is_corrected()));
        }
    }
    times.sort();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    Quiet { corrected, sessions, median: at(50), p99: at(99) }
}
