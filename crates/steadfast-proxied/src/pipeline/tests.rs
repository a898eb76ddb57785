use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use steadfast_hosts::price::Prices;
use steadfast_model::{Course, Gate, GateScope, PromptOrigin};
use steadfast_proxy::wire::{CallKind, results};
use steadfast_store::{ConfigFiles, Place, SessionFiles, close_gate};

use super::*;

const SESSION: &str = "behind";

struct Repository {
    dir: tempfile::TempDir,
    place: Place,
}

impl Repository {
    /// `config`: the user's settings for the repository.
    fn new(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        let place = Place::of(dir.path(), None).unwrap();
        place.create().unwrap();
        fs::write(place.state.join("steadfast.toml"), config).unwrap();
        Self { dir, place }
    }

    fn files(&self) -> SessionFiles {
        SessionFiles::of(&self.place, &SessionId::new(SESSION))
    }

    fn pipeline(&self, host: Host, mode: Mode) -> Arc<ProxyPipeline> {
        let cwd = self.dir.path().to_owned();
        let meter = Arc::new(Meter::new(Prices::built_in(), None));
        ProxyPipeline::start(meter, host, mode, Box::new(move || surroundings(&cwd)))
    }

    fn client(&self, mode: Mode) -> Client {
        Client::of(self.pipeline(Host::Claude, mode), Host::Claude)
    }

    fn hook(&self, kind: EventKind) {
        let id = SessionId::new(SESSION);
        let event = Event::plain(id, Host::Claude, self.place.worktree(), Millis(1_000), kind);
        steadfast_hook::handle_event(&self.place, &ConfigFiles::of(&self.place, None), event).unwrap();
    }
}

fn surroundings(cwd: &Path) -> HookEnvironment {
    HookEnvironment::bare(Millis(1_000), cwd.to_owned())
}

/// A client behind the proxy, with the conversation of its main thread or a subagent.
struct Client {
    pipeline: Arc<ProxyPipeline>,
    exchange: ModelExchange,
    conversation: Vec<Value>,
}

impl Client {
    fn of(pipeline: Arc<ProxyPipeline>, host: Host) -> Self {
        let format = if host == Host::Codex { WireFormat::Responses } else { WireFormat::Messages };
        let exchange = ModelExchange { format, session: Some(SESSION.to_owned()), agent: None, turn: None };
        Self { pipeline, exchange, conversation: Vec::new() }
    }

    fn call(&mut self, id: &str, tool: &str, input: &Value) -> CallRuling {
        let input = input.to_string();
        let call = WireCall {
            id: id.to_owned(),
            tool: tool.to_owned(),
            namespace: None,
            input: input.clone(),
            is_cut: false,
            kind: CallKind::Function,
            thinking: String::new(),
        };
        self.conversation.push(match self.exchange.format {
            WireFormat::Responses => {
                json!({"type": "function_call", "call_id": id, "name": tool, "arguments": input})
            }
            _ => json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": tool, "input": serde_json::from_str::<Value>(&input).unwrap()}]}),
        });
        if self.pipeline.refuses(&self.exchange) {
            return self.pipeline.judge(&self.exchange, &call);
        }
        self.pipeline.saw_call(&self.exchange, &call);
        CallRuling::Allow
    }

