//! Judges the calls of an agent whose hooks are not there, with the pipeline that hooks use.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use steadfast_hook::{HookEnvironment, ProxiedSession};
use steadfast_hosts::{ProxiedCall, ProxiedPrompt, WireContext};
use steadfast_model::{
    Answer, Event, EventKind, Host, Millis, Mode, PromptOrigin, Ruling, SessionId, StartSource, Via, fnv,
};
use steadfast_proxy::wire::{ModelAnswer, WireCall, WireFormat, WirePrompt, WireResult};
use steadfast_proxy::{CallJudge, CallRuling, ModelExchange};
use steadfast_store::KeptCorrection;

use crate::corrections::{NewResult, ResultCorrections, WaitingCall};
use crate::meter::Meter;

/// The most sessions that are remembered. Their names come from the agent.
const SESSIONS: usize = 256;

/// The first words of a correction in a result, so that nobody takes it for the tool's.
const VOICE: &str = "[Steadfast, set up by the user]";

/// Before what a rule said about a call that it did not refuse. Its words speak of a call that is not run.
const ADVICE: &str = "A rule that only advises said before this call:";

/// Returns what a hook would find around it.
type Around = Box<dyn Fn() -> HookEnvironment + Send + Sync>;

/// The sessions of an agent.
pub struct ProxyPipeline {
    meter: Arc<Meter>,
    around: Around,
    host: Host,
    mode: Mode,
    since: Millis,
    sessions: Mutex<BTreeMap<String, Arc<Session>>>,
    /// Work for the thread that records what needs no ruling.
    later: Mutex<Sender<Seen>>,
}

#[derive(Debug)]
struct Session {
    /// `None`: Steadfast was never set up there.
    proxied: Option<ProxiedSession>,
    /// Held while the session is started.
    start: Mutex<()>,
    corrections: ResultCorrections,
    prompts: Mutex<PromptWatch>,
}

#[derive(Debug, Default)]
struct PromptWatch {
    /// The last request for the agent's work.
    last: Option<Millis>,
    /// The hash of the last prompt, or of its turn. A request that failed comes again, and so does the prompt after a
    /// compaction.
    prompt: Option<u64>,
}

#[derive(Debug)]
enum Seen {
    Call(ModelExchange, WireCall),
    Prompt(ModelExchange, WirePrompt, SyncSender<()>),
    Results(ModelExchange, Vec<WireResult>, SyncSender<()>),
}

impl fmt::Debug for ProxyPipeline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ProxyPipeline")
            .field("host", &self.host)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

impl ProxyPipeline {
    pub(crate) fn start(meter: Arc<Meter>, host: Host, mode: Mode, around: Around) -> Arc<Self> {
        let (later, seen) = channel();
        let (sessions, later) = (Mutex::default(), Mutex::new(later));
        let pipeline = Arc::new(Self { meter, host, mode, since: around().now, around, sessions, later });
        let records = Arc::downgrade(&pipeline);
        // It ends with the pipeline.
        thread::spawn(move || {
            for seen in seen {
                let Some(pipeline) = records.upgrade() else { return };
                match seen {
                    Seen::Call(exchange, call) => drop(pipeline.before(&exchange, &call)),
                    Seen::Prompt(exchange, prompt, done) => {
                        pipeline.prompted(&exchange, &prompt);
                        done.send(()).ok();
                    }
                    Seen::Results(exchange, results, done) => {
                        pipeline.after(&exchange, &results);
                        done.send(()).ok();
                    }
                }
            }
        });
        pipeline
    }

    fn later(&self, seen: Seen) {
        drop(lock(&self.later).send(seen));
    }

    /// Waits until all that was seen so far is handled, and this.
    fn in_turn(&self, seen: impl FnOnce(SyncSender<()>) -> Seen) {
        let (done, end) = sync_channel(1);
        self.later(seen(done));
        end.recv().ok();
    }

    /// Returns the session of an exchange, if its format is the host's.
    fn session(&self, exchange: &ModelExchange) -> Option<Arc<Session>> {
        let is_hosts = match self.host {
            Host::Claude | Host::Sim => exchange.format == WireFormat::Messages,
            Host::Codex => exchange.format == WireFormat::Responses,
        };
        let id = exchange.session.as_ref().filter(|_| is_hosts)?;
        let mut sessions = lock(&self.sessions);
        if let Some(session) = sessions.get(id) {
            return Some(Arc::clone(session));
        }
        if sessions.len() >= SESSIONS {
            return None;
        }
        let around = (self.around)();
        let proxied = ProxiedSession::find(&around, &SessionId::new(id), &around.cwd, self.since);
        let corrections = proxied.as_ref().map(|proxied| ResultCorrections::of(&proxied.files()));
        let corrections = corrections.unwrap_or_default();
        let (start, prompts) = (Mutex::default(), Mutex::default());
        let session = Arc::new(Session { proxied, start, corrections, prompts });
        sessions.insert(id.clone(), Arc::clone(&session));
        Some(session)
    }

