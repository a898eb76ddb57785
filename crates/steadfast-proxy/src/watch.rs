//! An answer on its way to the client: forwarded as it arrives, read beside that, with calls held until they are judged.

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep, timeout};

use crate::hold::{CallHold, HoldStep};
use crate::judge::{CallJudge, CallRuling, ModelExchange};
use crate::memory::RefusalMemory;
use crate::record::Copying;
use crate::wire::{CallKey, ModelAnswer, Refusal, RefusedCall, WireCall, answer_of_body, refuse_in_body};

/// A ruling takes a millisecond. A hook has about the same limit.
pub(crate) const JUDGE_LIMIT: Duration = Duration::from_secs(2);

/// While a long input is held, the client hears this often that the answer goes on.
const KEEPALIVE: Duration = Duration::from_secs(10);

/// Everything that looks at one exchange.
#[derive(Clone, Debug)]
pub(crate) struct AnswerWatch {
    pub(crate) exchange: Arc<ModelExchange>,
    pub(crate) judge: Arc<dyn CallJudge>,
    pub(crate) memory: Arc<RefusalMemory>,
    /// The headers about rate limits.
    pub(crate) limits: Vec<(String, String)>,
}

impl AnswerWatch {
    /// Gets a ruling on a call, on a thread that may wait for files.
    async fn rule(self, call: WireCall) -> CallRuling {
        let (judge, exchange, judged) = (Arc::clone(&self.judge), Arc::clone(&self.exchange), call.clone());
        let ruling = tokio::task::spawn_blocking(move || judge.judge(&exchange, &judged));
        match timeout(JUDGE_LIMIT, ruling).await {
            Ok(Ok(ruling)) => ruling,
            Ok(Err(_)) | Err(_) => self.judge.without_judgement(&self.exchange, &call),
        }
    }

    fn holds(&self, tool: &str) -> bool {
        self.judge.holds(&self.exchange, tool)
    }

    fn remember(&self, call: &WireCall, refused: Option<&RefusedCall>) {
        match refused {
            Some(RefusedCall { id, refusal, .. }) => self.memory.add(self.session(), id, refusal.clone()),
            None => self.memory.forget(self.session(), &call.id),
        }
    }

    pub(crate) fn session(&self) -> &str {
        self.exchange.session.as_deref().unwrap_or_default()
    }

    fn end(&self, mut answer: ModelAnswer) {
        answer.limits.clone_from(&self.limits);
        self.judge.saw_answer(&self.exchange, &answer);
    }

    /// Reads an answer that is not streamed, and returns it with the refused calls replaced.
    pub(crate) async fn whole(self, body: Bytes) -> Bytes {
        let (answer, calls) = answer_of_body(self.exchange.format, &body);
        let refuses = self.judge.refuses(&self.exchange);
        let mut refused: Vec<RefusedCall> = Vec::new();
        let thinking = answer.last_thinking();
        for (key, call) in calls {
            let call = WireCall { thinking: thinking.clone(), ..call };
            let is_held = refuses && CallHold::is_held(&call.tool, |tool| self.holds(tool));
            if !is_held || !call.can_be_refused() {
                self.judge.saw_call(&self.exchange, &call);
                continue;
            }
            let ruling = self.clone().rule(call.clone()).await;
            let refusal = self.refused(key, &call, ruling);
            self.remember(&call, refusal.as_ref());
            refused.extend(refusal);
        }
        let body = if refused.is_empty() { body } else { refuse_in_body(self.exchange.format, &body, &refused) };
        self.end(answer);
        body
    }

    fn refused(&self, key: CallKey, call: &WireCall, ruling: CallRuling) -> Option<RefusedCall> {
        match ruling {
            CallRuling::Refuse { why } => {
                Some(RefusedCall { key, id: call.id.clone(), refusal: Refusal::of(call, why) })
            }
            CallRuling::Allow => None,
        }
    }
}

