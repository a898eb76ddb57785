//! TLS to the upstream, and the proxy of a company on the way.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::double::{Double, Scripted, TOKEN, post, proxy_to};
use crate::{NetworkSettings, ProxyRoute, RunningProxy, Upstream, UpstreamError};

const NAME: &str = "model.example";

/// A service with TLS. Its certificate is for [`NAME`] and for 127.0.0.1.
struct TlsDouble {
    address: SocketAddr,
    folder: tempfile::TempDir,
}

impl TlsDouble {
    fn start() -> Self {
        let names = vec![NAME.to_owned(), "127.0.0.1".to_owned()];
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), cert.pem()).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = builder.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                // A client that does not trust us leaves.
                drop(serve(StreamOwned::new(connection, stream.unwrap())));
            }
        });
        Self { address, folder }
    }

    fn network(&self) -> NetworkSettings {
        NetworkSettings { extra_authorities: Some(self.folder.path().join("ca.pem")), ..NetworkSettings::default() }
    }
}

fn serve(mut stream: StreamOwned<ServerConnection, TcpStream>) -> std::io::Result<()> {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n{}") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        read.push(byte[0]);
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecure")
}

fn proxy(url: &str, network: &NetworkSettings) -> RunningProxy {
    let upstream = Upstream::new(url, network).unwrap();
    RunningProxy::start(vec![ProxyRoute::new(TOKEN, upstream).unwrap()], Scripted::observing()).unwrap()
}

/// A company's proxy. It leads every name to `target`, or refuses, and keeps the heads that it reads.
fn company_proxy(target: Option<SocketAddr>) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heads);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            kept.lock().unwrap().push(String::from_utf8(head).unwrap());
            let Some(target) = target else {
                stream.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n").unwrap();
                continue;
            };
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
            let mut server = TcpStream::connect(target).unwrap();
            let (mut back, mut answers) = (stream.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut stream, &mut server));
            std::thread::spawn(move || std::io::copy(&mut answers, &mut back));
        }
    });
    (address, heads)
}

#[test]
fn a_base_address_without_a_path_is_asked_for_its_root() {
    let path = |url: &str, below: &str| {
        let uri = Upstream::new(url, &NetworkSettings::default()).unwrap().uri(below).unwrap();
        uri.path_and_query().unwrap().to_string()
    };
    assert_eq!(path("http://127.0.0.1:1", ""), "/");
    assert_eq!(path("http://127.0.0.1:1", "?a=b"), "/?a=b");
    assert_eq!(path("http://127.0.0.1:1", "/v1"), "/v1");
    assert_eq!(path("http://127.0.0.1:1/gateway", ""), "/gateway");
}

#[test]
fn an_upstream_with_a_certificate_of_an_extra_authority_is_reached() {
    let upstream = TlsDouble::start();
    let proxy = proxy(&format!("https://{}", upstream.address), &upstream.network());
    assert_eq!(post(&proxy, "/v1/messages", "", b"{}").text(), "secure");
}

#[test]
fn an_upstream_with_a_strangers_certificate_is_not_trusted() {
    let (upstream, other) = (TlsDouble::start(), TlsDouble::start());
    let proxy = proxy(&format!("https://{}", upstream.address), &other.network());
    let answer = post(&proxy, "/v1/messages", "", b"{}");
    assert_eq!(answer.status(), 502);
    assert!(answer.text().contains("invalid peer certificate"), "{}", answer.text());
}

#[test]
fn a_missing_file_of_authorities_is_named() {
    let network = NetworkSettings { extra_authorities: Some("/nowhere/ca.pem".into()), ..NetworkSettings::default() };
    let error = Upstream::new("https://api.example.com", &network).unwrap_err().to_string();
    assert!(error.starts_with("cannot read the certificates in /nowhere/ca.pem: "), "{error}");
}

