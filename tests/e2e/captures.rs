//! What a human sees of Steadfast in Claude Code. `cargo xtask captures` draws the screens of these tests into
//! `docs/captures`: it names that folder in `STEADFAST_CAPTURES`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anstyle_svg::{Term, WIN10_CONSOLE};
use serde_json::json;
use steadfast_sim::{Action, Scenario, Turn};
use steadfast_testkit::wait_for;

use crate::agents::Program;
use crate::terminal::{self, Asking, Terminal, Window};
use crate::world::Scene;

on!(the_start_of_a_session_and_a_refused_stop: claude_2_1_325, claude_2_1_197);
on!(a_correction: claude_2_1_325, claude_2_1_197);
on!(a_denied_commit: claude_2_1_325, claude_2_1_197);
on!(a_plan_that_is_approved_in_its_dialog: claude_2_1_325, claude_2_1_197);
on!(the_daily_commands: claude_2_1_325);
on!(the_first_and_the_last_command: claude_2_1_325);

const WINDOW: Window = Window { columns: 120, rows: 44, asking: Asking::NoWrites, ..Window::USUAL };

const PLAN: &str = "# Sign in with a code\n\nPeople sign in with a one-time code instead of a password.\n\n\
                    ## Phase 1: Codes\n### 1.1 Make and check codes\n- Files: src/auth/code.ts\n\
                    - Verify: `test -s src/auth/code.ts`\n";

/// A project with two tasks.
fn with_two_tasks(program: &Program) -> Scene {
    let scene = terminal::scene(program, 0);
    scene.write("src/auth/token.ts", "export const token = 1;\n");
    for (title, file, check) in [
        ("Rotate the token", "src/auth/token.ts", "grep -q rotate src/auth/token.ts"),
        ("Test the rotation", "src/auth/token.test.ts", "test -s src/auth/token.test.ts"),
    ] {
        scene.steadfast(&["task", "add", title, "--file", file, "--verify", check]);
    }
    scene
}

/// The two tasks, done.
fn works(scenario: Scenario) -> Scenario {
    // The older version writes no file that was not read.
    scenario
        .shell("steadfast task start 1")
        .read("src/auth/token.ts")
        .write("src/auth/token.ts", "export const token = rotate(1);\n")
        .shell("steadfast task done 1")
        .shell("steadfast task start 2")
        .write("src/auth/token.test.ts", "test('rotates', () => {});\n")
        .shell("steadfast task done 2")
        .say("Both tasks are done.")
}

fn the_start_of_a_session_and_a_refused_stop(program: &Program) {
    let scene = with_two_tasks(program);
    let early =
        Scenario::new("stops early").prompt("-").say("I read the token code. Let me know if I should continue.");
    let Some(terminal) = Terminal::open_in(WINDOW, &scene, works(early)) else { return };
    capture(&terminal, "session-start", &["Steadfast: 2 open tasks wait here"]);
    terminal.enter("Do the tasks.");
    terminal.until("Stop", 2);
    capture_the_end(&terminal, "refused-stop", &["Steadfast: not done yet. 2 of 2 tasks open", "Both tasks are done."]);
}

fn a_correction(program: &Program) {
    let scene = terminal::scene(program, 0);
    scene.write("src/auth/token.ts", "export const token = 1;\n");
    let drifts = Scenario::new("drifts")
        .prompt("-")
        .read("src/auth/token.ts")
        .write("src/auth/token.ts", "export const token = rotate(1);\n")
        .turn(
            Turn::saying("The site could look nicer.")
                .calling([Action::shell("mkdir -p site && echo 1 > site/theme.css")]),
        )
        .shell("echo 1 > site/menu.css")
        .shell("rm -r site && cat src/auth/token.ts")
        .say("The token is rotated.");
    let Some(terminal) = Terminal::open_in(WINDOW, &scene, drifts) else { return };
    terminal.enter("Rotate the token in src/auth/token.ts.");
    terminal.until("Stop", 1);
    capture_the_end(&terminal, "correction", &["Steadfast: off course?", "The token is rotated."]);
}

