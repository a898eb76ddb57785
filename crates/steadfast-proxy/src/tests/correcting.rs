//! Corrections in the results of calls.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use steadfast_testkit::{PATIENCE, wait_for};

use super::double::{Double, WHY, post, proxy_to};
use super::refusing::{path, upstream};
use crate::tests::client::{FORMATS, answer, next_request, stored};
use crate::wire::{ModelAnswer, WireCall, WireFormat, WireResult};
use crate::{CallJudge, CallRuling, ModelExchange};

const TEXT: &str = "not \"asked\" for\nby the user";

/// Corrects the results of some calls, once it has judged them.
#[derive(Debug, Default)]
struct Corrector {
    /// By the ids of the calls.
    texts: BTreeMap<&'static str, &'static str>,
    observes: bool,
    fails: bool,
    /// Judges a new result only after this.
    go: Option<Mutex<Receiver<()>>>,
    judged: Mutex<Vec<String>>,
}

impl Corrector {
    fn of(texts: &[(&'static str, &'static str)]) -> Self {
        Self { texts: texts.iter().copied().collect(), ..Self::default() }
    }

    fn waiting(self) -> (Arc<Self>, Sender<()>) {
        let (go, wait) = channel();
        (Arc::new(Self { go: Some(Mutex::new(wait)), ..self }), go)
    }

    fn judged(&self) -> Vec<String> {
        self.judged.lock().unwrap().clone()
    }
}

impl CallJudge for Corrector {
    fn refuses(&self, _: &ModelExchange) -> bool {
        true
    }

    fn holds(&self, _: &ModelExchange, tool: &str) -> bool {
        tool == "Write"
    }

    fn judge(&self, _: &ModelExchange, _: &WireCall) -> CallRuling {
        CallRuling::Refuse { why: WHY.to_owned() }
    }

    fn without_judgement(&self, _: &ModelExchange, _: &WireCall) -> CallRuling {
        CallRuling::Allow
    }

    fn saw_call(&self, _: &ModelExchange, _: &WireCall) {}

    fn awaits_results(&self, _: &ModelExchange) -> bool {
        true
    }

    fn awaits_result(&self, _: &ModelExchange, id: &str) -> bool {
        self.texts.contains_key(id)
    }

    fn corrects(&self, _: &ModelExchange) -> bool {
        !self.observes
    }

    fn judge_results(&self, _: &ModelExchange, results: &[WireResult]) {
        assert!(!self.fails, "a broken judge");
        for result in results {
            if self.judged().contains(&result.id) {
                continue;
            }
            if let Some(go) = &self.go {
                go.lock().unwrap().recv_timeout(PATIENCE).unwrap();
            }
            self.judged.lock().unwrap().push(result.id.clone());
        }
    }

    fn corrections(&self, _: &ModelExchange, results: &[WireResult]) -> Vec<Option<String>> {
        let judged = self.judged();
        let text = |id: &str| judged.iter().any(|known| known == id).then(|| self.texts[id].to_owned());
        results.iter().map(|result| text(&result.id)).collect()
    }

    fn saw_answer(&self, _: &ModelExchange, _: &ModelAnswer) {}
}

/// The next request of the client, and what the upstream has to see of it. `Write` is refused.
fn requests(format: WireFormat, proxied: &[u8], texts: &BTreeMap<&str, &str>) -> (String, Value) {
    let ran = |tool: &str| (format!("ran {tool}"), false);
    let sent = next_request(format, &stored(format, proxied), ran).to_string();
    let seen = |tool: &str| match tool {
        "Write" => (WHY.to_owned(), true),
        "Read" if texts.contains_key("call_2") => (format!("ran Read\n\n{}", texts["call_2"]), false),
        "List" if texts.contains_key("call_3") => (format!("ran List\n\n{}", texts["call_3"]), false),
        tool => ran(tool),
    };
    (sent, next_request(format, &stored(format, answer(format).as_bytes()), seen))
}

fn body_of(upstream: &Double, number: usize) -> Value {
    let request = &upstream.received()[number];
    assert_eq!(request.header("content-length"), Some(&*request.body.len().to_string()));
    serde_json::from_slice(&request.body).unwrap()
}

