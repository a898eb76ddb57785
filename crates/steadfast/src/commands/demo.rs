use std::io;
use std::path::PathBuf;
use std::time::Duration;

use anstyle::Style;
use clap::Args;
use steadfast_model::{Counts, Host};
use steadfast_store::ledger::Ledger;
use steadfast_text::count;

use crate::environment;
use crate::error::CommandError;
use crate::output::gone_or_full;
use host::{Performance, find_program};
use journal::Journal;
use sandbox::Sandbox;
use scene::{Attempt, Scene};
use stream::Stream;
use timeline::Timeline;

mod arc;
mod host;
mod journal;
mod sandbox;
mod scene;
mod script;
mod stream;
mod timeline;

/// Show how Steadfast refuses false claims of done.
///
/// Shows three refusals, and then a loop from its spec to its card. Runs in a temporary repository and writes nothing outside it. The agent follows a script; the hooks, the ledger and
/// the refusals are real. Needs no account, and asks no model.
#[derive(Debug, Args)]
pub(super) struct Demo {
    /// Host of the agent: `sim` simulates one; `claude` and `codex` run the real program with a scripted model.
    #[arg(long, value_name = "HOST", default_value = "sim")]
    host: Host,
    /// Path of the host's program, if it is not on the PATH.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Print without pauses between lines. Output to a pipe or a file never pauses.
    #[arg(long)]
    fast: bool,
    /// Time limit for the host in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    limit: u64,
}

impl Demo {
    pub(super) fn run(self) -> Result<(), CommandError> {
        match self.play() {
            Err(End::Unread) | Ok(()) => Ok(()),
            Err(End::Failed(error)) => Err(error),
        }
    }

    fn play(self) -> Result<(), End> {
        let program = find_program(self.host, self.program)?;
        let sandbox = Sandbox::new()?;
        let mut timeline = Timeline::new(environment::now(), self.fast);
        let player = match self.host {
            Host::Sim => "A simulated agent",
            Host::Claude => "Claude Code, with a scripted model,",
            Host::Codex => "Codex, with a scripted model,",
        };
        timeline.paragraph(
            Style::new(),
            &format!(
                "{player} works in a temporary repository. Its actions are scripted; the hooks, the ledger and \
                 the messages are the real Steadfast. A human wrote this list with `steadfast task add`:"
            ),
        )?;
        timeline.blank()?;
        for (task, id) in script::TASKS.iter().zip(1..) {
            timeline.paragraph(Style::new(), &format!("{id}. {} (done when `{}` passes)", task.title, task.verify))?;
        }
        timeline.blank()?;

        let mut performance = Performance::start(self.host, program, &sandbox, Duration::from_secs(self.limit))?;
        let mut stream = Stream::new(self.host, &sandbox.repository);
        let mut journal = Journal::new(sandbox.place.clone());
        let mut said = None;
        while let Some(line) = performance.next()? {
            for scene in stream.read(&line.text) {
                for (at, scene) in journal.scenes(line.at, said.as_deref()) {
                    timeline.show(at, &scene)?;
                }
                timeline.show(line.at, &scene)?;
                if let Scene::Said { text } = scene {
                    said = Some(text);
                }
            }
        }
        for (at, scene) in journal.rest() {
            timeline.show(at, &scene)?;
        }
        timeline.blank()?;
        let end = counts(&sandbox)?;
        // The second act needs a complete first one.
        if end.open() == 0 {
            arc::play(&mut timeline, &sandbox)?;
        }
        close(&mut timeline, &journal, end, &sandbox, &performance)
    }
}

/// The reason why the demo ends early.
enum End {
    /// The reader closed the pipe.
    Unread,
    Failed(CommandError),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        match gone_or_full(&error) {
            Ok(()) => Self::Unread,
            Err(error) => Self::Failed(error),
        }
    }
}

impl From<CommandError> for End {
    fn from(error: CommandError) -> Self {
        Self::Failed(error)
    }
}

/// The counts of tasks in the ledger.
fn counts(sandbox: &Sandbox) -> Result<Counts, CommandError> {
    let ledger = Ledger::open(&sandbox.place.state)?;
    Ok(ledger.plan_view(&sandbox.place.worktree())?.map(|view| view.counts).unwrap_or_default())
}

fn close(
    timeline: &mut Timeline,
    Journal { attempts, denied, forbidden, corrected, restored, .. }: &Journal,
    end: Counts,
    sandbox: &Sandbox,
    host: &Performance,
) -> Result<(), End> {
    let refusals: Vec<_> = attempts.iter().filter_map(|attempt| attempt.refusal.as_ref()).collect();
    let Some(first) = attempts.first().filter(|attempt| attempt.refusal.is_some()) else {
        return Err(host.failure("the host ended without a stop event").into());
    };
    if !refusals.iter().all(|reason| host.passed_on(reason)) {
        return Err(host.failure("the host did not pass a refusal on to its model").into());
    }
    let bold = Style::new().bold();
    let Attempt { message, counts: Counts { done, .. }, .. } = first;
    timeline.paragraph(
        Style::new(),
        &format!("Without Steadfast: {done} of {} tasks done, and the words \"{message}\"", first.counts.all()),
    )?;
    let times = count(refusals.len(), "refusal");
    timeline.paragraph(
        bold,
        &format!("With Steadfast: {} of {} tasks done, each by its check, after {times}.", end.done, end.all()),
    )?;
    let commits = if *forbidden == 1 { "1 commit" } else { "the commits" };
    timeline.paragraph(
        bold,
        &format!(
            "And it stayed on scope: Steadfast told it {corrected} times that styles are off task, and it came back; {commits} \
             that the human forbade did not happen."
        ),
    )?;
    let (plan, again) =
        (script::PLAN, if *restored == 1 { "1 more was removed again" } else { "the rest were removed again" });
    timeline.paragraph(
        bold,
        &format!(
            "And nothing was built without approval: {denied} writes of {plan} did not happen, {again}. A human would read \
             the draft with `steadfast plan show --draft` and approve it with `steadfast plan approve`."
        ),
    )?;
    timeline.blank()?;
    timeline.paragraph(
        Style::new(),
        "Next: run `steadfast init` in your repository. It shows its changes before it writes them.",
    )?;
    if sandbox.repository.join(plan).exists() {
        return Err(host.failure("a plan was written without approval").into());
    }
    if *forbidden == 0 || *corrected == 0 {
        return Err(host.failure("Steadfast did not keep the agent on scope").into());
    }
    if end.open() > 0 {
        return Err(host.failure("the host ended with open tasks").into());
    }
    Ok(())
}
