use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use steadfast_hosts::stream::AgentEvent;
use steadfast_model::Spent;

use super::expert::Expert;
use crate::agent::{AgentUpdate, Departed, Departure};
use crate::launch::{Launcher, Post, Role, Start};

/// The settings for asking experts.
pub struct Panel<'a> {
    pub launcher: &'a Launcher,
    /// A checkout of the subject, used by no other process.
    pub directory: &'a Path,
    /// The environment value that marks their processes.
    pub mark: &'a str,
    /// The folder for their output, and for the mark of a spent budget.
    pub folder: &'a Path,
    /// The prefix of the files in that folder.
    pub name: &'a str,
    /// The time limit of each expert.
    pub limit: Duration,
    /// Micro-dollars, for all experts together.
    pub share: Option<u64>,
}

impl fmt::Debug for Panel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Panel").field("name", &self.name).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpertAnswer {
    pub expert: Expert,
    pub spoken: Spoken,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// `None`: no message, or the agent did not finish.
    pub said: Option<String>,
    /// The agent's end.
    pub how: Departed,
    pub spent: Spent,
}

impl Panel<'_> {
    /// Asks all experts at once, each a fresh agent that knows nothing of the others. `spent` receives their total
    /// cost so far.
    pub fn ask(
        &self,
        briefs: &[(Expert, String)],
        stop: &AtomicBool,
        spent: &mut dyn FnMut(Spent),
    ) -> Vec<ExpertAnswer> {
        let mut taken = vec![Spent { micro_usd: Some(0), ..Spent::default() }; briefs.len()];
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            let seats: Vec<_> = (0..)
                .zip(briefs)
                .map(|(seat, (expert, brief))| {
                    let tell = tell.clone();
                    let share = self.share.map(|share| share / briefs.len().max(1) as u64);
                    scope.spawn(move || {
                        let spoken = self.one(expert.as_str(), brief, share, stop, &mut |spent| {
                            let _ = tell.send((seat, spent));
                        });
                        ExpertAnswer { expert: *expert, spoken }
                    })
                })
                .collect();
            drop(tell);
            for (seat, now) in told {
                let seat: usize = seat;
                taken[seat] = now;
                spent(taken.iter().copied().fold(Spent { micro_usd: Some(0), ..Spent::default() }, Spent::plus));
            }
            seats.into_iter().filter_map(|seat| seat.join().ok()).collect()
        })
    }

    pub fn one(
        &self,
        who: &str,
        brief: &str,
        share: Option<u64>,
        stop: &AtomicBool,
        heard: &mut dyn FnMut(Spent),
    ) -> Spoken {
        let file = |end: &str| self.folder.join(format!("{}.{}.{end}", self.name, who));
        let spent = file("spent");
        let start = Start { prompt: brief, share, spent: &spent, role: Role::Expert };
        let post = Post {
            directory: self.directory.to_owned(),
            mark: self.mark.to_owned(),
            log: file("log"),
            silence: self.limit,
            limit: self.limit,
        };
        let Departure { how, said, spent, .. } = self.launcher.attend(&start, post, stop, &mut |event| {
            if let AgentUpdate::Event(AgentEvent::Spent(spent)) = event {
                heard(spent);
            }
        });
        heard(spent);
        let came_to_its_end = matches!(how, Departed::Ended(_));
        Spoken { said: said.filter(|_| came_to_its_end), how, spent }
    }
}
