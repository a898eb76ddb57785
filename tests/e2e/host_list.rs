//! The host's own list of tasks: followed where the user says so, and by nobody else.

use std::fs;

use serde_json::{Value, json};
use steadfast_model::{EventKind, Ruling};
use steadfast_sim::{Scenario, Turn};

use crate::agents::Program;
use crate::journal::{LET_GO, REFUSED};
use crate::session::Run;
use crate::terminal::Terminal;
use crate::world::Scene;

on!(open_items_hold_the_stop: claude_2_1_197, codex_0_166_0);
on!(a_completion_without_its_check_is_refused: claude_2_1_197, codex_0_166_0);
on!(an_item_that_is_dropped_or_renamed_is_said_once: claude_2_1_197, codex_0_166_0);
on!(a_list_that_nobody_wants_followed_holds_nobody: claude_2_1_197, codex_0_166_0);
on!(a_list_that_is_written_whole_is_followed: claude_2_1_197);
on!(what_others_do_to_the_list_is_noticed_at_the_stop: claude_2_1_197);
on!(a_check_that_only_the_host_knows_is_asked_for_when_it_completes_the_item: claude_2_1_197);
on!(a_teammate_completes_nothing_without_its_check: claude_2_1_197);
on!(the_list_of_a_team_is_looked_at_where_the_team_keeps_it: claude_2_1_197);
on!(a_list_of_another_name_is_read: claude_2_1_197);
on!(a_plan_of_ours_holds_beside_the_list: claude_2_1_197);
on!(without_the_tools_our_own_ledger_holds: claude_2_1_325);

/// A prompt that names no plan.
const ASK: &str = "Add a greeting.";

const FOLLOWED: &str = "[ledger]\nsource = \"claude-tasks\"\n";

/// What an agent writes down first: two pieces, the second with its check.
fn begin(program: &Program, scenario: Scenario) -> Scenario {
    if program.is_claude() {
        scenario.tool("TaskCreate", json!({"subject": "Read the code", "description": "All of it."})).tool(
            "TaskCreate",
            json!({"subject": "Greet", "description": "In hello.txt. Verify: grep -q hello hello.txt"}),
        )
    } else {
        scenario.tool("update_plan", plan(["pending", "pending"]))
    }
}

/// How it says that it is done with one of them.
fn complete(program: &Program, scenario: Scenario, number: usize) -> Scenario {
    if program.is_claude() {
        scenario.tool("TaskUpdate", json!({"taskId": number.to_string(), "status": "completed"}))
    } else {
        let status = |item| if item <= number { "completed" } else { "pending" };
        scenario.tool("update_plan", plan([status(1), status(2)]))
    }
}

fn plan(status: [&str; 2]) -> Value {
    json!({"plan": [
        {"step": "Read the code", "status": status[0]},
        {"step": "Greet. Verify: `grep -q hello hello.txt`", "status": status[1]},
    ]})
}

/// Codex 0.166.0 offers its list to those models only for which it is switched on.
fn run(scene: &Scene, scenario: Scenario) -> Run {
    let session = scene.session(scenario);
    if scene.program.is_claude() { session.run() } else { session.args(["-c", "tools.update_plan.enabled=true"]).run() }
}

/// What refused a call, in order.
fn denied(run: &Run) -> Vec<&str> {
    let calls = run.journal.records.iter().filter(|record| matches!(record.event.kind, EventKind::PreTool(_)));
    calls
        .filter_map(|record| match &record.answer.ruling {
            Ruling::Deny { reason } => Some(reason.as_str()),
            _ => None,
        })
        .collect()
}

fn open_items_hold_the_stop(program: &Program) {
    let scene = Scene::configured(program, FOLLOWED, 0);
    let scenario = begin(program, Scenario::new("stops early").prompt(ASK)).say("Good progress, let me know!");
    let run = run(&scene, scenario);
    assert_eq!(run.journal.stops(), [REFUSED, REFUSED, REFUSED, LET_GO]);
    let refusal = run.journal.refusals()[0];
    assert!(refusal.starts_with("2 of 2 tasks are open: 1 Read the code; 2 Greet"), "{refusal}");
    assert!(run.told().iter().any(|told| told.contains("2 of 2 tasks are open")), "it was read");
    assert_eq!(run.outcome(&scene), (3, Some("capped".to_owned())));
    assert_eq!(scene.tasks(), ["pending", "pending"]);
}

