//! The proxy between a real host and a model that compares what comes back with what it produced.

mod corrections;
mod recording;
mod strict;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use steadfast_proxy::wire::{ModelAnswer, REFUSED_TOOL, WireCall};
use steadfast_proxy::{CallJudge, CallRuling, ModelExchange, NetworkSettings, ProxyRoute, RunningProxy, Upstream};
use steadfast_sim::{Action, Request, Scenario, Track, Turn};

use crate::agents::Program;
use crate::session::{Run, Session};
use crate::world::{PROMPT, Scene};

on!(an_observed_session_is_the_same_as_without_the_proxy: claude_2_1_325, claude_2_1_197, codex_0_166_0);
on!(a_refused_call_does_not_run_and_the_model_sees_its_own_call_with_the_reason: claude_2_1_325, claude_2_1_197, codex_0_166_0);
on!(an_agent_that_the_command_starts_is_the_same_as_without_it: claude_2_1_325, claude_2_1_197, codex_0_166_0);
on!(the_built_in_provider_of_codex_goes_through_the_proxy: codex_0_166_0);
on!(without_hooks_the_proxy_enforces_the_rules: claude_2_1_325, claude_2_1_197, codex_0_166_0);
on!(without_hooks_an_observing_proxy_records_what_it_would_refuse: claude_2_1_325, codex_0_166_0);
on!(with_hooks_the_proxy_leaves_the_judging_to_them: claude_2_1_325, codex_0_166_0);
on!(a_spent_budget_ends_the_agent_with_one_refusal: claude_2_1_325, claude_2_1_197, codex_0_166_0);
on!(refused_calls_are_put_back_after_a_resume_behind_another_proxy: claude_2_1_325, codex_0_166_0);

const TOKEN: &str = "0123456789abcdef";

const WHY: &str = "`forbidden.txt` is \"protected\" by the plan";

/// Refuses every call that names the forbidden file.
#[derive(Debug, Default)]
struct FileGuard {
    observes: bool,
    calls: Mutex<Vec<WireCall>>,
    answers: Mutex<Vec<(ModelExchange, ModelAnswer)>>,
}

impl CallJudge for FileGuard {
    fn refuses(&self, _: &ModelExchange) -> bool {
        !self.observes
    }

    fn holds(&self, _: &ModelExchange, tool: &str) -> bool {
        tool != "Read"
    }

    fn judge(&self, _: &ModelExchange, call: &WireCall) -> CallRuling {
        self.calls.lock().unwrap().push(call.clone());
        if call.input.contains("forbidden.txt") {
            CallRuling::Refuse { why: WHY.to_owned() }
        } else {
            CallRuling::Allow
        }
    }

    fn without_judgement(&self, _: &ModelExchange, call: &WireCall) -> CallRuling {
        panic!("no judgement on {call:?}")
    }

    fn saw_call(&self, _: &ModelExchange, call: &WireCall) {
        self.calls.lock().unwrap().push(call.clone());
    }

    fn saw_answer(&self, exchange: &ModelExchange, answer: &ModelAnswer) {
        self.answers.lock().unwrap().push((exchange.clone(), answer.clone()));
    }
}

fn behind<'a>(session: Session<'a>, judge: Arc<FileGuard>) -> (Session<'a>, RunningProxy) {
    let upstream = Upstream::new(&session.model_url(), &NetworkSettings::default()).unwrap();
    let proxy = RunningProxy::start(vec![ProxyRoute::new(TOKEN, upstream).unwrap()], judge).unwrap();
    (session.behind(proxy.url(TOKEN)), proxy)
}

/// Two calls in one message, of which one is forbidden; then the same through the shell; then something else.
fn work() -> Scenario {
    let both = [Action::write("forbidden.txt", "mine\n"), Action::write("first.txt", "one\n")];
    Scenario::new("proxy")
        .prompt(PROMPT)
        .turn(Turn::saying("I write both.").calling(both))
        .shell("echo mine > forbidden.txt")
        .turn(Turn::saying("Then another one.").calling([Action::write("second.txt", "two\n")]))
        .say("Done.")
}

