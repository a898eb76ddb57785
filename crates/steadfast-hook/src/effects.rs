//! Carries out the effects of a decision, in order. Each effect may run twice.

use std::path::Path;

use steadfast_engine::PolicyDecision;
use steadfast_model::{Effect, Event, EventKind, Opening, SessionId};
use steadfast_store::ledger::{Claiming, Ledger};
use steadfast_store::{Consent, SessionFiles, drop_claim, drop_claims_of, leave_claim, open_and_unseal, reseal};

use crate::approved::{self, ApprovedDraft};
use crate::checkout::{EventError, SessionCheckout};
use crate::drain::drain_now;
use crate::gate;
use crate::restoring::Restoring;

/// Carries out the effects. A failed effect is only logged: its event is in the journal already, and the host waits.
pub(crate) fn carry_out(checkout: &mut SessionCheckout<'_>, event: &Event, decision: &mut PolicyDecision) {
    let mut restoring = Restoring::begin();
    for effect in decision.effects.iter().chain(&decision.upkeep) {
        let done = match effect {
            Effect::Restore { scope, path } => {
                restoring.put_back(checkout.place, scope, path, event.at).map_err(EventError::Gate)
            }
            Effect::Approve { hash, start, .. } => {
                let done = carry_out_one(checkout, event, effect);
                let approved = ApprovedDraft { hash, session: start.then_some(&event.session), at: event.at };
                match &done {
                    Ok(()) => {
                        let loaded = (checkout.around.load)(checkout.place, &approved);
                        approved::report(checkout.place, event, &mut decision.answer, &approved, loaded);
                    }
                    Err(error) => approved::report_failure(&mut decision.answer, hash, &error.to_string()),
                }
                done
            }
            effect => carry_out_one(checkout, event, effect),
        };
        if let Err(error) = done {
            checkout.log(event.at, &format!("session {}: {}: {error}", event.session, effect.failure()));
        }
    }
    if let Err(error) = restoring.finish(checkout.place) {
        checkout.log(
            event.at,
            &format!("session {}: cannot record the files that are left to put back: {error}", event.session),
        );
    }
    restoring.report(&mut decision.answer);
    approved::show_draft(checkout.place, &mut decision.answer);
}

fn carry_out_one(checkout: &mut SessionCheckout<'_>, event: &Event, effect: &Effect) -> Result<(), EventError> {
    let (place, files) = (checkout.place, checkout.files(event));
    match effect {
        Effect::TakePlan { plan, session, silent } => {
            Ledger::open(&place.state)?.take_plan(plan, session, Claiming::of(silent.as_ref()), event.at)?;
        }
        Effect::LeaveClaim(claim) => leave_claim(place, claim).map_err(EventError::Claims)?,
        Effect::DropClaim { call } => drop_claim(place, call).map_err(EventError::Claims)?,
        Effect::DropClaims => drop_claims_of(place, &event.session, event.at),
        Effect::CloseGate(closed) => gate::close(place, closed).map_err(EventError::Gate)?,
        Effect::OpenGate { scope } => open_and_unseal(place, scope).map_err(EventError::Gate)?,
        Effect::KeepDraft { scope, call, text, waiting } => {
            gate::keep(place, scope, call, text, *waiting, event.at).map_err(EventError::Gate)?;
        }
        Effect::Approve { scope, hash, channel, start: _ } => {
            let yes = Consent { scope, hash, channel: *channel, session: Some(&event.session), at: event.at };
            gate::approve(place, checkout.config, &yes)?;
        }
        Effect::Reseal { scope, path } => reseal(place, scope, &place.root, path).map_err(EventError::Gate)?,
        Effect::ResealTree { scope } => gate::adopt_tree(place, scope).map_err(EventError::Gate)?,
        Effect::DrainJournal { over_bytes } if files.journal_bytes() > *over_bytes => drain_now(place, &files)?,
        Effect::NoteProcess { hosts } => files.note_process(hosts).map_err(EventError::files(&files))?,
        Effect::NoteTranscript { path } => {
            files.note_transcript(Path::new(path)).map_err(EventError::files(&files))?;
        }
        Effect::TellOwner { session, opening } => tell_owner(checkout, event, session, opening),
        // `Restoring` does these, because the answer reports the result.
        Effect::Restore { .. }
        // Draining the journal does these.
        | Effect::DrainJournal { .. }
        | Effect::LeavePlan { .. }
        | Effect::BlockTask { .. }
        | Effect::Checkpoint { .. }
        | Effect::GiveUp { .. }
        | Effect::BindLoop { .. }
        | Effect::LoopWaits { .. }
        | Effect::FollowList { .. }
        // The hook starts these after its answer.
        | Effect::Refine { .. }
        | Effect::FindNeighbours => {}
    }
    Ok(())
}

/// A human answered here what another session had proposed. Tells that session, so that it does not close the gate
/// again from memory.
fn tell_owner(checkout: &mut SessionCheckout<'_>, event: &Event, owner: &SessionId, opening: &Opening) {
    let known = SessionFiles::of(checkout.place, owner).peek();
    let Some(known) = known.filter(|state| state.gate.is_some()) else { return };
    let kind = EventKind::GateOpened(opening.clone());
    checkout.follow_ups.push(Event::plain(owner.clone(), known.host, event.cwd.clone(), event.at, kind));
}
