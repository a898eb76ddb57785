//! The parallel calls of one turn: hooks before, the work, hooks after.

use std::time::Instant;

use serde_json::json;

use super::background::{Background, Shell};
use super::call::Call;
use super::hook::Answer;
use super::moment::{Moment, Who};
use super::payload::{Event, ToolFields};
use super::session::{Interrupt, Session};
use super::subagent::{StopState, Subagent};
use super::tool::Outcome;
use super::{AgentError, Work};
use crate::scenario::{Action, Scenario, Script};

#[derive(Debug)]
struct Prepared {
    call: Call,
    id: String,
    /// The host answers it itself: no hook sees it.
    objection: Option<String>,
}

impl Prepared {
    fn fields(&self) -> ToolFields<'_> {
        ToolFields { name: &self.call.name, input: &self.call.input, id: &self.id }
    }

    /// Returns the target for a timeline.
    fn target(&self) -> String {
        let field = ["command", "file_path", "description"].into_iter().find_map(|name| self.call.input[name].as_str());
        field.unwrap_or_default().to_owned()
    }
}

impl Session<'_> {
    /// Runs the calls of one turn. Returns the last result as the model reads it.
    pub(super) fn batch(&mut self, who: &Who, actions: &[Action]) -> Result<String, Interrupt> {
        let mut calls: Vec<Prepared> =
            actions.iter().filter_map(Call::of).map(|call| self.prepare(who, call)).collect();
        let answers = self.ask_before(who, &calls)?;
        let mut results = Vec::new();
        for (prepared, answer) in calls.iter_mut().zip(answers) {
            let result = self.settle_call(who, prepared, answer)?;
            results.push(json!({
                "tool_name": prepared.call.name, "tool_input": prepared.call.input,
                "tool_use_id": prepared.id, "tool_response": result,
            }));
        }
        let heard = results.last().and_then(|result| result["tool_response"].as_str()).unwrap_or_default().to_owned();
        let after = self.fire(who, &Event::PostToolBatch { calls: results })?;
        match after.refusal {
            Some(reason) => Err(Interrupt::Halted(reason)),
            None => Ok(heard),
        }
    }

    fn prepare(&self, who: &Who, call: Call) -> Prepared {
        let call = self.tools.absolute(call);
        let objection = match (who, call.name.as_str()) {
            (Who::Main, "Agent") => None,
            (Who::Main | Who::Subagent { .. }, _) => self.tools.objection(&call),
        };
        Prepared { call, id: self.ids.next("toolu"), objection }
    }

    /// Runs the hooks before the calls, all at once like the real host.
    fn ask_before(&mut self, who: &Who, calls: &[Prepared]) -> Result<Vec<Option<Answer>>, Interrupt> {
        for prepared in calls.iter().filter(|call| call.objection.is_none()) {
            self.tell(Moment::ToolStarting {
                who: who.clone(),
                tool: prepared.call.name.clone(),
                target: prepared.target(),
            });
        }
        let asked: &Self = self;
        let answers: Vec<Option<Result<Answer, AgentError>>> = {
            let hooks = asked.hooks();
            std::thread::scope(|scope| {
                let threads: Vec<_> = calls
                    .iter()
                    .map(|prepared| {
                        prepared.objection.is_none().then(|| {
                            let hooks = hooks.clone();
                            scope.spawn(move || hooks.run(who, &Event::PreToolUse(prepared.fields())))
                        })
                    })
                    .collect();
                threads
                    .into_iter()
                    .map(|thread| {
                        thread.map(|thread| match thread.join() {
                            Ok(answer) => answer,
                            Err(panic) => std::panic::resume_unwind(panic),
                        })
                    })
                    .collect()
            })
        };
        answers
            .into_iter()
            .map(|answer| match answer {
                Some(answer) => self.hear("PreToolUse", answer?).map(Some),
                None => Ok(None),
            })
            .collect()
    }

    /// Returns the result of a call as the model reads it.
    fn settle_call(&mut self, who: &Who, prepared: &mut Prepared, answer: Option<Answer>) -> Result<String, Interrupt> {
        let (who, tool, target) = (who.clone(), prepared.call.name.clone(), prepared.target());
        if let Some(error) = prepared.objection.take() {
            let text = format!("<tool_use_error>{error}</tool_use_error>");
            self.tell(Moment::ToolFailed { who, tool, target, error });
            return Ok(text);
        }
        let answer = answer.unwrap_or_default();
        if let Some(reason) = answer.refusal {
            self.tell(Moment::ToolDenied { who, tool, target, reason: reason.clone() });
            return Ok(reason);
        }
        if let Some(input) = answer.updated_input {
            prepared.call.input = input;
        }
        let started = Instant::now();
        let outcome = self.run_call(prepared)?;
        let milliseconds = started.elapsed().as_millis() as u64;
        let (after, text) = match outcome {
            Outcome::Done { response, text } => {
                self.tell(Moment::ToolRan { who: who.clone(), tool, target, output: text.clone() });
                let event = Event::PostToolUse { tool: prepared.fields(), response: &response, milliseconds };
                (self.fire(&who, &event)?, text)
            }
            Outcome::Failed { error } => {
                self.tell(Moment::ToolFailed { who: who.clone(), tool, target, error: error.clone() });
                let event = Event::PostToolUseFailure { tool: prepared.fields(), error: &error, milliseconds };
                (self.fire(&who, &event)?, error)
            }
        };
        // It is too late for a refusal, so the model receives the reason.
        if let Some(reason) = after.refusal {
            self.tell(Moment::ContextReceived { event: "PostToolUse", text: reason });
        }
        Ok(text)
    }

    fn run_call(&mut self, prepared: &Prepared) -> Result<Outcome, Interrupt> {
        let input = &prepared.call.input;
        if prepared.call.name == "Agent" {
            self.launch(prepared)
        } else if prepared.call.name == "Bash" && input["run_in_background"] == true {
            self.start_shell(prepared)
        } else {
            Ok(self.tools.run(&prepared.call))
        }
    }

    fn start_shell(&mut self, prepared: &Prepared) -> Result<Outcome, Interrupt> {
        let text = |name: &str| prepared.call.input[name].as_str().unwrap_or_default().to_owned();
        let running = self.tools.start_shell(&text("command")).map_err(AgentError::Background)?;
        let id = self.ids.next("b");
        let response = json!({
            "stdout": "", "stderr": "", "interrupted": false, "isImage": false,
            "noOutputExpected": false, "backgroundTaskId": id,
        });
        let done = Outcome::Done { response, text: format!("Command running in background with ID: {id}.") };
        self.background.push(Background::Shell(Shell {
            id,
            tool_use_id: prepared.id.clone(),
            command: text("command"),
            description: text("description"),
            running,
        }));
        Ok(done)
    }

    fn launch(&mut self, prepared: &Prepared) -> Result<Outcome, Interrupt> {
        let text = |name: &str| prepared.call.input[name].as_str().unwrap_or_default().to_owned();
        let mut subagent = Subagent {
            id: self.ids.agent(),
            kind: text("subagent_type"),
            description: text("description"),
            tool_use_id: prepared.id.clone(),
            script: match &self.agent.work {
                Work::Scenario(scenario) => Script::subagent(scenario),
                Work::Ledger { .. } => Script::subagent(&Scenario::new("")),
            },
            stop: StopState::default(),
            turns: 0,
            fresh: true,
        };
        let who = subagent.who();
        self.tell(Moment::SubagentStarted { who: who.clone() });
        let _answer = self.fire(&who, &Event::SubagentStart)?;
        let (id, prompt) = (subagent.id.clone(), text("prompt"));
        if prepared.call.input["run_in_background"] == true {
            let response = json!({
                "isAsync": true, "status": "async_launched", "agentId": id,
                "description": subagent.description, "prompt": prompt,
            });
            self.background.push(Background::Subagent(subagent));
            return Ok(Outcome::Done { response, text: format!("Async agent launched successfully.\nagentId: {id}") });
        }
        let started = Instant::now();
        let said = self.play(&mut subagent)?;
        let response = json!({
            "status": "completed", "prompt": prompt, "agentId": id, "agentType": subagent.kind,
            "content": [{"type": "text", "text": said}],
            "totalDurationMs": started.elapsed().as_millis() as u64,
        });
        Ok(Outcome::Done { response, text: said })
    }
}
