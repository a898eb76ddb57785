//! Codex in its sandbox: the agent's shell cannot write our state, our hooks and our server can, and what the server runs
//! for the agent is kept in like its shell.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use steadfast_check::{CheckReport, CheckRun};
use steadfast_hosts::Sandbox;
use steadfast_model::CheckEnd;
use steadfast_sim::Scenario;
use steadfast_testkit::wait_for;

use crate::agents::Program;
use crate::journal::{LET_GO, REFUSED};
use crate::world::{PROMPT, Scene};

on!(hooks_work_outside_the_sandbox: codex_0_166_0);
on!(in_the_sandbox_a_task_is_closed_through_the_server: codex_0_166_0);
on!(a_check_is_kept_in_like_the_shell: codex_0_166_0);
on!(a_check_has_the_network_if_the_session_has: codex_0_166_0);
on!(with_full_access_a_check_is_kept_in_nowhere: codex_0_166_0);
on!(a_check_in_the_sandbox_ends_with_its_supervisor: codex_0_166_0);
on!(a_check_in_the_sandbox_ends_at_its_limit: codex_0_166_0);
on!(what_a_check_leaves_behind_in_the_sandbox_is_ended: codex_0_166_0);

/// `/tmp` is open to the agent unless it is excluded, and our scenes are in there.
const KEPT_IN: &str = "\n[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n";

fn hooks_work_outside_the_sandbox(program: &Program) {
    let scene = sandboxed(program, "");
    scene.steadfast(&["task", "add", "piece 1", "--file", "README.md", "--verify", "true"]);
    // In plain sight our own hook would refuse it, before the sandbox does.
    scene.write("reach.sh", "touch .git/steadfast/in-the-state\n");
    let run = scene
        .session(
            Scenario::new("sandbox").prompt(PROMPT).shell("touch in-the-workspace; sh reach.sh").say("Let me know!"),
        )
        .guarded()
        .run();
    assert!(scene.root().join("in-the-workspace").exists());
    assert!(!scene.state().join("in-the-state").exists());
    assert_eq!(run.journal.stops(), [REFUSED, REFUSED, REFUSED, LET_GO]);
}

/// What the hint says is true.
fn in_the_sandbox_a_task_is_closed_through_the_server(program: &Program) {
    let scene = sandboxed(program, "");
    scene.steadfast(&["task", "add", "piece 1", "--verify", "grep -q one one.txt"]);
    let run = scene
        .session(
            Scenario::new("sandbox")
                .prompt(PROMPT)
                .shell("echo one > one.txt; steadfast task list && steadfast task done 1")
                .tool("mcp__steadfast__task_done", json!({"id": "1"}))
                .say("Done."),
        )
        .guarded()
        .run();
    let told = run.told();
    assert!(told[1].contains("1  pending      piece 1"));
    assert!(!told[0].contains("MCP server `steadfast`") && told[1].contains("MCP server `steadfast`"));
    assert_eq!(run.journal.stops(), [LET_GO]);
    assert_eq!(run.outcome(&scene), (0, Some("complete".to_owned())));
    let evidence = &evidence(&scene)[0];
    assert_eq!((&evidence["class"], &evidence["exit"]), (&json!("executed"), &json!(0)));
    assert_eq!(evidence["note"], "in Codex's sandbox");
    assert!(evidence["tree"].is_string(), "{evidence}");
}

fn a_check_is_kept_in_like_the_shell(program: &Program) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let scene = sandboxed(program, KEPT_IN);
    let checks = [
        "touch in-the-workspace",
        "touch ../outside",
        "touch .git/steadfast/in-the-state",
        "touch .git/in-git",
        &knocks(&listener),
    ];
    let run = close_all(&scene, &checks);
    assert_eq!(scene.tasks(), ["done", "pending", "pending", "pending", "pending"]);
    let exits: Vec<Value> = evidence(&scene).iter().map(|evidence| evidence["exit"].clone()).collect();
    assert_eq!(exits, [0, 1, 1, 1, 1]);
    assert!(scene.root().join("in-the-workspace").exists());
    assert!(!scene.dir().join("outside").exists());
    assert!(!scene.state().join("in-the-state").exists());
    assert!(!scene.root().join(".git/in-git").exists());
    let told = run.told();
    assert!(told.last().unwrap().contains("`touch ../outside` exited with 1 (in Codex's sandbox)"), "{told:?}");
    assert!(told.last().unwrap().contains("Read-only file system"));
}