    /// Expects the judgement of a call, since its result may come before that. It must be quick.
    fn expect(&self, exchange: &ModelExchange, call: &WireCall) {
        if let Some(session) = self.session(exchange).filter(|session| session.proxied.is_some()) {
            session.corrections.expect(agent(exchange), &call.id);
        }
    }

    /// Handles a call before it runs. The error is the reason why it could not be judged.
    fn before(&self, exchange: &ModelExchange, call: &WireCall) -> Result<CallRuling, String> {
        let Some(session) = self.session(exchange) else { return Ok(CallRuling::Allow) };
        let Session { proxied: Some(proxied), start, corrections, .. } = &*session else {
            return Ok(CallRuling::Allow);
        };
        let answer = self.answer_before(proxied, start, exchange, call);
        let (ruling, allowed) = match answer {
            Ok(Some((call, answer))) => match answer.ruling {
                // Nobody can be asked here.
                Ruling::Deny { reason } | Ruling::Ask { reason, .. } => (Ok(CallRuling::Refuse { why: reason }), None),
                Ruling::Pass | Ruling::AskInstead(_) | Ruling::Continue { .. } => {
                    (Ok(CallRuling::Allow), Some(WaitingCall { call, advice: answer.context }))
                }
            },
            Ok(None) => (Ok(CallRuling::Allow), None),
            Err(why) => (Err(why), None),
        };
        corrections.wait_for(agent(exchange), &call.id, allowed);
        ruling
    }

    /// Returns the answer to a call, as its hook would get it. `None`: the hook itself gets it.
    fn answer_before(
        &self,
        proxied: &ProxiedSession,
        start: &Mutex<()>,
        exchange: &ModelExchange,
        call: &WireCall,
    ) -> Result<Option<(ProxiedCall, Answer)>, String> {
        if proxied.is_hooked() {
            return Ok(None);
        }
        let around = (self.around)();
        let wire = context(&around);
        self.start_session(proxied, start, exchange, &around)?;
        let call = self.as_hooked(exchange, call);
        let event = call.before(&wire).map_err(|error| error.to_string())?;
        let answer = proxied.handle(&around, event, self.mode).map_err(|error| error.to_string())?;
        Ok(Some((call, answer)))
    }

