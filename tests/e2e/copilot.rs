//! Copilot CLI runs the hooks of `.claude/settings*.json` in a trusted folder, by a shell and without their `args`.

use std::process::{Command, Stdio};

use serde_json::json;
use steadfast_sim::{Scenario, ScriptedModel};

use crate::agents::Program;
use crate::world::Scene;

/// What a shell would run, had it this text to read: in a prompt, in a command's words, in a file.
const LURES: &str = "it costs $(touch LURED) dollars `touch LURED` \"'\n; touch LURED; #\n${x:-$(touch LURED)}\n";

on!(what_it_sends_is_run_by_no_shell_and_nothing_is_denied: copilot_1_0_102);

/// In every way in which `init` wires Claude Code in a repository, also while a gate is closed.
fn what_it_sends_is_run_by_no_shell_and_nothing_is_denied(program: &Program) {
    for scope in [&[][..], &["--shared"]] {
        let scene = Scene::bare(program);
        scene.write("steadfast.toml", "[approval]\nprotected = [\"b.txt\"]\n");
        scene.init(scope);
        scene.steadfast(&["plan", "lock"]);
        works_as_if_alone(&scene);
    }
    // In the same test: what it unpacks at its first start is not unpacked twice at the same time.
    hooks_of_an_older_version_deny_nothing(program);
}

/// The program alone stands in `command` there, and all words are dropped.
fn hooks_of_an_older_version_deny_nothing(program: &Program) {
    let scene = Scene::bare(program);
    scene.init(&[]);
    let binary = scene.bin().join("steadfast");
    let handler = |event: &str| {
        let args = ["hook", "--host", "claude", "--via", "local", event];
        json!([{"hooks": [{"type": "command", "command": binary, "args": args, "timeout": 10}]}])
    };
    let events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"];
    let hooks: serde_json::Map<_, _> = events.into_iter().map(|event| (event.to_owned(), handler(event))).collect();
    scene.write(".claude/settings.local.json", &json!({"hooks": hooks}).to_string());
    works_as_if_alone(&scene);
}

fn works_as_if_alone(scene: &Scene) {
    let (out, file) = (scene.root().join("out.txt"), scene.root().join("b.txt"));
    let scenario = Scenario::new("copilot")
        .prompt(LURES)
        .tool("bash", json!({"command": "echo hi > out.txt", "description": LURES}))
        .tool("create", json!({"path": file, "file_text": LURES}))
        .say("All done.");
    let prompt = scenario.prompt.clone();
    let model = ScriptedModel::start(scenario).unwrap();
    // It unpacks 235 MB there at its first start.
    let cache = scene.program.path.parent().unwrap().join("unpacked");
    let output = Command::new(&scene.program.path)
        .args([
            "--allow-all",
            "--trust-folder",
            "--output-format",
            "json",
            "--no-auto-update",
            "--disable-builtin-mcps",
        ])
        .args(["-p", &prompt])
        .current_dir(scene.root())
        .env_clear()
        .envs([("HOME", scene.home()), ("PATH", scene.alone(String::new()).path.into()), ("XDG_CACHE_HOME", cache)])
        .envs([("COPILOT_PROVIDER_TYPE", "anthropic"), ("COPILOT_PROVIDER_API_KEY", "dummy-key")])
        .envs([("COPILOT_PROVIDER_BASE_URL", model.url().as_str()), ("COPILOT_MODEL", "scripted")])
        .envs([("COPILOT_OFFLINE", "true"), ("COPILOT_AUTO_UPDATE", "false")])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}{printed}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_to_string(out).unwrap(), "hi\n", "{printed}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), LURES, "{printed}");
    assert!(!scene.root().join("LURED").exists() && !scene.home().join("LURED").exists());
    assert!(!printed.contains("hook errored") && !printed.contains("Denied by"), "{printed}");
    assert!(!scene.state().join("sessions").read_dir().is_ok_and(|mut sessions| sessions.next().is_some()));
}
