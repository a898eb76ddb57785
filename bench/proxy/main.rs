//! Measures the proxy beside nginx as a plain reverse proxy, and beside no proxy at all.
//!
//! `cargo xtask bench proxy [ROUNDS]` runs it. Clients and upstream are in this process, so that the time of an event is
//! one difference; the proxies are processes of their own, so that their CPU time and memory are theirs alone. The rows
//! run in turn, so that other load affects all of them. [`held`] measures a call that is held back until it is judged.
#![expect(clippy::unwrap_used, reason = "a measurement that cannot be made is none")]
#![expect(clippy::disallowed_methods, reason = "the proxies are processes")]
#![expect(clippy::print_stdout, reason = "the table is the result")]

mod held;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use steadfast_hosts::price::Prices;
use steadfast_proxied::Meter;
use steadfast_proxy::{NetworkSettings, ProxyRoute, RunningProxy, Upstream};
use steadfast_testkit::wait_for;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const TOKEN: &str = "0123456789abcdef";

/// Streams, and events per second of each.
const LOADS: [(usize, u32); 2] = [(200, 50), (1000, 20)];

const EVENTS: u32 = 100;

/// A request with a long conversation.
const BODY: usize = 5 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("serve") => serve(&arguments[1]),
        rounds => compare(rounds.map_or(5, |rounds| rounds.parse().unwrap())),
    }
}

/// Runs the proxy until standard input ends.
fn serve(upstream: &str) {
    let upstream = Upstream::new(upstream, &NetworkSettings::default()).unwrap();
    let judge = Arc::new(Meter::new(Prices::built_in(), None));
    let proxy = RunningProxy::start(vec![ProxyRoute::new(TOKEN, upstream).unwrap()], judge).unwrap();
    println!("{}", proxy.address());
    drop(std::io::stdin().read_to_end(&mut Vec::new()));
}

/// A row of the table.
struct Row {
    name: &'static str,
    address: SocketAddr,
    path: String,
    process: Option<Child>,
}

#[derive(Clone, Copy, Default)]
struct Sample {
    p50: f64,
    p99: f64,
    /// Microseconds of CPU per event.
    cpu: f64,
    /// Kilobytes per stream.
    memory: f64,
    /// Milliseconds until the first byte of the answer to a long request.
    long: f64,
}

fn compare(rounds: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let upstream = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = upstream.local_addr().unwrap();
    runtime.spawn(upstream_of(upstream));
    let mut rows = vec![
        Row { name: "direct", address, path: "/v1/messages".to_owned(), process: None },
        nginx(folder.path(), address),
        ours(address),
    ];
    println!("{EVENTS} events of about 150 bytes per stream; medians of {rounds} interleaved rounds\n");
    println!(
        "| load | proxy | p50, µs | p99, µs | CPU per event, µs | memory per stream, kB | first byte of 5 MB, ms |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for (streams, rate) in LOADS {
        let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); rows.len()];
        for round in 0..rounds {
            for at in 0..rows.len() {
                let at = (at + round) % rows.len();
                samples[at].push(runtime.block_on(sample(&rows[at], streams, rate)));
            }
        }
        for (row, samples) in rows.iter().zip(&samples) {
            let median = |of: fn(&Sample) -> f64| {
                let mut values: Vec<f64> = samples.iter().map(of).collect();
                values.sort_by(f64::total_cmp);
                values[values.len() / 2]
            };
            let (p50, p99, long) = (median(|s| s.p50), median(|s| s.p99), median(|s| s.long));
            let (cpu, memory) = (median(|s| s.cpu), median(|s| s.memory));
            println!(
                "| {streams} × {rate}/s | {} | {p50:.0} | {p99:.0} | {cpu:.1} | {memory:.0} | {long:.1} |",
                row.name
            );
        }
    }
    held::print(&runtime);
    for row in &mut rows {
        if let Some(process) = &mut row.process {
            drop(process.kill());
            drop(process.wait());
        }
    }
}

fn ours(upstream: SocketAddr) -> Row {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["serve", &format!("http://{upstream}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let (address, path) = (line.trim().parse().unwrap(), format!("/{TOKEN}/v1/messages"));
    Row { name: "steadfast", address, path, process: Some(process) }
}

fn nginx(folder: &Path, upstream: SocketAddr) -> Row {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let folder = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {folder}/{name};\n"))
        .concat();
    let configuration = format!(
        "daemon off; master_process off; error_log stderr crit; pid {folder}/pid;
         events {{ worker_connections 8192; }}
         http {{ access_log off; {temporary}
           upstream model {{ server {upstream}; keepalive 64; }}
           server {{ listen {address}; client_max_body_size 64m; client_body_buffer_size 8m; location / {{
             proxy_pass http://model; proxy_buffering off; proxy_http_version 1.1; proxy_set_header Connection \"\";
           }} }} }}"
    );
    fs::write(format!("{folder}/nginx.conf"), configuration).unwrap();
    let process = Command::new("nginx").args(["-c", &format!("{folder}/nginx.conf")]).spawn().unwrap();
    wait_for("nginx", || std::net::TcpStream::connect(address).map(drop).map_err(|error| error.to_string()));
    Row { name: "nginx", address, path: "/v1/messages".to_owned(), process: Some(process) }
}

/// Answers each request with a stream whose events carry the time at which they were sent.
async fn upstream_of(listener: TcpListener) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        tokio::spawn(async move {
            while let Some(rate) = request_of(&mut stream).await {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
                if stream.write_all(head.as_bytes()).await.is_err() {
                    return;
                }
                let mut clock = tokio::time::interval(Duration::from_secs(1) / rate.max(1));
                for _ in 0..if rate == 0 { 1 } else { EVENTS } {
                    clock.tick().await;
                    let data = format!(
                        r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"about as much as a token"}},"at":{}}}"#,
                        now()
                    );
                    let event = format!("event: content_block_delta\ndata: {data}\n\n");
                    let chunk = format!("{:x}\r\n{event}\r\n", event.len());
                    if stream.write_all(chunk.as_bytes()).await.is_err() {
                        return;
                    }
                }
                let usage = "data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":1}}\n\n";
                let end = format!("{:x}\r\n{usage}\r\n0\r\n\r\n", usage.len());
                if stream.write_all(end.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
    }
}

