//! What the agent in the demo is asked, and what it does.

use steadfast_sim::{Action, Scenario, Turn};

pub(super) const PROMPT: &str = "Do the tasks.";

pub(super) struct Task {
    pub(super) title: &'static str,
    pub(super) file: &'static str,
    content: &'static str,
    /// What the agent says when it begins.
    intent: &'static str,
}

pub(super) const TASKS: [Task; 3] = [
    Task {
        title: "Parse durations such as 1h30m",
        file: "durations/parse.py",
        content: include_str!("project/durations/parse.py"),
        intent: "I'll start with the parser.",
    },
    Task {
        title: "Print a duration the way it is parsed",
        file: "durations/show.py",
        content: include_str!("project/durations/show.py"),
        intent: "Two tasks are still open. Going on with the second.",
    },
    Task {
        title: "Test that parsing and printing agree",
        file: "test_durations.py",
        content: include_str!("project/test_durations.py"),
        intent: "Now the test.",
    },
];

const TOO_EARLY: &str = "I've made good progress on the parser! Let me know if you'd like me to continue.";

pub(super) fn scenario() -> Scenario {
    let scenario = Scenario::new("demo").prompt(PROMPT);
    let scenario = TASKS.iter().zip(1..).fold(scenario, |scenario, (task, id)| {
        let scenario = scenario
            .turn(Turn::saying(task.intent).calling([Action::shell(format!("steadfast task start {id}"))]))
            .write(task.file, task.content)
            .shell(format!("steadfast task done {id}"));
        if id == 1 { scenario.say(TOO_EARLY) } else { scenario }
    });
    scenario.say("All three tasks are done: parser, printer and their test.")
}
