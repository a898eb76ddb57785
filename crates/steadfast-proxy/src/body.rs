//! Bodies on their way through the proxy.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep};

use crate::watch::WatchedStream;

/// The body of a request to the upstream.
#[derive(Debug, Default)]
pub(crate) enum RequestBody {
    #[default]
    Empty,
    Whole(Bytes),
    Streamed(Incoming),
}

impl RequestBody {
    /// Returns the same body once more, if it was not streamed.
    pub(crate) fn copy(&self) -> Option<Self> {
        match self {
            Self::Empty => Some(Self::Empty),
            Self::Whole(bytes) => Some(Self::Whole(bytes.clone())),
            Self::Streamed(_) => None,
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut *self {
            Self::Empty => Poll::Ready(None),
            Self::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                *self = Self::Empty;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Self::Streamed(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Streamed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty => SizeHint::with_exact(0),
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Streamed(body) => body.size_hint(),
        }
    }
}

/// The time in which bytes reach the client before its connection breaks. hyper drops what it has not written yet when
/// a body fails, and a client on this machine reads at once.
const LAST_BYTES: Duration = Duration::from_millis(20);

/// The body of an answer to the client: bytes that are here, and the rest as it arrives.
#[derive(Debug, Default)]
pub(crate) struct AnswerBody {
    first: Bytes,
    rest: AnswerRest,
    /// The upstream broke, and the last bytes are on their way.
    breaking: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug, Default)]
enum AnswerRest {
    #[default]
    None,
    Streamed(Incoming),
    Watched(Box<WatchedStream>),
    Broken(hyper::Error),
}

impl AnswerBody {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self { first: bytes.into(), ..Self::default() }
    }

    pub(crate) fn streamed(body: Incoming) -> Self {
        Self { rest: AnswerRest::Streamed(body), ..Self::default() }
    }

    pub(crate) fn watched(stream: WatchedStream) -> Self {
        Self { rest: AnswerRest::Watched(Box::new(stream)), ..Self::default() }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        if !self.first.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.first)))));
        }
        let frame = match &mut self.rest {
            AnswerRest::None => return Poll::Ready(None),
            AnswerRest::Streamed(body) => ready!(Pin::new(body).poll_frame(cx)),
            AnswerRest::Watched(stream) => ready!(stream.poll_frame(cx)),
            AnswerRest::Broken(_) => {
                let last_bytes = self.breaking.get_or_insert_with(|| Box::pin(sleep(LAST_BYTES)));
                ready!(last_bytes.as_mut().poll(cx));
                let AnswerRest::Broken(error) = std::mem::take(&mut self.rest) else { return Poll::Ready(None) };
                return Poll::Ready(Some(Err(error)));
            }
        };
        match frame {
            Some(Err(error)) => {
                self.rest = AnswerRest::Broken(error);
                self.poll_frame(cx)
            }
            frame => Poll::Ready(frame),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_empty()
            && match &self.rest {
                AnswerRest::None => true,
                AnswerRest::Streamed(body) => body.is_end_stream(),
                AnswerRest::Watched(_) | AnswerRest::Broken(_) => false,
            }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.rest {
            AnswerRest::None => SizeHint::with_exact(self.first.len() as u64),
            AnswerRest::Streamed(body) if self.first.is_empty() => body.size_hint(),
            _ => SizeHint::default(),
        }
    }
}

/// A body that was read up to a limit.
#[derive(Debug)]
pub(crate) enum ReadBody {
    Whole(Bytes),
    /// The limit was reached.
    TooLong(Bytes, Incoming),
    Broken(Bytes, hyper::Error),
}

impl ReadBody {
    pub(crate) async fn of(mut body: Incoming, limit: usize) -> Self {
        let mut first = Bytes::new();
        let mut read = BytesMut::new();
        loop {
            let frame = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
            let so_far = |first: Bytes, read: BytesMut| if read.is_empty() { first } else { read.freeze() };
            match frame {
                None => return Self::Whole(so_far(first, read)),
                Some(Err(error)) => return Self::Broken(so_far(first, read), error),
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else { continue };
                    // A body in one frame is not copied.
                    if first.is_empty() && read.is_empty() {
                        first = data;
                    } else {
                        if read.is_empty() {
                            read.extend_from_slice(&std::mem::take(&mut first));
                        }
                        read.extend_from_slice(&data);
                    }
                    if first.len() + read.len() > limit {
                        return Self::TooLong(so_far(first, read), body);
                    }
                }
            }
        }
    }

    /// Returns the body as the client would have seen it.
    pub(crate) fn into_answer(self) -> AnswerBody {
        match self {
            Self::Whole(first) => AnswerBody::whole(first),
            Self::TooLong(first, body) => AnswerBody { first, ..AnswerBody::streamed(body) },
            Self::Broken(first, error) => {
                AnswerBody { first, rest: AnswerRest::Broken(error), ..AnswerBody::default() }
            }
        }
    }
}