    fn start_session(
        &self,
        proxied: &ProxiedSession,
        start: &Mutex<()>,
        exchange: &ModelExchange,
        around: &HookEnvironment,
    ) -> Result<(), String> {
        let _starting = lock(start);
        if !proxied.is_known() {
            let event = self.event(exchange, around, EventKind::SessionStart { source: StartSource::Startup });
            proxied.handle(around, event, self.mode).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Returns an event of the main thread.
    fn event(&self, exchange: &ModelExchange, around: &HookEnvironment, kind: EventKind) -> Event {
        let id = SessionId::new(exchange.session.as_deref().unwrap_or_default());
        Event { via: Via::Proxy, ..Event::plain(id, self.host, context(around).cwd, around.now, kind) }
    }

    /// Handles a prompt of the human, if a request has a new one and no hook reported it.
    fn prompted(&self, exchange: &ModelExchange, prompt: &WirePrompt) {
        let Some(session) = self.session(exchange) else { return };
        let Session { proxied: Some(proxied), start, prompts, .. } = &*session else { return };
        let around = (self.around)();
        let (before, text) = {
            let mut watch = lock(prompts);
            let before = watch.last.replace(around.now);
            let found = ProxiedPrompt::of(self.host, exchange.turn.as_deref(), &prompt.texts);
            let Some(ProxiedPrompt { text, turn }) = found else { return };
            let hash = match &turn {
                Some(turn) => fnv([turn.as_bytes()]),
                None => fnv([text.as_bytes(), &prompt.length.to_le_bytes()]),
            };
            if watch.prompt.replace(hash) == Some(hash) {
                return;
            }
            (before, text)
        };
        before.into_iter().for_each(|before| proxied.prompted(before));
        if !proxied.is_hooked() && self.start_session(proxied, start, exchange, &around).is_ok() {
            let event = self.event(exchange, &around, EventKind::prompt(text, PromptOrigin::Proxied));
            // Without it, the work is what the session did so far.
            drop(proxied.handle(&around, event, self.mode));
        }
    }

    /// Handles the results that are new, and keeps what the rules say about their calls.
    fn after(&self, exchange: &ModelExchange, results: &[WireResult]) {
        let Some(session) = self.session(exchange) else { return };
        let Session { proxied: Some(proxied), corrections, .. } = &*session else { return };
        let mut new = corrections.take_over(agent(exchange), results);
        for NewResult { waiting: WaitingCall { call, advice }, result, hash } in
            corrections.take_new(agent(exchange), results)
        {
            let advice = advice.map(|advice| format!("{ADVICE} {advice}"));
            let said = [advice, self.context_after(proxied, &call, result)];
            let said: Vec<String> = said.into_iter().flatten().collect();
            if !said.is_empty() {
                new.push(KeptCorrection::new(call.id, hash, &format!("{VOICE} {}", said.join("\n"))));
            }
        }
        // A correction that cannot be kept is not said: another request could not repeat it.
        drop(corrections.keep(&proxied.files(), new));
    }

    /// Handles the event after a call, and returns what the agent is told.
    fn context_after(&self, proxied: &ProxiedSession, call: &ProxiedCall, result: &WireResult) -> Option<String> {
        if proxied.is_hooked() {
            return None;
        }
        let around = (self.around)();
        // Without a record of its end, a call only looks as if it still ran.
        let event = call.after(&result.output, result.is_error, &context(&around)).ok()?;
        proxied.handle(&around, event, self.mode).ok()?.context
    }

    fn as_hooked(&self, exchange: &ModelExchange, call: &WireCall) -> ProxiedCall {
        let WireCall { id, tool, namespace, input, thinking, .. } = call.clone();
        let session = exchange.session.clone().unwrap_or_default();
        ProxiedCall {
            host: self.host,
            session,
            agent: agent(exchange).map(str::to_owned),
            id,
            tool,
            namespace,
            input,
            thinking,
        }
    }

    /// The ruling on a call that could not be judged: a closed gate stays closed.
    fn unjudged(&self, exchange: &ModelExchange, why: &str) -> CallRuling {
        let Some(session) = self.session(exchange) else { return CallRuling::Allow };
        let gate = session.proxied.as_ref().and_then(|proxied| proxied.closed_gate((self.around)().now));
        match gate {
            Some(reason) => {
                CallRuling::Refuse { why: format!("{reason} (steadfast could not look at this call: {why})") }
            }
            None => CallRuling::Allow,
        }
    }
}

/// The subagent of an exchange. Codex names the main thread, too.
fn agent(exchange: &ModelExchange) -> Option<&str> {
    exchange.agent.as_deref().filter(|agent| Some(*agent) != exchange.session.as_deref())
}

pub(crate) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn context(around: &HookEnvironment) -> WireContext {
    let cwd = around.cwd.to_string_lossy().into_owned();
    WireContext { at: around.now, cwd, session: None, attended: None, other_host: None }
}

impl CallJudge for ProxyPipeline {
    fn is_spent(&self, exchange: &ModelExchange) -> Option<String> {
        self.meter.is_spent(exchange)
    }

    fn refuses(&self, exchange: &ModelExchange) -> bool {
        self.mode == Mode::Enforce && self.session(exchange).is_some_and(|session| session.proxied.is_some())
    }

    fn holds(&self, _: &ModelExchange, _: &str) -> bool {
        true
    }

    fn judge(&self, exchange: &ModelExchange, call: &WireCall) -> CallRuling {
        self.meter.saw_call(exchange, call);
        self.expect(exchange, call);
        match self.before(exchange, call) {
            Ok(ruling) => ruling,
            Err(why) => self.unjudged(exchange, &why),
        }
    }

    fn without_judgement(&self, exchange: &ModelExchange, _: &WireCall) -> CallRuling {
        self.unjudged(exchange, "it took too long")
    }

    fn saw_call(&self, exchange: &ModelExchange, call: &WireCall) {
        self.meter.saw_call(exchange, call);
        self.expect(exchange, call);
        self.later(Seen::Call(exchange.clone(), call.clone()));
    }

    fn reads_prompts(&self, exchange: &ModelExchange) -> bool {
        agent(exchange).is_none() && self.session(exchange).is_some_and(|session| session.proxied.is_some())
    }

    fn saw_prompt(&self, exchange: &ModelExchange, prompt: &WirePrompt) {
        self.in_turn(|done| Seen::Prompt(exchange.clone(), prompt.clone(), done));
    }

    fn awaits_results(&self, exchange: &ModelExchange) -> bool {
        self.session(exchange).is_some_and(|session| session.corrections.awaits_any())
    }

    fn awaits_result(&self, exchange: &ModelExchange, call: &str) -> bool {
        self.session(exchange).is_some_and(|session| session.corrections.awaits(agent(exchange), call))
    }

    /// An observing proxy still repeats what an earlier one said.
    fn corrects(&self, exchange: &ModelExchange) -> bool {
        self.mode != Mode::Observe || self.session(exchange).is_some_and(|session| session.corrections.has_any())
    }

    fn judge_results(&self, exchange: &ModelExchange, results: &[WireResult]) {
        self.in_turn(|done| Seen::Results(exchange.clone(), results.to_vec(), done));
    }

    fn corrections(&self, exchange: &ModelExchange, results: &[WireResult]) -> Vec<Option<String>> {
        match self.session(exchange) {
            Some(session) => session.corrections.in_results(agent(exchange), results),
            None => vec![None; results.len()],
        }
    }

    fn passed_unseen(&self, path: &str) {
        self.meter.passed_unseen(path);
    }

    fn saw_answer(&self, exchange: &ModelExchange, answer: &ModelAnswer) {
        self.meter.saw_answer(exchange, answer);
    }
}

#[cfg(test)]
mod tests;
