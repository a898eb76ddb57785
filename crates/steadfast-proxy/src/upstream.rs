//! The way to a model's service: its address, TLS, the company's proxy, and the connections that are kept open.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

use crate::body::RequestBody;
use crate::tls::{TrustError, trust};

/// A service that is not reached in this time is down.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);

/// Services close an idle connection after a minute or later. A younger one is usually still open.
const IDLE_LIMIT: Duration = Duration::from_secs(50);

const IDLE_COUNT: usize = 64;

/// The limit of a head, in bytes and in headers.
pub(crate) const HEAD_LIMIT: usize = 256 << 10;
pub(crate) const HEADER_COUNT: usize = 256;

#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    #[error("`{url}` is not an http or https address")]
    Address { url: String },
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error("proxies with `{scheme}` addresses are not supported; use an `http` address")]
    Proxy { scheme: String },
    #[error("cannot reach {host}: {source}")]
    Connect { host: String, source: io::Error },
    #[error("cannot reach {host} through the proxy {proxy}: it answered {status}")]
    Tunnel { host: String, proxy: String, status: StatusCode },
    /// The connection ended before an answer came.
    #[error("{host} closed the connection: {source}")]
    Broken { host: String, source: hyper::Error },
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// What the network around this machine requires. The values are those of the environment.
#[derive(Clone, Debug, Default)]
pub struct NetworkSettings {
    /// `HTTP_PROXY`
    pub http_proxy: String,
    /// `HTTPS_PROXY`
    pub https_proxy: String,
    /// `NO_PROXY`
    pub no_proxy: String,
    /// `NODE_EXTRA_CA_CERTS`
    pub extra_authorities: Option<PathBuf>,
}

/// A model's service.
#[derive(Debug)]
pub struct Upstream {
    /// Host and port, as in the address. The value of `Host`.
    authority: Authority,
    /// `None`: plain HTTP.
    tls: Option<Arc<rustls::ClientConfig>>,
    /// The path of the address, without the slash at its end.
    path: String,
    proxy: Option<Intercept>,
    idle: Mutex<Vec<IdleConnection>>,
}

#[derive(Debug)]
struct IdleConnection {
    since: Instant,
    sender: SendRequest<RequestBody>,
}

