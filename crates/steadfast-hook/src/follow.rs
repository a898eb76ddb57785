use steadfast_model::{Event, EventKind, Fact, PlanView, State};
use steadfast_store::{ConfigFiles, Place};

/// Updates the plan of a checkout from the external tracker that holds its tasks. The caller provides it, because it
/// starts programs, within its own time limit. The hook only calls it if the settings name a tracker.
pub type Follow = fn(&Place, &ConfigFiles) -> FollowResult;

/// The result of following a tracker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FollowResult {
    /// The source of the plan that follows it.
    pub source: String,
    /// The changes there since the last call, one line each.
    pub lines: Vec<String>,
    /// The reason, if the tracker could not be read.
    pub failed: Option<String>,
}

impl FollowResult {
    /// The most lines that are reported and journalled.
    const TOLD: usize = 8;

    /// Returns whether this event needs it: a stop, which judges the tasks, or a start.
    pub(crate) fn is_due(event: &Event) -> bool {
        event.agent.is_none() && matches!(event.kind, EventKind::Stop(_) | EventKind::SessionStart { .. })
    }

    /// Returns the plan as read here. If the tracker cannot be read, the plan is `Unknown`, and the stop gate lets the
    /// session stop.
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

    pub(crate) fn into_lines(self) -> Vec<String> {
        let Self { lines, failed, .. } = self;
        lines.into_iter().chain(failed).take(Self::TOLD).collect()
    }
}
