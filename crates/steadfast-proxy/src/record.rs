//! Copies of exchanges, taken beside them. A copy shares the bytes that pass, so that nothing waits for it.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName};
use http::request::Parts as RequestParts;
use http::response::Parts as ResponseParts;

use crate::encoding::BodyEncoding;
use crate::exchange::BODY_LIMIT;
use crate::judge::ModelExchange;

/// The longest answer that is kept. Requests have a limit anyway.
const ANSWER_LIMIT: usize = 64 << 20;

/// The headers that are copied. Every other one may be a credential.
const KEPT: [&str; 22] = [
    "accept",
    "anthropic-beta",
    "anthropic-version",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "openai-beta",
    "openai-processing-ms",
    "originator",
    "request-id",
    "retry-after",
    "session-id",
    "session_id",
    "thread-id",
    "user-agent",
    "x-app",
    "x-claude-code-agent-id",
    "x-claude-code-session-id",
    "x-request-id",
    "x-should-retry",
    "x-codex-turn-metadata",
];

/// Words in the names of credentials.
const SECRET: [&str; 6] = ["account", "auth", "cookie", "key", "secret", "token"];

/// The shortest part of a credential that is searched for in bodies.
const SECRET_LENGTH: usize = 8;

/// Takes the copies of exchanges.
pub trait ExchangeSink: Send + Sync + fmt::Debug + 'static {
    /// Takes the copy of an exchange at its end. It must be quick.
    fn take(&self, copy: ExchangeCopy);
}

/// An exchange, without its credentials.
#[derive(Clone, Debug)]
pub struct ExchangeCopy {
    pub began: Instant,
    /// From the beginning to the head of the answer.
    pub answered: Option<Duration>,
    pub lasted: Duration,
    pub method: String,
    /// Without the token of the route and without the query.
    pub path: String,
    /// `None`: the path belongs to no format of a model, and no body is copied.
    pub exchange: Option<ModelExchange>,
    pub request_headers: Vec<(String, String)>,
    /// As it went to the service. `None`: it was not read.
    request: Option<(Bytes, BodyEncoding)>,
    /// `None`: the service did not answer.
    pub status: Option<u16>,
    pub answer_headers: Vec<(String, String)>,
    /// As it came from the service. `None`: it was not read.
    pub answer: Option<AnswerCopy>,
    /// Parts of credentials, which must not be stored.
    pub secrets: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct AnswerCopy {
    pub chunks: Vec<Bytes>,
    pub is_stream: bool,
    /// It came to its end, and all of it is here.
    pub is_whole: bool,
    bytes: usize,
}

impl ExchangeCopy {
    /// Returns the request as it went to the service, without compression. `None`: it cannot be read.
    pub fn request(&self) -> Option<Bytes> {
        match self.request.as_ref()? {
            (body, BodyEncoding::Plain) => Some(body.clone()),
            (body, encoding) => encoding.decoded(body, BODY_LIMIT).map(Into::into),
        }
    }

    /// Returns the number of bytes that the copy holds.
    pub fn bytes(&self) -> usize {
        let request = self.request.as_ref().map_or(0, |(body, _)| body.len());
        request + self.answer.as_ref().map_or(0, |answer| answer.bytes.min(ANSWER_LIMIT))
    }
}

/// Copies an exchange while it passes, and passes the copy on when it is dropped.
pub(crate) struct Copying {
    sink: Arc<dyn ExchangeSink>,
    copy: ExchangeCopy,
    /// The length of the answer, if its head has it. A server does not ask for the end of such a body.
    length: Option<usize>,
}

impl fmt::Debug for Copying {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Copying").finish_non_exhaustive()
    }
}

impl Copying {
    /// Begins with the head of a request. `token`: that of its route.
    pub(crate) fn of(
        sink: &Arc<dyn ExchangeSink>,
        token: &str,
        path: &str,
        parts: &RequestParts,
        exchange: Option<&ModelExchange>,
    ) -> Self {
        let copy = ExchangeCopy {
            began: Instant::now(),
            answered: None,
            lasted: Duration::ZERO,
            method: parts.method.to_string(),
            path: path.to_owned(),
            exchange: exchange.cloned(),
            request_headers: kept(&parts.headers),
            request: None,
            status: None,
            answer_headers: Vec::new(),
            answer: None,
            secrets: std::iter::once(token.to_owned()).chain(secrets(&parts.headers)).collect(),
        };
        Self { sink: Arc::clone(sink), copy, length: None }
    }

    pub(crate) fn request(&mut self, body: &Bytes, encoding: BodyEncoding) {
        self.copy.request = Some((body.clone(), encoding));
    }

    pub(crate) fn answered(&mut self, parts: &ResponseParts) {
        self.copy.status = Some(parts.status.as_u16());
        self.copy.answered = Some(self.copy.began.elapsed());
        self.copy.answer_headers = kept(&parts.headers);
        let length = parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        self.length = length.and_then(|length| length.parse().ok());
        self.copy.secrets.extend(secrets(&parts.headers));
    }

    /// Takes a whole body.
    pub(crate) fn whole(&mut self, body: &Bytes) {
        self.copy.answer =
            Some(AnswerCopy { chunks: vec![body.clone()], is_stream: false, is_whole: true, bytes: body.len() });
    }

    /// Takes the next chunk of a stream.
    pub(crate) fn chunk(&mut self, chunk: &Bytes) {
        let answer = self.copy.answer.get_or_insert_with(|| AnswerCopy { is_stream: true, ..AnswerCopy::default() });
        answer.bytes += chunk.len();
        if answer.bytes <= ANSWER_LIMIT {
            answer.chunks.push(chunk.clone());
        }
        if self.length == Some(answer.bytes) {
            self.ended();
        }
    }

    /// Ends a stream that ended as it should.
    pub(crate) fn ended(&mut self) {
        if let Some(answer) = &mut self.copy.answer {
            answer.is_whole = answer.bytes <= ANSWER_LIMIT;
        }
    }
}

impl Drop for Copying {
    fn drop(&mut self) {
        self.copy.lasted = self.copy.began.elapsed();
        self.sink.take(self.copy.clone());
    }
}

fn is_kept(name: &HeaderName) -> bool {
    let name = name.as_str();
    let is_limit = ["anthropic-ratelimit-", "x-ratelimit-"].iter().any(|start| name.starts_with(start));
    is_limit || KEPT.contains(&name)
}

fn kept(headers: &HeaderMap) -> Vec<(String, String)> {
    let found = headers.iter().filter(|(name, _)| is_kept(name));
    found.filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))).collect()
}

fn secrets(headers: &HeaderMap) -> Vec<String> {
    // `anthropic-ratelimit-tokens-limit` is none.
    let is_secret = |name: &HeaderName| !is_kept(name) && SECRET.iter().any(|part| name.as_str().contains(part));
    let found = headers.iter().filter(|(name, _)| is_secret(name));
    let parts = found.filter_map(|(_, value)| value.to_str().ok()).flat_map(|value| value.split([' ', ';', ',', '=']));
    parts.filter(|part| part.len() >= SECRET_LENGTH).map(str::to_owned).collect()
}