impl Upstream {
    /// `url` is the base address that the agent would have used.
    pub fn new(url: &str, network: &NetworkSettings) -> Result<Self, UpstreamError> {
        let refused = || UpstreamError::Address { url: url.rsplit('@').next().unwrap_or_default().to_owned() };
        let uri: Uri = url.trim().parse().map_err(|_| refused())?;
        let tls = match uri.scheme_str() {
            Some("https") => Some(trust(network.extra_authorities.as_deref())?),
            Some("http") => None,
            _ => return Err(refused()),
        };
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@')).ok_or_else(refused)?;
        let NetworkSettings { http_proxy, https_proxy, no_proxy, .. } = network.clone();
        let host = authority.host();
        let is_local = host == "localhost" || host.starts_with("127.") || host == "[::1]";
        let proxy = Matcher::builder().http(http_proxy).https(https_proxy).no(no_proxy).build().intercept(&uri);
        let proxy = proxy.filter(|_| !is_local);
        if let Some(proxy) = proxy.as_ref().filter(|proxy| proxy.uri().scheme() != Some(&Scheme::HTTP)) {
            return Err(UpstreamError::Proxy { scheme: proxy.uri().scheme_str().unwrap_or_default().to_owned() });
        }
        let path = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { authority: authority.clone(), tls, path, proxy, idle: Mutex::default() })
    }

    pub(crate) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Returns the address on the wire for a path and query below the base address.
    pub(crate) fn uri(&self, below: &str) -> Option<Uri> {
        let path = format!("{}{below}", self.path);
        // A client that asks for a base address without a path asks for `/`.
        let root = if path.starts_with('/') { "" } else { "/" };
        let path: PathAndQuery = format!("{root}{path}").parse().ok()?;
        let mut parts = http::uri::Parts::default();
        if self.proxy.is_some() && self.tls.is_none() {
            parts.scheme = Some(Scheme::HTTP);
            parts.authority = Some(self.authority.clone());
        }
        parts.path_and_query = Some(path);
        Uri::from_parts(parts).ok()
    }

    /// Sends a request. If a connection that was kept open turns out to be closed, the request is sent once more.
    pub(crate) async fn send(
        self: &Arc<Self>,
        mut request: Request<RequestBody>,
    ) -> Result<Response<Incoming>, UpstreamError> {
        if let Some(credential) = self.proxy.as_ref().filter(|_| self.tls.is_none()).and_then(Intercept::basic_auth) {
            request.headers_mut().insert(header::PROXY_AUTHORIZATION, credential.clone());
        }
        if let Some(sender) = self.take_idle() {
            let again = request.body().copy().map(|body| {
                let mut again = Request::new(body);
                *again.method_mut() = request.method().clone();
                *again.uri_mut() = request.uri().clone();
                *again.headers_mut() = request.headers().clone();
                *again.extensions_mut() = request.extensions().clone();
                again
            });
            match (self.send_on(sender, request).await, again) {
                (Err(Unsent::Broken(_)), Some(again)) => request = again,
                (Err(Unsent::Back(back)), _) => request = *back,
                (Err(Unsent::Broken(source)), None) => return Err(self.broken(source)),
                (Ok(response), _) => return Ok(response),
            }
        }
        let sender = self.connect().await?;
        match self.send_on(sender, request).await {
            Ok(response) => Ok(response),
            Err(Unsent::Broken(source)) => Err(self.broken(source)),
            Err(Unsent::Back(_)) => Err(self.refused(io::ErrorKind::ConnectionReset.into())),
        }
    }

    async fn send_on(
        self: &Arc<Self>,
        mut sender: SendRequest<RequestBody>,
        request: Request<RequestBody>,
    ) -> Result<Response<Incoming>, Unsent> {
        if sender.ready().await.is_err() {
            return Err(Unsent::Back(Box::new(request)));
        }
        let response = sender.try_send_request(request).await.map_err(|mut error| match error.take_message() {
            Some(request) => Unsent::Back(Box::new(request)),
            None => Unsent::Broken(error.into_error()),
        })?;
        let upstream = Arc::clone(self);
        // The connection is free again when the answer has been read.
        tokio::spawn(async move {
            if sender.ready().await.is_ok() {
                upstream.keep(sender);
            }
        });
        Ok(response)
    }

    fn take_idle(&self) -> Option<SendRequest<RequestBody>> {
        let mut idle = self.idle();
        idle.retain(|idle| !idle.sender.is_closed() && idle.since.elapsed() < IDLE_LIMIT);
        idle.pop().map(|idle| idle.sender)
    }

    fn keep(&self, sender: SendRequest<RequestBody>) {
        let mut idle = self.idle();
        if idle.len() < IDLE_COUNT {
            idle.push(IdleConnection { since: Instant::now(), sender });
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<IdleConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self) -> Result<SendRequest<RequestBody>, UpstreamError> {
        let stream = timeout(CONNECT_LIMIT, self.stream()).await;
        let stream = stream.unwrap_or_else(|_| Err(self.refused(io::ErrorKind::TimedOut.into())))?;
        let mut builder = Builder::new();
        builder.preserve_header_case(true).max_headers(HEADER_COUNT).max_header_size(HEAD_LIMIT);
        let (sender, connection) =
            builder.handshake(TokioIo::new(stream)).await.map_err(|source| self.broken(source))?;
        tokio::spawn(async move {
            // The request and its answer report what goes wrong with the connection.
            drop(connection.await);
        });
        Ok(sender)
    }

    async fn stream(&self) -> Result<Box<dyn Stream>, UpstreamError> {
        let refused = |source| self.refused(source);
        let port = self.authority.port_u16().unwrap_or(if self.tls.is_some() { 443 } else { 80 });
        let host = bare(Some(self.authority.host()));
        let stream: Box<dyn Stream> = match &self.proxy {
            None => Box::new(open(host, port).await.map_err(refused)?),
            Some(proxy) => {
                let to_proxy = open(bare(proxy.uri().host()), proxy.uri().port_u16().unwrap_or(80)).await;
                let to_proxy = to_proxy.map_err(refused)?;
                if self.tls.is_some() { self.tunnel(proxy, to_proxy, port).await? } else { Box::new(to_proxy) }
            }
        };
        let Some(tls) = &self.tls else { return Ok(stream) };
        let name = ServerName::try_from(host.to_owned()).map_err(|error| refused(io::Error::other(error)))?;
        let stream = TlsConnector::from(Arc::clone(tls)).connect(name, stream).await.map_err(refused)?;
        Ok(Box::new(stream))
    }

    async fn tunnel(&self, proxy: &Intercept, stream: TcpStream, port: u16) -> Result<Box<dyn Stream>, UpstreamError> {
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|source| self.broken(source))?;
        tokio::spawn(async move { drop(connection.with_upgrades().await) });
        let target = format!("{}:{port}", self.authority.host());
        let mut request = Request::new(RequestBody::default());
        *request.method_mut() = Method::CONNECT;
        *request.uri_mut() = target.parse().map_err(|_| UpstreamError::Address { url: target.clone() })?;
        if let Ok(host) = HeaderValue::from_str(&target) {
            request.headers_mut().insert(header::HOST, host);
        }
        if let Some(credential) = proxy.basic_auth() {
            request.headers_mut().insert(header::PROXY_AUTHORIZATION, credential.clone());
        }
        let response = sender.send_request(request).await.map_err(|source| self.broken(source))?;
        let status = response.status();
        if !status.is_success() {
            let (host, proxy) = (self.authority.to_string(), proxy.uri().to_string());
            return Err(UpstreamError::Tunnel { host, proxy, status });
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(|source| self.broken(source))?;
        Ok(Box::new(TokioIo::new(upgraded)))
    }

    fn broken(&self, source: hyper::Error) -> UpstreamError {
        UpstreamError::Broken { host: self.authority.to_string(), source }
    }

    fn refused(&self, source: io::Error) -> UpstreamError {
        UpstreamError::Connect { host: self.authority.to_string(), source }
    }
}

/// Returns an address without the brackets of IPv6.
fn bare(host: Option<&str>) -> &str {
    host.unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

async fn open(host: &str, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// A request that got no answer.
enum Unsent {
    /// Nothing of it was sent.
    Back(Box<Request<RequestBody>>),
    Broken(hyper::Error),
}