fn a_completion_without_its_check_is_refused(program: &Program) {
    let scene = Scene::configured(program, FOLLOWED, 0);
    let mut scenario = begin(program, Scenario::new("claims").prompt(ASK));
    scenario = complete(program, scenario, 1);
    scenario = complete(program, scenario, 2).shell("steadfast task done 2").say("All done.");
    scenario = scenario.shell("echo hello > hello.txt").shell("steadfast task done 2");
    let run = run(&scene, complete(program, scenario, 2).say("Now it is."));
    let [refusal] = denied(&run)[..] else { panic!("{:?}", denied(&run)) };
    assert!(refusal.contains("its check `grep -q hello hello.txt` has not passed on this tree"), "{refusal}");
    assert!(refusal.contains("`steadfast task done 2` runs it"), "{refusal}");
    assert!(run.told().iter().any(|told| told.contains("has not passed on this tree")), "it was read");
    assert_eq!(run.journal.stops(), [REFUSED, LET_GO]);
    assert!(run.journal.refusals()[0].starts_with("1 of 2 tasks is open: 2 Greet"), "{:?}", run.journal.refusals());
    assert_eq!(scene.tasks(), ["done", "done"]);
    // The refusal of the call is counted, too.
    assert_eq!(run.outcome(&scene), (2, Some("needs review".to_owned())), "the first was closed on a claim");
    let list: Value = serde_json::from_str(&scene.steadfast(&["task", "list", "--json"])).unwrap();
    let classes: Vec<_> = list["tasks"].as_array().unwrap().iter().map(|task| &task["evidence"]["class"]).collect();
    assert_eq!(classes, ["claimed", "executed"]);
}

fn an_item_that_is_dropped_or_renamed_is_said_once(program: &Program) {
    let scene = Scene::configured(program, FOLLOWED, 0);
    let scenario = begin(program, Scenario::new("drops").prompt(ASK));
    let scenario = if program.is_claude() {
        scenario
            .tool("TaskUpdate", json!({"taskId": "2", "subject": "Greet later"}))
            .tool("TaskUpdate", json!({"taskId": "1", "status": "deleted"}))
            .tool("TaskUpdate", json!({"taskId": "2", "status": "in_progress"}))
    } else {
        let renamed = json!({"plan": [
            {"step": "Read the code", "status": "pending"}, {"step": "Greet later", "status": "pending"},
        ]});
        let dropped = json!({"plan": [{"step": "Greet later", "status": "pending"}]});
        scenario.tool("update_plan", renamed).tool("update_plan", dropped.clone()).tool("update_plan", dropped)
    };
    let run = run(&scene, scenario.say("Let me know!"));
    let contexts = run.journal.contexts();
    let said: Vec<&str> = contexts.iter().filter(|(event, _)| *event == "PostToolUse").map(|(_, said)| *said).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("and is `Greet later` now"), "{said:?}");
    assert!(said[1].contains("1 `Read the code` was open and is no longer on it"), "{said:?}");
    assert!(run.told().iter().any(|told| told.contains("is no longer on it")), "it was read");
    assert!(run.journal.refusals()[0].starts_with("1 of 2 tasks is open: 2 Greet later"));
    assert_eq!(scene.tasks()[0], "blocked");
}

fn a_list_that_nobody_wants_followed_holds_nobody(program: &Program) {
    let scene = Scene::with_tasks(program, 0);
    let scenario = complete(program, begin(program, Scenario::new("ordinary").prompt(ASK)), 2);
    let run = run(&scene, scenario.say("Let me know!"));
    assert_eq!((run.journal.stops(), denied(&run).len()), (vec![LET_GO], 0));
    assert_eq!((run.journal.contexts().len(), scene.tasks().len()), (0, 0));
    let journal = fs::read_to_string(scene.state().join("sessions").join(&run.id).join("journal")).unwrap();
    let calls: String = journal.lines().filter(|line| line.contains("_tool\"")).collect();
    assert!(!calls.contains("Greet"), "nothing of it is kept: {calls}");
}

/// As it was before the task tools, and is where they are switched off.
fn a_list_that_is_written_whole_is_followed(program: &Program) {
    let scene = Scene::configured(program, FOLLOWED, 0);
    let todos = |greet: &str| {
        json!({"todos": [
            {"content": "Read the code", "status": "completed", "activeForm": "Reading"},
            {"content": "Greet. Verify: `grep -q hello hello.txt`", "status": greet, "activeForm": "Greeting"},
        ]})
    };
    let scenario = Scenario::new("todos")
        .prompt(ASK)
        .tool("TodoWrite", todos("in_progress"))
        .tool("TodoWrite", todos("completed"))
        .say("All done.")
        .shell("echo hello > hello.txt; steadfast task done 2")
        .tool("TodoWrite", todos("completed"))
        .say("Now it is.");
    let run = scene.session(scenario).env("CLAUDE_CODE_ENABLE_TASKS", "0").run();
    assert_eq!((denied(&run).len(), run.journal.stops()), (1, vec![REFUSED, LET_GO]));
    assert_eq!(scene.tasks(), ["done", "done"]);
}

