use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use steadfast_sim::agent::Work;
use steadfast_sim::{Agent, Ending, HookCommand, Moment, Scenario, expert};

use crate::environment;
use crate::error::CommandError;

/// Run the simulated agent, the host `sim`, in this directory.
///
/// Prints one JSON object per line on standard output, `{moment, …}`, as events happen. Exits with 0 if the agent
/// stopped without a refusal, else with 1.
#[derive(Debug, Args)]
pub(in crate::commands) struct Sim {
    /// Script of the agent, with `${CWD}` and `${STEADFAST}` filled in. Without it, the agent works through the tasks
    /// of the ledger.
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// First prompt of the human.
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Session id. [default: a new one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Number of refused stops in a row before the agent stops anyway; 0 means no limit.
    #[arg(long, value_name = "N")]
    stop_cap: Option<u32>,
    /// Number of answers before the agent stops.
    #[arg(long, value_name = "N")]
    max_turns: Option<u32>,
    /// Cost of each answer in US dollars; prints the sum after each answer.
    #[arg(long, value_name = "USD")]
    cost_per_turn: Option<f64>,
    /// Cost limit in US dollars.
    #[arg(long, value_name = "USD")]
    budget: Option<f64>,
    /// Answer as an expert whose opinion `--prompt` asks for, and change nothing.
    #[arg(long, requires = "prompt", conflicts_with = "scenario")]
    expert: bool,
    /// Time for each task of the ledger in seconds.
    #[arg(long, value_name = "SECONDS")]
    pace: Option<f64>,
}

/// Names the tasks, so that the session is bound to them.
const PROMPT: &str = "Do the tasks.";

/// Variables of a host around this process, which are emptied. For commands and hooks, empty means absent.
const OF_OTHER_HOSTS: [&str; 7] = [
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_PROJECT_DIR",
    "CODEX_HOME",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
];

impl Sim {
    pub(in crate::commands) fn run(self) -> Result<(), CommandError> {
        let agent = self.agent()?;
        let ending = agent
            .run(&mut |moment| {
                // The process that started the agent may be gone; the agent continues, as a host does.
                let _ = line(moment, &agent.session).map(|line| writeln!(std::io::stdout(), "{line}"));
            })
            .map_err(|error| {
                CommandError::failure(error).hint("the agent needs this folder and the hooks of this program")
            })?;
        match ending {
            Ending::Stopped => Ok(()),
            other => Err(CommandError::failure(format!("the session did not end normally: {}", other.as_str()))
                .hint("its last lines on standard output show the cause")),
        }
    }

    fn agent(self) -> Result<Agent, CommandError> {
        let program = std::env::current_exe().map_err(|error| {
            CommandError::failure(format!("cannot find this program: {error}"))
                .hint("mount `/proc`: Steadfast reads the path of its program there")
        })?;
        let steadfast = program.display().to_string();
        let cwd = environment::cwd();
        let work = match self.scenario {
            None if self.expert => Work::Scenario(opinion(&self.prompt.unwrap_or_default())),
            Some(file) => {
                let values = [("CWD", cwd.display().to_string()), ("STEADFAST", steadfast)];
                let values: BTreeMap<_, _> = values.map(|(name, value)| (name.to_owned(), value)).into();
                let scenario = Scenario::load(&file, &values).map_err(|error| {
                    CommandError::failure(error).hint(
                        "`--scenario FILE` must be JSON; without it, the agent works through the tasks of the ledger",
                    )
                })?;
                let prompt = self.prompt.unwrap_or_else(|| scenario.prompt.clone());
                Work::Scenario(Scenario { prompt, ..scenario })
            }
            None => Work::Ledger { steadfast, prompt: self.prompt.unwrap_or_else(|| PROMPT.to_owned()) },
        };
        let hook = HookCommand::new(program, ["hook", "--host", "sim", "--via", "local"]);
        let mut agent = Agent::new(hook, cwd, work);
        agent.env = OF_OTHER_HOSTS.map(|name| (name.to_owned(), String::new())).into();
        agent.session = self.session.unwrap_or(agent.session);
        agent.stop_cap = self.stop_cap.unwrap_or(agent.stop_cap);
        agent.turn_limit = self.max_turns.unwrap_or(agent.turn_limit);
        agent.cost_per_turn = self.cost_per_turn.map(micro_usd);
        agent.budget = self.budget.map(micro_usd);
        agent.pace = self.pace.and_then(|pace| Duration::try_from_secs_f64(pace).ok()).unwrap_or_default();
        Ok(agent)
    }
}

/// The answer of an expert as a scenario. An expert without an answer waits forever.
fn opinion(brief: &str) -> Scenario {
    match expert::answer(brief) {
        Some(answer) => Scenario::new("expert").prompt(brief).say(answer),
        None => loop {
            std::thread::sleep(Duration::from_secs(3_600));
        },
    }
}

/// A moment as one line of JSON with its time; the first names the session.
fn line(moment: &Moment, session: &str) -> serde_json::Result<String> {
    let mut line = serde_json::to_value(moment)?;
    line["at"] = environment::now().0.into();
    if matches!(moment, Moment::SessionStarted { .. }) {
        line["session"] = session.into();
    }
    Ok(line.to_string())
}

fn micro_usd(usd: f64) -> u64 {
    (usd * 1e6).round() as u64
}