fn main_requests(run: &Run) -> Vec<Request> {
    run.requests.iter().filter(|request| request.track == Track::Main && request.method == "POST").cloned().collect()
}

/// The conversation of a request, without the marks of the cache. A host moves them, and writes a lone text as a string
/// where it has none.
fn conversation(request: &Request) -> Vec<Value> {
    let items = request.body["messages"].as_array().or_else(|| request.body["input"].as_array()).unwrap();
    let mut items = items.clone();
    items.iter_mut().for_each(without_marks);
    for item in &mut items {
        if let Some([only]) = item["content"].as_array().map(Vec::as_slice)
            && only["type"] == "text"
        {
            item["content"] = only["text"].clone();
        }
    }
    items
}

fn without_marks(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("cache_control");
            members.values_mut().for_each(without_marks);
        }
        Value::Array(values) => values.iter_mut().for_each(without_marks),
        _ => {}
    }
}

/// A call or a result in a conversation.
fn blocks(request: &Request) -> Vec<Value> {
    let parts = |item: Value| match item["content"].as_array() {
        Some(blocks) => blocks.clone(),
        None => vec![item],
    };
    conversation(request).into_iter().flat_map(parts).collect()
}

/// The calls in a conversation: id, tool and input, as the model wrote them.
fn calls(request: &Request) -> Vec<(String, String, Value)> {
    let of_block = |block: Value| {
        let kind = block["type"].as_str()?;
        let (id, input) = match kind {
            "tool_use" => ("id", "input"),
            "function_call" => ("call_id", "arguments"),
            "custom_tool_call" => ("call_id", "input"),
            _ => return None,
        };
        Some((block[id].as_str()?.to_owned(), block["name"].as_str()?.to_owned(), block[input].clone()))
    };
    blocks(request).into_iter().filter_map(of_block).collect()
}

/// The result of a call.
fn result(request: &Request, id: &str) -> Value {
    let is_result =
        |block: &Value| block["tool_use_id"] == id || (block["call_id"] == id && !block["output"].is_null());
    blocks(request).into_iter().find(is_result).unwrap_or_else(|| panic!("no result of {id}"))
}

/// Every request continues the one before: nothing that the model saw is different later.
fn is_one_conversation(requests: &[Request]) {
    for pair in requests.windows(2) {
        let (before, after) = (conversation(&pair[0]), conversation(&pair[1]));
        for (number, (before, after)) in before.iter().zip(&after).enumerate() {
            assert_eq!(before, after, "item {number} changed");
        }
        assert!(after.len() > before.len());
        for part in ["system", "instructions", "tools"] {
            let [mut before, mut after] = [pair[0].body[part].clone(), pair[1].body[part].clone()];
            without_marks(&mut before);
            without_marks(&mut after);
            assert_eq!(before, after, "{part} changed");
        }
    }
}

fn an_observed_session_is_the_same_as_without_the_proxy(program: &Program) {
    let scene = Scene::bare(program);
    let judge = Arc::new(FileGuard { observes: true, ..FileGuard::default() });
    let (session, _proxy) = behind(scene.session(work()), judge.clone());
    let run = session.run();
    assert!(run.status.success());
    for file in ["forbidden.txt", "first.txt", "second.txt"] {
        assert!(scene.root().join(file).exists(), "{file}");
    }
    let requests = main_requests(&run);
    assert_eq!(requests.len(), 4);
    is_one_conversation(&requests);
    // Every call was seen as the model wrote it, before its result went back.
    let produced = calls(&requests[3]);
    let seen: Vec<(String, String)> =
        judge.calls.lock().unwrap().iter().map(|call| (call.id.clone(), call.tool.clone())).collect();
    assert_eq!(seen, produced.into_iter().map(|(id, tool, _)| (id, tool)).collect::<Vec<_>>());
    let answers = judge.answers.lock().unwrap();
    let main: Vec<_> = answers.iter().filter(|(exchange, _)| exchange.session.as_deref() == Some(&*run.id)).collect();
    assert!(main.len() >= 4, "{answers:?}");
    let said: Vec<&str> = main.iter().map(|(_, answer)| &*answer.text).filter(|text| !text.is_empty()).collect();
    assert!(said.ends_with(&["Done."]) && said.contains(&"I write both."), "{said:?}");
    assert!(main.iter().all(|(_, answer)| answer.usage.is_some_and(|usage| usage.input > 0 && usage.output > 0)));
}

