//! A client, an upstream and a judge for tests. Client and upstream speak HTTP by hand, so that they see the bytes.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use steadfast_testkit::PATIENCE;

use crate::wire::{ModelAnswer, WireCall};
use crate::{CallJudge, CallRuling, ModelExchange, NetworkSettings, ProxyRoute, RunningProxy, Upstream};

pub(super) const TOKEN: &str = "0123456789abcdef";

/// A message on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RawMessage {
    /// The request line or the status line.
    pub(super) first: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// The body arrived to its end.
    pub(super) is_whole: bool,
}

impl RawMessage {
    /// Returns a header, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(super) fn status(&self) -> u16 {
        self.first.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
    }

    pub(super) fn path(&self) -> &str {
        self.first.split(' ').nth(1).unwrap_or_default()
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// One end of a connection.
#[derive(Debug)]
pub(super) struct RawWire {
    stream: TcpStream,
    read: Vec<u8>,
}

impl RawWire {
    pub(super) fn connect(address: SocketAddr) -> Self {
        Self::of(TcpStream::connect(address).unwrap())
    }

    pub(super) fn of(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, read: Vec::new() }
    }

    pub(super) fn send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(bytes.as_ref())
    }

    /// Closes with a reset if bytes are unread, else with an end.
    pub(super) fn close(&self) {
        drop(self.stream.shutdown(Shutdown::Both));
    }

    /// Reads more. Returns false at the end of the connection.
    fn fill(&mut self) -> bool {
        let mut chunk = [0; 16 << 10];
        match self.stream.read(&mut chunk) {
            Ok(0) => false,
            Ok(length) => {
                self.read.extend_from_slice(&chunk[..length]);
                true
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => panic!("waited {PATIENCE:?} for bytes"),
            Err(_) => false,
        }
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        let rest = self.read.split_off(length);
        std::mem::replace(&mut self.read, rest)
    }

    fn until(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.read.windows(end.len()).position(|window| window == end) {
                return Some(self.take(at + end.len()));
            }
            if !self.fill() {
                return None;
            }
        }
    }

    /// Reads until this text has arrived, and returns all bytes up to it.
    pub(super) fn read_to(&mut self, text: &str) -> String {
        let bytes = self.until(text.as_bytes()).unwrap_or_else(|| panic!("no {text:?}: {:?}", self.read));
        String::from_utf8(bytes).unwrap()
    }

    pub(super) fn is_at_end(&mut self) -> bool {
        !self.fill()
    }

    /// Reads a head. `None`: the connection ended.
    pub(super) fn head(&mut self) -> Option<RawMessage> {
        let head = String::from_utf8(self.until(b"\r\n\r\n")?).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let first = lines.next().unwrap().to_owned();
        let pair = |line: &str| line.split_once(':').map(|(key, value)| (key.to_owned(), value.trim().to_owned()));
        Some(RawMessage { first, headers: lines.filter_map(pair).collect(), ..RawMessage::default() })
    }

    /// Reads a message. `is_answer`: without a length, its body lasts until the end of the connection.
    pub(super) fn message(&mut self, is_answer: bool) -> Option<RawMessage> {
        let mut message = self.head()?;
        let has_no_body = is_answer && matches!(message.status(), 204 | 304);
        if has_no_body {
            message.is_whole = true;
        } else if message.header("transfer-encoding").is_some() {
            while let Some(line) = self.until(b"\r\n") {
                let size = usize::from_str_radix(String::from_utf8(line).unwrap().trim(), 16).unwrap();
                while self.read.len() < size + 2 && self.fill() {}
                let whole = self.read.len() >= size + 2;
                let chunk = self.take((size + 2).min(self.read.len()));
                message.body.extend_from_slice(&chunk[..size.min(chunk.len())]);
                if !whole || size == 0 {
                    message.is_whole = whole;
                    break;
                }
            }
        } else if let Some(length) = message.header("content-length") {
            let length: usize = length.parse().unwrap();
            while self.read.len() < length && self.fill() {}
            message.is_whole = self.read.len() >= length;
            message.body = self.take(length.min(self.read.len()));
        } else if is_answer {
            while self.fill() {}
            message.body = std::mem::take(&mut self.read);
            message.is_whole = true;
        } else {
            message.is_whole = true;
        }
        Some(message)
    }
}

/// What the upstream does with a request.
#[derive(Clone, Debug)]
pub(super) enum DoubleAct {
    Send(Vec<u8>),
    /// Waits for [`Double::go_on`].
    Wait,
    /// Closes the connection.
    Close,
    /// Waits until the other side has left, and reports it.
    SeeLeave,
}

pub(super) type Script = Arc<dyn Fn(&RawMessage) -> Vec<DoubleAct> + Send + Sync>;

/// An upstream that answers by a script.
pub(super) struct Double {
    pub(super) address: SocketAddr,
    received: Arc<Mutex<Vec<RawMessage>>>,
    go: Sender<()>,
    left: Receiver<()>,
}