#[test]
fn a_result_carries_its_correction_in_each_request_and_a_refused_call_its_reason_alone() {
    for format in FORMATS {
        let upstream = upstream(format);
        let judge = Arc::new(Corrector::of(&[("call_2", TEXT), ("call_3", "more")]));
        let proxy = proxy_to(&upstream.url(), judge.clone());
        let first = post(&proxy, path(format), "", b"{}");
        let (sent, seen) = requests(format, &first.body, &judge.texts);
        for _ in 0..3 {
            post(&proxy, path(format), "", sent.as_bytes());
        }
        let received = upstream.received();
        assert_eq!(body_of(&upstream, 1), seen, "{format:?}");
        assert!(received[2].body == received[1].body && received[3].body == received[1].body);
        assert_eq!(judge.judged(), ["call_2", "call_3"], "each is new once");
    }
}

#[test]
fn counting_tokens_and_compressed_requests_have_the_corrections_too() {
    let compressed =
        |text: &str| ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    for (format, path) in
        [(WireFormat::Messages, "/v1/messages/count_tokens"), (WireFormat::Responses, "/v1/responses/compact")]
    {
        let upstream = upstream(format);
        let judge = Arc::new(Corrector::of(&[("call_2", TEXT)]));
        let proxy = proxy_to(&upstream.url(), judge.clone());
        let first = post(&proxy, super::refusing::path(format), "", b"{}");
        let (sent, seen) = requests(format, &first.body, &judge.texts);
        post(&proxy, path, "", sent.as_bytes());
        post(&proxy, path, "Content-Encoding: zstd\r\n", &compressed(&sent));
        assert_eq!([body_of(&upstream, 1), body_of(&upstream, 2)], [seen.clone(), seen]);
        assert_eq!(upstream.received()[2].header("content-encoding"), None);
    }
}

#[test]
fn a_compressed_request_without_corrections_passes_as_it_is() {
    let upstream = upstream(WireFormat::Responses);
    let proxy = proxy_to(&upstream.url(), Arc::new(Corrector::of(&[("call_9", TEXT)])));
    let body = json!({"input": [{"type": "function_call_output", "call_id": "call_2", "output": "x"}]}).to_string();
    let body = ruzstd::encoding::compress_to_vec(body.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    for (header, body) in [("zstd", &body[..]), ("zstd", b"not zstd"), ("br", b"unknown")] {
        post(&proxy, "/v1/responses", &format!("Content-Encoding: {header}\r\n"), body);
        let received = upstream.received().pop().unwrap();
        assert_eq!((&received.body[..], received.header("content-encoding")), (body, Some(header)));
    }
}

#[test]
fn a_judge_that_fails_has_nothing_to_say() {
    let format = WireFormat::Messages;
    let upstream = upstream(format);
    let judge = Arc::new(Corrector { fails: true, ..Corrector::of(&[("call_2", TEXT)]) });
    let proxy = proxy_to(&upstream.url(), judge);
    let first = post(&proxy, path(format), "", b"{}");
    let (sent, seen) = requests(format, &first.body, &BTreeMap::new());
    assert_eq!(post(&proxy, path(format), "", sent.as_bytes()).status(), 200);
    assert_eq!(body_of(&upstream, 1), seen);
}

#[test]
fn an_observing_judge_keeps_no_request_waiting() {
    let format = WireFormat::Messages;
    let upstream = upstream(format);
    let (judge, go) = Corrector { observes: true, ..Corrector::of(&[("call_2", TEXT)]) }.waiting();
    let proxy = proxy_to(&upstream.url(), judge.clone());
    let first = post(&proxy, path(format), "", b"{}");
    let (sent, seen) = requests(format, &first.body, &BTreeMap::new());
    post(&proxy, path(format), "", sent.as_bytes());
    assert_eq!((body_of(&upstream, 1), judge.judged()), (seen, vec![]), "it is still being judged");
    go.send(()).unwrap();
    wait_for("the ruling", || if judge.judged() == ["call_2"] { Ok(()) } else { Err("none".to_owned()) });
}

mod timing {
    use super::*;

    #[test]
    fn a_request_goes_on_without_a_ruling_that_takes_too_long_and_keeps_the_earlier_ones() {
        let format = WireFormat::Messages;
        let upstream = upstream(format);
        let (judge, go) = Corrector::of(&[("call_2", TEXT), ("call_3", "too late")]).waiting();
        let proxy = proxy_to(&upstream.url(), judge.clone());
        let first = post(&proxy, path(format), "", b"{}");
        go.send(()).unwrap();
        // The first result is judged, the second one hangs.
        let (sent, seen) = requests(format, &first.body, &BTreeMap::from([("call_2", TEXT)]));
        post(&proxy, path(format), "", sent.as_bytes());
        assert_eq!((body_of(&upstream, 1), judge.judged()), (seen, vec!["call_2".to_owned()]));
        go.send(()).unwrap();
    }
}
