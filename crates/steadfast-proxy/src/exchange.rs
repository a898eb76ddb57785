//! One request of a client and its answer.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::body::{AnswerBody, ReadBody, RequestBody};
use crate::encoding::BodyEncoding;
use crate::judge::{CallJudge, ModelExchange};
use crate::record::Copying;
use crate::server::{Guest, ProxyRoute, ProxyState};
use crate::upstream::UpstreamError;
use crate::watch::{AnswerWatch, JUDGE_LIMIT, WatchedStream};
use crate::wire::{Endpoint, WireFormat, WirePrompt, WireResult, correct, may_be_restored, restore, results};

/// The longest request and the longest answer that are read. A longer request is refused, as the services do at 32 MB.
pub(crate) const BODY_LIMIT: usize = 64 << 20;

/// Headers that are about one connection only.
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Answers one request. An error ends the connection without an answer, as the upstream did.
pub(crate) async fn exchange(
    state: Arc<ProxyState>,
    guest: Guest,
    request: Request<Incoming>,
) -> Result<Response<AnswerBody>, UpstreamError> {
    let below = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
    let admitted = guest.admits(request.headers()).and_then(|()| state.route(&below).ok_or(RefusedRequest::NoRoute));
    let (route, below) = match admitted {
        Ok(found) => found,
        Err(refused) => return Ok(refused.answer()),
    };
    if request.headers().contains_key(header::UPGRADE) || request.method() == Method::CONNECT {
        // Codex tries a WebSocket first. After this status it takes HTTP at once; after a 404 it tries six more times.
        return Ok(RefusedRequest::Upgrade.answer());
    }
    match forward(&state, route, below, request).await {
        Ok(response) => Ok(response),
        Err(Failure::Refused(refused)) => Ok(refused.answer()),
        Err(Failure::Upstream(error @ UpstreamError::Broken { .. })) => Err(error),
        Err(Failure::Upstream(error)) => Ok(RefusedRequest::Unreachable(error.to_string()).answer()),
    }
}

enum Failure {
    Refused(RefusedRequest),
    Upstream(UpstreamError),
}

impl From<UpstreamError> for Failure {
    fn from(error: UpstreamError) -> Self {
        Self::Upstream(error)
    }
}

async fn forward(
    state: &ProxyState,
    route: &ProxyRoute,
    below: &str,
    request: Request<Incoming>,
) -> Result<Response<AnswerBody>, Failure> {
    let (mut parts, body) = request.into_parts();
    let path = below.split('?').next().unwrap_or_default();
    let endpoint = Endpoint::of(path).filter(|_| parts.method == Method::POST);
    if endpoint.is_none() && parts.method == Method::POST {
        let (judge, path) = (Arc::clone(&state.judge), path.to_owned());
        drop(spawn_blocking(move || judge.passed_unseen(&path)));
    }
    let seen = endpoint.map(|endpoint| (endpoint, seen_exchange(endpoint, &parts.headers)));
    let copying = route.sink.as_ref();
    let mut copying =
        copying.map(|sink| Copying::of(sink, &route.token, path, &parts, seen.as_ref().map(|(_, exchange)| exchange)));
    refuse_if_spent(state, seen.as_ref())?;
    let body = match &seen {
        Some((Endpoint { answers, .. }, exchange)) => {
            let body = whole_request(body).await?;
            let encoding = BodyEncoding::of(&parts.headers);
            let mut body = (body, encoding);
            if let Some(restored) = restored(state, exchange, body.0.clone(), encoding).await {
                body = (restored, BodyEncoding::Plain);
            }
            if let Some(corrected) = corrected(state, exchange, *answers, body.clone()).await {
                body = (corrected, BodyEncoding::Plain);
            }
            let (body, is_plain) = (body.0, body.1 == BodyEncoding::Plain);
            if is_plain && encoding != BodyEncoding::Plain {
                parts.headers.remove(header::CONTENT_ENCODING);
            }
            if let Some(copying) = &mut copying {
                copying.request(&body, if is_plain { BodyEncoding::Plain } else { encoding });
            }
            if parts.headers.contains_key(header::CONTENT_LENGTH) {
                parts.headers.insert(header::CONTENT_LENGTH, body.len().into());
            }
            RequestBody::Whole(body)
        }
        None if http_body::Body::is_end_stream(&body) => RequestBody::Empty,
        None => RequestBody::Streamed(body),
    };
    parts.uri = route.upstream.uri(below).ok_or(Failure::Refused(RefusedRequest::NoRoute))?;
    without_hop_by_hop(&mut parts.headers);
    parts.headers.remove(header::EXPECT);
    let host = HeaderValue::from_str(route.upstream.authority().as_str());
    parts.headers.insert(header::HOST, host.map_err(|_| Failure::Refused(RefusedRequest::NoRoute))?);
    // A compressed answer cannot be read beside the stream.
    parts.headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    // Other answers may have ended while the request arrived.
    refuse_if_spent(state, seen.as_ref())?;
    let response = route.upstream.send(Request::from_parts(parts, body)).await?;
    Ok(answer(state, seen, response, copying).await)
}