    fn result(&mut self, id: &str) {
        self.conversation.push(match self.exchange.format {
            WireFormat::Responses => json!({"type": "function_call_output", "call_id": id, "output": "ok"}),
            _ => json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]}),
        });
    }

    fn body(&self) -> String {
        let key = if self.exchange.format == WireFormat::Responses { "input" } else { "messages" };
        json!({"tools": [{}], key: self.conversation}).to_string()
    }

    /// Sends a prompt of the human.
    fn prompt(&mut self, text: &str) {
        self.conversation.push(json!({"role": "assistant", "content": [{"type": "text", "text": "Done."}]}));
        self.conversation.push(json!({"role": "user", "content": text}));
        self.ask();
    }

    /// Sends the conversation for an answer.
    fn ask(&self) {
        assert!(self.pipeline.reads_prompts(&self.exchange));
        let prompt = WirePrompt::of(self.exchange.format, self.body().as_bytes()).unwrap();
        self.pipeline.saw_prompt(&self.exchange, &prompt);
    }

    fn results(&self) -> Vec<WireResult> {
        let body = self.body();
        results(self.exchange.format, body.as_bytes(), |id| self.pipeline.awaits_result(&self.exchange, id))
    }

    /// Sends the conversation, and returns the corrections in it by the ids of their calls.
    fn send(&self) -> Vec<(String, String)> {
        let results = self.results();
        if !self.pipeline.awaits_results(&self.exchange) {
            assert_eq!(results, []);
        }
        self.pipeline.judge_results(&self.exchange, &results);
        self.corrections(&results)
    }

    fn corrections(&self, results: &[WireResult]) -> Vec<(String, String)> {
        let said = self.pipeline.corrections(&self.exchange, results);
        results.iter().zip(said).filter_map(|(result, said)| Some((result.id.clone(), said?))).collect()
    }

    fn write(&mut self, id: &str, path: &str) -> CallRuling {
        let ruling = match self.exchange.format {
            WireFormat::Responses => self.call(id, "exec_command", &json!({"cmd": format!("echo 1 > {path}")})),
            _ => self.call(id, "Write", &json!({"file_path": path, "content": "1\n"})),
        };
        self.result(id);
        ruling
    }

    /// Writes where the work is, then at two other places. The third write is corrected.
    fn stray(&mut self) -> Vec<(String, String)> {
        for (id, path) in [("a", "src/auth/token.txt"), ("b", "web/menu.txt"), ("c", "ops/list.txt")] {
            assert_eq!(self.write(id, path), CallRuling::Allow);
            self.send();
        }
        self.send()
    }
}

const NUDGE: &str = "[Steadfast, set up by the user] Is this part of the goal?";
const CORRECTION: &str = "[Steadfast, set up by the user] This leads away from the goal";

fn prompts(repository: &Repository) -> usize {
    let journal = fs::read_to_string(repository.files().dir().join("journal")).unwrap();
    journal.matches("\"origin\":\"proxied\"").count()
}

fn ids(said: &[(String, String)]) -> Vec<&str> {
    said.iter().map(|(id, _)| id.as_str()).collect()
}

#[test]
fn a_stray_write_is_corrected_in_its_own_result_and_in_each_later_request() {
    for host in [Host::Claude, Host::Codex] {
        for mode in [Mode::Advise, Mode::Enforce] {
            let repository = Repository::new("");
            let mut client = Client::of(repository.pipeline(host, mode), host);
            client.write("a", "src/auth/token.txt");
            assert_eq!(client.send(), []);
            client.write("b", "web/menu.txt");
            let first = client.send();
            assert!(ids(&first) == ["b"] && first[0].1.starts_with(NUDGE), "{host} {mode} {first:?}");
            client.write("c", "ops/list.txt");
            let both = client.send();
            assert!(ids(&both) == ["b", "c"] && both[1].1.starts_with(CORRECTION), "{host} {mode} {both:?}");
            assert_eq!(both[0], first[0]);
            assert_eq!(client.send(), both);
            client.write("d", "src/auth/token.txt");
            assert_eq!(client.send(), both, "{host} {mode}");
        }
    }
}

#[test]
fn corrections_are_repeated_by_another_proxy_also_one_that_observes() {
    let repository = Repository::new("");
    let mut client = repository.client(Mode::Advise);
    let said = client.stray();
    assert_eq!(ids(&said), ["b", "c"]);
    for mode in [Mode::Observe, Mode::Advise, Mode::Enforce] {
        client.pipeline = repository.pipeline(Host::Claude, mode);
        assert!(client.pipeline.awaits_results(&client.exchange) && client.pipeline.corrects(&client.exchange));
        assert_eq!(client.send(), said, "{mode}");
    }
}

#[test]
fn a_forked_session_keeps_the_corrections_of_its_results() {
    let repository = Repository::new("");
    let mut client = repository.client(Mode::Advise);
    let said = client.stray();
    for mode in [Mode::Observe, Mode::Advise] {
        let mut fork = repository.client(mode);
        fork.exchange.session = Some(format!("fork in {mode}"));
        fork.conversation.clone_from(&client.conversation);
        assert!(fork.pipeline.corrects(&fork.exchange));
        assert_eq!(fork.send(), said, "{mode}");
        // Its own file has them now.
        fork.pipeline = repository.pipeline(Host::Claude, mode);
        assert_eq!(fork.send(), said, "{mode}");
    }
    // Another session whose model numbers its calls in the same way has results of its own.
    let mut other = repository.client(Mode::Advise);
    other.exchange.session = Some("other".to_owned());
    other.write("b", "web/menu.txt");
    assert_eq!(other.send(), []);
}

