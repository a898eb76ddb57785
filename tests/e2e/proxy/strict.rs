//! Subagents and compactions behind the proxy, and every byte of a session on both of its sides.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::*;

on!(a_refused_call_of_a_subagent_is_put_back: claude_2_1_325, claude_2_1_197, codex_0_166_0);
on!(a_compaction_has_the_refused_calls_as_the_model_wrote_them: claude_2_1_325, codex_0_166_0);
on!(every_exchange_of_a_session_has_the_same_bytes_on_both_sides: claude_2_1_325, claude_2_1_197, codex_0_166_0);

fn a_refused_call_of_a_subagent_is_put_back(program: &Program) {
    let scene = Scene::bare(program);
    let both = [Action::write("forbidden.txt", "mine\n"), Action::write("first.txt", "one\n")];
    let scenario = Scenario::new("subagent")
        .prompt(PROMPT)
        .agent("general-purpose", "write both")
        // A subagent of Codex runs beside the main thread.
        .shell("until test -e second.txt; do sleep 0.1; done")
        .say("Done.")
        .subagent([
            Turn::doing(both),
            Turn::doing([Action::shell("echo mine > forbidden.txt")]),
            Turn::doing([Action::shell("echo two > second.txt")]),
            Turn::saying("Both are there."),
        ]);
    let (session, _proxy) = behind(scene.session(scenario), Arc::default());
    let run = session.run();
    assert!(run.status.success(), "{}", run.errors);
    assert!(!scene.root().join("forbidden.txt").exists());
    assert!(scene.root().join("first.txt").exists() && scene.root().join("second.txt").exists());
    is_one_conversation(&main_requests(&run));
    let requests: Vec<Request> =
        run.requests.iter().filter(|request| request.track == Track::Subagent).cloned().collect();
    assert!(requests.len() >= 4, "{}", requests.len());
    is_one_conversation(&requests);
    for (request, forbidden) in requests.iter().zip([0, 1, 2, 2]) {
        is_refused(request, forbidden);
    }
}

fn a_compaction_has_the_refused_calls_as_the_model_wrote_them(program: &Program) {
    let scene = Scene::bare(program);
    let both = [Action::write("forbidden.txt", "mine\n"), Action::write("first.txt", "one\n")];
    let scenario = Scenario::new("compaction")
        .prompt(PROMPT)
        .turn(Turn::saying("I write both.").calling(both))
        .turn(Turn::doing([Action::shell("echo mine > forbidden.txt"), Action::Compact {}]))
        .write("second.txt", "two\n")
        .say("Done.");
    let (session, _proxy) = behind(scene.session(scenario), Arc::default());
    let run = session.run();
    assert!(run.status.success(), "{}", run.errors);
    assert!(!scene.root().join("forbidden.txt").exists() && scene.root().join("second.txt").exists());
    let conversations: Vec<&Request> = run
        .requests
        .iter()
        .filter(|request| {
            request.method == "POST" && (request.body["messages"].is_array() || request.body["input"].is_array())
        })
        .collect();
    for request in &conversations {
        let produced = calls(request);
        assert!(produced.iter().all(|(_, tool, _)| tool != REFUSED_TOOL), "{produced:?}");
        is_refused(
            request,
            produced.iter().filter(|(_, _, input)| input.to_string().contains("forbidden.txt")).count(),
        );
    }
    let forbidden = |request: &Request| {
        calls(request).iter().filter(|(_, _, input)| input.to_string().contains("forbidden.txt")).count()
    };
    // Claude Code keeps its last turn, and asks for a summary of the others.
    let (in_summary, kept) = if program.is_claude() { (1, 1) } else { (2, 0) };
    let asks_for_summary = |request: &&&Request| request.track == Track::Side || !program.is_claude();
    let most = conversations.iter().filter(asks_for_summary).map(|request| forbidden(request)).max();
    assert_eq!((most, forbidden(conversations.last().unwrap())), (Some(in_summary), kept));
}

fn every_exchange_of_a_session_has_the_same_bytes_on_both_sides(program: &Program) {
    let scene = Scene::bare(program);
    let session = scene.session(work());
    let model: SocketAddr = session.model_url().strip_prefix("http://").unwrap().parse().unwrap();
    let behind = Tee::start(model);
    let upstream = Upstream::new(&format!("http://{}", behind.address), &NetworkSettings::default()).unwrap();
    let judge = Arc::new(FileGuard { observes: true, ..FileGuard::default() });
    let proxy = RunningProxy::start(vec![ProxyRoute::new(TOKEN, upstream).unwrap()], judge).unwrap();
    let before = Tee::start(proxy.address());
    let run = session.behind(format!("http://{}/{TOKEN}", before.address)).run();
    assert!(run.status.success(), "{}", run.errors);
    drop(proxy);
    let (sent, arrived) = (before.exchanges(), behind.exchanges());
    assert!(sent.len() >= 4, "{}", sent.len());
    let streams = sent.iter().filter(|exchange| exchange.answer.starts_with(b"event: ")).count();
    assert!(streams >= 4, "{streams}");
    for exchange in &sent {
        let same: Vec<&Exchange> = arrived.iter().filter(|other| other.head == exchange.head).collect();
        assert!(same.contains(&exchange), "{exchange:?} arrived as {same:?}");
    }
    assert_eq!(sent.len(), arrived.len());
}

