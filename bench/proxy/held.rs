//! A call that is held back: the time from its last byte at the upstream to its last byte at the client. In between, the
//! pipeline of the hooks judges it, with the files of a session on disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use steadfast_hook::HookEnvironment;
use steadfast_hosts::install::Homes;
use steadfast_hosts::launch::{BehindProxy, CodexLogin, Surroundings};
use steadfast_hosts::price::Prices;
use steadfast_model::{Millis, ProxyMode};
use steadfast_proxied::{Meter, ProxiedAgent, ProxyWork};
use steadfast_store::Place;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use super::{find, now, request_of};

const CALLS: usize = 300;

pub(super) fn print(runtime: &Runtime) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    Place::of(folder.path(), None).unwrap().create().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let upstream = format!("http://{}", listener.local_addr().unwrap());
    runtime.spawn(upstream_of(listener));
    let proxied = behind(folder.path().to_owned(), &upstream);
    let settings = proxied.launch.args[1].to_str().unwrap();
    let url = settings.split_once("http://").unwrap().1.split('"').next().unwrap().to_owned();
    let mut delays = runtime.block_on(async {
        let (mut client, mut delays) = (Client::connect(&url).await, Vec::new());
        for number in 0..CALLS {
            delays.push(client.call(number).await);
        }
        delays
    });
    delays.sort_unstable();
    let at = |share: usize| delays[(CALLS - 1) * share / 100] as f64 / 1e3;
    println!("\na held call is released {:.2} ms after its last byte (p50; p99 {:.2} ms), judged", at(50), at(99));
}

fn behind(folder: PathBuf, upstream: &str) -> ProxiedAgent {
    let homes = Homes { home: folder.clone(), claude_config_dir: None, codex_home: None, path: None };
    let around = Surroundings {
        homes: &homes,
        folder: &folder,
        variable: &|_| None,
        codex_login: &|_| CodexLogin::None,
        upstream: Some(upstream),
    };
    let behind = BehindProxy::of("claude".as_ref(), &[], &around).unwrap();
    let meter = Arc::new(Meter::new(Prices::built_in(), None));
    let work = ProxyWork { mode: ProxyMode::Enforce, meter, recorder: None };
    let around = move || HookEnvironment::bare(clock(), folder.clone());
    ProxiedAgent::start(&behind, &work, around).unwrap()
}

fn clock() -> Millis {
    Millis(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap())
}

/// Answers each request with a call whose last record carries the time at which it was sent.
async fn upstream_of(listener: TcpListener) {
    while let Ok((mut stream, _)) = listener.accept().await {
        stream.set_nodelay(true).unwrap();
        tokio::spawn(async move {
            while let Some(number) = request_of(&mut stream).await {
                let start = format!(
                    r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"tool_use","id":"toolu_{number}","name":"Write","input":{{}}}}}}"#
                );
                let input = format!(r#"{{\"file_path\":\"src/{number}.rs\",\"content\":\"fn main() {{}}\"}}"#);
                let delta = format!(
                    r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":"{input}"}}}}"#
                );
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
                let begin = format!("{head}{}{}", chunk(&start), chunk(&delta));
                if stream.write_all(begin.as_bytes()).await.is_err() {
                    return;
                }
                // The rest of an input takes longer than this.
                tokio::time::sleep(Duration::from_millis(2)).await;
                let stop = format!(r#"{{"type":"content_block_stop","index":0,"at":{}}}"#, now());
                let end = format!("{}0\r\n\r\n", chunk(&stop));
                if stream.write_all(end.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
    }
}

fn chunk(data: &str) -> String {
    let event = format!("data: {data}\n\n");
    format!("{:x}\r\n{event}\r\n", event.len())
}

struct Client {
    stream: TcpStream,
    host: String,
    path: String,
}

impl Client {
    async fn connect(url: &str) -> Self {
        let (host, path) = url.split_once('/').unwrap();
        let stream = TcpStream::connect(host).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, host: host.to_owned(), path: format!("/{path}/v1/messages") }
    }

    /// Returns the microseconds from the last byte of the call to its arrival.
    async fn call(&mut self, number: usize) -> u128 {
        let Self { stream, host, path } = self;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nx-claude-code-session-id: held\r\nx-rate: {number}\r\nContent-Length: 2\r\n\r\n{{}}"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut read = Vec::new();
        let mut arrived = None;
        while find(&read, b"0\r\n\r\n").is_none() {
            assert!(stream.read_buf(&mut read).await.unwrap() > 0, "{}", String::from_utf8_lossy(&read));
            if arrived.is_none() && find(&read, b"content_block_stop").is_some() {
                arrived = Some(now());
            }
        }
        let text = String::from_utf8_lossy(&read).into_owned();
        assert!(text.contains("\"name\":\"Write\""), "{text}");
        let sent = text.split_once("\"at\":").unwrap().1.split('}').next().unwrap();
        arrived.unwrap().saturating_sub(sent.parse().unwrap())
    }
}
