use std::collections::BTreeSet;

use steadfast_model::{
    Action, Event, EventKind, Host, Millis, Outcome, PromptOrigin, SessionId, StartSource, ToolCall, ToolResult,
    ToolUseId,
};

use crate::action::name;
use crate::corpus::{Corpus, Table};
use crate::kind::Kind;
use crate::mask::ROOT;
use crate::measure::Share;
use crate::scorer::{Start, Variant, steps};
use crate::session::Half;
use crate::world::{Footprint, World};

/// Scores from here on are no alarm.
const ON_COURSE: f64 = 8.0;

/// The files that a plan declared, and the files committed for it.
///
/// The scorer receives the declared files and then sees the committed ones as writes. There are two questions:
///
/// - Does it report files that were not declared? The list itself answers that without an error. A scorer that knows
///   which files belong together must do worse, since it accepts an index, a lock file or a test.
/// - Does it report real departures from the plan? The plan's own report lists the additional work: an undeclared file
///   is a departure if that report names it. A report names few files, and some plans do not mention their departures,
///   so the precision is low for every scorer. The interesting numbers are how precision and recall change when signals
///   are switched off.
pub(crate) struct Plan {
    half: Half,
    declared: Vec<String>,
    actual: Vec<String>,
    report: String,
    footprint: Footprint,
}

impl Plan {
    /// Returns the plans with known commits.
    pub(crate) fn read(table: &Table) -> Vec<Self> {
        let list = |text: &str| text.split('|').filter(|file| !file.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let plans = table.rows().map(|row| {
            let actual = list(row.get("actual_files"));
            let written: BTreeSet<String> = actual.iter().cloned().collect();
            Self {
                half: Half::of(row.get("plan")),
                declared: list(row.get("declared_files")),
                report: row.get("deviation_text").to_owned(),
                footprint: Footprint { seen: written.clone(), written },
                actual,
            }
        });
        plans.filter(|plan| !plan.declared.is_empty() && !plan.actual.is_empty()).collect()
    }

    fn is_declared(&self, file: &str) -> bool {
        self.declared.iter().any(|declared| declared == file)
    }

    fn is_reported(&self, file: &str) -> bool {
        !self.is_declared(file) && self.report.contains(name(file))
    }

    fn events(&self) -> Vec<Event> {
        let files: String = self.declared.iter().map(|file| format!("- {file}\n")).collect();
        let prompt = EventKind::prompt(format!("Implement this plan.\n\nFiles:\n{files}"), PromptOrigin::Human);
        let start = EventKind::SessionStart { source: StartSource::Startup };
        let calls = self.actual.iter().enumerate().flat_map(|(number, file)| {
            let call = ToolCall {
                id: Some(ToolUseId::new(number.to_string())),
                tool: "Edit".to_owned(),
                action: Action::Write { paths: vec![format!("{ROOT}/{file}")] },
                words: Vec::new(),
            };
            let result = ToolResult {
                call: call.clone(),
                outcome: Outcome::Ok,
                millis: None,
                answers: Vec::new(),
                names: Vec::new(),
            };
            [EventKind::PreTool(call), EventKind::PostTool(result)]
        });
        let session = SessionId::new("plan");
        let kinds = [start, prompt].into_iter().chain(calls).enumerate();
        kinds
            .map(|(at, kind)| Event::plain(session.clone(), Host::Claude, ROOT, Millis(at as i64 * 1_000), kind))
            .collect()
    }
}

/// The reported files, in both halves.
#[derive(Default)]
pub(crate) struct Planned {
    /// The precision and recall for undeclared files.
    pub(crate) undeclared: [Hits; 2],
    /// The same for departures in the plan's report.
    pub(crate) reported: [Hits; 2],
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Hits {
    pub(crate) precision: Share,
    pub(crate) recall: Share,
}

impl Hits {
    fn add(&mut self, said: bool, is_one: bool) {
        if said {
            self.precision.add(is_one);
        }
        if is_one {
            self.recall.add(said);
        }
    }
}

pub(crate) fn planned(corpus: &Corpus, kind: &Kind, variant: Variant<'_>) -> Planned {
    let files = |plan: &Plan| plan.declared.iter().chain(&plan.actual).cloned().collect::<Vec<_>>();
    let tree: BTreeSet<String> = corpus.plans.iter().flat_map(files).collect();
    let mut planned = Planned::default();
    for (number, plan) in corpus.plans.iter().enumerate() {
        let others: Vec<&Footprint> =
            corpus.plans.iter().enumerate().filter(|(n, _)| *n != number).map(|(_, plan)| &plan.footprint).collect();
        let world = World { tree: &tree, others: &others };
        let mut scorer = (kind.make)(&Start { root: ROOT, world, variant });
        let steps = steps(&mut *scorer, &plan.events());
        let half = plan.half.column();
        for (file, step) in plan.actual.iter().zip(steps) {
            let said = step.scored.is_some_and(|scored| scored.score < ON_COURSE);
            planned.undeclared[half].add(said, !plan.is_declared(file));
            planned.reported[half].add(said, plan.is_reported(file));
        }
    }
    planned
}

/// Scores the list itself as a rule: it reports every file that is not on it.
pub(crate) fn listed(corpus: &Corpus) -> Planned {
    let mut planned = Planned::default();
    for plan in &corpus.plans {
        let half = plan.half.column();
        for file in &plan.actual {
            planned.undeclared[half].add(!plan.is_declared(file), !plan.is_declared(file));
            planned.reported[half].add(!plan.is_declared(file), plan.is_reported(file));
        }
    }
    planned
}
