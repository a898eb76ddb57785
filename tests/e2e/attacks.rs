//! Rows of an attack on the gates that had no test with a real host: a message that is nearly a yes, a branch switch, a
//! file that cannot be put back, two sessions on one task, secrets.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use steadfast_model::Ruling;
use steadfast_sim::Scenario;
use steadfast_testkit::skip_optional;

use crate::agents::Program;
use crate::session::Run;
use crate::terminal::{self, Terminal};
use crate::world::{PROMPT, Scene};

#[path = "../../crates/steadfast/tests/cli/secrets/kinds.rs"]
mod kinds;

on!(what_is_nearly_a_yes_is_answered_and_approves_nothing: claude_2_1_325, claude_2_1_197);
on!(a_branch_switch_strands_no_checkout: claude_2_1_325);
on!(a_file_that_cannot_be_put_back_is_told_as_such: claude_2_1_325);
on!(a_task_that_a_living_session_has_started_is_not_taken: claude_2_1_325, codex_0_166_0);
on!(no_secret_of_a_session_is_kept: claude_2_1_325, codex_0_166_0);

const PLAN: &str = "# Sign in\n\n## Phase 1: Codes\n### 1.1 Make codes\n- Files: src/code.txt\n\
                    - Verify: `test -f src/code.txt`\n";

fn prepare(scene: &Scene) {
    scene.write("steadfast.toml", "[approval]\nprotected = [\"PLAN.md\"]\n");
    scene.write("draft.md", PLAN);
    scene.write("PLAN.md", "nothing yet\n");
}

fn proposing(name: &str) -> Scenario {
    Scenario::new(name).prompt("Plan it.").shell("steadfast plan propose draft.md --path PLAN.md")
}

fn plan_status(scene: &Scene) -> Value {
    serde_json::from_str(&scene.steadfast(&["plan", "status", "--json"])).unwrap()
}

fn plan(scene: &Scene) -> String {
    fs::read_to_string(scene.root().join("PLAN.md")).unwrap()
}

/// What the human of a session was told on their own channel.
fn noted(run: &Run) -> String {
    run.journal.records.iter().filter_map(|record| record.answer.note.clone()).collect::<Vec<_>>().join("\n")
}

fn denied(run: &Run) -> usize {
    run.journal.records.iter().filter(|record| matches!(record.answer.ruling, Ruling::Deny { .. })).count()
}

fn what_is_nearly_a_yes_is_answered_and_approves_nothing(program: &Program) {
    let scene = terminal::scene(program, 0);
    prepare(&scene);
    let asking = json!({"questions": [{
        "question": "Ready to go?", "header": "Plan", "multiSelect": false,
        "options": [{"label": "Approve", "description": "go"}, {"label": "Wait", "description": "no"}],
    }]});
    let scenario = proposing("waits")
        .say("Drafted.")
        .tool("AskUserQuestion", asking)
        .say("Thanks.")
        .say("Hm.")
        .say("Hm.")
        .say("Hm.");
    let Some(terminal) = Terminal::open(&scene, scenario) else { return };
    terminal.enter("Plan it.");
    terminal.until("Stop", 1);
    let hash = plan_status(&scene)["hash"].as_str().unwrap()[..8].to_owned();
    // The agent's own dialog: its `Approve` is not a yes to the plan.
    terminal.enter("Go on.");
    terminal.wait("the agent's question", || terminal.screen().contains("Ready to go?"));
    terminal.press("Enter", || terminal.sessions()[0].events().iter().filter(|event| **event == "Stop").count() > 1);
    let said = [format!("approve plan {hash}!"), format!("`approve plan {hash}`"), "approve plan 0badc0de".to_owned()];
    for (number, said) in said.iter().enumerate() {
        terminal.enter(said);
        terminal.until("Stop", number + 3);
        assert!(terminal.screen().contains("Nothing is approved"), "{said}:\n{}", terminal.screen());
    }
    let [session] = terminal.sessions().try_into().unwrap();
    let notes = session.records.iter().filter_map(|record| record.answer.note.as_deref());
    let answers: Vec<&str> = notes.filter(|note| note.contains("Nothing is approved: ")).collect();
    assert_eq!(answers.len(), said.len() + 1, "{answers:#?}");
    assert!(answers[0].contains("the agent asked its own question"), "{answers:#?}");
    assert!(answers.iter().all(|answer| answer.contains(&format!("approve plan {hash}"))), "{answers:#?}");
    let status = plan_status(&scene);
    assert_eq!((status["gate"].as_str(), status["approval"].as_str()), (Some("locked"), Some("required")));
    assert_eq!(plan(&scene), "nothing yet\n");
}

fn a_branch_switch_strands_no_checkout(program: &Program) {
    let scene = Scene::bare(program);
    prepare(&scene);
    let commit = |text: &str| {
        scene.write("PLAN.md", text);
        scene.git(["add", "PLAN.md"]);
        scene.git(["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", text.trim()]);
    };
    scene.git(["branch", "-M", "main"]);
    commit("nothing yet\n");
    scene.git(["switch", "--quiet", "--create", "old"]);
    commit("on the old branch\n");
    scene.git(["switch", "--quiet", "main"]);
    // Objects from the same moment as the gate count as made behind it.
    let objects = scene.root().join(".git/objects");
    let age = format!("find '{}' -type f -exec touch -d '1 hour ago' {{}} +", objects.display());
    assert!(Command::new("sh").args(["-c", &age]).status().unwrap().success());
    scene.init(&[]);
    let show = "git status --porcelain -- PLAN.md | sed s/^/status/; cat PLAN.md";
    let run = scene.run(
        proposing("switches")
            .shell("git switch --quiet old; echo switched=$?")
            .shell(show)
            .shell("git switch --quiet main; echo back=$?")
            .shell(show)
            .say("Looked at both."),
    );
    let told = run.told().join("\n");
    assert!(told.contains("switched=0") && told.contains("back=0") && !told.contains("status M"), "{told}");
    assert!(told.contains("on the old branch"), "{told}");
    assert!(noted(&run).contains("another commit was checked out"), "{}", noted(&run));
    assert_eq!((plan(&scene).as_str(), denied(&run)), ("nothing yet\n", 0));

    // The human's own changes are not stashed away.
    scene.write("PLAN.md", "by hand\n");
    let run = scene.run(Scenario::new("stashes").prompt("Go on.").shell("git stash").say("Hm."));
    assert_eq!((plan(&scene).as_str(), denied(&run)), ("by hand\n", 1));
}

