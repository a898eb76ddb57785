//! One session from start to end: the loop of a host.

use super::background::Background;
use super::hook::Answer;
use super::moment::{Ending, Moment, Who};
use super::payload::{Envelope, Event, StopFields};
use super::subagent::StopState;
use super::tool::Tools;
use super::worker::{Before, Worker};
use super::workplace::Workplace;
use super::{Agent, AgentError, Work};
use crate::ids::Ids;
use crate::scenario::{Action, Fault, Script, Turn};

const SUMMARY: &str = "<summary>The work so far, in short.</summary>";

pub(super) struct Session<'a> {
    pub(super) agent: &'a Agent,
    pub(super) tools: Tools,
    pub(super) ids: Ids,
    pub(super) background: Vec<Background>,
    envelope: Envelope,
    stop: StopState,
    watch: &'a mut dyn FnMut(&Moment),
}

/// The reason why a session ends early.
#[derive(Debug)]
pub(super) enum Interrupt {
    Halted(String),
    Error(AgentError),
}

impl From<AgentError> for Interrupt {
    fn from(error: AgentError) -> Self {
        Self::Error(error)
    }
}

#[derive(Debug)]
enum Player {
    Script(Script),
    Worker(Worker),
}

/// The data for starting a hook. It is separate from the session so that several hooks can start at once.
#[derive(Debug, Clone)]
pub(super) struct Hooks<'a> {
    agent: &'a Agent,
    tools: &'a Tools,
    envelope: &'a Envelope,
}

impl Hooks<'_> {
    pub(super) fn run(&self, who: &Who, event: &Event<'_>) -> Result<Answer, AgentError> {
        self.agent.hook.run(
            event.name(),
            &event.payload(self.envelope, who),
            self.tools.workplace.root(),
            &self.tools.env,
            self.agent.hook_limit,
        )
    }
}

impl<'a> Session<'a> {
    pub(super) fn new(agent: &'a Agent, watch: &'a mut dyn FnMut(&Moment)) -> Result<Self, AgentError> {
        let workplace =
            Workplace::new(&agent.cwd).map_err(|source| AgentError::Workplace { path: agent.cwd.clone(), source })?;
        let mut env = agent.env.clone();
        env.insert("STEADFAST_SIM".to_owned(), "1".to_owned());
        env.insert("STEADFAST_SESSION_ID".to_owned(), agent.session.clone());
        // Hooks expect this field. The simulated agent keeps no transcript; a real transcript may also be behind.
        let transcript = std::env::temp_dir().join("steadfast-sim").join(format!("{}.jsonl", agent.session));
        Ok(Self {
            envelope: Envelope {
                session_id: agent.session.clone(),
                transcript_path: transcript.display().to_string(),
                cwd: workplace.root().display().to_string(),
                prompt_id: None,
            },
            tools: Tools { workplace, env, shell_limit: agent.shell_limit },
            agent,
            ids: Ids::new(),
            background: Vec::new(),
            stop: StopState::default(),
            watch,
        })
    }

    pub(super) fn run(mut self) -> Result<Ending, AgentError> {
        let ending = match self.live() {
            Ok(ending) => ending,
            Err(Interrupt::Halted(reason)) => Ending::Halted { reason },
            Err(Interrupt::Error(error)) => return Err(error),
        };
        match self.fire(&Who::Main, &Event::SessionEnd) {
            Ok(_) | Err(Interrupt::Halted(_)) => {}
            Err(Interrupt::Error(error)) => return Err(error),
        }
        self.tell(Moment::Ended(ending.clone()));
        Ok(ending)
    }