type PendingRuling = Pin<Box<dyn Future<Output = CallRuling> + Send>>;

/// A streamed answer.
pub(crate) struct WatchedStream {
    upstream: Incoming,
    hold: CallHold,
    watch: AnswerWatch,
    judging: Option<(WireCall, PendingRuling)>,
    /// When the client has to hear something. Only while a call is held.
    silence: Option<Pin<Box<Sleep>>>,
    end: Option<Result<(), hyper::Error>>,
    is_reported: bool,
    copying: Option<Copying>,
}

impl WatchedStream {
    pub(crate) fn new(upstream: Incoming, watch: AnswerWatch, copying: Option<Copying>) -> Self {
        let hold = CallHold::new(watch.exchange.format, watch.judge.refuses(&watch.exchange));
        Self { upstream, hold, watch, judging: None, silence: None, end: None, is_reported: false, copying }
    }

    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        loop {
            if let Some((call, ruling)) = &mut self.judging {
                let Poll::Ready(ruling) = ruling.as_mut().poll(cx) else { return self.poll_silence(cx) };
                let refused = self.hold.rule(ruling);
                self.watch.remember(call, refused.as_ref());
                self.judging = None;
            }
            match self.hold.next_step(|tool| self.watch.holds(tool)) {
                Some(HoldStep::Forward(bytes)) => {
                    self.silence = None;
                    // The client may send its next request as soon as it has the end of this answer.
                    if self.hold.answer().is_counted() {
                        self.report();
                    }
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                Some(HoldStep::Seen(call)) => self.watch.judge.saw_call(&self.watch.exchange, &call),
                Some(HoldStep::Judge(call)) => {
                    let ruling: PendingRuling = Box::pin(self.watch.clone().rule(call.clone()));
                    self.judging = Some((call, ruling));
                }
                None => match self.end.take() {
                    Some(end) => {
                        self.report();
                        self.end = Some(Ok(()));
                        return Poll::Ready(end.err().map(Err));
                    }
                    None => match Pin::new(&mut self.upstream).poll_frame(cx) {
                        Poll::Pending => return self.poll_silence(cx),
                        Poll::Ready(Some(Ok(frame))) => {
                            if let Ok(data) = frame.into_data() {
                                if let Some(copying) = &mut self.copying {
                                    copying.chunk(&data);
                                }
                                self.hold.push(data);
                            }
                        }
                        Poll::Ready(Some(Err(error))) => {
                            self.hold.break_off();
                            self.end = Some(Err(error));
                        }
                        Poll::Ready(None) => {
                            if let Some(copying) = &mut self.copying {
                                copying.ended();
                            }
                            self.hold.finish(|tool| self.watch.holds(tool));
                            self.end = Some(Ok(()));
                        }
                    },
                },
            }
        }
    }

    /// Sends a sign of life if a call has been held for long.
    fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        if !self.hold.is_holding() {
            return Poll::Pending;
        }
        let silence = self.silence.get_or_insert_with(|| Box::pin(sleep(KEEPALIVE)));
        ready!(pin!(silence.as_mut()).poll(cx));
        silence.as_mut().reset(Instant::now() + KEEPALIVE);
        // Registers the next wake-up.
        let _ = silence.as_mut().poll(cx).is_ready();
        let sign = Bytes::from_static(self.watch.exchange.format.keepalive());
        Poll::Ready(Some(Ok(Frame::data(sign))))
    }

    fn report(&mut self) {
        if !std::mem::replace(&mut self.is_reported, true) {
            let answer = std::mem::take(self.hold.answer());
            self.watch.end(answer);
        }
    }
}

impl Drop for WatchedStream {
    /// A client that leaves has used tokens, too.
    fn drop(&mut self) {
        self.report();
    }
}

impl fmt::Debug for WatchedStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WatchedStream").field("watch", &self.watch).field("hold", &self.hold).finish()
    }
}
