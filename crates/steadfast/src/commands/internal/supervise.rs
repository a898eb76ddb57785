use std::fmt;
use std::io::stdin;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use steadfast_hosts::Sandbox;
use steadfast_model::{PlanId, TaskId};
use steadfast_work::SANDBOX;
use steadfast_work::task_list::checking::CheckAttempt;
use steadfast_work::task_list::confinement::Confinement;

use crate::environment;
use crate::error::CommandError;
use crate::here;

/// Run the check of a task to its end. `task done` starts this with the lock as standard input.
#[derive(Debug, Args)]
pub(in crate::commands) struct Supervise {
    /// Plan id.
    #[arg(long, default_value = "")]
    plan: String,
    /// Task id.
    #[arg(long, default_value = "", required_unless_present = "stated")]
    task: String,
    /// Run id.
    #[arg(long, default_value = "")]
    run: String,
    /// Command that the request states, instead of the check of a task.
    #[arg(long, value_name = "COMMAND", requires = "report", conflicts_with = "leave")]
    stated: Option<String>,
    /// File for the result of that command.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Checkout to run in.
    #[arg(long = "in", value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Start a background process for the check, and exit.
    #[arg(long)]
    leave: bool,
}

impl Supervise {
    pub(in crate::commands) fn run(self) -> Result<(), CommandError> {
        std::env::set_current_dir(&self.folder)
            .map_err(|error| self.not_started(format_args!("`{}`: {error}", self.folder.display())))?;
        if self.leave {
            return self.hand_over();
        }
        let supervisor = steadfast_check::Supervisor::begin()
            .map_err(|error| self.not_started(format_args!("cannot supervise a check here: {error}")))?;
        let mut list = here::task_list("supervise")?;
        let sandbox = self.sandbox()?;
        if let (Some(command), Some(report)) = (&self.stated, &self.report) {
            let mut confinement = Confinement::new(supervisor, sandbox.as_ref(), &list.place().root);
            let stop = Arc::<AtomicBool>::default();
            signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&stop))
                .map_err(|error| self.not_started(format_args!("cannot register signal handlers: {error}")))?;
            let evidence = list.supervise_stated(command, &mut confinement, &stop);
            let written = serde_json::to_string(&evidence).map_err(std::io::Error::from);
            return written
                .and_then(|text| std::fs::write(report, text))
                .map_err(|error| self.not_started(format_args!("`{}`: {error}", report.display())));
        }
        let run =
            CheckAttempt { plan: PlanId::new(self.plan), task: TaskId::new(self.task), name: self.run, mark: None };
        let mut confinement = Confinement::new(supervisor, sandbox.as_ref(), &list.place().root);
        Ok(list.supervise(&run, &mut confinement, &AtomicBool::new(false))?)
    }

    /// Hands the lock to a background process, which has no parent when this process ends.
    fn hand_over(&self) -> Result<(), CommandError> {
        let failed = |error: std::io::Error| self.not_started(format_args!("cannot start the supervisor: {error}"));
        let lock = std::os::fd::AsFd::as_fd(&stdin()).try_clone_to_owned().map_err(failed)?;
        steadfast_system::program(std::env::current_exe().map_err(failed)?)
            .args(["supervise", "--plan", &self.plan, "--task", &self.task, "--run", &self.run, "--in", "."])
            .stdin(lock)
            // The caller waits until this pipe closes.
            .stdout(Stdio::inherit())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        Ok(())
    }

    /// Parses the sandbox. An unreadable one is an error: without it the check would run unconfined.
    fn sandbox(&self) -> Result<Option<Sandbox>, CommandError> {
        let told = environment::text(SANDBOX);
        told.map(|text| serde_json::from_str(&text))
            .transpose()
            .map_err(|error| self.not_started(format_args!("`{SANDBOX}` is not a valid sandbox: {error}")))
    }

    fn not_started(&self, why: fmt::Arguments<'_>) -> CommandError {
        CommandError::failure(why).hint(format!("run the check with `steadfast task done {}`", self.task))
    }
}