#[test]
fn an_observing_proxy_says_nothing() {
    let repository = Repository::new("");
    let mut client = repository.client(Mode::Observe);
    assert!(!client.pipeline.corrects(&client.exchange));
    assert_eq!(client.stray(), []);
    assert!(!repository.files().dir().join("corrections").exists());
    assert_eq!(repository.files().peek().unwrap().drift.tally.corrections, 1, "it is recorded");
}

#[test]
fn a_subagent_gets_only_its_own_corrections() {
    let repository = Repository::new("");
    let mut main = repository.client(Mode::Advise);
    let said = main.stray();
    let mut other = Client::of(Arc::clone(&main.pipeline), Host::Claude);
    other.exchange.agent = Some("helper".to_owned());
    // Its model numbers its calls like the other one.
    other.write("c", "ops/list.txt");
    let to_other = other.send();
    assert!(!to_other.contains(&said[1]), "{to_other:?}");
    assert_eq!(main.send(), said);
    assert_eq!(other.send(), to_other);
}

#[test]
fn several_results_in_one_request_are_judged_in_their_order() {
    let repository = Repository::new("");
    let mut client = repository.client(Mode::Advise);
    for (id, path) in [("a", "src/auth/token.txt"), ("b", "web/menu.txt"), ("c", "ops/list.txt")] {
        client.write(id, path);
    }
    let said = client.send();
    assert_eq!(ids(&said), ["b", "c"]);
    assert_eq!(client.send(), said);
}

#[test]
fn calls_with_the_same_id_keep_their_own_corrections() {
    let repository = Repository::new("");
    let mut client = repository.client(Mode::Advise);
    client.write("call_0", "src/auth/token.txt");
    assert_eq!(client.send(), []);
    client.write("call_0", "web/menu.txt");
    let said = client.send();
    assert!(said.len() == 1 && said[0].1.starts_with(NUDGE), "{said:?}");
    client.write("call_0", "ops/list.txt");
    // The very same call again, on its own.
    client.write("call_0", "web/menu.txt");
    let results = client.results();
    client.pipeline.judge_results(&client.exchange, &results);
    let marks = client.pipeline.corrections(&client.exchange, &results);
    assert_eq!(marks.len(), 4);
    assert_eq!((&marks[0], marks[1].as_ref()), (&None, Some(&said[0].1)));
    assert_ne!(marks[3], marks[1]);
    client.pipeline = repository.pipeline(Host::Claude, Mode::Advise);
    assert_eq!(client.pipeline.corrections(&client.exchange, &client.results()), marks);
}

#[test]
fn a_result_that_went_on_before_its_judgement_is_never_corrected() {
    let repository = Repository::new("");
    let mut client = repository.client(Mode::Advise);
    client.write("a", "src/auth/token.txt");
    client.send();
    client.write("b", "web/menu.txt");
    let results = client.results();
    assert_eq!(results.iter().map(|result| &*result.id).collect::<Vec<_>>(), ["b"]);
    // The request goes on at its time limit.
    assert_eq!(client.corrections(&results), []);
    client.pipeline.judge_results(&client.exchange, &results);
    assert_eq!(client.send(), []);
    client.write("c", "ops/list.txt");
    let said = client.send();
    assert_eq!(ids(&said), ["c"]);
    client.pipeline = repository.pipeline(Host::Claude, Mode::Advise);
    assert_eq!(client.send(), said, "nor behind another proxy");
    let ends = fs::read_to_string(repository.files().dir().join("journal")).unwrap().matches("\"post_tool\"").count();
    assert_eq!(ends, 3, "its end is recorded");
}

