use steadfast_model::{Answer, Direction, Question, Ruling};

/// What a host understands in the answer to one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pub(crate) deny: bool,
    pub(crate) ask: bool,
    /// A question may be exchanged for another.
    pub(crate) exchange: bool,
    pub(crate) go_on: bool,
    pub(crate) context: bool,
    pub(crate) note: bool,
}

impl Capabilities {
    pub(crate) const NOTHING: Self =
        Self { deny: false, ask: false, exchange: false, go_on: false, context: false, note: false };
    pub(crate) const NOTE: Self = Self { note: true, ..Self::NOTHING };
    pub(crate) const CONTEXT: Self = Self { context: true, ..Self::NOTE };
    pub(crate) const DENY: Self = Self { deny: true, ..Self::NOTE };
    /// The end of a turn: a context would keep the agent going on one host and spoil the answer on the other.
    pub(crate) const GO_ON: Self = Self { go_on: true, ..Self::NOTE };

    pub(crate) const fn and_deny(self) -> Self {
        Self { deny: true, ..self }
    }

    pub(crate) const fn and_ask(self) -> Self {
        Self { ask: true, ..self }
    }

    pub(crate) const fn and_exchange(self) -> Self {
        Self { exchange: true, ..self }
    }

    /// The answer with what cannot be expressed fallen to what can.
    pub(crate) fn degrade(self, answer: &Answer) -> Answer {
        let mut fallen = Answer { context: answer.context.clone(), note: answer.note.clone(), ..Answer::default() };
        match &answer.ruling {
            Ruling::Pass => {}
            Ruling::Deny { .. } if self.deny => fallen.ruling = answer.ruling.clone(),
            Ruling::Ask { .. } if self.ask => fallen.ruling = answer.ruling.clone(),
            Ruling::Continue { .. } if self.go_on => fallen.ruling = answer.ruling.clone(),
            Ruling::AskInstead(_) if self.exchange => fallen.ruling = answer.ruling.clone(),
            Ruling::AskInstead(question) if self.deny => {
                fallen.ruling = Ruling::Deny { reason: question.text.clone() };
            }
            Ruling::AskInstead(Question { text, .. }) => {
                fallen.context = Some(joined(fallen.context.take(), text));
            }
            Ruling::Ask { reason, falls: Direction::Gate } if self.deny => {
                fallen.ruling = Ruling::Deny { reason: reason.clone() };
            }
            Ruling::Deny { reason } | Ruling::Ask { reason, .. } | Ruling::Continue { reason } => {
                fallen.context = Some(joined(fallen.context.take(), reason));
            }
        }
        if !self.context
            && let Some(context) = fallen.context.take()
        {
            fallen.note = Some(joined(fallen.note.take(), &context));
        }
        if !self.note {
            fallen.note = None;
        }
        fallen
    }
}

fn joined(present: Option<String>, text: &str) -> String {
    match present {
        Some(present) => format!("{present}\n{text}"),
        None => text.to_owned(),
    }
}