fn is_refused(request: &Request, forbidden: usize) {
    let produced = calls(request);
    assert!(produced.iter().all(|(_, tool, _)| tool != REFUSED_TOOL), "{produced:?}");
    let refused: Vec<_> = produced.iter().filter(|(_, _, input)| input.to_string().contains("forbidden.txt")).collect();
    assert_eq!(refused.len(), forbidden, "{produced:?}");
    for (id, _, _) in refused {
        let result = result(request, id);
        let said = result.get("content").or(result.get("output")).unwrap();
        assert_eq!(said, WHY, "{result}");
        assert!(result["is_error"].is_null() || result["is_error"] == true, "{result}");
    }
}

fn a_refused_call_does_not_run_and_the_model_sees_its_own_call_with_the_reason(program: &Program) {
    let scene = Scene::bare(program);
    let (session, _proxy) = behind(scene.session(work()), Arc::default());
    let run = session.run();
    assert!(run.status.success());
    assert!(!scene.root().join("forbidden.txt").exists());
    assert!(scene.root().join("first.txt").exists() && scene.root().join("second.txt").exists());
    let requests = main_requests(&run);
    assert_eq!(requests.len(), 4);
    is_one_conversation(&requests);
    for (request, forbidden) in requests.iter().zip([0, 1, 2, 2]) {
        is_refused(request, forbidden);
    }
    // The model's own input, of the forbidden file as of the other one.
    for (_, tool, input) in calls(&requests[3]).iter().filter(|(_, tool, _)| tool == "Write") {
        let path = input["file_path"].as_str().unwrap();
        let content = json!({"file_path": path, "content": input["content"]});
        assert_eq!(input, &content, "{tool}");
    }
}

fn refused_calls_are_put_back_after_a_resume_behind_another_proxy(program: &Program) {
    let scene = Scene::bare(program);
    let (session, proxy) = behind(scene.session(work()), Arc::default());
    let first = session.run();
    drop(proxy);
    // The second proxy refuses nothing and knows nothing of the first.
    let observer = Arc::new(FileGuard { observes: true, ..FileGuard::default() });
    let again = scene.session(Scenario::new("again").prompt("Go on.").say("Well."));
    let again =
        if program.is_claude() { again.args(["--resume", &first.id]) } else { again.args(["resume", &first.id]) };
    let (again, _proxy) = behind(again, observer);
    let second = again.run();
    assert!(second.status.success());
    let [before, after] = [main_requests(&first), main_requests(&second)];
    let last = [before.last().unwrap().clone(), after[0].clone()];
    is_refused(&last[1], 2);
    assert_eq!(calls(&last[0]), calls(&last[1]));
}

/// The files that a host reads its settings from.
fn settings(scene: &Scene) -> Vec<(PathBuf, String)> {
    let files = [scene.home().join(".claude"), scene.home().join(".codex"), scene.root().join(".claude")];
    let files = files
        .iter()
        .flat_map(|folder| ["settings.json", "settings.local.json", "config.toml"].map(|name| folder.join(name)));
    files.filter_map(|path| Some((path.clone(), fs::read_to_string(path).ok()?))).collect()
}