fn a_file_that_cannot_be_put_back_is_told_as_such(program: &Program) {
    struct Immutable(PathBuf);

    impl Immutable {
        fn set(&self, flag: &str) -> bool {
            Command::new("chattr").arg(flag).arg(&self.0).output().is_ok_and(|output| output.status.success())
        }
    }

    impl Drop for Immutable {
        fn drop(&mut self) {
            self.set("-i");
        }
    }

    let scene = Scene::bare(program);
    prepare(&scene);
    scene.init(&[]);
    let file = Immutable(scene.root().join("PLAN.md"));
    if !(file.set("+i") && file.set("-i")) {
        skip_optional("chattr", &"not allowed here");
        return;
    }
    scene.write("lock.sh", "echo intruder > PLAN.md\nchattr +i PLAN.md\n");
    let run = scene.run(proposing("locks").shell("sh lock.sh").say("Done."));
    // What came of it is not known yet when the note is journalled: it is in what the host shows and tells.
    let shown = run.printed.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    for told in [shown, run.told().join("\n")] {
        assert!(told.contains("`PLAN.md` could not be put back: "), "{told}");
        assert!(!told.contains("is put back as it was") && !told.contains("left as it is"), "{told}");
    }
    assert_eq!(plan(&scene), "intruder\n");
    assert!(file.set("-i"));
    let run = scene.run(Scenario::new("next").prompt("Go on.").shell("ls").say("Yes."));
    assert_eq!(plan(&scene), "nothing yet\n");
    assert!(noted(&run).contains("`PLAN.md`") && run.told().join("\n").contains("It is put back as it was"));
}

fn a_task_that_a_living_session_has_started_is_not_taken(program: &Program) {
    let scene = Scene::with_tasks(program, 2);
    let release = scene.dir().join("release");
    let wait = format!("steadfast task start 1; until [ -e '{}' ]; do sleep 0.1; done", release.display());
    let mut owner = scene.session(Scenario::new("owner").prompt(PROMPT).shell(wait).say("Let me know!")).start();
    while scene.tasks()[0] != "in_progress" {
        assert!(owner.is_running());
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let guest =
        scene.run(Scenario::new("guest").prompt(PROMPT).shell("steadfast task start 1; echo exit=$?").say("Hm."));
    assert!(owner.is_running());
    let told = guest.told().join("\n");
    let refusal = format!("task `1` is in progress in session {}", owner.id());
    assert!(told.contains(&refusal) && told.contains("exit=2"), "{told}");
    fs::write(release, "").unwrap();
    owner.finish();
}

/// Through a prompt, a command, what it prints, a file, its content that is read, and the last message.
fn no_secret_of_a_session_is_kept(program: &Program) {
    let scene = Scene::with_tasks(program, 0);
    let all: Vec<String> = kinds::kinds().iter().map(|(said, secret)| said.replace("{}", secret)).collect();
    let text = all.join("\n");
    let run = scene.run(
        Scenario::new("secrets")
            .prompt(format!("Look around. Don't commit. {text}"))
            .shell(format!("cat <<'EOF'\n{text}\nEOF"))
            .shell(format!("git commit --allow-empty -m \"$(cat <<'EOF'\n{text}\nEOF\n)\""))
            .shell(format!("cat <<'EOF' >&2; exit 3\n{text}\nEOF"))
            .write("secrets.txt", format!("{text}\n"))
            .read("secrets.txt")
            .shell("cat secrets.txt")
            .say(text),
    );
    assert_eq!(denied(&run), 1, "the commit");
    let secrets: Vec<String> = kinds::kinds().into_iter().map(|(_, secret)| secret).collect();
    let folders = [scene.state(), scene.home().join(".local/state/steadfast"), scene.root().join(".steadfast")];
    let found: Vec<String> = folders.iter().flat_map(|folder| found_in(folder, &secrets)).collect();
    assert_eq!(found, Vec::<String>::new());
    for shown in [&["log"][..], &["why"], &["status", "--json"], &["goal", "show"]] {
        let output = scene.try_steadfast(shown);
        let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(secrets.iter().find(|secret| shown.contains(secret.as_str())), None, "{shown}");
    }
    let journal = fs::read_to_string(scene.state().join("sessions").join(&run.id).join("journal")).unwrap();
    assert!(journal.contains("[redacted:"), "{journal}");
}

/// The files below a folder in which one of them stands, with which.
fn found_in(folder: &Path, secrets: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(found_in(&path, secrets));
            continue;
        }
        // The links to the program.
        if !entry.metadata().is_ok_and(|file| file.is_file()) {
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
        let held = secrets.iter().filter(|secret| text.contains(secret.as_str()));
        found.extend(held.map(|secret| format!("{}: {secret}", path.display())));
    }
    found
}
