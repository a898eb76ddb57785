//! Judges the calls of an agent whose hooks are not there, with the pipeline that hooks use.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use steadfast_hook::{HookEnvironment, ProxiedSession};
use steadfast_hosts::{ProxiedCall, WireContext};
use steadfast_model::{Event, EventKind, Host, Millis, Mode, Ruling, SessionId, StartSource, Via};
use steadfast_proxy::wire::{ModelAnswer, WireCall, WireFormat, WireResult};
use steadfast_proxy::{CallJudge, CallRuling, ModelExchange};

use crate::meter::Meter;

/// The most sessions and waiting calls that are remembered. Their names come from the agent.
const SESSIONS: usize = 256;
const WAITING: usize = 1024;

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
    /// Calls without a result so far.
    waiting: Mutex<BTreeMap<String, ProxiedCall>>,
}

#[derive(Debug)]
enum Seen {
    Call(ModelExchange, WireCall),
    Results(ModelExchange, Vec<WireResult>),
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
                    Seen::Results(exchange, results) => pipeline.after(&exchange, results),
                }
            }
        });
        pipeline
    }

    fn later(&self, seen: Seen) {
        drop(lock(&self.later).send(seen));
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
        let session = Arc::new(Session { proxied, start: Mutex::default(), waiting: Mutex::default() });
        sessions.insert(id.clone(), Arc::clone(&session));
        Some(session)
    }

    /// Handles a call before it runs. The error is the reason why it could not be judged.
    fn before(&self, exchange: &ModelExchange, call: &WireCall) -> Result<CallRuling, String> {
        let Some(session) = self.session(exchange) else { return Ok(CallRuling::Allow) };
        let Session { proxied: Some(proxied), start, waiting } = &*session else { return Ok(CallRuling::Allow) };
        if proxied.is_hooked() {
            return Ok(CallRuling::Allow);
        }
        let around = (self.around)();
        let wire = context(&around);
        let starting = lock(start);
        if !proxied.is_known() {
            let kind = EventKind::SessionStart { source: StartSource::Startup };
            let id = SessionId::new(exchange.session.as_deref().unwrap_or_default());
            let start = Event { via: Via::Proxy, ..Event::plain(id, self.host, wire.cwd.clone(), wire.at, kind) };
            proxied.handle(&around, start, self.mode).map_err(|error| error.to_string())?;
        }
        drop(starting);
        let call = self.as_hooked(exchange, call);
        let event = call.before(&wire).map_err(|error| error.to_string())?;
        let answer = proxied.handle(&around, event, self.mode).map_err(|error| error.to_string())?;
        match answer.ruling {
            // Nobody can be asked here.
            Ruling::Deny { reason } | Ruling::Ask { reason, .. } => Ok(CallRuling::Refuse { why: reason }),
            Ruling::Pass | Ruling::AskInstead(_) | Ruling::Continue { .. } => {
                let mut waiting = lock(waiting);
                if waiting.len() < WAITING {
                    waiting.insert(call.id.clone(), call);
                }
                Ok(CallRuling::Allow)
            }
        }
    }

    fn after(&self, exchange: &ModelExchange, results: Vec<WireResult>) {
        let Some(session) = self.session(exchange) else { return };
        let Session { proxied: Some(proxied), waiting, .. } = &*session else { return };
        for WireResult { id, is_error, output } in results.into_iter().rev() {
            let Some(call) = lock(waiting).remove(&id) else { continue };
            if proxied.is_hooked() {
                continue;
            }
            let around = (self.around)();
            // Without a record of its end, a call only looks as if it still ran.
            if let Ok(event) = call.after(&output, is_error, &context(&around)) {
                drop(proxied.handle(&around, event, self.mode));
            }
        }
    }

    fn as_hooked(&self, exchange: &ModelExchange, call: &WireCall) -> ProxiedCall {
        let WireCall { id, tool, namespace, input, .. } = call.clone();
        let session = exchange.session.clone().unwrap_or_default();
        // Codex names the main thread, too.
        let agent = exchange.agent.clone().filter(|agent| *agent != session);
        ProxiedCall { host: self.host, session, agent, id, tool, namespace, input }
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

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
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
        self.later(Seen::Call(exchange.clone(), call.clone()));
    }

    fn awaits_results(&self, exchange: &ModelExchange) -> bool {
        self.session(exchange).is_some_and(|session| !lock(&session.waiting).is_empty())
    }

    fn saw_results(&self, exchange: &ModelExchange, results: Vec<WireResult>) {
        self.later(Seen::Results(exchange.clone(), results));
    }

    fn saw_answer(&self, exchange: &ModelExchange, answer: &ModelAnswer) {
        self.meter.saw_answer(exchange, answer);
    }
}
