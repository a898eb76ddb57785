use steadfast_model::{Answer, Direction, Question, Ruling};

/// The parts of an answer that a host understands at one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pub(crate) deny: bool,
    pub(crate) ask: bool,
    /// The hook may replace the agent's question with its own.
    pub(crate) exchange: bool,
    pub(crate) go_on: bool,
    /// A refusal to stop can be feedback, which the host does not show as an error of a hook.
    pub(crate) feedback: bool,
    /// An option of a question can have a text that is shown beside it.
    pub(crate) preview: bool,
    pub(crate) context: bool,
    pub(crate) note: bool,
}

impl Capabilities {
    pub(crate) const NOTHING: Self = Self {
        deny: false,
        ask: false,
        exchange: false,
        go_on: false,
        feedback: false,
        preview: false,
        context: false,
        note: false,
    };
    pub(crate) const NOTE: Self = Self { note: true, ..Self::NOTHING };
    pub(crate) const CONTEXT: Self = Self { context: true, ..Self::NOTE };
    pub(crate) const DENY: Self = Self { deny: true, ..Self::NOTE };
    /// At the end of a turn, context would keep the agent working on one host and invalidate the answer on the other.
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

    pub(crate) const fn with_feedback(self, feedback: bool) -> Self {
        Self { feedback, ..self }
    }

    pub(crate) const fn with_preview(self, preview: bool) -> Self {
        Self { preview, ..self }
    }

    /// Replaces the parts that the host does not understand by the nearest ones that it does.
    pub(crate) fn degrade(self, answer: &Answer) -> Answer {
        let mut degraded = Answer { context: answer.context.clone(), note: answer.note.clone(), ..Answer::default() };
        match &answer.ruling {
            Ruling::Pass => {}
            Ruling::Deny { .. } if self.deny => degraded.ruling = answer.ruling.clone(),
            Ruling::Ask { .. } if self.ask => degraded.ruling = answer.ruling.clone(),
            Ruling::Continue { .. } if self.go_on => degraded.ruling = answer.ruling.clone(),
            Ruling::AskInstead(_) if self.exchange => degraded.ruling = answer.ruling.clone(),
            Ruling::AskInstead(question) if self.deny => {
                degraded.ruling = Ruling::Deny { reason: question.text.clone() };
            }
            Ruling::AskInstead(Question { text, .. }) => {
                degraded.context = Some(joined(degraded.context.take(), text));
            }
            Ruling::Ask { reason, falls: Direction::Gate } if self.deny => {
                degraded.ruling = Ruling::Deny { reason: reason.clone() };
            }
            Ruling::Deny { reason } | Ruling::Ask { reason, .. } | Ruling::Continue { reason } => {
                degraded.context = Some(joined(degraded.context.take(), reason));
            }
        }
        if !self.context
            && let Some(context) = degraded.context.take()
        {
            degraded.note = Some(joined(degraded.note.take(), &context));
        }
        if !self.note {
            degraded.note = None;
        }
        degraded
    }
}

fn joined(present: Option<String>, text: &str) -> String {
    match present {
        Some(present) => format!("{present}\n{text}"),
        None => text.to_owned(),
    }
}
