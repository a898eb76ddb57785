use std::io;
use std::path::PathBuf;
use std::time::Duration;

use anstyle::Style;
use clap::Args;
use steadfast_model::{Host, Millis};

use crate::duration;
use crate::environment;
use crate::error::CommandError;
use crate::output::gone_or_full;
use crate::terminal::Spinner;
use host::{Performance, find_program};
use journal::Journal;
use outcome::Outcome;
use sandbox::Sandbox;
use scene::Scene;
use stream::Stream;
use timeline::{Layout, Timeline};

mod arc;
mod host;
mod journal;
mod key;
mod outcome;
mod sandbox;
mod scene;
mod script;
mod short;
mod stream;
mod timeline;

/// Show how Steadfast answers false claims of done.
///
/// A simulated agent works through three tasks in a temporary repository. Its actions are scripted; the hooks, the checks and
/// the refusals are real. Needs no account, asks no model, and leaves nothing behind.
#[derive(Debug, Args)]
pub(super) struct Demo {
    /// Show the whole session with times, and then an unattended run.
    #[arg(long)]
    full: bool,
    /// Host of the agent: `sim` simulates one; `claude` and `codex` run the real program with a scripted model.
    #[arg(long, value_name = "HOST", default_value = "sim")]
    host: Host,
    /// Path of the host's program, if it is not on the PATH.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Print without waiting for keys and without pauses. Output to a pipe or a file never waits.
    #[arg(long)]
    fast: bool,
    /// Time limit for the host: `90s`, `2m`.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration::parse_seconds)]
    limit: Duration,
}

impl Demo {
    pub(super) fn run(self) -> Result<(), CommandError> {
        match self.play() {
            Err(End::Unread) | Ok(()) => Ok(()),
            Err(End::Failed(error)) => Err(error),
        }
    }

    fn play(self) -> Result<(), End> {
        let program = find_program(self.host, self.program.clone())?;
        let sandbox = Sandbox::new()?;
        if self.full { self.play_full(program, &sandbox) } else { self.play_short(program, &sandbox) }
    }

    /// The session is over before the first line is printed, which takes a simulated agent less than a second.
    fn play_short(&self, program: Option<PathBuf>, sandbox: &Sandbox) -> Result<(), End> {
        // A real host takes some seconds.
        let spinner =
            (self.host != Host::Sim).then(|| Spinner::start(format!("{} plays the session", self.host.full_name())));
        let mut performance = self.start(program, sandbox)?;
        let mut recording = Vec::new();
        let journal = self.perform(&mut performance, sandbox, |at, scene| {
            recording.push((at, scene));
            Ok(())
        })?;
        let outcome = Outcome::of(journal, sandbox, &performance)?;
        outcome.verify(sandbox, &performance)?;
        let pages = short::pages(&recording)
            .ok_or_else(|| performance.failure("the session did not have the refusals of its script"))?;
        drop(spinner);
        Ok(short::print(self.player(), &outcome, &recording, pages, self.fast)?)
    }

    fn play_full(&self, program: Option<PathBuf>, sandbox: &Sandbox) -> Result<(), End> {
        let mut timeline = Timeline::new(Layout::Full { start: environment::now() }, self.fast);
        timeline.paragraph(
            Style::new(),
            &format!(
                "{} works in a temporary repository. Its actions are scripted; the hooks, the ledger and \
                 the messages are the real Steadfast. A human wrote this list with `steadfast task add`:",
                self.player()
            ),
        )?;
        timeline.blank()?;
        for (task, id) in script::TASKS.iter().zip(1..) {
            timeline.paragraph(Style::new(), &format!("{id}. {} (done when `{}` passes)", task.title, task.verify))?;
        }
        timeline.blank()?;
        let mut performance = self.start(program, sandbox)?;
        let journal = self.perform(&mut performance, sandbox, |at, scene| timeline.show(at, &scene))?;
        timeline.blank()?;
        let outcome = Outcome::of(journal, sandbox, &performance)?;
        // The second act needs a complete first one.
        if outcome.end.open() == 0 {
            arc::play(&mut timeline, sandbox)?;
        }
        outcome.print(&mut timeline)?;
        Ok(outcome.verify(sandbox, &performance)?)
    }

    fn player(&self) -> &'static str {
        match self.host {
            Host::Sim => "Simulated agent",
            Host::Claude => "Claude Code with a scripted model",
            Host::Codex => "Codex with a scripted model",
        }
    }

    fn start(&self, program: Option<PathBuf>, sandbox: &Sandbox) -> Result<Performance, CommandError> {
        Performance::start(self.host, program, sandbox, self.limit)
    }

    /// Plays the session, and hands over its scenes in the order in which they happened.
    fn perform(
        &self,
        performance: &mut Performance,
        sandbox: &Sandbox,
        mut show: impl FnMut(Millis, Scene) -> io::Result<()>,
    ) -> Result<Journal, End> {
        let mut stream = Stream::new(self.host, &sandbox.repository);
        let mut journal = Journal::new(sandbox.place.clone());
        let (mut said, mut denied) = (None, None);
        while let Some(line) = performance.next()? {
            let (at, scenes) = stream.read(&line.text, line.at);
            for scene in scenes {
                for (at, scene) in journal.scenes(at, said.as_deref()) {
                    if let Scene::Tried { what } = &scene {
                        denied = Some(what.clone());
                    }
                    show(at, scene)?;
                }
                // Real hosts report a denied call like one that failed.
                if denied.is_some() && denied == scene.call() {
                    denied = None;
                    continue;
                }
                if let Scene::Said { text } = &scene {
                    said = Some(text.clone());
                }
                show(at, scene)?;
            }
        }
        for (at, scene) in journal.rest() {
            show(at, scene)?;
        }
        Ok(journal)
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