impl Double {
    pub(super) fn start(script: impl Fn(&RawMessage) -> Vec<DoubleAct> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (go, wait) = mpsc::channel();
        let (leaves, left) = mpsc::channel();
        let (wait, script): (_, Script) = (Arc::new(Mutex::new(wait)), Arc::new(script));
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (kept, wait, leaves, script) =
                    (Arc::clone(&kept), Arc::clone(&wait), leaves.clone(), Arc::clone(&script));
                std::thread::spawn(move || converse(RawWire::of(stream.unwrap()), &kept, &wait, &leaves, &script));
            }
        });
        Self { address, received, go, left }
    }

    /// Answers every request with this.
    pub(super) fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |_| vec![DoubleAct::Send(answer.clone())])
    }

    pub(super) fn received(&self) -> Vec<RawMessage> {
        self.received.lock().unwrap().clone()
    }

    pub(super) fn go_on(&self) {
        self.go.send(()).unwrap();
    }

    pub(super) fn sees_leave(&self) {
        self.left.recv_timeout(PATIENCE).unwrap();
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn converse(
    mut wire: RawWire,
    received: &Mutex<Vec<RawMessage>>,
    wait: &Mutex<Receiver<()>>,
    leaves: &Sender<()>,
    script: &Script,
) {
    while let Some(message) = wire.message(false) {
        received.lock().unwrap().push(message.clone());
        for act in script(&message) {
            match act {
                DoubleAct::Send(bytes) => {
                    if wire.send(bytes).is_err() {
                        return;
                    }
                }
                DoubleAct::Wait => wait.lock().unwrap().recv_timeout(PATIENCE).unwrap(),
                DoubleAct::Close => {
                    wire.close();
                    return;
                }
                DoubleAct::SeeLeave => {
                    if wire.is_at_end() {
                        // The test may have ended.
                        leaves.send(()).ok();
                        return;
                    }
                }
            }
        }
    }
}

/// Allows, refuses or fails by the name of the tool, and keeps what it saw.
#[derive(Debug, Default)]
pub(super) struct Scripted {
    pub(super) refused: Vec<&'static str>,
    /// Calls of these tools are not held.
    pub(super) free: Vec<&'static str>,
    /// Calls of these tools make the judge panic.
    pub(super) broken: Vec<&'static str>,
    pub(super) observes: bool,
    /// The budget is spent after so many answers.
    pub(super) budget: Option<usize>,
    pub(super) judged: Mutex<Vec<WireCall>>,
    pub(super) seen: Mutex<Vec<WireCall>>,
    pub(super) answers: Mutex<VecDeque<(ModelExchange, ModelAnswer)>>,
}

pub(super) const WHY: &str = "`a.txt` is \"protected\"\nby the plan";

impl Scripted {
    pub(super) fn observing() -> Arc<Self> {
        Arc::new(Self { observes: true, ..Self::default() })
    }

    pub(super) fn refusing(refused: &[&'static str]) -> Arc<Self> {
        Arc::new(Self { refused: refused.to_vec(), ..Self::default() })
    }
}

impl CallJudge for Scripted {
    fn is_spent(&self, _: &ModelExchange) -> Option<String> {
        let answers = self.answers.lock().unwrap().len();
        (self.budget? <= answers).then(|| "the budget is spent".to_owned())
    }

    fn refuses(&self, _: &ModelExchange) -> bool {
        !self.observes
    }

    fn holds(&self, _: &ModelExchange, tool: &str) -> bool {
        !self.free.contains(&tool)
    }

    fn judge(&self, _: &ModelExchange, call: &WireCall) -> CallRuling {
        assert!(!self.broken.contains(&&*call.tool), "a broken judge");
        self.judged.lock().unwrap().push(call.clone());
        if self.refused.contains(&&*call.tool) { CallRuling::Refuse { why: WHY.to_owned() } } else { CallRuling::Allow }
    }

    fn without_judgement(&self, _: &ModelExchange, _: &WireCall) -> CallRuling {
        CallRuling::Refuse { why: "steadfast failed".to_owned() }
    }

    fn saw_call(&self, _: &ModelExchange, call: &WireCall) {
        self.seen.lock().unwrap().push(call.clone());
    }

    fn saw_answer(&self, exchange: &ModelExchange, answer: &ModelAnswer) {
        self.answers.lock().unwrap().push_back((exchange.clone(), answer.clone()));
    }
}

pub(super) fn proxy_to(url: &str, judge: Arc<impl CallJudge>) -> RunningProxy {
    let upstream = Upstream::new(url, &NetworkSettings::default()).unwrap();
    RunningProxy::start(vec![ProxyRoute::new(TOKEN, upstream).unwrap()], judge).unwrap()
}

/// Returns a request. `headers` end with a line end each.
pub(super) fn request(method: &str, address: SocketAddr, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n{headers}{length}\r\n").into_bytes();
    request.extend_from_slice(body);
    request
}

/// Posts a body through a proxy on a new connection.
pub(super) fn post(proxy: &RunningProxy, path: &str, headers: &str, body: &[u8]) -> RawMessage {
    let mut wire = RawWire::connect(proxy.address());
    wire.send(request("POST", proxy.address(), &format!("/{TOKEN}{path}"), headers, body)).unwrap();
    wire.message(true).expect("an answer")
}

pub(super) fn chunked(chunks: &[&[u8]]) -> Vec<u8> {
    let mut body = Vec::new();
    for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
        body.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        body.extend_from_slice(chunk);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"0\r\n\r\n");
    body
}

pub(super) fn event_stream(body: &[u8]) -> Vec<u8> {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
    [head.as_bytes(), &chunked(&[body])].concat()
}