/// A request and its answer, less what belongs to one connection only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Exchange {
    head: String,
    headers: BTreeSet<String>,
    request: Vec<u8>,
    answer_head: String,
    answer_headers: BTreeSet<String>,
    answer: Vec<u8>,
}

/// The bytes of a connection: to the server, and back.
type BothWays = Arc<Mutex<[Vec<u8>; 2]>>;

/// Passes connections on, and keeps what went both ways.
struct Tee {
    address: SocketAddr,
    connections: Arc<Mutex<Vec<BothWays>>>,
}

impl Tee {
    fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::<Mutex<Vec<BothWays>>>::default();
        let known = Arc::clone(&connections);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(to) else { continue };
                let seen = BothWays::default();
                known.lock().unwrap().push(Arc::clone(&seen));
                // The proxy admits only clients that know it by its own address.
                let names = [address, to].map(|address| address.to_string());
                for (number, mut from, mut into) in
                    [(0, client.try_clone().unwrap(), server.try_clone().unwrap()), (1, server, client)]
                {
                    let (seen, names) = (Arc::clone(&seen), names.clone());
                    thread::spawn(move || {
                        let mut buffer = vec![0; 256 << 10];
                        while let Ok(size) = from.read(&mut buffer) {
                            let bytes =
                                if number == 0 { renamed(&buffer[..size], &names) } else { buffer[..size].to_vec() };
                            seen.lock().unwrap()[number].extend_from_slice(&bytes);
                            if size == 0 || into.write_all(&bytes).is_err() {
                                break;
                            }
                        }
                        drop(into.shutdown(Shutdown::Write));
                    });
                }
            }
        });
        Self { address, connections }
    }

    fn exchanges(&self) -> Vec<Exchange> {
        let connections = self.connections.lock().unwrap();
        let mut found = Vec::new();
        for connection in connections.iter() {
            let [requests, answers] = connection.lock().unwrap().clone();
            let (mut requests, mut answers) = (&requests[..], &answers[..]);
            while let Some((head, headers, request)) = message(&mut requests, false) {
                let Some((answer_head, answer_headers, answer)) = message(&mut answers, head.starts_with("HEAD "))
                else {
                    break;
                };
                let head = head.replacen(&format!("/{TOKEN}/"), "/", 1).replacen(&format!("/{TOKEN} "), "/ ", 1);
                found.push(Exchange { head, headers, request, answer_head, answer_headers, answer });
            }
        }
        found
    }
}

/// Ports of these tests have five digits, so that the length stays.
fn renamed(bytes: &[u8], [from, to]: &[String; 2]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(from.len()).position(|window| window == from.as_bytes()) {
        at += found;
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    }
    bytes
}

/// Takes a message of HTTP/1.1: its first line, its headers, its body.
fn message(bytes: &mut &[u8], is_bare: bool) -> Option<(String, BTreeSet<String>, Vec<u8>)> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    *bytes = &bytes[end + 4..];
    let (first, rest) = head.split_once("\r\n").unwrap_or((&head, ""));
    let headers: BTreeSet<String> = rest.split("\r\n").map(str::to_owned).collect();
    let value = |name: &str| {
        let of = |line: &String| {
            line.split_once(':')
                .filter(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.trim().to_owned())
        };
        headers.iter().find_map(of)
    };
    let body = if is_bare {
        Vec::new()
    } else if value("transfer-encoding").is_some() {
        let mut body = Vec::new();
        loop {
            let line = bytes.windows(2).position(|window| window == b"\r\n")?;
            let size = usize::from_str_radix(std::str::from_utf8(&bytes[..line]).unwrap().trim(), 16).unwrap();
            body.extend_from_slice(bytes.get(line + 2..line + 2 + size)?);
            *bytes = bytes.get(line + 2 + size + 2..)?;
            if size == 0 {
                break body;
            }
        }
    } else {
        let length = value("content-length").map_or(0, |length| length.parse().unwrap());
        let body = bytes.get(..length)?.to_vec();
        *bytes = &bytes[length..];
        body
    };
    let connection = ["connection", "transfer-encoding", "host", "accept-encoding", "content-length", "keep-alive"];
    let is_kept = |line: &String| {
        !line.split_once(':').is_some_and(|(key, _)| connection.iter().any(|name| key.eq_ignore_ascii_case(name)))
    };
    let kept = headers.iter().filter(|line| is_kept(line)).cloned().collect();
    Some((first.to_owned(), kept, body))
}
