//! Real proxies between clients and services that speak HTTP by hand.

mod account;
mod recording;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::thread;

use steadfast_testkit::PATIENCE;

/// A service that counts its requests. The first ones wait for each other.
pub(super) struct Service {
    pub(super) address: SocketAddr,
    pub(super) requests: Arc<AtomicU64>,
}

impl Service {
    /// `answers`: the events for each path.
    pub(super) fn start(together: usize, answers: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, barrier) = (Arc::new(AtomicU64::new(0)), Arc::new(Barrier::new(together)));
        let (counted, answers) = (Arc::clone(&requests), Arc::new(answers));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (requests, barrier, answers) = (Arc::clone(&counted), Arc::clone(&barrier), Arc::clone(&answers));
                thread::spawn(move || {
                    let mut wire = Wire::of(stream.unwrap());
                    while let Some(path) = wire.request() {
                        if requests.fetch_add(1, SeqCst) < together as u64 {
                            barrier.wait();
                        }
                        let events = answers(&path);
                        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nset-cookie: sid=a-new-cookie\r\n\
                                    anthropic-ratelimit-tokens-reset: 2026-11-20T00:00:00Z\r\ntransfer-encoding: chunked";
                        wire.send(&format!("{head}\r\n\r\n{:x}\r\n{events}\r\n0\r\n\r\n", events.len()));
                    }
                });
            }
        });
        Self { address, requests }
    }
}

pub(super) struct Wire(BufReader<TcpStream>);

impl Wire {
    pub(super) fn of(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(BufReader::new(stream))
    }

    pub(super) fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
    }

    /// Reads a head as its lines in lower case. Empty: the connection ended.
    fn head(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap_or_default() == 0 || line == "\r\n" {
                return lines;
            }
            lines.push(line.trim_end().to_lowercase());
        }
    }

    fn length(head: &[String]) -> Option<usize> {
        head.iter().find_map(|line| line.strip_prefix("content-length: ")).map(|length| length.parse().unwrap())
    }

    /// Reads a request, and returns its path.
    pub(super) fn request(&mut self) -> Option<String> {
        let head = self.head();
        let path = head.first()?.split(' ').nth(1)?.to_owned();
        self.0.read_exact(&mut vec![0; Self::length(&head).unwrap_or_default()]).unwrap();
        Some(path)
    }

    /// Reads an answer: its head and its body, with the sizes of its chunks in it.
    pub(super) fn answer(&mut self) -> (Vec<String>, String) {
        let head = self.head();
        let mut body = String::new();
        if let Some(length) = Self::length(&head) {
            let mut bytes = vec![0; length];
            self.0.read_exact(&mut bytes).unwrap();
            body = String::from_utf8(bytes).unwrap();
        } else {
            while !body.ends_with("\r\n0\r\n\r\n") {
                let read = self.0.read_line(&mut body);
                assert!(read.is_ok_and(|read| read > 0), "the answer broke: {head:?} {body:?}");
            }
        }
        (head, body)
    }

    /// Reads a head, and what follows until the body is whole or the connection ends.
    pub(super) fn read_to_the_end(&mut self) {
        let length = Self::length(&self.head()).unwrap();
        let mut body = Vec::new();
        drop((&mut self.0).take(length as u64).read_to_end(&mut body));
    }
}