#[test]
fn a_companys_proxy_is_a_tunnel_to_the_upstream() {
    let upstream = TlsDouble::start();
    let (address, heads) = company_proxy(Some(upstream.address));
    let https_proxy = format!("http://user:pa%20ss@{address}");
    let network = NetworkSettings { https_proxy, ..upstream.network() };
    let proxy = proxy(&format!("https://{NAME}"), &network);
    assert_eq!(post(&proxy, "/v1/messages", "Authorization: Bearer sk-made-up\r\n", b"{}").text(), "secure");
    let heads = heads.lock().unwrap();
    let head = heads[0].to_lowercase();
    assert!(head.starts_with("connect model.example:443 http/1.1\r\n"), "{head}");
    // `user:pa ss`. The agent's own credential is for the upstream only.
    assert!(heads[0].contains("Basic dXNlcjpwYSBzcw==") && !head.contains("sk-made-up"), "{head}");
}

#[test]
fn a_companys_proxy_that_refuses_is_named_without_its_password() {
    let (address, _) = company_proxy(None);
    let network =
        NetworkSettings { https_proxy: format!("http://user:hunter2@{address}"), ..NetworkSettings::default() };
    let answer = post(&proxy(&format!("https://{NAME}"), &network), "/v1/messages", "", b"{}");
    assert_eq!(answer.status(), 502);
    assert!(answer.text().contains("407") && !answer.text().contains("hunter2"), "{}", answer.text());
}

#[test]
fn a_plain_upstream_behind_a_companys_proxy_is_asked_for_by_its_whole_address() {
    let between = Double::answering("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine");
    let http_proxy = format!("http://user:pass@{}", between.address);
    let network = NetworkSettings { http_proxy, ..NetworkSettings::default() };
    assert_eq!(post(&proxy(&format!("http://{NAME}/base"), &network), "/v1/models?a=b", "", b"{}").text(), "fine");
    let request = &between.received()[0];
    assert_eq!(request.path(), "http://model.example/base/v1/models?a=b");
    assert_eq!(
        (request.header("host"), request.header("proxy-authorization")),
        (Some(NAME), Some("Basic dXNlcjpwYXNz"))
    );
}

#[test]
fn hosts_of_the_company_and_of_this_machine_are_reached_directly() {
    let network = NetworkSettings {
        http_proxy: "http://proxy.example".to_owned(),
        no_proxy: "a.example, .internal,10.0.0.0/8".to_owned(),
        ..NetworkSettings::default()
    };
    let is_direct = |url: &str| Upstream::new(url, &network).unwrap().uri("/v1").unwrap().scheme().is_none();
    let direct =
        ["http://a.example", "http://x.internal:8080", "http://10.1.2.3", "http://127.0.0.1:1", "http://localhost:1"];
    assert_eq!(direct.map(is_direct), [true; 5]);
    assert_eq!(["http://b.example", "http://11.1.2.3"].map(is_direct), [false; 2]);
    let upstream = Double::answering("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine");
    assert_eq!(post(&proxy(&upstream.url(), &network), "/", "", b"").text(), "fine");
}

#[test]
fn an_address_that_is_none_is_refused_without_its_password() {
    let network = NetworkSettings::default();
    for url in ["", "api.example.com", "ftp://api.example.com", "https://", "http://user:hunter2@api.example.com"] {
        let error = Upstream::new(url, &network).unwrap_err();
        assert!(matches!(error, UpstreamError::Address { .. }), "{url}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
    let network = NetworkSettings { https_proxy: "socks5://user:hunter2@proxy.example".to_owned(), ..network };
    let error = Upstream::new("https://api.example.com", &network).unwrap_err().to_string();
    assert_eq!(error, "proxies with `socks5` addresses are not supported; use an `http` address");
}

#[test]
fn the_upstream_may_have_a_path() {
    let upstream = Double::answering("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine");
    let proxy = proxy_to(&format!("{}/gateway/x/", upstream.url()), Scripted::observing());
    post(&proxy, "/v1/messages?beta=true", "", b"{}");
    assert_eq!(upstream.received()[0].path(), "/gateway/x/v1/messages?beta=true");
}
