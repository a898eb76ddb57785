//! What a session is for and may not do, from its human's prompts and from the command line.

use serde_json::{Value, json};

use crate::run::git;
use crate::sandbox::Sandbox;

const SESSION: &str = "s-1";

impl Sandbox {
    fn prompted(&self, text: &str) {
        self.hook("UserPromptSubmit", SESSION, json!({"prompt": text}));
    }

    /// What the agent hears before it runs that.
    fn shell_tool(&self, command: &str) -> String {
        let input = json!({"command": command});
        // The same call twice is answered the same.
        let id = format!("{command} {}", self.goal());
        self.hook("PreToolUse", SESSION, json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": input}))
    }

    fn goal(&self) -> Value {
        serde_json::from_str(&self.ok(&["goal", "show", "--json"])).unwrap()
    }
}

fn is_denied(answer: &str) -> bool {
    answer.contains("\"permissionDecision\":\"deny\"")
}

#[test]
fn a_prompt_sets_the_goal_and_what_it_forbids_is_refused_until_it_is_lifted() {
    let sandbox = Sandbox::new();
    sandbox.prompted("Fix the login in src/auth.rs, but don't commit yet.");
    assert_eq!(
        sandbox.goal(),
        json!({
            "session": SESSION,
            "goal": "Fix the login in src/auth.rs, but don't commit yet.",
            "scope": ["src/auth.rs"],
            "found": [],
            "refined": [],
            "constraints": [{
                "number": 1,
                "kind": "commit",
                "of": [],
                "said": "Fix the login in src/auth.rs, but don't commit yet.",
            }],
            "waiting": null,
        })
    );
    let answer = sandbox.shell_tool("git commit -m x");
    assert!(is_denied(&answer) && answer.contains("`git commit` is not run."), "{answer}");
    sandbox.prompted("ok, commit it");
    assert_eq!(sandbox.goal()["constraints"], json!([]));
    assert!(!is_denied(&sandbox.shell_tool("git commit -m x")));
}

#[test]
fn a_human_says_it_outright_and_it_is_shown_back_in_one_line() {
    let sandbox = Sandbox::new();
    sandbox.prompted("hi");
    assert_eq!(
        sandbox.ok(&["goal", "set", "Mend src/auth.rs"]),
        "session s-1: goal: Mend src/auth.rs (scope: src/auth.rs); forbidden: nothing\n"
    );
    sandbox.ok(&["goal", "forbid", "push"]);
    assert_eq!(
        sandbox.ok(&["goal", "forbid", "don't touch the schema or docs/"]),
        "session s-1: goal: Mend src/auth.rs (scope: src/auth.rs); forbidden: 1 push (\"push\"), \
         2 touch schema docs/ (\"don't touch the schema or docs/\")\n"
    );
    assert!(is_denied(&sandbox.shell_tool("git push")));
    sandbox.ok(&["goal", "allow", "1"]);
    assert!(!is_denied(&sandbox.shell_tool("git push")));
    assert!(is_denied(&sandbox.shell_tool("echo x > docs/a.md")));
    assert_eq!(sandbox.ok(&["goal", "clear"]), "session s-1: goal: none; forbidden: nothing\n");
    assert!(!is_denied(&sandbox.shell_tool("echo x > docs/a.md")));
}

#[test]
fn an_agent_may_look_and_nothing_else() {
    let sandbox = Sandbox::new();
    sandbox.prompted("don't commit");
    assert!(sandbox.as_agent(SESSION, &["goal", "show"]).status.success());
    for arguments in
        [&["goal", "set", "x"][..], &["goal", "forbid", "push"], &["goal", "allow", "1"], &["goal", "clear"]]
    {
        assert_eq!(sandbox.as_agent(SESSION, arguments).status.code(), Some(2), "{arguments:?}");
        // Its own shell does not even get that far.
        assert!(is_denied(&sandbox.shell_tool(&format!("steadfast {}", arguments.join(" ")))), "{arguments:?}");
    }
    assert_eq!(sandbox.goal()["constraints"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_not_understood_is_said() {
    let sandbox = Sandbox::new();
    sandbox.prompted("hi");
    let (code, said) = sandbox.fails(&["goal", "forbid", "the colour blue"]);
    assert_eq!(code, 1);
    assert!(said.contains("no constraint found in `the colour blue`; nothing was forbidden"), "{said}");
    let (code, said) = sandbox.fails(&["goal", "allow", "7"]);
    assert_eq!(code, 1);
    assert!(said.contains("session s-1 has no constraint 7") && said.contains("`steadfast goal show`"), "{said}");
    let (_, said) = sandbox.fails(&["goal", "show", "--session", "nobody"]);
    assert!(said.contains("there is no session `nobody` here"), "{said}");
}

#[test]
fn without_a_session_there_is_no_goal() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["goal", "show"]);
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no session has run here"), "{output:?}");
    assert_eq!(sandbox.goal()["session"], json!(null));
    assert!(sandbox.fails(&["goal", "clear"]).1.contains("nothing waits for the next one"));
    assert!(sandbox.fails(&["pause", "--end"]).1.contains("no session is running here"));
}

impl Sandbox {
    fn begins(&self, session: &str, source: &str) {
        self.hook("SessionStart", session, json!({"source": source}));
    }

    fn state_of(&self, session: &str) -> Value {
        serde_json::from_str(&self.ok(&["goal", "show", "--session", session, "--json"])).unwrap()
    }
}

#[test]
fn what_is_said_before_a_session_waits_for_the_next_one_and_it_takes_it_once() {
    let sandbox = Sandbox::new();
    assert_eq!(
        sandbox.ok(&["goal", "set", "Mend src/auth.rs"]),
        "the next session here: goal: Mend src/auth.rs (scope: src/auth.rs); forbidden: nothing\n"
    );
    sandbox.ok(&["goal", "forbid", "don't commit"]);
    let both = "the next session here: goal: Mend src/auth.rs (scope: src/auth.rs); forbidden: 1 commit \
                (\"don't commit\"), 2 push (\"push\")\n";
    assert_eq!(sandbox.ok(&["goal", "forbid", "push"]), both);
    assert_eq!(sandbox.ok(&["goal", "show"]), both);
    sandbox.ok(&["goal", "allow", "2"]);
    assert!(sandbox.fails(&["goal", "allow", "7"]).1.contains("the next session has no constraint 7"));
    assert_eq!(sandbox.goal()["waiting"]["constraints"][0]["kind"], "commit");
    assert_eq!(sandbox.as_agent("s-0", &["goal", "forbid", "push"]).status.code(), Some(2), "a human only");

    sandbox.begins(SESSION, "startup");
    sandbox.begins("s-2", "startup");
    let goal = sandbox.state_of(SESSION);
    assert_eq!([&goal["goal"], &goal["constraints"][0]["kind"]], [&json!("Mend src/auth.rs"), &json!("commit")]);
    assert_eq!(goal["constraints"].as_array().unwrap().len(), 1, "{goal}");
    assert_eq!(goal["waiting"], json!(null));
    let call = json!({"tool_name": "Bash", "tool_use_id": "c", "tool_input": {"command": "git commit -m x"}});
    assert!(is_denied(&sandbox.hook("PreToolUse", SESSION, call)));
    assert_eq!(sandbox.state_of("s-2")["goal"], "", "the second one gets nothing");
}

#[test]
fn a_session_that_is_resumed_takes_what_waits_and_a_compaction_or_a_subagent_does_not() {
    let sandbox = Sandbox::new();
    sandbox.begins(SESSION, "startup");
    sandbox.prompted("Look around.");
    sandbox.hook("SessionEnd", SESSION, json!({"reason": "other"}));
    sandbox.ok(&["goal", "forbid", "push"]);
    sandbox.hook("SessionStart", SESSION, json!({"source": "compact"}));
    sandbox.hook("SessionStart", SESSION, json!({"source": "startup", "agent_id": "a-1", "agent_type": "Explore"}));
    assert_eq!(sandbox.goal()["waiting"]["constraints"][0]["kind"], "push");
    sandbox.begins(SESSION, "resume");
    let goal = sandbox.state_of(SESSION);
    assert_eq!([&goal["constraints"][0]["kind"], &goal["waiting"]], [&json!("push"), &json!(null)]);
}

#[test]
fn an_agent_of_a_run_leaves_it_for_the_human() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["goal", "forbid", "push"]);
    let payload =
        json!({"session_id": "s-run", "cwd": sandbox.root(), "hook_event_name": "SessionStart", "source": "startup"});
    let mut command = sandbox.command();
    command.env("STEADFAST_RUN_SPENT", sandbox.root().join("spent"));
    command.args(["hook", "--host", "claude", "--via", "local", "SessionStart"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(sandbox.goal()["waiting"]["constraints"][0]["kind"], "push");
}

#[test]
fn what_waits_can_be_removed_and_a_pause_waits_too() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["goal", "forbid", "push"]);
    assert_eq!(sandbox.ok(&["goal", "clear"]), "nothing waits for the next session\n");
    let off = sandbox.ok(&["off"]);
    assert!(off.starts_with("Steadfast is off for the next session here: "), "{off}");
    let status = sandbox.ok(&["status"]);
    assert!(status.contains("; Steadfast is off; `steadfast pause --end` switches it on\n"), "{status}");
    assert!(sandbox.ok(&["goal", "show"]).contains("; Steadfast is off"));
    assert_eq!(sandbox.ok(&["pause", "--end"]), "Steadfast is on again for the next session here.\n");
    assert_eq!(sandbox.goal()["waiting"], json!(null));
    sandbox.ok(&["off"]);
    sandbox.begins(SESSION, "startup");
    sandbox.prompted("Don't commit.");
    assert!(!is_denied(&sandbox.shell_tool("git commit -m x")), "it is off");
    assert!(sandbox.ok(&["status"]).contains("Steadfast is off"));
}

