use std::cmp::Reverse;

use steadfast_model::{Action, Event, EventKind};

use crate::corpus::Corpus;
use crate::graft::{From, Graft};
use crate::kind::Kind;
use crate::mask::ROOT;
use crate::quiet::quiet_sessions;
use crate::scorer::{Start, Variant, steps};
use crate::world::World;

/// The limit of entries in each list.
const SHOWN: usize = 10;
/// The limit of corrections per session.
const EACH: usize = 3;

/// Prints the errors of a scorer, to be read beside the sessions. The names are printed only on this terminal.
pub(crate) fn print(corpus: &Corpus, grafts: &[Graft<'_>], kind: &Kind) {
    println!("{}: quiet sessions that are corrected most\n", kind.name);
    let mut quiet: Vec<(usize, String)> = quiet_sessions(corpus)
        .map(|session| {
            let (tree, others) = (corpus.tree(&[session]), corpus.others(&[session]));
            let world = World { tree: &tree, others: &others };
            let mut scorer = (kind.make)(&Start { root: ROOT, world, variant: Variant::default() });
            let steps = steps(&mut *scorer, &session.events);
            let corrected: Vec<usize> = steps.iter().filter(|s| s.is_corrected()).map(|s| s.at).collect();
            let on = corrected.iter().take(EACH).map(|at| format!("  {at}: {}\n", target(&session.events[*at])));
            let line =
                format!("{} of {} actions, {}\n{}", corrected.len(), steps.len(), session.name, on.collect::<String>());
            (corrected.len(), line)
        })
        .filter(|(corrected, _)| *corrected > 0)
        .collect();
    quiet.sort_by_key(|(corrected, _)| Reverse(*corrected));
    quiet.iter().take(SHOWN).for_each(|(_, line)| println!("{line}"));

    let mut told: Vec<_> = grafts.iter().map(|graft| (graft, graft.run(corpus, kind, Variant::default()))).collect();
    told.sort_by(|(_, one), (_, other)| one.mean.total_cmp(&other.mean));
    let line = |graft: &Graft<'_>, mean: f64| println!("{mean:.2}  {graft}");
    println!("{}: untouched sessions with the lowest means\n", kind.name);
    let untouched = told.iter().filter(|(graft, _)| graft.from == From::Untouched);
    untouched.take(SHOWN).for_each(|(graft, told)| line(graft, told.mean));
    for from in [From::SameRepository, From::OtherRepository] {
        println!("\n{}: grafts with the highest means, {from:?}\n", kind.name);
        let of_kind = told.iter().rev().filter(|(graft, _)| graft.from == from);
        of_kind.take(SHOWN).for_each(|(graft, told)| line(graft, told.mean));
    }
}

fn target(event: &Event) -> String {
    let EventKind::PreTool(call) = &event.kind else { return String::new() };
    let what = match &call.action {
        Action::Write { paths } | Action::Read { paths } => paths.join(" "),
        Action::Shell { command, .. } => command.lines().next().unwrap_or_default().to_owned(),
        _ => String::new(),
    };
    format!("{} {what}", call.tool)
}
