//! The agents of a run and their account.

use std::ffi::OsString;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread;

use steadfast_hosts::install::Homes;
use steadfast_hosts::launch::Launch;
use steadfast_hosts::price::Prices;
use steadfast_model::ProxyMode;

use super::{Service, Wire};
use crate::{AgentWork, ProxiedRunAgent, RunAccount, RunProxies};

const AGENTS: usize = 4;
const STREAMS: usize = 20;

/// The cost of every answer in micro-dollars, at the prices of the two models.
const ANSWER: u64 = 20_000;

/// An answer that costs so much, for a client of Messages or of Responses.
fn events(path: &str) -> String {
    if path.ends_with("/messages") {
        "data: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-opus-5-5\",\"usage\":{\"input_tokens\":0}}}\n\n\
         data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1000}}\n\n\
         data: {\"type\":\"message_stop\"}\n\n"
            .to_owned()
    } else {
        "data: {\"type\":\"response.completed\",\"response\":{\"model\":\"gpt-5\",\"status\":\"completed\",\
         \"usage\":{\"input_tokens\":0,\"output_tokens\":2000}}}\n\n"
            .to_owned()
    }
}

fn proxies(account: &Arc<RunAccount>) -> RunProxies {
    RunProxies {
        account: Arc::clone(account),
        mode: ProxyMode::Observe,
        prices: Prices::built_in(),
        homes: Homes { home: PathBuf::from("/nonexistent"), claude_config_dir: None, codex_home: None, path: None },
        variable: |_| None,
        hook: || panic!("experts have no hooks"),
        login: OnceLock::new(),
    }
}

/// An agent of which only the address of its proxy is used.
fn agent(proxies: &RunProxies, service: SocketAddr, is_claude: bool) -> (ProxiedRunAgent, String) {
    let url = format!("http://{service}");
    let words = if is_claude {
        ["--settings".to_owned(), format!(r#"{{"env":{{"ANTHROPIC_BASE_URL":"{url}"}},"hooks":{{}}}}"#)]
    } else {
        ["-c".to_owned(), format!("openai_base_url=\"{url}\"")]
    };
    let program = if is_claude { "/bin/claude" } else { "/bin/codex" };
    let env = vec![("MINE".to_owned(), OsString::from("1"))];
    let launch = Launch { program: program.into(), args: words.map(Into::into).into(), env, clear_env: false };
    let agent = proxies.start(launch, "/".as_ref(), AgentWork::Reading).unwrap();
    let line = agent.launch.args.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ");
    // The user's own settings come first.
    let from = line.rfind("http://127.0.0.1:").unwrap_or_else(|| panic!("{line}"));
    let address = line[from..].split(['"', ' ']).next().unwrap().to_owned();
    (agent, address)
}

/// Asks once, and returns the status with the rest of the answer.
fn ask(url: &str, is_claude: bool) -> (u16, Vec<String>, String) {
    let (address, token) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let path = if is_claude { "v1/messages" } else { "responses" };
    let mut wire = Wire::of(TcpStream::connect(address).unwrap());
    wire.send(&format!("POST /{token}/{path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 2\r\n\r\n{{}}"));
    let (head, body) = wire.answer();
    (head[0].split(' ').nth(1).unwrap().parse().unwrap(), head, body)
}

/// The form that ends the host at once.
fn assert_refusal(is_claude: bool, (status, head, body): &(u16, Vec<String>, String)) {
    let ends = |line: &String| line == "x-should-retry: false";
    let (expected, kind) = if is_claude { (429, "rate_limit_error") } else { (400, "invalid_request_error") };
    assert_eq!((*status, head.iter().any(ends)), (expected, is_claude), "{head:?}");
    assert!(body.contains(kind) && body.contains("The budget of this run is spent: $"), "{body}");
}

#[test]
fn twenty_streams_exceed_a_budget_by_their_answers_under_way_at_most() {
    let account = Arc::new(RunAccount::default());
    let limit = 57 * ANSWER + 1;
    // An earlier stretch of the run spent some of it.
    account.begin(Some(limit), 7 * ANSWER);
    let service = Service::start(STREAMS, events);
    let proxies = proxies(&account);
    let agents: Vec<_> =
        (0..AGENTS).map(|number| (number % 2 == 0, agent(&proxies, service.address, number % 2 == 0))).collect();
    let is_spent = AtomicBool::new(false);
    thread::scope(|scope| {
        for number in 0..STREAMS {
            let (is_claude, (_, url)) = &agents[number % AGENTS];
            let is_spent = &is_spent;
            scope.spawn(move || {
                loop {
                    let is_late = is_spent.load(SeqCst);
                    let answer = ask(url, *is_claude);
                    if answer.0 != 200 {
                        is_spent.store(true, SeqCst);
                        assert_refusal(*is_claude, &answer);
                        return;
                    }
                    assert!(!is_late, "forwarded after a refusal");
                }
            });
        }
    });
    let forwarded = service.requests.load(SeqCst);
    let spent = 7 * ANSWER + forwarded * ANSWER;
    assert!(spent >= limit && spent <= limit + STREAMS as u64 * ANSWER, "{spent} of {limit}");
    assert_eq!(account.left(), Some(0));
    let counted: u64 = agents.iter().map(|(_, (agent, _))| agent.meter.spent().micro_usd.unwrap()).sum();
    assert_eq!(counted, forwarded * ANSWER);
    for (is_claude, (agent, url)) in &agents {
        assert!(agent.meter.has_refused());
        assert_refusal(*is_claude, &ask(url, *is_claude));
    }
    assert_eq!(service.requests.load(SeqCst), forwarded, "a request was forwarded afterwards");
    // With a larger budget the next stretch goes on.
    account.begin(Some(limit + 100 * ANSWER), spent);
    assert!(agents.iter().all(|(is_claude, (_, url))| ask(url, *is_claude).0 == 200));
}

#[test]
fn answers_under_way_are_finished_and_nothing_follows_them() {
    let account = Arc::new(RunAccount::default());
    // The first answer spends it, and no answer begins before all twenty requests have been forwarded.
    account.begin(Some(ANSWER), 0);
    let service = Service::start(STREAMS, events);
    let (claude, url) = agent(&proxies(&account), service.address, true);
    // The first answers alone do not spend the budget.
    let answered = Barrier::new(STREAMS);
    thread::scope(|scope| {
        for _ in 0..STREAMS {
            scope.spawn(|| {
                assert_eq!(ask(&url, true).0, 200);
                answered.wait();
                assert_refusal(true, &ask(&url, true));
            });
        }
    });
    assert_eq!(service.requests.load(SeqCst), STREAMS as u64);
    assert_eq!(claude.meter.spent().micro_usd, Some(STREAMS as u64 * ANSWER));
}

#[test]
fn a_proxied_agent_keeps_its_command_line_and_its_variables() {
    let account = Arc::new(RunAccount::default());
    let service = Service::start(1, events);
    let (claude, url) = agent(&proxies(&account), service.address, true);
    let words: Vec<&str> = claude.launch.args.iter().map(|word| word.to_str().unwrap()).collect();
    assert_eq!(words, ["--settings", &format!(r#"{{"env":{{"ANTHROPIC_BASE_URL":"{url}"}},"hooks":{{}}}}"#)]);
    assert_eq!(claude.launch.env, [("MINE".to_owned(), OsString::from("1"))]);
    let address: SocketAddr = url.strip_prefix("http://").unwrap().split('/').next().unwrap().parse().unwrap();
    assert!(TcpStream::connect(address).is_ok());
    drop(claude);
    assert!(TcpStream::connect(address).is_err(), "the proxy outlives its agent");
}
