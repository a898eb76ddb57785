//! The end of an approval: the plan is loaded, and the answer reports it. Also the draft beside our question.

use steadfast_model::{Answer, Event, Millis, PlanView, Question, Ruling, SessionId, State, Status};
use steadfast_store::{Place, SessionFiles, draft};
use steadfast_text::{count, truncate};

use crate::restoring::add;

/// Loads an approved draft into the ledger. The caller provides it, because it compiles the plan and reads what its
/// checks run. A text without tasks has nothing to load.
pub type LoadApproved = fn(&Place, &ApprovedDraft<'_>) -> Result<Option<PlanView>, String>;

/// A draft that a human has just approved.
#[derive(Clone, Copy, Debug)]
pub struct ApprovedDraft<'a> {
    pub hash: &'a str,
    /// The session that works on it from now on.
    pub session: Option<&'a SessionId>,
    pub at: Millis,
}

/// The most bytes of a draft beside a question. The host shows as many lines as it has room for.
const PREVIEW: usize = 8 << 10;

/// The longest title of a task in a note, in characters.
const TITLE: usize = 80;

/// Adds to the answer what became of the approved plan.
pub(crate) fn report(
    place: &Place,
    event: &Event,
    answer: &mut Answer,
    approved: &ApprovedDraft<'_>,
    loaded: Result<Option<PlanView>, String>,
) {
    let plan = match loaded {
        Ok(Some(plan)) => plan,
        Ok(None) => return,
        Err(why) => {
            let path = draft(place, approved.hash).map(|draft| draft.path).unwrap_or_default();
            let said = format!("It is not loaded: {why}. `steadfast plan load {path}` loads it.");
            add(answer.context.get_or_insert_default(), &said);
            return add(answer.note.get_or_insert_default(), &said);
        }
    };
    let tasks = count(plan.counts.all(), "task");
    let next = plan.open.iter().find(|task| task.status != Status::Blocked);
    let next = next.map(|task| format!(", next is {} {}", task.id, truncate(&task.title, TITLE))).unwrap_or_default();
    let context = answer.context.get_or_insert_default();
    if approved.session.is_some() {
        let rules = SessionFiles::of(place, &event.session).peek().map(|state: State| state.rules.stop);
        let brief = steadfast_engine::session_brief(&plan, &rules.unwrap_or_default(), event.host);
        add(context, &format!("It is loaded, and this session works on it.\n{brief}"));
    } else {
        add(
            context,
            &format!("It is loaded: {tasks}{next}. This session works on them only if the user asks for that."),
        );
    }
    // Without a note, the human wants to read only what needs them.
    if let Some(note) = &mut answer.note {
        let then = if approved.session.is_some() { "This session works on it." } else { "To start, say: do the tasks" };
        add(note, &format!("It is loaded: {tasks}{next}. {then}"));
    }
}

/// Replaces the texts of an approval that could not be recorded: nothing is approved then.
pub(crate) fn report_failure(answer: &mut Answer, hash: &str, why: &str) {
    let short = hash.get(..steadfast_model::DraftLine::SHORT).unwrap_or(hash);
    let said = format!(
        "The approval of plan {short} could not be recorded, and the plan gate stays closed: {why}. `steadfast plan \
         approve {short}` in a terminal approves it."
    );
    answer.context = Some(said.clone());
    answer.note = Some(said);
}

/// Adds the text of the draft to our question about it.
pub(crate) fn show_draft(place: &Place, answer: &mut Answer) {
    let Ruling::AskInstead(Question { draft: hash, preview, .. }) = &mut answer.ruling else { return };
    *preview = draft(place, hash).map(|draft| steadfast_text::truncate_bytes(&draft.text, PREVIEW).into_owned());
}