fn refuse_if_spent(state: &ProxyState, seen: Option<&(Endpoint, ModelExchange)>) -> Result<(), Failure> {
    match seen {
        Some((Endpoint { format, answers: true }, exchange)) => match state.judge.is_spent(exchange) {
            Some(why) => Err(Failure::Refused(RefusedRequest::Spent(*format, why))),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Returns the request as the model knows it, without compression. `None`: it passes as it is.
async fn restored(state: &ProxyState, exchange: &ModelExchange, body: Bytes, encoding: BodyEncoding) -> Option<Bytes> {
    let (memory, format) = (Arc::clone(&state.memory), exchange.format);
    let session = exchange.session.clone().unwrap_or_default();
    if encoding == BodyEncoding::Unknown
        || (encoding == BodyEncoding::Plain && !may_be_restored(&body, &session, &memory))
    {
        return None;
    }
    // A conversation of megabytes must not keep the other streams waiting.
    let restored = spawn_blocking(move || match encoding {
        BodyEncoding::Plain => restore(format, &body, &session, &memory),
        encoded => restore(format, &encoded.decoded(&body, BODY_LIMIT)?, &session, &memory),
    });
    restored.await.ok().flatten()
}

/// The parts of a request for the judge.
#[derive(Debug)]
struct SeenRequest {
    document: Bytes,
    prompt: Option<WirePrompt>,
    results: Vec<WireResult>,
}

impl SeenRequest {
    fn show(&self, judge: &dyn CallJudge, exchange: &ModelExchange) {
        if let Some(prompt) = &self.prompt {
            judge.saw_prompt(exchange, prompt);
        }
        if !self.results.is_empty() {
            judge.judge_results(exchange, &self.results);
        }
    }
}

/// Shows the judge the prompt and the results in a request, and returns the request with the corrections in its results.
/// `None`: it passes as it is.
async fn corrected(
    state: &ProxyState,
    exchange: &ModelExchange,
    answers: bool,
    (body, encoding): (Bytes, BodyEncoding),
) -> Option<Bytes> {
    let judge = &state.judge;
    let (prompts, awaits) = (answers && judge.reads_prompts(exchange), judge.awaits_results(exchange));
    if encoding == BodyEncoding::Unknown || !(prompts || awaits) {
        return None;
    }
    let (reader, seen) = (Arc::clone(judge), exchange.clone());
    let read = move || {
        let document = match encoding {
            BodyEncoding::Plain => body,
            encoded => Bytes::from(encoded.decoded(&body, BODY_LIMIT)?),
        };
        let prompt = if prompts { WirePrompt::of(seen.format, &document) } else { None };
        let wants = |id: &str| awaits && reader.awaits_result(&seen, id);
        let results = if awaits { results(seen.format, &document, wants) } else { Vec::new() };
        Some(SeenRequest { document, prompt, results })
    };
    let (judging, seen) = (Arc::clone(judge), exchange.clone());
    if !judge.corrects(exchange) {
        // The request goes on meanwhile.
        drop(spawn_blocking(move || read().inspect(|request| request.show(&*judging, &seen))));
        return None;
    }
    let request = Arc::new(spawn_blocking(read).await.ok().flatten()?);
    let shown = Arc::clone(&request);
    let judging = spawn_blocking(move || shown.show(&*judging, &seen));
    // A judge that fails or takes too long has nothing to say about the new results. The earlier corrections stay.
    drop(timeout(JUDGE_LIMIT, judging).await);
    let corrections = judge.corrections(exchange, &request.results);
    if corrections.iter().all(Option::is_none) {
        return None;
    }
    let format = exchange.format;
    let corrected = spawn_blocking(move || {
        let said = request.results.iter().zip(&corrections);
        correct(format, &request.document, said.filter_map(|(result, said)| Some((result, said.as_deref()?))))
    });
    corrected.await.ok().flatten()
}

async fn whole_request(body: Incoming) -> Result<Bytes, Failure> {
    match ReadBody::of(body, BODY_LIMIT).await {
        ReadBody::Whole(body) => Ok(body),
        ReadBody::TooLong(..) => Err(Failure::Refused(RefusedRequest::TooLong)),
        // The client has left, and nobody reads this.
        ReadBody::Broken(..) => Err(Failure::Refused(RefusedRequest::Incomplete)),
    }
}

async fn answer(
    state: &ProxyState,
    seen: Option<(Endpoint, ModelExchange)>,
    response: Response<Incoming>,
    mut copying: Option<Copying>,
) -> Response<AnswerBody> {
    let (mut parts, body) = response.into_parts();
    if let Some(copying) = &mut copying {
        copying.answered(&parts);
    }
    without_hop_by_hop(&mut parts.headers);
    let seen = seen.filter(|(endpoint, _)| endpoint.answers && !parts.headers.contains_key(header::CONTENT_ENCODING));
    let Some((_, exchange)) = seen else { return Response::from_parts(parts, AnswerBody::streamed(body)) };
    let (judge, memory) = (Arc::clone(&state.judge), Arc::clone(&state.memory));
    let watch = AnswerWatch { exchange: Arc::new(exchange), judge, memory, limits: limits(&parts.headers) };
    let is = |kind: &str| {
        let content = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        content.is_some_and(|content| content.trim_start().to_ascii_lowercase().starts_with(kind))
    };
    let body = if is("text/event-stream") {
        if watch.judge.refuses(&watch.exchange) {
            parts.headers.remove(header::CONTENT_LENGTH);
        }
        AnswerBody::watched(WatchedStream::new(body, watch, copying))
    } else if is("application/json") {
        match ReadBody::of(body, BODY_LIMIT).await {
            ReadBody::Whole(body) => {
                if let Some(copying) = &mut copying {
                    copying.whole(&body);
                }
                let body = watch.whole(body).await;
                if parts.headers.contains_key(header::CONTENT_LENGTH) {
                    parts.headers.insert(header::CONTENT_LENGTH, body.len().into());
                }
                AnswerBody::whole(body)
            }
            other => other.into_answer(),
        }
    } else {
        AnswerBody::streamed(body)
    };
    Response::from_parts(parts, body)
}

fn seen_exchange(endpoint: Endpoint, headers: &HeaderMap) -> ModelExchange {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let first = |names: &[&str]| names.iter().find_map(|name| text(name));
    ModelExchange {
        format: endpoint.format,
        session: first(&["x-claude-code-session-id", "session-id", "session_id", "thread-id"]),
        agent: first(&["x-claude-code-agent-id", "thread-id"]),
        turn: text("x-codex-turn-metadata"),
    }
}

/// Returns the headers about rate limits.
fn limits(headers: &HeaderMap) -> Vec<(String, String)> {
    let is_limit = |name: &HeaderName| {
        let name = name.as_str();
        let is_known = ["anthropic-ratelimit-", "x-ratelimit-", "x-codex-"].iter().any(|start| name.starts_with(start));
        is_known || name == "retry-after"
    };
    let found = headers.iter().filter(|(name, _)| is_limit(name));
    found.filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))).collect()
}