#[test]
fn a_session_whose_files_are_gone_is_shown_from_the_ledger() {
    let sandbox = Sandbox::new();
    sandbox.prompted("Fix the login in src/auth. Don't commit.");
    sandbox.hook("SessionEnd", SESSION, json!({"reason": "other"}));
    sandbox.ok(&["status"]);
    std::fs::remove_dir_all(sandbox.session(SESSION).dir()).unwrap();
    let shown = sandbox.ok(&["goal", "show"]);
    assert!(shown.contains("session s-1: goal: Fix the login in src/auth") && shown.contains("1 commit"), "{shown}");
}

#[test]
fn the_goal_of_the_last_session_is_shown_when_none_is_running() {
    let sandbox = Sandbox::new();
    sandbox.prompted("Fix the login in src/auth. Don't commit.");
    sandbox.hook("SessionEnd", SESSION, serde_json::json!({"reason": "other"}));
    let output = sandbox.run(&["goal", "show"]);
    let (shown, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && shown.contains("Fix the login in src/auth"), "{shown}{said}");
    assert!(said.contains("session s-1 has ended"), "{said}");
    // What is over is not changed: the next session gets it.
    let next = sandbox.ok(&["goal", "set", "Something else"]);
    assert_eq!(next, "the next session here: goal: Something else; forbidden: nothing\n");
    assert_eq!(sandbox.goal()["session"], SESSION);
}

