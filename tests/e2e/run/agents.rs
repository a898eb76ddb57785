//! What the agents of a run do: each unit's own, in the words of its host.

use serde_json::json;
use steadfast_model::Host;
use steadfast_sim::{Action, Cast, Scenario, Turn};

/// The task that a conflict becomes: the next number in the unit's plan.
const SETTLING: &str = "2";

/// How an agent of this host lays hands on things.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hands(pub(super) Host);

impl Hands {
    /// A session that begins as its prompt says.
    pub(super) fn session(self, name: &str) -> Scenario {
        Scenario::new(name).shell("steadfast task next")
    }

    /// Closes a task. In Codex's sandbox only the server can.
    pub(super) fn close(self, task: &str) -> Turn {
        match self.0 {
            Host::Codex => Turn::doing([Action::tool("mcp__steadfast__task_done", json!({ "id": task }))]),
            Host::Claude | Host::Sim => Turn::doing([Action::shell(format!("steadfast task done {task}"))]),
        }
    }

    fn decision(self) -> Turn {
        let (text, why) = ("One file for each part", "it is easy to look at");
        match self.0 {
            Host::Codex => Turn::doing([Action::tool("mcp__steadfast__decide", json!({"text": text, "why": why}))]),
            Host::Claude | Host::Sim => {
                Turn::doing([Action::shell(format!("steadfast decide \"{text}\" --why \"{why}\""))])
            }
        }
    }

    /// The first task of every phase.
    pub(super) fn decides(self) -> Scenario {
        self.session("decides").turn(self.decision()).turn(self.close("1.0")).say("Decided.")
    }

    /// Writes a file, closes the tasks, ends.
    pub(super) fn writes(self, tasks: &[&str], path: &str, text: &str) -> Scenario {
        let session = self.session(path).write(path, text);
        tasks.iter().fold(session, |session, task| session.turn(self.close(task))).say("All of it is done.")
    }

    /// Writes a part, and its name where another agent writes its own at the same time.
    fn writes_listed(self, task: &str, part: &str) -> Scenario {
        self.session(part)
            .write(format!("parts/{part}.txt"), format!("{part}\n"))
            .read("INDEX.md")
            .edit("INDEX.md", "nothing yet", part)
            .turn(self.close(task))
            .say("All of it is done.")
    }

    /// Writes down both sides of the conflict.
    fn settles(self) -> Scenario {
        let text = "# Index\n\nalpha\nbeta\n";
        let session = self.session("settles").read("INDEX.md");
        let session = match self.0 {
            // A patch adds no file that is there.
            Host::Codex => session.shell(format!("printf '{}' > INDEX.md", text.replace('\n', "\\n"))),
            Host::Claude | Host::Sim => session.write("INDEX.md", text),
        };
        session.turn(self.close(SETTLING)).say("Both are in there.")
    }

    /// Begins something that does not end.
    pub(super) fn hangs(self) -> Scenario {
        let session = self.session("hangs");
        let command = "tail -f INDEX.md";
        match self.0 {
            // It looks after so long how a command is doing.
            Host::Codex => session.tool("exec_command", json!({"cmd": command, "yield_time_ms": 30_000})),
            Host::Claude | Host::Sim => session.shell(command),
        }
    }

    fn writes_wrongly(self, text: &str) -> Scenario {
        let session = self.session(text).read("parts/delta.txt");
        let session = match self.0 {
            Host::Codex => session.shell(format!("mkdir -p parts && echo {text} > parts/delta.txt")),
            Host::Claude | Host::Sim => session.write("parts/delta.txt", format!("{text}\n")),
        };
        session.turn(self.close("1.4")).say("It should work now.")
    }

    /// All that the spec asks for, and all that goes wrong. Who is not let stop says the same once more.
    pub(super) fn cast(self) -> Cast {
        let copied = |task: &str, name: &str, text: &str| self.writes(&[task], &format!("parts/{name}.txt"), text);
        let half = self.session("half").write("parts/gamma-1.txt", "gam\n");
        let half = half.say("Good progress. Shall I go on with the second half?");
        let claims = self.session("claims").turn(self.close("1.7"));
        let claims = claims.say("All tests pass. <promise>ALL TASKS COMPLETE</promise>");
        Cast::several()
            .part(cue("1.0"), [self.decides()])
            .part(cue("1.1"), [self.writes_listed("1.1", "alpha"), self.settles()])
            .part(cue("1.2"), [self.writes_listed("1.2", "beta"), self.settles()])
            .part(cue("1.3"), [self.hangs(), copied("1.3", "gamma", "gam\nma\ngamma\n")])
            .part(cue("1.4"), [self.writes_wrongly("dleta"), self.writes_wrongly("dalta"), self.writes_rightly()])
            .part(cue("1.5"), [copied("1.5", "joined", "alpha\nbeta\n")])
            .part(cue("1.6"), [half, copied("1.6", "gamma-2", "ma\ngamma\n")])
            .part(cue("1.7"), [claims, copied("1.7", "delta-copy", "delta\n")])
            .part(cue("1.8a"), [self.writes(&["1.8", "1.8a"], "parts/joined-copy.txt", "alpha\nbeta\n")])
            .part(cue("1.9"), [copied("1.9", "gamma-3", "gam\n")])
            .part(cue("1.10"), [copied("1.10", "gamma-4", "ma\ngamma\n")])
            .part(cue("1.11"), [copied("1.11", "delta-again", "delta\n")])
    }

    /// Over what the attempts before left.
    fn writes_rightly(self) -> Scenario {
        let session = self.session("rightly").read("parts/delta.txt");
        session.edit("parts/delta.txt", "dalta", "delta").turn(self.close("1.4")).say("Now it is right.")
    }
}

/// The end of the list of tasks in an agent's prompt.
pub(super) fn cue(task: &str) -> String {
    format!(" {task}.\n")
}