/// Reads a request and returns its rate: the number in its header `x-rate`.
async fn request_of(stream: &mut TcpStream) -> Option<u32> {
    let mut read = Vec::new();
    let head = loop {
        if let Some(at) = read.windows(4).position(|end| end == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8_lossy(&read[..head]).to_lowercase();
    let number = |name: &str| -> Option<usize> {
        text.lines().find_map(|line| line.strip_prefix(name)).and_then(|value| value.trim().parse().ok())
    };
    let (length, rate) = (number("content-length:").unwrap_or_default(), number("x-rate:").unwrap_or_default());
    let mut left = (head + length).saturating_sub(read.len());
    let mut rest = vec![0; 64 << 10];
    while left > 0 {
        let size = stream.read(&mut rest[..left.min(64 << 10)]).await.ok()?;
        left = left.checked_sub(size).filter(|_| size > 0)?;
    }
    u32::try_from(rate).ok()
}

/// Microseconds since the start.
fn now() -> u128 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_micros()
}

async fn sample(row: &Row, streams: usize, rate: u32) -> Sample {
    let pid = row.process.as_ref().map(Child::id);
    let before = (cpu(pid), memory(pid));
    let mut clients = JoinSet::new();
    for number in 0..streams {
        let (address, path) = (row.address, row.path.clone());
        clients.spawn(async move {
            // Not all at the same moment.
            let spread =
                Duration::from_secs(1) / rate / u32::try_from(streams).unwrap() * u32::try_from(number).unwrap();
            tokio::time::sleep(spread).await;
            delays(address, &path, rate).await
        });
    }
    // In the middle of the streams.
    tokio::time::sleep(Duration::from_secs(1) * EVENTS / rate / 2).await;
    let during = memory(pid);
    let mut all: Vec<u128> = clients.join_all().await.concat();
    let used = cpu(pid) - before.0;
    all.sort_unstable();
    assert_eq!(all.len(), streams * EVENTS as usize, "every event arrives");
    let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize] as f64;
    Sample {
        p50: at(0.5),
        p99: at(0.99),
        cpu: used.as_secs_f64() * 1e6 / all.len() as f64,
        memory: during.saturating_sub(before.1) as f64 / streams as f64,
        long: long(row).await,
    }
}

/// Returns how long each event of a stream took.
async fn delays(address: SocketAddr, path: &str, rate: u32) -> Vec<u128> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let request = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nx-rate: {rate}\r\nContent-Length: 2\r\n\r\n{{}}");
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut delays, mut read) = (Vec::new(), Vec::new());
    // Up to the last chunk: a client that leaves before it would be a case of its own.
    while find(&read, b"\r\n0\r\n\r\n").is_none() {
        if stream.read_buf(&mut read).await.unwrap() == 0 {
            break;
        }
        let at = now();
        let mut done = 0;
        while let Some(length) = find(&read[done..], b"}\n\n") {
            let event = String::from_utf8_lossy(&read[done..done + length]).into_owned();
            if let Some((_, sent)) = event.rsplit_once("\"at\":") {
                delays.push(at.saturating_sub(sent.parse().unwrap()));
            }
            done += length + 3;
        }
        read.drain(..done);
    }
    delays
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Returns the milliseconds until the first byte of the answer to a long request.
async fn long(row: &Row) -> f64 {
    let mut stream = TcpStream::connect(row.address).await.unwrap();
    let (path, address) = (&row.path, row.address);
    let head = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {BODY}\r\n\r\n");
    let started = Instant::now();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b' '; BODY]).await.unwrap();
    stream.read_exact(&mut [0]).await.unwrap();
    started.elapsed().as_secs_f64() * 1e3
}

/// The CPU time of a process so far.
fn cpu(pid: Option<u32>) -> Duration {
    let Some(pid) = pid else { return Duration::ZERO };
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    // Clock ticks of user and system, a hundred per second on every Linux of today.
    Duration::from_millis(10 * (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()))
}

/// The resident memory of a process, in kB.
fn memory(pid: Option<u32>) -> u64 {
    let Some(pid) = pid else { return 0 };
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}