#[test]
fn why_says_how_a_constraint_is_lifted() {
    let sandbox = Sandbox::new();
    sandbox.prompted("Fix the login. Don't commit.");
    let commit =
        serde_json::json!({"tool_name": "Bash", "tool_use_id": "t-1", "tool_input": {"command": "git commit -m x"}});
    assert!(sandbox.hook("PreToolUse", SESSION, commit).contains("deny"));
    let why = sandbox.ok(&["why"]);
    let lifting = "To lift it, type to the agent: ok, commit it. Or in a terminal: `steadfast goal allow 1`.";
    assert!(why.contains(lifting), "{why}");
    sandbox.ok(&["goal", "allow", "1"]);
    sandbox.prompted("Don't push.");
    let push = serde_json::json!({"tool_name": "Bash", "tool_use_id": "t-2", "tool_input": {"command": "git push"}});
    assert!(sandbox.hook("PreToolUse", SESSION, push).contains("deny"));
    assert!(sandbox.ok(&["why"]).contains("ok, push it. Or in a terminal: `steadfast goal allow 2`"));
    // What it says is heard.
    sandbox.prompted("ok, push it");
    let again = serde_json::json!({"tool_name": "Bash", "tool_use_id": "t-3", "tool_input": {"command": "git push"}});
    assert!(!sandbox.hook("PreToolUse", SESSION, again).contains("deny"));
}

#[test]
fn a_secret_in_a_goal_is_not_kept() {
    let sandbox = Sandbox::new();
    sandbox.prompted("hi");
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    sandbox.ok(&["goal", "set", &format!("Log in with {token}")]);
    sandbox.ok(&["goal", "forbid", &format!("Don't commit. The key is {token}")]);
    let journal = std::fs::read_to_string(sandbox.session(SESSION).dir().join("journal")).unwrap();
    let (goal, kept) = (sandbox.goal().to_string(), journal + &sandbox.ok(&["status", "--json"]));
    assert!(goal.contains("[redacted:") && !goal.contains(&token) && !kept.contains(&token), "{goal}");
}