    fn live(&mut self) -> Result<Ending, Interrupt> {
        let (mut player, prompt) = match &self.agent.work {
            Work::Scenario(scenario) => (Player::Script(Script::main(scenario)), scenario.prompt.clone()),
            Work::Ledger { steadfast, prompt } => {
                let worker = Worker::new(steadfast, &self.agent.session, self.agent.pace);
                (Player::Worker(worker), prompt.clone())
            }
        };
        self.tell(Moment::SessionStarted { source: "startup" });
        let _answer = self.fire(&Who::Main, &Event::SessionStart { source: "startup" })?;
        if let Some(reason) = self.prompt(&prompt)? {
            return Ok(Ending::PromptRefused { reason });
        }
        let mut heard = String::new();
        for turns in 1..=self.agent.turn_limit {
            let (before, turn) = player.next(&heard, &self.tools.workplace);
            before.happen();
            if let Some(fault) = turn.fail {
                return self.fail(fault);
            }
            if turn.only_compacts() {
                self.compact("auto")?;
                continue;
            }
            self.tell(Moment::Answered);
            self.say(&turn);
            if let Some(cost) = self.agent.cost_per_turn {
                let micro_usd = cost.saturating_mul(turns.into());
                self.tell(Moment::Spent { micro_usd });
                if self.agent.budget.is_some_and(|budget| micro_usd >= budget) {
                    return Ok(Ending::BudgetSpent);
                }
            }
            if turn.calls_tools() {
                heard = self.batch(&Who::Main, &turn.actions)?;
                self.stop.refusals = 0;
            }
            if turn.actions.contains(&Action::Compact {}) {
                self.compact("auto")?;
            }
            let next = if turn.calls_tools() {
                Next::GoOn
            } else {
                self.try_to_stop(turn.say.as_deref().unwrap_or_default(), &mut player)?
            };
            match next {
                Next::GoOn => {}
                Next::Hear(text) => heard = text,
                Next::End(ending) => return Ok(ending),
            }
            for text in self.work_in_background()? {
                let _refused = self.submit(&text)?;
            }
        }
        Ok(Ending::TurnLimit)
    }

    fn try_to_stop(&mut self, message: &str, player: &mut Player) -> Result<Next, Interrupt> {
        let who = Who::Main;
        self.tell(Moment::StopTried { who: who.clone(), message: message.to_owned() });
        let event = Event::Stop(StopFields { active: self.stop.active, message, background: self.tasks() });
        let answer = self.fire(&who, &event)?;
        let reason = answer.refusal.clone();
        let mut stop = self.stop;
        let refused = self.is_refused(&who, &mut stop, answer);
        self.stop = stop;
        match reason {
            Some(reason) if refused => return Ok(Next::Hear(reason)),
            Some(_) => return Ok(Next::End(Ending::Overridden)),
            None => {}
        }
        if !self.background.is_empty() {
            let text = self.wait_for_background()?;
            let _refused = self.prompt(&text)?;
            return Ok(Next::Hear(text));
        }
        while player.compacts_next() {
            self.envelope.prompt_id = Some(self.ids.uuid());
            self.compact("manual")?;
        }
        match player.typed_next() {
            Some(text) => match self.prompt(&text)? {
                Some(reason) => Ok(Next::End(Ending::PromptRefused { reason })),
                None => Ok(Next::Hear(text)),
            },
            None => Ok(Next::End(Ending::Stopped)),
        }
    }

    /// Returns true if the thread must continue. Counts the refusals up to the host's limit.
    pub(super) fn is_refused(&mut self, who: &Who, stop: &mut StopState, answer: Answer) -> bool {
        let Some(reason) = answer.refusal else {
            *stop = StopState::default();
            return false;
        };
        stop.active = true;
        stop.refusals += 1;
        if self.agent.stop_cap > 0 && stop.refusals > self.agent.stop_cap {
            self.tell(Moment::StopOverridden { refusals: self.agent.stop_cap });
            return false;
        }
        self.tell(Moment::StopRefused { who: who.clone(), reason });
        true
    }

    fn say(&mut self, turn: &Turn) {
        if let Some(text) = &turn.say {
            self.tell(Moment::Said { who: Who::Main, text: text.clone() });
        }
    }

    /// Sends a prompt after a stop. Returns the reason if a hook refuses it.
    fn prompt(&mut self, text: &str) -> Result<Option<String>, Interrupt> {
        self.envelope.prompt_id = Some(self.ids.uuid());
        self.stop = StopState::default();
        self.submit(text)
    }

