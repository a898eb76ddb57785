use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use steadfast_model::{Loop, Shape, Spent, Stage};
use steadfast_plan::Compiled;
use steadfast_store::ledger::DispatchEnd;
use steadfast_work::loops::{Loops, Request};
use steadfast_work::{TaskList, chain, spec_file};

use super::LoopRun;
use crate::error::RunError;
use crate::experts::{Panel, spec_of};
use crate::launch::Launcher;
use crate::lifecycle;

/// The most attempts at a spec. Each gets the errors of the last one; after that, a human is needed.
const TRIES: usize = 3;

impl LoopRun<'_> {
    /// Loads the spec as a plan, and creates a run for it.
    pub(super) fn decompose(&self, looped: &Loop) -> Result<(), RunError> {
        let Some(spec) = &looped.spec else { return self.write_spec(looped) };
        let file = self.repository.place.root.join(spec);
        let mut compiled = spec_file::compile(&self.repository.environment, &file)?;
        // The agent's spec says more about the result than the request did.
        let root = &self.repository.place.root;
        let request = Request::of_file(&file, root, &self.repository.environment)?;
        Loops::of(self.repository)?.shape(looped, &request)?;
        let mut list = TaskList::here(self.repository.environment.clone(), "run")?;
        let source = spec_file::source(&file, root);
        // Checks in an agent's spec count only after a human's approval. The human's request always counts.
        if file == self.spec_file() && !list.is_approved_plan(&compiled.plan)? {
            compiled.plan.checks.clear();
        }
        for check in &compiled.plan.checks {
            self.say(&format!("has to pass at the end: `{}`", check.command));
        }
        let loaded = list.load(&compiled.plan, &source)?;
        let now = self.now();
        // A process that was killed between the two attachments below left a run.
        let left = list.ledger().unfinished_runs()?.into_iter().find(|run| run.plan == *loaded.plan());
        let id = match left {
            Some(run) => run.id,
            None => {
                let row = lifecycle::new_run(&list, loaded.plan(), source, &self.ready, self.limits);
                list.ledger_mut().create_run(&row)?;
                row.id
            }
        };
        let owed = self.owed.take();
        if owed != Spent::default() {
            let number = list.ledger_mut().begin_aside(&id, "spec", self.ready.host, now)?;
            let end = DispatchEnd { ending: "finished".to_owned(), spent: owed, ..DispatchEnd::default() };
            list.ledger_mut().end_dispatch(&id, number, &end, now)?;
        }
        list.ledger_mut().attach_plan(&self.id, loaded.plan(), now)?;
        list.ledger_mut().attach_run(&self.id, &id, now)?;
        for warning in &compiled.warnings {
            self.say(&format!("warning: {spec}:{}: {}", warning.line, warning.message));
        }
        drop(list);
        self.advance(Stage::Decompose, Stage::Executing)
    }

    /// A fresh agent reads the checkout and writes the spec, which is kept with the loop.
    fn write_spec(&self, looped: &Loop) -> Result<(), RunError> {
        let place = &self.repository.place;
        let folder = place.state.join("runs").join(self.id.as_str());
        fs::create_dir_all(&folder).map_err(|source| RunError::NotWritten { path: folder.clone(), source })?;
        let launcher = Launcher::new(self.repository, &self.settings, self.ready.host, &self.ready);
        if let Some(account) = launcher.account() {
            account.begin(self.limits.micro_usd, 0);
        }
        let limit = self.how.expert_time.value.limit().map_or(Duration::from_secs(86_400), Duration::from_millis);
        let panel = Panel {
            launcher: &launcher,
            directory: &place.root,
            mark: self.id.as_str(),
            folder: &folder,
            name: "spec",
            limit,
            share: None,
        };
        let mut problems = Vec::new();
        for _ in 0..TRIES {
            self.say(&format!("loop {}: an agent writes the spec", self.id));
            let brief = Self::review_brief(looped).spec(&looped.request, &problems);
            let spoken = panel.one("planner", &brief, self.limits.micro_usd, &self.stop, &mut |_| {});
            let owed = self.owed.get();
            self.owed.set(if owed == Spent::default() { spoken.spent } else { owed.plus(spoken.spent) });
            let Some(text) = spoken.said.as_deref().and_then(spec_of) else {
                problems = vec!["the answer contained no spec".to_owned()];
                continue;
            };
            let file = self.spec_file();
            let text = with_must_nots(&text, looped);
            match spec_file::compile_text(&self.repository.environment, &text, &file) {
                Ok(compiled) => return self.keep(&file, &text, &compiled),
                Err(error) => problems = chain(&error).lines().map(str::to_owned).collect(),
            }
        }
        Err(RunError::NoSpec { tries: TRIES, problems })
    }

    fn spec_file(&self) -> PathBuf {
        self.repository.place.root.join(".steadfast/loops").join(self.id.as_str()).join("SPEC.json")
    }

    fn keep(&self, file: &Path, text: &str, compiled: &Compiled) -> Result<(), RunError> {
        let written = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
            let next = file.with_extension("json.new");
            fs::write(&next, text)?;
            fs::rename(&next, file)
        });
        written.map_err(|source| RunError::NotWritten { path: file.to_owned(), source })?;
        let spec = spec_file::source(file, &self.repository.place.root);
        self.ledger()?.attach_spec(&self.id, &spec, self.now())?;
        self.say(&format!("loop {}: {} tasks in {spec}", self.id, compiled.plan.tasks.len()));
        if self.approval_required {
            return Err(RunError::SpecNotApproved { spec });
        }
        Ok(())
    }
}

/// Adds the must-nots and allowed places to the spec, even if its author left them out.
fn with_must_nots(text: &str, looped: &Loop) -> String {
    let must_nots = looped.shape.as_ref().map(Shape::limits).unwrap_or_default();
    let Ok(Value::Object(mut spec)) = serde_json::from_str(text) else { return text.to_owned() };
    let constraints = spec.entry("constraints").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(lines) = constraints {
        for must_not in &must_nots {
            if !lines.iter().any(|line| line.as_str() == Some(must_not)) {
                lines.push(Value::String(must_not.clone()));
            }
        }
    }
    serde_json::to_string_pretty(&spec).unwrap_or_else(|_| text.to_owned())
}
