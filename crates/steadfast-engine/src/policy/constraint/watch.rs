//! Reports what a script or `make` did against a constraint: found after the call, and reported once. The author is not
//! certain, since a human may have committed in another terminal while the call ran.

use steadfast_model::{
    Action, Change, Constraint, ConstraintKind, EventKind, Facts, Marks, State, ToolCall, ToolUseId, Verdict, Watched,
};

use super::super::Judgement;
use super::setting;
use crate::ParsedEvent;
use crate::policy::approval::may_do_anything;

/// Returns all constraints, from every source.
fn forbidden(state: &State) -> Vec<Constraint> {
    let said = state.constraints().iter().chain(&state.must_nots).cloned();
    said.chain(setting::forbidden(&state.rules.drift)).collect()
}

fn is_watched(kind: ConstraintKind) -> bool {
    use ConstraintKind as K;
    matches!(kind, K::Commit | K::Push | K::Dependencies)
}

fn id(call: &ToolCall) -> ToolUseId {
    call.id.clone().unwrap_or_else(|| ToolUseId::new(""))
}

/// Returns true if this event requires the marks of the checkout.
pub(super) fn is_needed(state: &State, event: &ParsedEvent<'_>) -> bool {
    match &event.kind {
        EventKind::PreTool(call) => {
            let may = !matches!(call.action, Action::Write { .. }) && may_do_anything(event, &call.action);
            may && forbidden(state).iter().any(|constraint| is_watched(constraint.kind))
        }
        EventKind::PostTool(result) => state.watched.iter().any(|watched| watched.call == id(&result.call)),
        _ => false,
    }
}

/// Remembers the marks before a call.
pub(super) fn begin(call: &ToolCall, facts: &Facts) -> Option<Change> {
    facts.marks.clone().map(|marks| Change::WatchBegun(Watched { call: id(call), marks }))
}

/// Compares the marks after a call with those before it.
pub(super) fn end(state: &State, call: &ToolCall, facts: &Facts) -> Judgement {
    let id = id(call);
    let Some(before) = state.watched.iter().find(|watched| watched.call == id) else { return Judgement::default() };
    let changes = vec![Change::WatchEnded(id)];
    let Some(after) = &facts.marks else { return Judgement { changes, ..Judgement::default() } };
    let forbidden = forbidden(state);
    let mut seen =
        forbidden.iter().filter_map(|constraint| Some((constraint, moved(constraint.kind, &before.marks, after)?)));
    let Some((constraint, what)) = seen.next() else { return Judgement { changes, ..Judgement::default() } };
    let said = constraint.said.trim_end_matches(['.', '!', ' ', ';']);
    let line = match &call.action {
        Action::Shell { command, .. } => command.lines().next().unwrap_or_default().chars().take(60).collect(),
        _ => call.tool.clone(),
    };
    let doubt = "A change by someone else in that time looks the same.";
    Judgement {
        verdict: Verdict::Note(format!("You said: \"{said}\". {what} while `{line}` ran. {doubt}")),
        aside: Some(format!(
            "The human said: \"{said}\". {what} while `{line}` ran. {doubt} If this call did it, say so. The \
             human decides whether to undo it."
        )),
        changes,
        ..Judgement::default()
    }
}

fn moved(kind: ConstraintKind, before: &Marks, after: &Marks) -> Option<String> {
    use ConstraintKind as K;
    match kind {
        // A new reflog has its first commit.
        K::Commit => {
            (after.commit.is_some() && before.commit != after.commit).then(|| "HEAD moved by a commit".to_owned())
        }
        K::Push => {
            (before.push.is_some() && before.push != after.push).then(|| "a branch of a remote was pushed".to_owned())
        }
        K::Dependencies => {
            let changed =
                |(name, hash): &&(String, u64)| !before.manifests.iter().any(|(old, was)| old == name && was == hash);
            let (name, _) = after.manifests.iter().find(changed)?;
            Some(format!("`{name}` changed"))
        }
        _ => None,
    }
}