fn a_denied_commit(program: &Program) {
    let scene = with_two_tasks(program);
    let saves = Scenario::new("saves").prompt("-").shell("git add -A && git commit -m 'Rotate the token'");
    let Some(terminal) = Terminal::open_in(WINDOW, &scene, works(saves)) else { return };
    terminal.enter("Do the tasks, but don't commit.");
    terminal.until("Stop", 1);
    capture_the_end(&terminal, "denied-commit", &["Both tasks are done."]);
}

fn a_plan_that_is_approved_in_its_dialog(program: &Program) {
    let scene = terminal::scene(program, 0);
    scene.write("draft.md", PLAN);
    let question = json!({"questions": [{
        "question": "Approve the plan?",
        "header": "Plan",
        "multiSelect": false,
        "options": [{"label": "Approve", "description": "go"}, {"label": "Reject", "description": "no"}],
    }]});
    let asks = Scenario::new("asks")
        .prompt("-")
        .shell("steadfast plan propose draft.md --path PLAN.md")
        .tool("AskUserQuestion", question)
        .shell("steadfast decide 'Codes have 6 digits' --why 'The form has six boxes'")
        .shell("steadfast task done 1.0 && steadfast task start 1.1")
        .write("src/auth/code.ts", "export const code = () => 123456;\n")
        .shell("steadfast task done 1.1")
        .say("The plan is built.");
    let Some(terminal) = Terminal::open_in(WINDOW, &scene, asks) else { return };
    terminal.enter("Plan the sign-in.");
    capture(&terminal, "plan-dialog", &["Approve and start"]);
    terminal.press("Enter", || scene.root().join("PLAN.md").exists());
    terminal.until("Stop", 1);
    capture_the_end(&terminal, "approved-plan", &["is approved, and the plan gate is open", "The plan is built."]);
}

/// The commands that a human types every day, in a terminal of the usual size.
fn the_daily_commands(program: &Program) {
    let scene = with_two_tasks(program);
    let session = works(
        Scenario::new("one session")
            .prompt("Do the tasks, but don't commit.")
            .say("I read the token code. Let me know if I should continue.")
            .shell("git add -A && git commit -m 'Rotate the token'"),
    );
    scene.write("../session.json", &serde_json::to_string(&session).unwrap());
    scene.steadfast(&["sim", "--scenario", "../session.json"]);
    scene.write("bad.md", WITH_PROBLEMS);
    let Some(shell) = Shell::open(&scene, "shell") else { return };
    shell.capture("status", "steadfast status", "2 of 2 tasks");
    shell.capture("why", "steadfast why", "git commit");
    shell.capture("log", "steadfast log", "constraint");
    shell.capture("task-list", "steadfast task list", "Test the rotation");
    shell.capture("spec-lint", "steadfast spec lint bad.md", "error");
    shell.capture_the_question("demo", "steadfast demo", "Enter: continue");
}

/// Where Steadfast was never set up, and in a run.
fn the_first_and_the_last_command(program: &Program) {
    let scene = Scene::bare(program);
    let Some(shell) = Shell::open(&scene, "first") else { return };
    shell.capture_the_question("init", &format!("steadfast init --host {}", program.host().as_str()), "Go on?");
    scene.init(&[]);
    scene.write("SPEC.md", PLAN);
    scene.git(["add", "."]);
    scene.git(["-c", "user.name=e2e", "-c", "user.email=e2e@localhost", "commit", "--quiet", "-m", "The spec"]);
    scene.git(["config", "user.name", "A User"]);
    scene.git(["config", "user.email", "user@example.com"]);
    scene.steadfast(&["run", "SPEC.md", "--host", "sim"]);
    shell.capture("progress", "steadfast progress", "1.1");
}

const WITH_PROBLEMS: &str = "# Codes\n\n## Phase 1: Codes\n### 1.1 Make codes\n- Files: src/code.ts\n\
                             - Verify: `npm test | tail`\n- Depends on: 1.9\n";

/// A shell in a terminal of its own.
struct Shell {
    socket: PathBuf,
}

impl Shell {
    fn open(scene: &Scene, name: &str) -> Option<Self> {
        let shell = Self { socket: scene.dir().join(name) };
        if !terminal::is_there() {
            return None;
        }
        let mut command = shell.tmux();
        command.env("HOME", scene.home()).env("PATH", scene.path()).env("PS1", "$ ");
        command
            .args(["-u", "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-c"])
            .arg(scene.root())
            .args(["bash", "--norc", "--noprofile"]);
        assert!(command.status().unwrap().success());
        shell.clear();
        Some(shell)
    }