fn what_others_do_to_the_list_is_noticed_at_the_stop(program: &Program) {
    let scene = Scene::configured(program, FOLLOWED, 0);
    let list = "$HOME/.claude/tasks/$CLAUDE_CODE_SESSION_ID";
    let scenario = begin(program, Scenario::new("behind its back").prompt(ASK))
        .shell(format!("sed -i 's/\"pending\"/\"completed\"/' {list}/2.json && echo '{{ half' > {list}/3.json"))
        .say("All done.");
    let run = scene.run(scenario);
    let said = run.told().join("\n");
    assert!(said.contains("2 `Greet` was completed outside this session; its check has not passed"), "{said}");
    assert!(run.journal.refusals()[0].starts_with("2 of 2 tasks are open"), "{:?}", run.journal.refusals());
    let seen = run.journal.records.iter().filter(|record| matches!(record.event.kind, EventKind::ListSeen(_)));
    let notes: Vec<_> = seen.map(|record| record.answer.note.as_deref().unwrap_or_default()).collect();
    assert_eq!(notes, ["Steadfast could not read all of the host's task list: `3.json`: not a task."]);
}

/// What refused a completion that the host announced, in order.
fn kept_open(run: &Run) -> Vec<&str> {
    let told = run.journal.records.iter().filter(|record| matches!(record.event.kind, EventKind::ItemCompleted(_)));
    told.filter_map(|record| match &record.answer.ruling {
        Ruling::Deny { reason } => Some(reason.as_str()),
        _ => None,
    })
    .collect()
}

/// Somebody else wrote the check into the item: the call before it knows of none, and is let through.
fn a_check_that_only_the_host_knows_is_asked_for_when_it_completes_the_item(program: &Program) {
    let scene = Scene::configured(program, FOLLOWED, 0);
    let list = "$HOME/.claude/tasks/$CLAUDE_CODE_SESSION_ID";
    let scenario = Scenario::new("a check comes later")
        .prompt(ASK)
        .tool("TaskCreate", json!({"subject": "Greet", "description": "In hello.txt."}))
        .shell(format!("sed -i 's/In hello.txt./In it. Verify: grep -q hello hello.txt/' {list}/1.json"));
    let scenario = complete(program, scenario, 1).shell("echo hello > hello.txt; steadfast task done 1");
    let run = run(&scene, complete(program, scenario, 1).say("Done."));
    assert_eq!(denied(&run), [""; 0], "no call was refused");
    let [refusal] = kept_open(&run)[..] else { panic!("{:?}", kept_open(&run)) };
    assert!(refusal.starts_with("1 `Greet` is not completed: its check `grep -q hello hello.txt`"), "{refusal}");
    assert!(run.told().iter().any(|told| told.contains("TaskCompleted hook feedback")), "it was read");
    assert_eq!((run.journal.stops(), scene.tasks()), (vec![LET_GO], vec!["done".to_owned()]));
    let kept = fs::read_to_string(scene.home().join(".claude/tasks").join(&run.id).join("1.json")).unwrap();
    assert!(kept.contains("\"completed\""), "{kept}");
}

fn team_task(scene: &Scene, team: &str) {
    let list = scene.home().join(".claude/tasks").join(team);
    fs::create_dir_all(&list).unwrap();
    let task = json!({"id": "1", "subject": "Greet", "description": "Verify: grep -q hello hello.txt",
                      "status": "pending", "blocks": [], "blockedBy": []});
    fs::write(list.join("1.json"), serde_json::to_string_pretty(&task).unwrap()).unwrap();
    fs::write(list.join(".highwatermark"), "1").unwrap();
}

/// A session of its own, that works on a list which it did not make and whose name no call of a tool says.
fn a_teammate_completes_nothing_without_its_check(program: &Program) {
    let scene = Scene::configured(program, FOLLOWED, 0);
    team_task(&scene, "crew");
    let scenario = complete(program, Scenario::new("a teammate").prompt(ASK), 1)
        .shell("echo hello > hello.txt; steadfast task done 1");
    let run = scene
        .session(complete(program, scenario, 1).say("Done."))
        .env("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", "1")
        .args(["--agent-id", "ann@crew", "--agent-name", "ann", "--team-name", "crew"])
        .run();
    assert_eq!(denied(&run), [""; 0], "no call was refused");
    assert_eq!(kept_open(&run).len(), 1, "{:?}", kept_open(&run));
    assert_eq!(scene.tasks(), ["done"]);
}