fn a_check_has_the_network_if_the_session_has(program: &Program) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let scene = sandboxed(program, &format!("{KEPT_IN}network_access = true\n"));
    close_all(&scene, &[&knocks(&listener), "touch ../outside"]);
    assert_eq!(scene.tasks(), ["done", "pending"]);
}

fn with_full_access_a_check_is_kept_in_nowhere(program: &Program) {
    let scene = Scene::with_tasks(program, 0);
    let run = close_all(&scene, &["touch ../outside .git/steadfast/in-the-state"]);
    assert_eq!(scene.tasks(), ["done"], "{:?}", run.told());
    assert_eq!(evidence(&scene)[0]["note"], Value::Null);
}

fn a_check_in_the_sandbox_ends_with_its_supervisor(program: &Program) {
    let scene = sandboxed(program, KEPT_IN);
    scene.steadfast(&["task", "add", "hangs", "--verify", &hanging(&seconds(61))]);
    let mut running = scene
        .session(
            Scenario::new("hangs")
                .prompt(PROMPT)
                .shell("sleep 1")
                .tool("mcp__steadfast__task_done", json!({"id": "1"}))
                .say("Let me know!"),
        )
        .guarded()
        .start();
    let asleep = wait_for("both processes of the check", || {
        assert!(running.is_running(), "the session waits for the check");
        let asleep = sleepers(&seconds(61));
        if asleep.len() == 2 { Ok(asleep) } else { Err(format!("{asleep:?}")) }
    });
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/pid")).unwrap();
    assert!(asleep.iter().all(|process| namespace(process) != namespace("self")), "they are not in the sandbox");
    let supervisors: Vec<String> = processes(|process| {
        fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == scene.root())
            && words(process).contains(" supervise ")
    });
    let [supervisor] = &supervisors[..] else { panic!("{supervisors:?}") };
    assert!(Command::new("kill").args(["-KILL", supervisor]).status().unwrap().success());
    wait_for("the end of both", || match sleepers(&seconds(61)) {
        left if left.is_empty() => Ok(()),
        left => Err(format!("{left:?}")),
    });
    let run = running.finish();
    assert!(run.told().last().unwrap().contains("did not finish"), "{:?}", run.told());
    assert_eq!(scene.tasks(), ["pending"]);
}

fn a_check_in_the_sandbox_ends_at_its_limit(program: &Program) {
    let scene = sandboxed(program, KEPT_IN);
    let report = supervised(&scene, &hanging(&seconds(62)), Duration::from_secs(2));
    assert_eq!(report.end, CheckEnd::TimedOut, "{report:?}");
    assert!(scene.root().join("hangs").exists(), "{report:?}");
    assert!(sleepers(&seconds(62)).is_empty(), "{report:?}");
}

/// By the kernel, with the first process of the sandbox: nobody is left to be named.
fn what_a_check_leaves_behind_in_the_sandbox_is_ended(program: &Program) {
    let scene = sandboxed(program, KEPT_IN);
    let report = supervised(&scene, &format!("setsid sleep {} & sleep 0.2", seconds(63)), Duration::from_secs(20));
    assert_eq!((report.end, &report.left_behind), (CheckEnd::Exited(0), &Vec::new()), "{report:?}");
    assert!(sleepers(&seconds(63)).is_empty(), "{report:?}");
}