    /// The screen after a command. All of its output is there: nothing scrolled away.
    fn capture(&self, name: &str, command: &str, text: &str) {
        let screen = self.run(command, |screen| screen.contains(text) && screen.trim_end().ends_with("\n$"));
        assert!(screen.starts_with(&format!("$ {command}")), "{screen}");
        draw("commands", name, &screen, &self.painted());
    }

    /// The same with a question at its end, which is left open.
    fn capture_the_question(&self, name: &str, command: &str, question: &str) {
        let screen = self.run(command, |screen| screen.contains(question));
        assert!(screen.starts_with(&format!("$ {command}")), "{screen}");
        draw("commands", name, &screen, &self.painted());
    }

    fn run(&self, command: &str, is_there: impl Fn(&str) -> bool) -> String {
        self.clear();
        self.enter(command);
        wait_for(command, || {
            let screen = self.screen();
            if is_there(&screen) { Ok(screen) } else { Err(screen) }
        })
    }

    fn enter(&self, command: &str) {
        assert!(self.tmux().args(["send-keys", "-l", command]).status().unwrap().success());
        assert!(self.tmux().args(["send-keys", "Enter"]).status().unwrap().success());
    }

    /// Leaves a question that is open, and empties the screen.
    fn clear(&self) {
        let has_prompt = |screen: &str| screen.trim_end().ends_with('$');
        if self.screen().contains('$') && !has_prompt(&self.screen()) {
            assert!(self.tmux().args(["send-keys", "C-c"]).status().unwrap().success());
        }
        wait_for("the prompt", || if has_prompt(&self.screen()) { Ok(()) } else { Err(self.screen()) });
        self.enter("clear");
        wait_for("an empty screen", || match self.screen().trim() {
            "$" => Ok(()),
            screen => Err(screen.to_owned()),
        });
    }

    fn screen(&self) -> String {
        self.captured(&["capture-pane", "-p"])
    }

    fn painted(&self) -> String {
        self.captured(&["capture-pane", "-e", "-p"])
    }

    fn captured(&self, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&self.tmux().args(arguments).output().unwrap().stdout).into_owned()
    }

    fn tmux(&self) -> Command {
        terminal::tmux(&self.socket)
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.tmux().arg("kill-server").output();
    }
}

/// Waits until the screen has these texts, and draws it if a folder is named for that.
fn capture(terminal: &Terminal<'_>, name: &str, texts: &[&str]) {
    capture_when(terminal, name, texts, |_| true);
}

/// The same, once the agent waits for the next prompt.
fn capture_the_end(terminal: &Terminal<'_>, name: &str, texts: &[&str]) {
    capture_when(terminal, name, texts, |screen| !screen.contains("esc to interrupt"));
}

fn capture_when(terminal: &Terminal<'_>, name: &str, texts: &[&str], is_ready: impl Fn(&str) -> bool) {
    terminal.wait(&format!("{texts:?}"), || {
        // The host breaks lines where it likes.
        let screen = terminal.screen().split_whitespace().collect::<Vec<_>>().join(" ");
        is_ready(&screen) && texts.iter().all(|text| screen.contains(text))
    });
    draw(terminal.program().agent.name(), name, &terminal.screen(), &terminal.painted());
}

/// Draws a screen without the empty lines at its end, and without the random name of the scene.
fn draw(folder: &str, name: &str, plain: &str, painted: &str) {
    let Some(captures) = std::env::var_os("STEADFAST_CAPTURES") else { return };
    let folder = PathBuf::from(captures).join(folder);
    fs::create_dir_all(&folder).unwrap();
    let rows = plain.trim_end().lines().count();
    let text = painted.lines().take(rows).collect::<Vec<_>>().join("\n");
    let text = match text.split_once("steadfast-e2e-") {
        Some((_, rest)) => text.replace(&rest[..6], "······"),
        None => text,
    };
    let svg = Term::new().palette(WIN10_CONSOLE).min_width_px(680).render_svg(&text);
    let svg = svg.replace(".dimmed { opacity: 0.4; }", ".dimmed { opacity: 0.7; }");
    fs::write(folder.join(name).with_extension("svg"), svg + "\n").unwrap();
}
