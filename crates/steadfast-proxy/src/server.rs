//! The server: a loopback address that lives as long as its owner.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use http::header::{self, HeaderMap};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, oneshot};

use crate::exchange::{RefusedRequest, exchange};
use crate::judge::CallJudge;
use crate::memory::RefusalMemory;
use crate::record::ExchangeSink;
use crate::upstream::{HEAD_LIMIT, HEADER_COUNT, Upstream};

/// Clients at the same time. One client has a handful of connections.
const CONNECTION_LIMIT: usize = 2048;

/// A client sends the head of its next request in this time, or its connection is closed.
const HEAD_TIME: Duration = Duration::from_secs(300);

/// The shortest token of a route.
const TOKEN_LENGTH: usize = 16;

#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    #[error("{address} is not an address of this machine only; use 127.0.0.1 or [::1]")]
    NotLoopback { address: SocketAddr },
    #[error("the token of a route has fewer than {TOKEN_LENGTH} characters, or other ones than letters and digits")]
    Token,
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("cannot start the proxy: {0}")]
    Start(io::Error),
}

/// A secret path, and the service behind it: `http://127.0.0.1:PORT/TOKEN/v1/messages`.
pub struct ProxyRoute {
    pub(crate) token: String,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) sink: Option<Arc<dyn ExchangeSink>>,
}

impl ProxyRoute {
    pub fn new(token: impl Into<String>, upstream: Upstream) -> Result<Self, ProxyError> {
        let token = token.into();
        if token.len() < TOKEN_LENGTH || !token.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(ProxyError::Token);
        }
        Ok(Self { token, upstream: Arc::new(upstream), sink: None })
    }

    /// Copies every exchange of this route.
    #[must_use]
    pub fn copied_to(self, sink: Arc<dyn ExchangeSink>) -> Self {
        Self { sink: Some(sink), ..self }
    }
}

impl fmt::Debug for ProxyRoute {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ProxyRoute").field("upstream", &self.upstream).finish_non_exhaustive()
    }
}

/// What all connections share.
#[derive(Debug)]
pub(crate) struct ProxyState {
    routes: Vec<ProxyRoute>,
    pub(crate) judge: Arc<dyn CallJudge>,
    pub(crate) memory: Arc<RefusalMemory>,
}

impl ProxyState {
    /// Finds the route of a path, and the path below it.
    pub(crate) fn route<'a>(&self, path: &'a str) -> Option<(&ProxyRoute, &'a str)> {
        self.routes.iter().find_map(|route| {
            let (token, below) = path.strip_prefix('/')?.split_at_checked(route.token.len())?;
            let is_path = below.is_empty() || below.starts_with(['/', '?']);
            (is_path && is_same(token, &route.token)).then_some((route, below))
        })
    }
}

/// Compares two texts of one length in the same time, wherever they differ.
fn is_same(left: &str, right: &str) -> bool {
    left.bytes().zip(right.bytes()).fold(0, |differences, (left, right)| differences | (left ^ right)) == 0
}

/// Tells the clients of this machine from web pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guest {
    port: u16,
}

impl Guest {
    /// A page in a browser can reach a loopback address. It cannot hide its origin, and a name of its own that leads
    /// here stands in `Host`.
    pub(crate) fn admits(self, headers: &HeaderMap) -> Result<(), RefusedRequest> {
        if headers.contains_key(header::ORIGIN) {
            return Err(RefusedRequest::Origin);
        }
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let (name, port) = host.rsplit_once(':').unwrap_or((host, ""));
        let is_ours = ["127.0.0.1", "localhost", "[::1]"].contains(&name) && port.parse() == Ok(self.port);
        if is_ours { Ok(()) } else { Err(RefusedRequest::Host) }
    }
}

/// A proxy that runs on a thread of its own until it is dropped.
#[derive(Debug)]
pub struct RunningProxy {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl RunningProxy {
    /// Listens on a free port of 127.0.0.1.
    pub fn start(routes: Vec<ProxyRoute>, judge: Arc<dyn CallJudge>) -> Result<Self, ProxyError> {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into(), routes, judge)
    }

    pub fn start_at(
        address: SocketAddr,
        routes: Vec<ProxyRoute>,
        judge: Arc<dyn CallJudge>,
    ) -> Result<Self, ProxyError> {
        if !address.ip().is_loopback() {
            return Err(ProxyError::NotLoopback { address });
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ProxyError::Start)?;
        let listener = runtime.block_on(TcpListener::bind(address));
        let listener = listener.map_err(|source| ProxyError::Listen { address, source })?;
        let address = listener.local_addr().map_err(ProxyError::Start)?;
        let state = Arc::new(ProxyState { routes, judge, memory: Arc::default() });
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("proxy".to_owned());
        let thread = thread.spawn(move || serve(runtime, listener, state, stopped)).map_err(ProxyError::Start)?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the base address for a client of a route.
    pub fn url(&self, token: &str) -> String {
        format!("http://{}/{token}", self.address)
    }
}

impl Drop for RunningProxy {
    fn drop(&mut self) {
        // The thread also ends when the sender is gone.
        self.stop = None;
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn serve(runtime: Runtime, listener: TcpListener, state: Arc<ProxyState>, stopped: oneshot::Receiver<()>) {
    let Ok(address) = listener.local_addr() else { return };
    let guest = Guest { port: address.port() };
    runtime.spawn(async move {
        let places = Arc::new(Semaphore::new(CONNECTION_LIMIT));
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let state = Arc::clone(&state);
                    tokio::spawn(async move {
                        connection(stream, state, guest).await;
                        drop(place);
                    });
                }
                // Out of files, for example. The next connection may work.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    });
    drop(runtime.block_on(stopped));
    // A ruling that still runs must not hold up the end.
    runtime.shutdown_background();
}

async fn connection(stream: TcpStream, state: Arc<ProxyState>, guest: Guest) {
    drop(stream.set_nodelay(true));
    let service = service_fn(move |request| exchange(Arc::clone(&state), guest, request));
    let mut builder = Builder::new();
    builder
        .preserve_header_case(true)
        .auto_date_header(false)
        .max_headers(HEADER_COUNT)
        .max_header_size(HEAD_LIMIT)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME);
    // A client that leaves, or an upstream that breaks: both ends of the connection know.
    drop(builder.serve_connection(TokioIo::new(stream), service).await);
}