#[test]
fn why_says_how_a_constraint_is_lifted_and_both_ways_do() {
    for allow in ["prompt", "command"] {
        let sandbox = Sandbox::new();
        sandbox.prompted("Fix it, but don't commit.");
        assert!(is_denied(&sandbox.shell_tool("git commit -m x")));
        let why = sandbox.ok(&["why"]);
        assert!(why.contains("type to the agent: ok, commit it. Or in a terminal: `steadfast goal allow 1`."), "{why}");
        if allow == "prompt" {
            sandbox.prompted("ok, commit it");
        } else {
            sandbox.ok(&["goal", "allow", "1"]);
        }
        assert!(!is_denied(&sandbox.shell_tool("git commit -m x")), "{allow}");
    }
}

#[test]
fn an_alias_of_git_is_what_it_stands_for() {
    let sandbox = Sandbox::new();
    git(&sandbox, &["config", "alias.ci", "commit"]);
    git(&sandbox, &["config", "alias.up", "!git push"]);
    sandbox.prompted("Don't commit and don't push.");
    assert!(is_denied(&sandbox.shell_tool("git ci -m x")));
    assert!(is_denied(&sandbox.shell_tool("git up")));
    assert!(!is_denied(&sandbox.shell_tool("git status")));
}

#[test]
fn what_a_script_committed_is_told_after_the_call() {
    let sandbox = Sandbox::new();
    sandbox.prompted("Don't commit.");
    let call = json!({"tool_name": "Bash", "tool_use_id": "c-1", "tool_input": {"command": "sh commit.sh"}});
    assert!(!is_denied(&sandbox.hook("PreToolUse", SESSION, call.clone())));
    git(&sandbox, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-qm", "x"]);
    let told = sandbox.hook("PostToolUse", SESSION, call);
    assert!(told.contains("HEAD moved by a commit while `sh commit.sh` ran"), "{told}");
    assert!(told.contains("systemMessage") && told.contains("additionalContext"), "{told}");

    let call = json!({"tool_name": "Bash", "tool_use_id": "c-2", "tool_input": {"command": "make test"}});
    sandbox.hook("PreToolUse", SESSION, call.clone());
    assert!(!sandbox.hook("PostToolUse", SESSION, call).contains("HEAD moved"));
}

#[test]
fn what_a_script_pushed_is_told_after_the_call_and_a_fetch_is_not() {
    let sandbox = Sandbox::new();
    let commit =
        || git(&sandbox, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-qm", "x"]);
    commit();
    git(&sandbox, &["init", "--quiet", "--bare", ".git/theirs"]);
    git(&sandbox, &["remote", "add", "origin", ".git/theirs"]);
    git(&sandbox, &["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    commit();
    sandbox.prompted("Don't push.");
    let during = |id: &str, command: &str, words: &[&str]| {
        let call = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}});
        assert!(!is_denied(&sandbox.hook("PreToolUse", SESSION, call.clone())), "{command}");
        git(&sandbox, words);
        sandbox.hook("PostToolUse", SESSION, call)
    };
    let told = during("p-1", "sh push.sh", &["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    assert!(told.contains("a branch of a remote was pushed while `sh push.sh` ran"), "{told}");
    assert!(told.contains("systemMessage") && told.contains("additionalContext"), "{told}");
    let told = during("p-2", "make fetch", &["fetch", "--quiet", "origin"]);
    assert!(!told.contains("was pushed"), "{told}");
}

#[test]
fn new_files_are_refused_and_old_ones_are_not() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.root().join("old.txt"), "x").unwrap();
    sandbox.prompted("Don't create new files.");
    let write = |file: &str| {
        let input = json!({"file_path": sandbox.root().join(file)});
        sandbox.hook("PreToolUse", SESSION, json!({"tool_name": "Write", "tool_use_id": file, "tool_input": input}))
    };
    assert!(is_denied(&write("new.txt")));
    assert!(!is_denied(&write("old.txt")));
    assert!(is_denied(&sandbox.shell_tool("echo x > other.txt")));
    assert!(!is_denied(&sandbox.shell_tool("echo x >> old.txt")));
}
