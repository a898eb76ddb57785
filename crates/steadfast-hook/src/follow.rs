use steadfast_model::{Event, EventKind, Fact, PlanView, State};
use steadfast_store::{ConfigFiles, Place};

/// Brings the plan of a checkout up to date with the list that its tasks are kept in. Who starts programs does it, within
/// a time of its own; here it is only asked for, where the settings name such a list.
pub type Follow = fn(&Place, &ConfigFiles) -> FollowResult;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FollowResult {
    /// What the plan that follows it is called by.
    pub source: String,
    /// What happened there since, a line each.
    pub lines: Vec<String>,
    /// Why it is not known.
    pub failed: Option<String>,
}

impl FollowResult {
    /// How many lines are told, and journalled.
    const TOLD: usize = 8;

    /// Whether it is asked for: where a verdict on the tasks is due, and at the start.
    pub(crate) fn is_due(event: &Event) -> bool {
        event.agent.is_none() && matches!(event.kind, EventKind::Stop(_) | EventKind::SessionStart { .. })
    }

    /// The plan as it was read here. Nobody is held by tasks of which it is not known how they stand.
    pub(crate) fn seen(&self, plan: Fact<Option<PlanView>>, state: &State) -> Fact<Option<PlanView>> {
        match (&self.failed, plan) {
            (Some(why), Fact::Known(Some(plan)))
                if state.is_bound(&plan) && plan.brief.spec.as_ref() == Some(&self.source) =>
            {
                Fact::Unknown(why.clone())
            }
            (_, plan) => plan,
        }
    }

    pub(crate) fn told(self) -> Vec<String> {
        let Self { lines, failed, .. } = self;
        lines.into_iter().chain(failed).take(Self::TOLD).collect()
    }
}