fn an_agent_that_the_command_starts_is_the_same_as_without_it(program: &Program) {
    let scene = Scene::bare(program);
    let before = settings(&scene);
    let run = scene.session(work()).started_by(["proxy", "--"]).run();
    assert!(run.status.success(), "{}", run.errors);
    for file in ["forbidden.txt", "first.txt", "second.txt"] {
        assert!(scene.root().join(file).exists(), "{file}");
    }
    let requests = main_requests(&run);
    assert_eq!(requests.len(), 4);
    is_one_conversation(&requests);
    // Codex itself notes that it trusts the folder.
    let after = settings(&scene);
    assert_eq!(after.len(), before.len(), "{after:?}");
    for ((path, before), (_, after)) in before.iter().zip(&after) {
        assert!(after.starts_with(before) && !after.contains("127.0.0.1"), "{}: {after}", path.display());
    }
    let said = run.errors.lines().find(|line| line.starts_with("proxy: ")).unwrap_or_else(|| panic!("{}", run.errors));
    assert!(said.contains(" 4 calls, "), "{said}");
    // The scripted model names itself as the host asked for it, and its tokens have a price.
    assert!(!said.contains("without token counts"), "{said}");
    assert!(!scene.state().exists(), "a repository without `init` stays so");
}

/// With a login of its own and no provider in its configuration.
fn the_built_in_provider_of_codex_goes_through_the_proxy(program: &Program) {
    let scene = Scene::bare(program);
    let session = scene.session(work());
    let run_url = session.model_url();
    let codex = scene.home().join(".codex");
    // The second provider is there for the setting that every session of these tests gets, and is not used.
    let config = format!(
        "model = \"gpt-5.5\"\nopenai_base_url = \"{}/v1\"\n[model_providers.scripted]\nname = \"unused\"\n",
        session.model_url()
    );
    fs::write(codex.join("config.toml"), &config).unwrap();
    fs::write(codex.join("auth.json"), r#"{"OPENAI_API_KEY": "dummy-key"}"#).unwrap();
    let run = session.started_by(["proxy", "--"]).run();
    assert!(run.status.success(), "{}", run.errors);
    assert!(scene.root().join("second.txt").exists());
    let requests = main_requests(&run);
    assert_eq!(requests.len(), 4);
    is_one_conversation(&requests);
    assert!(run.errors.contains(" 4 calls, "), "{}", run.errors);
    // Without the proxy the session goes on with the provider of the configuration.
    let again = scene.session(Scenario::new("again").prompt("Go on.").say("Well.")).args(["resume", &run.id]);
    let config = config.replace(&run_url, &again.model_url());
    fs::write(codex.join("config.toml"), config).unwrap();
    let again = again.run();
    assert!(again.status.success(), "{}", again.errors);
    assert_eq!(calls(&main_requests(&again)[0]), calls(&requests[3]));
}

/// A scene with a constraint for its next session.
fn forbidding(program: &Program) -> Scene {
    let scene = Scene::bare(program);
    scene.init(&[]);
    scene.steadfast(&["goal", "forbid", "don't touch forbidden.txt"]);
    scene
}

/// A session whose host does not call its hooks.
fn without_hooks<'a>(program: &Program, session: Session<'a>) -> Session<'a> {
    if program.is_claude() {
        session.args(["--settings", r#"{"disableAllHooks": true}"#])
    } else {
        session.args(["-c", "features.hooks=false"])
    }
}

/// The wiring, the name and the verdicts of each event.
fn recorded(run: &Run, scene: &Scene) -> Vec<(String, String, String)> {
    let text = fs::read_to_string(scene.state().join("sessions").join(&run.id).join("journal")).unwrap();
    let event = |line: &str| -> Option<(String, String, String)> {
        let record: Value = serde_json::from_str(&line[line.find('{')?..]).ok()?;
        let event = &record["record"]["event"];
        let kind = match &event["kind"] {
            Value::Object(kind) => kind.keys().next()?.clone(),
            kind => kind.as_str()?.to_owned(),
        };
        Some((event["via"].as_str()?.to_owned(), kind, record["record"]["opinions"].to_string()))
    };
    text.lines().filter_map(event).collect()
}

fn without_hooks_the_proxy_enforces_the_rules(program: &Program) {
    let scene = forbidding(program);
    let session = scene.session(work()).started_by(["proxy", "--mode", "enforce", "--"]);
    let run = without_hooks(program, session).run();
    assert!(run.status.success(), "{}", run.errors);
    let events = recorded(&run, &scene);
    assert!(!scene.root().join("forbidden.txt").exists(), "{events:?}");
    assert!(scene.root().join("first.txt").exists() && scene.root().join("second.txt").exists());
    let requests = main_requests(&run);
    assert_eq!(requests.len(), 4);
    is_one_conversation(&requests);
    let produced = calls(&requests[3]);
    assert!(produced.iter().all(|(_, tool, _)| tool != REFUSED_TOOL), "{produced:?}");
    let refused: Vec<_> = produced.iter().filter(|(_, _, input)| input.to_string().contains("forbidden.txt")).collect();
    assert_eq!(refused.len(), 2);
    for (id, _, _) in refused {
        let said = result(&requests[3], id).to_string();
        assert!(said.contains("don't touch forbidden.txt"), "{said}");
    }
    assert!(events.iter().all(|(via, _, _)| via == "proxy" || via == "local"), "{events:?}");
    let count = |kind: &str| events.iter().filter(|(via, found, _)| via == "proxy" && found == kind).count();
    assert_eq!((count("session_start"), count("pre_tool"), count("post_tool")), (1, 4, 2), "{events:?}");
    // The key of the agent passed through the proxy, and is in nothing that the proxy wrote.
    let state = scene.state();
    let found = scene.command(Path::new("grep"), &["-r", "-l", "dummy-key", state.to_str().unwrap()]);
    assert_eq!((found.status.code(), found.stdout), (Some(1), Vec::new()));
    assert!(!run.errors.contains("dummy-key"), "{}", run.errors);
}

fn without_hooks_an_observing_proxy_records_what_it_would_refuse(program: &Program) {
    let scene = forbidding(program);
    let session = scene.session(work()).started_by(["proxy", "--"]);
    let run = without_hooks(program, session).run();
    assert!(run.status.success(), "{}", run.errors);
    assert!(scene.root().join("forbidden.txt").exists());
    let events = recorded(&run, &scene);
    let before: Vec<_> = events.iter().filter(|(via, kind, _)| via == "proxy" && kind == "pre_tool").collect();
    assert_eq!(before.len(), 4, "{events:?}");
    let denied =
        before.iter().filter(|(_, _, opinions)| opinions.contains("deny") && opinions.contains("observe")).count();
    assert_eq!(denied, 2, "{events:?}");
}

fn with_hooks_the_proxy_leaves_the_judging_to_them(program: &Program) {
    let scene = forbidding(program);
    let run = scene.session(work()).started_by(["proxy", "--mode", "enforce", "--"]).run();
    assert!(run.status.success(), "{}", run.errors);
    assert!(!scene.root().join("forbidden.txt").exists());
    let events = recorded(&run, &scene);
    assert!(events.iter().all(|(via, _, _)| via != "proxy"), "{events:?}");
    assert_eq!(events.iter().filter(|(_, kind, _)| kind == "pre_tool").count(), 4, "{events:?}");
}

fn a_spent_budget_ends_the_agent_with_one_refusal(program: &Program) {
    let scene = Scene::bare(program);
    let run = scene.session(work()).started_by(["proxy", "--budget", "0.000001", "--"]).run();
    assert!(!run.status.success(), "{}", run.errors);
    assert_eq!(main_requests(&run).len(), 1);
    assert!(run.errors.contains("1 request refused for the budget"), "{}", run.errors);
    let shown = run.printed.iter().any(|line| line.to_string().contains("The budget of this session is spent"));
    assert!(shown, "{:?}", run.printed);
    assert!(!scene.root().join("second.txt").exists());
}
