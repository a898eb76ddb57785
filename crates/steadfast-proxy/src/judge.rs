//! The door between the proxy and the rules.

use std::fmt;

use crate::wire::{ModelAnswer, WireCall, WireFormat, WirePrompt, WireResult};

/// One request to a model, and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelExchange {
    pub format: WireFormat,
    /// The session, if the host names it.
    pub session: Option<String>,
    /// The subagent, if the host names it.
    pub agent: Option<String>,
    /// Codex's own description of the turn: session, thread, sandbox and workspace, as JSON.
    pub turn: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallRuling {
    Allow,
    /// The model reads the reason as the result of its call.
    Refuse {
        why: String,
    },
}

/// Judges the calls of a model, and sees its answers.
pub trait CallJudge: Send + Sync + fmt::Debug + 'static {
    /// Returns why no further request may go to the model: the agent's human reads it. It must be quick.
    fn is_spent(&self, _: &ModelExchange) -> Option<String> {
        None
    }

    /// Returns whether any call can be refused. If not, answers are forwarded as they arrive.
    fn refuses(&self, exchange: &ModelExchange) -> bool;

    /// Returns whether a call of this tool has to wait for a ruling. It is asked for each call and must be quick.
    fn holds(&self, exchange: &ModelExchange, tool: &str) -> bool;

    /// Judges a held call. It runs on a thread of its own and may read files.
    fn judge(&self, exchange: &ModelExchange, call: &WireCall) -> CallRuling;

    /// The ruling if [`Self::judge`] panics or takes too long.
    fn without_judgement(&self, exchange: &ModelExchange, call: &WireCall) -> CallRuling;

    /// Sees a call that is not held. It must be quick.
    fn saw_call(&self, exchange: &ModelExchange, call: &WireCall);

    /// Returns whether the judge reads the prompts of this session. It must be quick.
    fn reads_prompts(&self, _: &ModelExchange) -> bool {
        false
    }

    /// Sees the end of a request for an answer, before the answer. It runs on a thread of its own and may read and write
    /// files.
    fn saw_prompt(&self, _: &ModelExchange, _: &WirePrompt) {}

    /// Returns whether a request of this session may have results that the judge waits for, or has corrected. It must be
    /// quick.
    fn awaits_results(&self, _: &ModelExchange) -> bool {
        false
    }

    /// Returns whether the judge waits for the results of this call, or has corrected one of them. It must be quick.
    fn awaits_result(&self, _: &ModelExchange, _: &str) -> bool {
        false
    }

    /// Returns whether results may get a correction. If not, the request goes on while the judge looks at them.
    fn corrects(&self, _: &ModelExchange) -> bool {
        false
    }

    /// Judges the results in a request that are new. It gets the awaited results of the whole conversation, the oldest
    /// first. It runs on a thread of its own and may read and write files.
    fn judge_results(&self, _: &ModelExchange, _: &[WireResult]) {}

    /// Returns the correction of each of these results, if it has one: the same in each request. It must be quick. A result
    /// that has none now never gets one, since the model has then seen it without.
    fn corrections(&self, _: &ModelExchange, results: &[WireResult]) -> Vec<Option<String>> {
        vec![None; results.len()]
    }

    /// Hears of a request in a format that the proxy does not read, by its path. It runs on a thread of its own.
    fn passed_unseen(&self, _: &str) {}

    /// Sees an answer at its end. It must be quick.
    fn saw_answer(&self, exchange: &ModelExchange, answer: &ModelAnswer);
}
