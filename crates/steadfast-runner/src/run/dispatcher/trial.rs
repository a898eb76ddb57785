//! Finds checks that pass before any work, and so prove nothing about it. The run tries them on its base commit,
//! beside its agents, and warns the human while the spec can still change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use steadfast_model::TaskId;
use steadfast_store::ledger::LedgerError;

use super::super::event::RunEvent;
use super::super::message::Message;
use super::Dispatcher;
use crate::error::RunError;

/// The name of the worktree.
const NAME: &str = "trial";

const NOTE: &str = "Its check passed before any work was done.";

#[derive(Debug)]
pub(super) struct Trial {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Dispatcher {
    pub(super) fn begin_trial(&mut self) -> Result<(), RunError> {
        let (context, tell, stop) = (Arc::clone(&self.context), self.tell.clone(), Arc::<AtomicBool>::default());
        let (plan, base, stopped) = (self.run.plan.clone(), self.run.base.clone(), Arc::clone(&stop));
        let thread = thread::Builder::new().name("trial".to_owned()).spawn(move || {
            // The trial is only advice. If the commit or a check fails to run, the real check reports it.
            let Ok(folder) = context.worktrees.read_only_worktree(NAME, &base) else { return };
            let _ = context.tasks.passing_already(&folder, &plan, &stopped, &mut |tasks| {
                let _ = tell.send(Message::PassAlready(tasks));
            });
            context.tasks.leave(&folder);
            let _ = context.worktrees.remove_read_only(NAME);
        });
        self.trial = Some(Trial { stop, thread: thread.map_err(RunError::Thread)? });
        Ok(())
    }

    pub(super) fn end_trial(&mut self) {
        if let Some(trial) = self.trial.take() {
            trial.stop.store(true, Ordering::Relaxed);
            let _ = trial.thread.join();
        }
    }

    pub(super) fn pass_already(&mut self, tasks: Vec<TaskId>) -> Result<(), RunError> {
        for task in &tasks {
            match self.ledger.note_task(&self.run.plan, task, NOTE, self.now()) {
                // The event reports it anyway.
                Ok(_) | Err(LedgerError::TooLong { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.events.push(RunEvent::PassAlready { tasks });
        Ok(())
    }
}
