use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use steadfast_model::{Loop, RunState, Spent, Stage};
use steadfast_plan::Compiled;
use steadfast_runner::counsel::{Sitting, spec_of};
use steadfast_store::ledger::DispatchEnd;

use super::super::{launcher, prices};
use super::Drive;
use crate::error::CommandError;
use crate::looped::{Loops, Request};
use crate::output::note;
use crate::spec_file;
use crate::surroundings;
use crate::task_list::TaskList;

/// A spec that does not compile is written again, with what was wrong; and then a human has to look.
const TRIES: usize = 3;

impl Drive<'_> {
    /// The spec becomes a plan, and the plan gets a run.
    pub(super) fn decompose(&self, looped: &Loop) -> Result<(), CommandError> {
        let Some(spec) = &looped.spec else { return self.write_spec(looped) };
        let file = self.repository.place.root.join(spec);
        let compiled = spec_file::compile(&file)?;
        // What an agent wrote says more of the result than the request did.
        Loops::of(self.repository)?.shape(looped, &Request::of_file(&file, &self.repository.place.root)?)?;
        let mut list = TaskList::here("run")?;
        let source = spec_file::source(&file, &self.repository.place.root);
        let loaded = list.load(&compiled.plan, &source)?;
        let now = surroundings::now();
        // Whoever was killed between the two lines below left one.
        let left = list.ledger().unfinished_runs()?.into_iter().find(|run| run.plan == *loaded.plan());
        let id = match left {
            Some(run) => run.id,
            None => {
                let mut row = super::super::new_row(&list, loaded.plan(), source, &self.ready);
                row.limits = self.flags.change(self.settings.limits());
                row.state = RunState::Running;
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
            note!("warning: {spec}:{}: {}", warning.line, warning.message);
        }
        drop(list);
        self.advance(Stage::Decompose, Stage::Executing)
    }

    /// A fresh agent looks at the checkout and writes the spec, which is kept with the loop.
    fn write_spec(&self, looped: &Loop) -> Result<(), CommandError> {
        let place = &self.repository.place;
        let folder = place.state.join("runs").join(self.id.as_str());
        fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
        let host = self.ready.host;
        let (launcher, prices) = (launcher(&self.settings, host, &self.ready), prices(&self.settings));
        let limits = self.flags.change(self.settings.limits());
        let limit = self.how.expert_time.value.limit().map_or(Duration::from_secs(86_400), Duration::from_millis);
        let sitting = Sitting {
            launcher: &*launcher,
            host,
            prices: &prices,
            directory: &place.root,
            mark: self.id.as_str(),
            folder: &folder,
            name: "spec",
            limit,
            share: None,
        };
        let mut problems = Vec::new();
        for _ in 0..TRIES {
            note!("loop {}: an agent writes the spec", self.id);
            let brief = Self::matter(looped).spec(&looped.request, &problems);
            let spoken = sitting.one("planner", &brief, limits.micro_usd, &self.stop, &mut |_| {});
            let owed = self.owed.get();
            self.owed.set(if owed == Spent::default() { spoken.spent } else { owed.plus(spoken.spent) });
            let Some(text) = spoken.said.as_deref().and_then(spec_of) else {
                problems = vec!["the answer had no spec in it".to_owned()];
                continue;
            };
            let file = self.spec_file();
            let text = with_must_nots(&text, looped);
            match spec_file::compile_text(&text, &file) {
                Ok(compiled) => return self.keep(&file, &text, &compiled),
                Err(error) => problems = error.message().lines().map(str::to_owned).collect(),
            }
        }
        Err(CommandError::needs_human(format!("no spec came of {TRIES} tries: {}", problems.join("; ")))
            .hint("write one yourself: `steadfast run --loop SPEC.md --fresh`; `steadfast resume` tries again"))
    }

    fn spec_file(&self) -> PathBuf {
        self.repository.place.root.join(".steadfast/loops").join(self.id.as_str()).join("SPEC.json")
    }

    fn keep(&self, file: &Path, text: &str, compiled: &Compiled) -> Result<(), CommandError> {
        let written = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
            let next = file.with_extension("json.new");
            fs::write(&next, text)?;
            fs::rename(&next, file)
        });
        written.map_err(|error| unwritable(file, &error))?;
        let spec = spec_file::source(file, &self.repository.place.root);
        self.ledger()?.attach_spec(&self.id, &spec, surroundings::now())?;
        note!("loop {}: {} tasks in {spec}", self.id, compiled.plan.tasks.len());
        if self.approval_required {
            return Err(CommandError::needs_human(format!(
                "`{spec}` was written by an agent, and nobody has approved it"
            ))
            .hint("read it, and change it as you like; `steadfast resume` takes it as it is then"));
        }
        Ok(())
    }
}

/// What must not happen is part of the plan, whether whoever wrote the spec took it over or not.
fn with_must_nots(text: &str, looped: &Loop) -> String {
    let must_nots = looped.shape.as_ref().map(|shape| shape.must_nots.as_slice()).unwrap_or_default();
    let Ok(Value::Object(mut spec)) = serde_json::from_str(text) else { return text.to_owned() };
    let constraints = spec.entry("constraints").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(lines) = constraints {
        for must_not in must_nots {
            if !lines.iter().any(|line| line.as_str() == Some(must_not)) {
                lines.push(Value::String(must_not.clone()));
            }
        }
    }
    serde_json::to_string_pretty(&spec).unwrap_or_else(|_| text.to_owned())
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::failure(format!("`{}` cannot be written: {error}", path.display()))
        .hint("make room there, or see to its permissions; `steadfast resume` goes on")
}