    fn submit(&mut self, text: &str) -> Result<Option<String>, Interrupt> {
        self.tell(Moment::Prompted { text: text.to_owned() });
        let answer = self.fire(&Who::Main, &Event::UserPromptSubmit { prompt: text })?;
        if let Some(reason) = &answer.refusal {
            self.tell(Moment::PromptRefused { reason: reason.clone() });
        }
        Ok(answer.refusal)
    }

    fn fail(&mut self, fault: Fault) -> Result<Ending, Interrupt> {
        let status = fault.status;
        self.tell(Moment::ModelFailed { status });
        let error = match status {
            429 => "rate_limit",
            401 | 403 => "authentication_failed",
            400..=499 => "invalid_request",
            _ => "server_error",
        };
        let event = Event::StopFailure { error, message: format!("API Error: {status}") };
        let _answer = self.fire(&Who::Main, &event)?;
        Ok(Ending::ModelFailed { status })
    }

    fn compact(&mut self, trigger: &'static str) -> Result<(), Interrupt> {
        let before = self.fire(&Who::Main, &Event::PreCompact { trigger })?;
        if before.refusal.is_some() {
            return Ok(());
        }
        // Claude Code's summary agent has an id and no type.
        let writer = Who::Subagent { id: self.ids.agent(), kind: String::new() };
        let event = Event::SubagentStop {
            transcript: self.transcript_of(&writer.to_string()),
            stop: StopFields { active: false, message: SUMMARY, background: Vec::new() },
        };
        let _answer = self.fire(&writer, &event)?;
        self.tell(Moment::Compacted);
        let _answer = self.fire(&Who::Main, &Event::SessionStart { source: "compact" })?;
        let after = Event::PostCompact { trigger, summary: SUMMARY };
        let _answer = self.fire(&Who::Main, &after)?;
        Ok(())
    }

    pub(super) fn transcript_of(&self, agent: &str) -> String {
        let folder = self.envelope.transcript_path.trim_end_matches(".jsonl");
        format!("{folder}/subagents/agent-{agent}.jsonl")
    }

    pub(super) fn hooks(&self) -> Hooks<'_> {
        Hooks { agent: self.agent, tools: &self.tools, envelope: &self.envelope }
    }

    pub(super) fn fire(&mut self, who: &Who, event: &Event<'_>) -> Result<Answer, Interrupt> {
        let answer = self.hooks().run(who, event)?;
        self.hear(event.name(), answer)
    }

    /// Passes on the contexts and notes of a hook's answer.
    pub(super) fn hear(&mut self, event: &'static str, mut answer: Answer) -> Result<Answer, Interrupt> {
        if let Some(problem) = answer.problem.take() {
            self.tell(Moment::HookFailed { event, problem });
        }
        if let Some(text) = answer.note.take() {
            self.tell(Moment::Note { text });
        }
        if let Some(text) = answer.context.take() {
            // Claude Code treats a context at these two events as a refusal.
            if matches!(event, "Stop" | "SubagentStop") && answer.refusal.is_none() {
                answer.refusal = Some(text);
            } else {
                self.tell(Moment::ContextReceived { event, text });
            }
        }
        match answer.halt.take() {
            Some(reason) => Err(Interrupt::Halted(reason)),
            None => Ok(answer),
        }
    }

    pub(super) fn tell(&mut self, moment: Moment) {
        (self.watch)(&moment);
    }
}

#[derive(Debug)]
enum Next {
    GoOn,
    Hear(String),
    End(Ending),
}

impl Player {
    fn next(&mut self, heard: &str, workplace: &Workplace) -> (Before, Turn) {
        match self {
            Self::Script(script) => (Before::Nothing, script.advance()),
            Self::Worker(worker) => worker.next(heard, workplace.root()),
        }
    }

    /// Takes the next turn if it is only a compaction.
    fn compacts_next(&mut self) -> bool {
        match self {
            Self::Script(script) if script.peek().is_some_and(Turn::only_compacts) => {
                let _compaction = script.advance();
                true
            }
            Self::Script(_) | Self::Worker(_) => false,
        }
    }

    /// Returns the human's next prompt, if any.
    fn typed_next(&self) -> Option<String> {
        match self {
            Self::Script(script) => script.peek().and_then(|turn| turn.prompt.clone()),
            Self::Worker(_) => None,
        }
    }
}