/// With the sandbox that `init` finds there, and more of Codex's own configuration.
fn sandboxed(program: &Program, more: &str) -> Scene {
    let scene = Scene::bare(program);
    let config = scene.home().join(".codex/config.toml");
    let text = fs::read_to_string(&config).unwrap().replace("danger-full-access", "workspace-write");
    assert!(text.contains("workspace-write"));
    fs::write(&config, text + more).unwrap();
    scene.init(&[]);
    scene
}

/// A task for each check, and an agent that closes them through the server.
fn close_all(scene: &Scene, checks: &[&str]) -> crate::session::Run {
    let mut scenario = Scenario::new("checks").prompt(PROMPT).shell("sleep 1");
    for (number, check) in (1..).zip(checks) {
        scene.steadfast(&["task", "add", &format!("piece {number}"), "--verify", check]);
        scenario = scenario.tool("mcp__steadfast__task_done", json!({"id": number.to_string()}));
    }
    scene.session(scenario.say("Let me know!")).guarded().run()
}

fn evidence(scene: &Scene) -> Vec<Value> {
    let list: Value = serde_json::from_str(&scene.steadfast(&["task", "list", "--json"])).unwrap();
    list["tasks"].as_array().unwrap().iter().map(|task| task["evidence"].clone()).collect()
}

fn knocks(listener: &TcpListener) -> String {
    format!("bash -c ': < /dev/tcp/127.0.0.1/{}'", listener.local_addr().unwrap().port())
}

/// Deaf to the request to end, and half of it in a session of its own.
fn hanging(seconds: &str) -> String {
    format!("trap '' TERM HUP; setsid sleep {seconds} & sleep 0.2; touch hangs; sleep {seconds}")
}

/// Known by its fraction, should somebody else run the same test; what a failed one leaves is gone in a minute.
fn seconds(whole: u32) -> String {
    format!("{whole}.{}", std::process::id())
}

fn sleepers(seconds: &str) -> Vec<String> {
    processes(|process| words(process).trim_end() == format!("sleep {seconds}"))
}

fn words(process: &Path) -> String {
    String::from_utf8_lossy(&fs::read(process.join("cmdline")).unwrap_or_default()).replace('\0', " ")
}

fn processes(is: impl Fn(&Path) -> bool) -> Vec<String> {
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let found = all.filter(|path| is(path)).filter_map(|path| path.file_name()?.to_str().map(str::to_owned));
    found.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).collect()
}

/// A check with a limit that a test can wait for, in the real sandbox. Its supervisor is this program, started again.
fn supervised(scene: &Scene, command: &str, limit: Duration) -> CheckReport {
    let run = CheckRun {
        task: "1".to_owned(),
        command: command.to_owned(),
        directory: scene.root(),
        limit,
        environment: vec![("HOME".to_owned(), scene.home().display().to_string())],
        tail: 4096,
    };
    let order = scene.dir().join("order");
    let words = like_codex(scene).words(&scene.root());
    fs::write(&order, serde_json::to_vec(&(run, words, None::<PathBuf>)).unwrap()).unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_e2e-supervisor")).arg(&order).output().unwrap();
    assert!(status.status.success(), "{status:?}");
    serde_json::from_slice(&fs::read(order.with_extension("report")).unwrap()).unwrap()
}

/// What Codex sends of a session in the scene.
fn like_codex(scene: &Scene) -> Sandbox {
    let path = |path: &Path, access: &str| json!({"path": {"type": "path", "path": path}, "access": access});
    let entries = json!([
        {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
        path(&scene.root(), "write"),
        path(&scene.root().join(".git"), "read"),
    ]);
    let state = json!({
        "permissionProfile": {
            "type": "managed",
            "file_system": {"type": "restricted", "entries": entries},
            "network": "restricted",
        },
        "codexLinuxSandboxExe": scene.program.path,
        "sandboxCwd": format!("file://{}", scene.root().display()),
        "useLegacyLandlock": false,
        "useMxc": false,
    });
    let meta = json!({
        "codex/sandbox-state": state,
        "codex/sandbox-launcher": {"codexExecutable": scene.program.path},
    });
    Sandbox::of_call(meta.as_object().unwrap()).unwrap()
}
