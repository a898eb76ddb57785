//! The channels by which a human approves a plan; no other way counts.
//!
//! The whole message `approve plan <hash8>`, typed in the main thread of an attended session; Steadfast's own question
//! in the host's dialog; plan mode, left in the host's dialog. An approval in a terminal arrives as
//! [`EventKind::GateOpened`].
//!
//! [`EventKind::GateOpened`]: steadfast_model::EventKind::GateOpened

use steadfast_model::{
    Action, BindingChange, Change, Channel, DialogAnswer, DraftLine, Effect, Host, Opening, Outcome, Profile, ToolCall,
    ToolResult, Trigger, Verdict,
};

use super::super::Judgement;
use super::nearly::{Nearly, nearly};
use super::{Closed, text};

/// The human's wish after the approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Wait,
    /// This session works on the plan.
    Start,
}

impl Closed<'_> {
    /// Judges a prompt of the human.
    pub(super) fn on_prompt(&self, said: &str) -> Judgement {
        let (wanted, rejects) = match (answer(said, "approve plan "), answer(said, "reject plan ")) {
            (Some(wanted), _) => (wanted, false),
            (None, Some(wanted)) => (wanted, true),
            (None, None) => return self.on_near_approval(said),
        };
        let what = if rejects { "rejected" } else { "approved" };
        let refused = |why: &str| Judgement::of(Verdict::Note(format!("Nothing is {what}: {why}")));
        let Some(draft) = &self.gate.draft else { return refused("no plan is drafted.") };
        if wanted != draft.short() {
            let then = match rejects {
                false => self.what_approves(draft),
                true => format!("To reject it, type: reject plan {}", draft.short()),
            };
            return refused(&format!("the draft is {}, not {wanted}. {then}", draft.short()));
        }
        if !self.is_attended() {
            return refused(match rejects {
                false => {
                    "Steadfast does not know whether a human is at this session. `steadfast plan approve` in a \
                     terminal approves it."
                }
                true => {
                    "Steadfast does not know whether a human is at this session. `steadfast plan reject` in a terminal \
                     rejects it."
                }
            });
        }
        if self.state.rules.approval.profile == Profile::Hardened {
            return refused(match rejects {
                false => "in the hardened profile only `steadfast plan approve` in a terminal approves it.",
                true => "in the hardened profile only `steadfast plan reject` in a terminal rejects it.",
            });
        }
        if rejects {
            let told = Verdict::Context(text::REJECTED.to_owned());
            return Judgement { note: Some(text::REJECTED.to_owned()), ..self.open(Opening::Rejected, told) };
        }
        self.approve(draft, Channel::Prompt, Then::Wait)
    }

    /// Judges a prompt that approves nothing but may have been meant to.
    fn on_near_approval(&self, said: &str) -> Judgement {
        let mut judgement = self.on_other_prompt();
        let meant = self.gate.draft.as_ref().and_then(|draft| Some((draft, nearly(said, draft)?)));
        if let Some((draft, how)) = meant {
            let why = match how {
                Nearly::OtherHash(other) => format!("the draft is {}, not {other}.", draft.short()),
                Nearly::NotAlone => "the message contains more than the approval.".to_owned(),
                Nearly::NoHash => "the message does not say which plan.".to_owned(),
            };
            self.explain_near_approval(&mut judgement, draft, &why);
        }
        judgement
    }

    /// Judges an answer to another question that sounds like an approval of the draft.
    fn on_near_approving_answer(&self, result: &ToolResult) -> Option<Judgement> {
        let draft = self.gate.draft.as_ref()?;
        let sounds = |answer: &DialogAnswer| answer.label.split(", ").any(|label| nearly(label, draft).is_some());
        result.answers.iter().any(sounds).then(|| {
            let mut judgement = Judgement::default();
            self.explain_near_approval(
                &mut judgement,
                draft,
                "the agent asked its own question; only Steadfast's question about this draft counts.",
            );
            judgement
        })
    }

    /// Tells the human what would approve the draft, and the agent that it is not approved.
    fn explain_near_approval(&self, judgement: &mut Judgement, draft: &DraftLine, why: &str) {
        let told = format!("Nothing is approved: {why} {}", self.what_approves(draft));
        match &mut judgement.verdict {
            present @ Verdict::Pass => *present = Verdict::Note(told),
            _ => judgement.note = Some(told),
        }
        judgement.aside = Some(text::NOT_YET.to_owned());
    }

    fn what_approves(&self, draft: &DraftLine) -> String {
        if self.is_attended() && self.state.rules.approval.profile == Profile::Default {
            format!("To approve \"{}\", type this and nothing else: approve plan {}", draft.title, draft.short())
        } else {
            "`steadfast plan approve` in a terminal approves it.".to_owned()
        }
    }

    /// Judges a prompt that approves nothing. If the human left plan mode by hand without a draft, the gate that plan
    /// mode closed opens.
    fn on_other_prompt(&self) -> Judgement {
        let left_by_hand = self.gate.trigger == Trigger::PlanMode
            && self.known.is_some()
            && self.gate.draft.is_none()
            && !self.event.planning;
        if left_by_hand {
            let line = Some(text::OPEN_LINE.to_owned());
            return Judgement { line, ..self.open(Opening::Unlocked, Verdict::Pass) };
        }
        self.between_calls()
    }

    /// Asks Steadfast's own question in place of the agent's: only a yes to that question counts.
    pub(super) fn ask_own_question(&self, call: &ToolCall) -> Option<Judgement> {
        let draft = self.gate.draft.as_ref()?;
        let possible = self.event.agent.is_none()
            && self.event.host == Host::Claude
            && self.is_attended()
            && self.state.rules.approval.profile == Profile::Default
            && call.words.iter().any(|question| is_about_plan(question, draft));
        let id = call.id.clone().filter(|_| possible)?;
        Some(Judgement {
            verdict: Verdict::AskInstead(text::question(draft)),
            changes: vec![Change::Asked { call: id, hash: draft.hash.clone() }],
            ..Judgement::default()
        })
    }

    /// Judges the answer to our question, if the result is one.
    pub(super) fn on_answer(&self, result: &ToolResult) -> Option<Judgement> {
        self.on_own_answer(result).or_else(|| self.on_near_approving_answer(result))
    }

    fn on_own_answer(&self, result: &ToolResult) -> Option<Judgement> {
        let draft = self.gate.draft.as_ref()?;
        let (asked, hash) = self.known?.asked.as_ref()?;
        let ours = self.event.agent.is_none()
            && result.outcome == Outcome::Ok
            && result.call.id.as_ref() == Some(asked)
            && *hash == draft.hash;
        let question = text::question(draft);
        let answer = result.answers.iter().find(|answer| ours && answer.question == question.text)?;
        Some(if answer.label == text::START_LABEL && draft.tasks > 0 {
            self.approve(draft, Channel::Question, Then::Start)
        } else if answer.label == text::approve_label(draft) {
            self.approve(draft, Channel::Question, Then::Wait)
        } else if answer.label == text::REJECT_LABEL {
            let line = Some(text::REJECTED_LINE.to_owned());
            Judgement { line, ..self.open(Opening::Rejected, Verdict::Context(text::REJECTED.to_owned())) }
        } else {
            Judgement::of(Verdict::Context(text::NOT_YET.to_owned()))
        })
    }

    /// Takes the plan with which the agent leaves plan mode as the draft.
    pub(super) fn on_leaving_plan_mode(&self, call: &ToolCall) -> Judgement {
        let (Some(id), Some(plan), None) = (&call.id, call.words.first(), &self.event.agent) else {
            return Judgement::default();
        };
        // Without the host's dialog no human saw the plan: it is a draft of this session only.
        let is_shown = !self.event.unasked && self.is_attended();
        let keep = Effect::KeepDraft {
            scope: self.gate.scope.clone(),
            call: id.clone(),
            text: plan.to_owned(),
            waiting: is_shown.then(|| self.state.rules.approval.waiting(self.event.at)),
        };
        Judgement { effects: vec![keep], ..Judgement::default() }
    }

    /// Judges that plan mode was left. It counts only if the host showed its dialog to a human.
    pub(super) fn on_left_plan_mode(&self, result: &ToolResult) -> Option<Judgement> {
        let asked = self.known.is_some_and(|known| known.leaving)
            && result.outcome == Outcome::Ok
            && self.event.agent.is_none()
            && !self.event.unasked
            && self.is_attended();
        if !asked {
            return None;
        }
        let Some(draft) = self.gate.draft.as_ref() else {
            // The host showed a plan that Steadfast did not see: the gate that plan mode closed opens, and nothing is
            // approved.
            let opens = self.gate.trigger == Trigger::PlanMode;
            let line = Some(text::OPEN_LINE.to_owned());
            return opens.then(|| Judgement { line, ..self.open(Opening::Unlocked, Verdict::Pass) });
        };
        if draft.call.is_none() || draft.call != result.call.id {
            return None;
        }
        if self.state.rules.approval.profile == Profile::Hardened {
            return Some(Judgement::of(Verdict::Context(text::NOT_YET.to_owned())));
        }
        Some(self.approve(draft, Channel::PlanMode, Then::Wait))
    }

    /// Approves the draft. The effect also loads it, and reports the result in the answer.
    fn approve(&self, draft: &DraftLine, channel: Channel, then: Then) -> Judgement {
        let (hash, start) = (draft.hash.clone(), then == Then::Start);
        let mut changes = vec![Change::GateOpened(Opening::Approved { hash: hash.clone(), channel })];
        if start && !self.state.binding.ordered {
            // If the plan cannot be loaded now, the session is bound when it is.
            changes.push(Change::Binding(BindingChange::Ordered));
        }
        Judgement {
            verdict: Verdict::Context(text::approved(draft, start)),
            changes,
            effects: vec![Effect::Approve { scope: self.gate.scope.clone(), hash, channel, start }],
            line: Some(text::approved_line(draft)),
            ..Judgement::default()
        }
    }

    fn open(&self, opening: Opening, verdict: Verdict) -> Judgement {
        Judgement {
            verdict,
            changes: vec![Change::GateOpened(opening)],
            effects: vec![Effect::OpenGate { scope: self.gate.scope.clone() }],
            ..Judgement::default()
        }
    }

    fn is_attended(&self) -> bool {
        self.event.attended.unwrap_or(self.state.attended)
    }
}

/// Returns the hash in a message that is exactly such an answer.
fn answer<'a>(said: &'a str, words: &str) -> Option<&'a str> {
    let wanted = said.trim().strip_prefix(words)?;
    let is_short = wanted.len() == DraftLine::SHORT && wanted.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_short.then_some(wanted)
}

/// Returns true if the agent's question is the one that Steadfast would ask.
fn is_about_plan(question: &str, draft: &DraftLine) -> bool {
    let question = question.to_lowercase();
    question.contains("approv") || question.contains(draft.short())
}

/// Returns true for calls that leave plan mode or ask the human.
pub(super) fn is_channel(action: &Action) -> bool {
    matches!(action, Action::Ask | Action::LeavePlan)
}