/// In a terminal, where a session leads a team from its start.
fn the_list_of_a_team_is_looked_at_where_the_team_keeps_it(program: &Program) {
    let scene = crate::terminal::scene(program, 0);
    scene.write("steadfast.toml", FOLLOWED);
    let teams = json!({"env": {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"}});
    let settings = scene.home().join(".claude");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("settings.json"), teams.to_string()).unwrap();
    let list = "$HOME/.claude/tasks/session-$(printf %.8s \"$CLAUDE_CODE_SESSION_ID\")";
    let scenario = begin(program, Scenario::new("leads").prompt("-"))
        .shell(format!("sed -i 's/\"pending\"/\"completed\"/' {list}/2.json"))
        .say("All done.");
    let Some(terminal) = Terminal::open(&scene, scenario) else { return };
    terminal.enter(ASK);
    terminal.until("Stop", 1);
    let [journal] = terminal.sessions().try_into().unwrap();
    let contexts = journal.contexts();
    let said = contexts.iter().find(|(event, _)| *event == "ListSeen").map(|(_, said)| *said).unwrap_or_default();
    assert!(said.contains("2 `Greet` was completed outside this session; its check has not passed"), "{said}");
    assert!(journal.refusals()[0].contains("2 of 2 tasks are open"), "{:?}", journal.refusals());
}

fn a_list_of_another_name_is_read(program: &Program) {
    let scene = Scene::configured(program, FOLLOWED, 0);
    let list = scene.home().join(".claude/tasks/my-loop");
    fs::create_dir_all(&list).unwrap();
    let task = |id: u32| {
        json!({"id": id.to_string(), "subject": format!("left {id}"), "description": "", "status": "pending",
                               "blocks": [], "blockedBy": []})
    };
    for id in [1, 2] {
        fs::write(list.join(format!("{id}.json")), task(id).to_string()).unwrap();
    }
    fs::write(list.join(".highwatermark"), "2").unwrap();
    let asks = scene
        .session(Scenario::new("asks").prompt(ASK).read("README.md").say("Done."))
        .env("CLAUDE_CODE_TASK_LIST_ID", "my-loop")
        .run();
    assert_eq!(asks.journal.stops(), [LET_GO], "who does not use the list is not held by it");
    let works = Scenario::new("works").prompt(ASK).tool("TaskList", json!({})).say("Done.");
    let works = scene.session(works).env("CLAUDE_CODE_TASK_LIST_ID", "my-loop").run();
    let refusal = works.journal.refusals()[0];
    assert!(refusal.starts_with("2 of 2 tasks are open: 1 left 1; 2 left 2."), "{refusal}");
}

fn a_plan_of_ours_holds_beside_the_list(program: &Program) {
    let scene = Scene::configured(program, FOLLOWED, 2);
    let scenario = Scenario::new("both")
        .prompt(crate::world::PROMPT)
        .tool("TaskCreate", json!({"subject": "Read the code", "description": "All of it."}))
        .shell("steadfast task done 2")
        .say("Let me know!")
        .tool("TaskUpdate", json!({"taskId": "1", "status": "completed"}))
        .say("Let me know!")
        .shell("steadfast task done 1")
        .say("Done.");
    let run = scene.run(scenario);
    assert_eq!(run.journal.stops(), [REFUSED, REFUSED, LET_GO]);
    let refusals = run.journal.refusals();
    assert!(refusals[0].starts_with("1 of 1 tasks is open: 1 Read the code."), "{refusals:?}");
    assert!(refusals[1].starts_with("1 of 2 tasks is open: 1 piece 1."), "{refusals:?}");
}

fn without_the_tools_our_own_ledger_holds(program: &Program) {
    let scene = Scene::configured(program, FOLLOWED, 1);
    let scenario = Scenario::new("no tools")
        .prompt(crate::world::PROMPT)
        .turn(Turn::doing([steadfast_sim::Action::tool("TaskCreate", json!({"subject": "a", "description": "b"}))]))
        .say("Let me know!")
        .shell("steadfast task done 1")
        .say("Done.");
    let run = scene.run(scenario);
    assert_eq!(run.journal.stops(), [REFUSED, LET_GO]);
    assert_eq!(scene.tasks(), ["done"]);
    assert!(
        !run.journal
            .records
            .iter()
            .any(|record| matches!(&record.event.kind, EventKind::PreTool(call) if call.tool == "TaskCreate"))
    );
}