fn without_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // A client must not make the proxy drop what the upstream needs.
        .filter(|name| *name != header::CONTENT_LENGTH && *name != header::AUTHORIZATION)
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}

/// A request that the proxy answers itself.
#[derive(Debug)]
pub(crate) enum RefusedRequest {
    NoRoute,
    Host,
    Origin,
    Upgrade,
    TooLong,
    Incomplete,
    Unreachable(String),
    /// The reason is our own sentence.
    Spent(WireFormat, String),
}

impl RefusedRequest {
    fn answer(self) -> Response<AnswerBody> {
        // The form that ends each host at once and shows the sentence. Claude Code repeats a 400 five times; Codex waits
        // after a 429.
        let ends_claude = matches!(self, Self::Spent(WireFormat::Messages, _));
        let (status, kind, message) = match self {
            Self::Spent(WireFormat::Messages, why) => (StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", why),
            Self::Spent(WireFormat::Responses | WireFormat::Chat, why) => {
                (StatusCode::BAD_REQUEST, "invalid_request_error", why)
            }
            Self::NoRoute => (StatusCode::NOT_FOUND, "not_found_error", "this address has no valid token".into()),
            Self::Host => (StatusCode::FORBIDDEN, "permission_error", "the `Host` header is not this machine".into()),
            Self::Origin => (StatusCode::FORBIDDEN, "permission_error", "web pages may not use this address".into()),
            Self::Upgrade => {
                (StatusCode::UPGRADE_REQUIRED, "invalid_request_error", "WebSockets are not supported; use HTTP".into())
            }
            Self::TooLong => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "request_too_large",
                format!("the request is over {} MB", BODY_LIMIT >> 20),
            ),
            Self::Incomplete => (StatusCode::BAD_REQUEST, "invalid_request_error", "the request is incomplete".into()),
            Self::Unreachable(problem) => (StatusCode::BAD_GATEWAY, "api_error", problem),
        };
        let message = steadfast_splice::json::quoted(&format!("steadfast proxy: {message}"));
        // Clients of both services find the message here.
        let body = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":{message}}}}}"#);
        let mut response = Response::new(AnswerBody::whole(body));
        *response.status_mut() = status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if ends_claude {
            response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
        }
        response
    }
}