#[test]
fn what_cannot_be_kept_is_not_said() {
    let repository = Repository::new("");
    let mut client = repository.client(Mode::Advise);
    // A folder in the place of the file: it cannot be replaced.
    client.write("a", "src/auth/token.txt");
    client.send();
    let file = repository.files().dir().join("corrections");
    fs::create_dir_all(file.join("x")).unwrap();
    client.write("b", "web/menu.txt");
    assert_eq!(client.send(), []);
    fs::remove_dir_all(&file).unwrap();
    client.write("c", "ops/list.txt");
    let said = client.send();
    assert_eq!(ids(&said), ["c"], "what was not kept stays away");
    // A damaged file: what was said before is unknown.
    fs::write(&file, "{").unwrap();
    client.pipeline = repository.pipeline(Host::Claude, Mode::Advise);
    client.write("d", "etc/other.txt");
    assert_eq!(client.send(), []);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{");
}

#[test]
fn with_a_locked_state_advice_passes_and_a_closed_gate_refuses() {
    let repository = Repository::new("");
    let mut client = repository.client(Mode::Enforce);
    client.write("a", "src/auth/token.txt");
    client.send();
    let lock = repository.files().dir().join("lock");
    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap();
    assert_eq!(client.write("b", "web/menu.txt"), CallRuling::Allow);
    assert_eq!(client.send(), []);
    let gate = Gate::new(GateScope::Session(SessionId::new(SESSION)), "the plan is not approved", Millis(1));
    close_gate(&repository.place, &gate).unwrap();
    let CallRuling::Refuse { why } = client.write("c", "ops/list.txt") else { panic!("allowed") };
    assert!(why.starts_with("the plan is not approved (steadfast could not look at this call: "), "{why}");
    assert_eq!(client.send(), []);
}

#[test]
fn in_advise_a_refusal_becomes_advice_in_the_result() {
    for mode in [Mode::Advise, Mode::Enforce] {
        let repository = Repository::new("");
        repository.hook(EventKind::prompt("Don't commit.", PromptOrigin::Human));
        let mut client = repository.client(mode);
        let cwd = repository.dir.path().to_owned();
        // The prompt came through a hook of an earlier window.
        let later = move || HookEnvironment { now: Millis(2_000), ..surroundings(&cwd) };
        let meter = Arc::new(Meter::new(Prices::built_in(), None));
        client.pipeline = ProxyPipeline::start(meter, Host::Claude, mode, Box::new(later));
        let ruling = client.call("a", "Bash", &json!({"command": "git commit -m x"}));
        client.result("a");
        let said = client.send();
        match mode {
            Mode::Advise => {
                assert_eq!(ruling, CallRuling::Allow);
                let expected = "[Steadfast, set up by the user] A rule that only advises said before this call: The human \
                                said: \"Don't commit\". `git commit` is not run.";
                assert_eq!(said, [("a".to_owned(), expected.to_owned())]);
            }
            _ => {
                assert!(matches!(ruling, CallRuling::Refuse { .. }));
                assert_eq!(said, [], "a refused call has its reason alone");
            }
        }
    }
}

#[test]
fn beside_hooks_nothing_is_said_twice() {
    let repository = Repository::new("");
    let mut client = repository.client(Mode::Advise);
    repository.hook(EventKind::prompt("Fix src/auth/token.txt.", PromptOrigin::Human));
    assert_eq!(client.stray(), []);
    assert!(!client.pipeline.awaits_results(&client.exchange));
}

#[test]
fn who_ignores_every_correction_is_halted_and_comes_back_by_the_awaited_file() {
    let repository = Repository::new("[mode]\ndrift = \"enforce\"\n");
    let mut client = repository.client(Mode::Enforce);
    let course = || repository.files().peek().unwrap().drift.course;
    client.write("a", "src/auth/token.txt");
    client.send();
    assert_eq!(course(), Course::Normal);
    let mut courses = vec![];
    let mut refused = 0;
    for number in 0..24 {
        let ruling = client.write(&format!("w{number}"), &format!("away{number}/part.txt"));
        refused += usize::from(ruling != CallRuling::Allow);
        client.send();
        if courses.last() != Some(&course()) {
            courses.push(course());
        }
    }
    assert!(courses.starts_with(&[Course::Normal, Course::Drifted]) && refused > 0, "{courses:?} {refused}");
    let said = client.send();
    assert!(said.iter().any(|(_, text)| text.contains("This is not what was asked for")), "{said:?}");
    client.write("back", "src/auth/token.txt");
    client.send();
    assert_eq!(course(), Course::Normal);
}

#[test]
fn the_course_follows_the_steps_and_the_named_action_ends_it() {
    let repository = Repository::new("");
    let mut client = repository.client(Mode::Advise);
    let drift = || repository.files().peek().unwrap().drift;
    client.write("a", "src/auth/token.txt");
    client.send();
    let mut courses = vec![drift().course];
    for number in 0..40 {
        client.write(&format!("w{number}"), &format!("away{number}/part.txt"));
        client.send();
        if courses.last() != Some(&drift().course) {
            courses.push(drift().course);
        }
    }
    assert_eq!(courses, [Course::Normal, Course::Drifted, Course::Forced]);
    assert_eq!(drift().awaited.as_deref(), Some("src/auth/token.txt"));
    let said = client.send();
    let halts: Vec<_> =
        said.iter().filter(|(_, text)| text.contains("First action now: read `src/auth/token.txt`")).collect();
    assert!(!halts.is_empty(), "{said:?}");
    // No stray step became part of the work.
    assert_eq!(drift().places.known, ["src/auth/token.txt"]);
    client.write("c", "away/more.txt");
    client.send();
    assert_eq!(drift().course, Course::Forced);
    client.call("d", "Read", &json!({"file_path": "src/auth/token.txt"}));
    client.result("d");
    client.send();
    assert_eq!(drift().course, Course::Normal);
}

#[test]
fn what_the_human_asks_for_is_no_stray() {
    for host in [Host::Claude, Host::Codex] {
        let repository = Repository::new("");
        let mut client = Client::of(repository.pipeline(host, Mode::Advise), host);
        client.prompt("Fix src/auth/token.txt.");
        client.write("a", "src/auth/token.txt");
        client.ask();
        client.send();
        client.prompt("Now add web/menu.txt and ops/list.txt.");
        // The request failed and comes again.
        client.ask();
        assert_eq!(prompts(&repository), 2, "{host}");
        for (id, path) in [("b", "web/menu.txt"), ("c", "ops/list.txt")] {
            client.write(id, path);
            assert_eq!(client.send(), [], "{host} {path}");
        }
        client.write("d", "lib/other.txt");
        client.write("e", "etc/more.txt");
        assert_eq!(ids(&client.send()), ["d", "e"], "{host}");
        let goal = repository.files().peek().unwrap().goal.unwrap();
        assert_eq!(goal.scope, ["src/auth/token.txt", "web/menu.txt", "ops/list.txt"]);
    }
}

#[test]
fn a_prompt_ends_the_drift() {
    let repository = Repository::new("");
    let mut client = repository.client(Mode::Advise);
    client.prompt("Fix src/auth/token.txt.");
    client.write("a", "src/auth/token.txt");
    for number in 0..20 {
        client.write(&format!("w{number}"), &format!("away{number}/part.txt"));
        client.send();
    }
    assert_ne!(repository.files().peek().unwrap().drift.course, Course::Normal);
    client.prompt("Go on.");
    assert_eq!(repository.files().peek().unwrap().drift.course, Course::Normal);
}

#[test]
fn a_prompt_that_a_hook_reported_is_recorded_once() {
    let repository = Repository::new("");
    let mut client = repository.client(Mode::Advise);
    repository.hook(EventKind::prompt("Fix src/auth/token.txt.", PromptOrigin::Human));
    client.prompt("Fix src/auth/token.txt.");
    assert_eq!(prompts(&repository), 0);
    // A subagent's task is its parent's word.
    let mut other = Client::of(repository.pipeline(Host::Claude, Mode::Advise), Host::Claude);
    other.exchange.agent = Some("helper".to_owned());
    assert!(!other.pipeline.reads_prompts(&other.exchange));
}

#[test]
fn a_prompt_without_a_hook_shows_that_the_hooks_are_gone() {
    let repository = Repository::new("");
    let mut client = repository.client(Mode::Advise);
    repository.hook(EventKind::prompt("Fix src/auth/token.txt.", PromptOrigin::Human));
    client.prompt("Fix src/auth/token.txt.");
    // The clock of these tests stands still, so the next request has to be later.
    let cwd = repository.dir.path().to_owned();
    let meter = Arc::new(Meter::new(Prices::built_in(), None));
    let clock = AtomicI64::new(1_000);
    let around = move || {
        let at = clock.fetch_add(10, Ordering::Relaxed);
        HookEnvironment { now: Millis(at), ..surroundings(&cwd) }
    };
    client.pipeline = ProxyPipeline::start(meter, Host::Claude, Mode::Advise, Box::new(around));
    repository.hook(EventKind::prompt("Look at it.", PromptOrigin::Human));
    client.prompt("Look at it.");
    assert_eq!(prompts(&repository), 0);
    client.prompt("Go on.");
    assert_eq!(prompts(&repository), 1);
}
