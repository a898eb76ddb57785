//! Drafts of plans: proposes, lists and reads them.

use std::path::{Component, Path, PathBuf};

use steadfast_model::{DraftLine, Gate, Plan, Trigger, Waiting};
use steadfast_store::{Draft, DraftFormat, draft, drafts, keep_draft, text_hash, without_marker};
use steadfast_text::truncate_line;

use super::{ClosedGate, DraftName, PlanError, TaskList, plan};
use crate::error::WorkError;
use crate::spec_file;

/// The path of a JSON draft that names none.
const JSON_PATH: &str = "SPEC.json";
const MARKDOWN_PATH: &str = "SPEC.md";

/// Folders of git, Steadfast and the hosts. Files there change how these programs behave, so no plan goes there.
const FOREIGN: [&str; 5] = [".git", ".steadfast", ".claude", ".codex", ".agents"];

/// Length limit of a title in a question, in characters.
const TITLE: usize = 100;

/// A plan to propose.
#[derive(Debug)]
pub struct Proposal<'a> {
    pub text: String,
    /// The file with the text; `-` for standard input.
    pub file: &'a Path,
    /// The path to write the plan to.
    pub path: Option<&'a str>,
}

/// A saved draft.
#[derive(Debug)]
pub struct Proposed {
    pub draft: Draft,
    /// The draft that it replaces.
    pub before: Option<Draft>,
    /// True if the gate was open and is closed now.
    pub closed: bool,
    pub warnings: Vec<String>,
}

impl TaskList {
    /// Saves a draft, and closes the gate if it is open.
    pub fn propose(&mut self, proposal: Proposal<'_>) -> Result<Proposed, WorkError> {
        let Proposal { text, file, path } = proposal;
        let gates = self.gates();
        let last = gates.iter().find_map(ClosedGate::draft).and_then(|line| draft(self.place(), &line.hash));
        let path = self.target(file, path, &text, last.as_ref())?;
        let compiled = spec_file::compile_as(&self.repository.environment, &text, file, Path::new(&path))?;
        let hash = plan::hash(&compiled.plan);
        let line =
            |problem: &steadfast_plan::Problem| format!("{}:{}: {}", file.display(), problem.line, problem.message);
        // The draft is saved without a marker of approval, which is written only on approval.
        let text = without_marker(&text);
        let before = last.filter(|last| last.text != text);
        let new = Draft {
            format: format_of(&text),
            title: title(&compiled.plan.feature),
            tasks: u32::try_from(compiled.plan.tasks.len()).unwrap_or(u32::MAX),
            path,
            worktree: self.worktree.clone(),
            session: self.caller.session.clone(),
            proposed_at: self.now(),
            replaces: before.as_ref().map(|before| before.hash.clone()).filter(|before| *before != hash),
            hash,
            text,
        };
        keep_draft(self.place(), &new).map_err(PlanError::NotKept)?;
        let closed = self.gate_with(gates, &new)?;
        let warnings = compiled.warnings.iter().map(line).collect();
        Ok(Proposed { draft: new, before, closed, warnings })
    }

    /// Adds the draft to the gates of the caller, or closes a new one. Returns true if it closed one.
    fn gate_with(&self, gates: Vec<ClosedGate>, draft: &Draft) -> Result<bool, WorkError> {
        let scope = self.new_gate(Trigger::Proposal, draft.proposed_at)?;
        let own: Vec<Gate> = gates
            .into_iter()
            .map(|standing| standing.gate)
            .filter(|gate| self.caller.is_agent() || gate.scope == scope.scope)
            .collect();
        let closed = own.is_empty();
        let own = if closed { vec![scope] } else { own };
        for gate in own {
            let protected = if gate.protected.is_empty() { self.protected()? } else { gate.protected.clone() };
            let waiting = Some(self.term_of(draft)?);
            self.close(&Gate { draft: Some(draft.line()), protected, waiting, ..gate })?;
        }
        Ok(closed)
    }

    /// The time that a draft may wait, from its proposal on, as the settings say.
    fn term_of(&self, draft: &Draft) -> Result<Waiting, WorkError> {
        Ok(self.repository.config.load()?.rules().approval.waiting(draft.proposed_at))
    }

    fn protected(&self) -> Result<Vec<String>, WorkError> {
        Ok(self.repository.config.load()?.rules().approval.protected().map(str::to_owned).collect())
    }

    /// The path of a draft after approval: the given one, else the file it comes from, else the path of the last draft.
    fn target(&self, file: &Path, said: Option<&str>, text: &str, last: Option<&Draft>) -> Result<String, WorkError> {
        if let Some(said) = said {
            return self.inside(said);
        }
        if file.to_str().is_none() {
            // Converted to text, it would be another path.
            return Err(PlanError::NameNotText(file.to_owned()).into());
        }
        let from = spec_file::source(file, &self.place().root);
        let is_own = file != Path::new("-") && Path::new(&from).is_relative() && !from.starts_with(".steadfast/");
        if is_own {
            return self.inside(&from);
        }
        if let Some(last) = last {
            return Ok(last.path.clone());
        }
        let protected = self.protected()?;
        let plain = |path: &&String| path.ends_with(".md") && !path.contains(['*', '?']);
        Ok(match format_of(text) {
            DraftFormat::Json => JSON_PATH.to_owned(),
            DraftFormat::Markdown | DraftFormat::Text => {
                protected.iter().find(plain).map_or_else(|| MARKDOWN_PATH.to_owned(), Clone::clone)
            }
        })
    }

    /// Checks that a path stays inside the checkout and outside reserved folders, and makes it relative to the root.
    fn inside(&self, said: &str) -> Result<String, WorkError> {
        let wrong = |why| WorkError::from(PlanError::NoPlace { path: said.to_owned(), why });
        let root = self.place().root.canonicalize().unwrap_or_else(|_| self.place().root.clone());
        let given = Path::new(said);
        let relative = match given.strip_prefix(&root).or_else(|_| given.strip_prefix(&self.place().root)) {
            Ok(inside) => inside,
            Err(_) if given.is_absolute() => return Err(wrong("it is outside this checkout")),
            Err(_) => given,
        };
        let mut plain = PathBuf::new();
        for part in relative.components() {
            match part {
                Component::Normal(part) => plain.push(part),
                Component::CurDir => {}
                _ => return Err(wrong("it leads out of this checkout")),
            }
        }
        let text = plain.to_str().ok_or_else(|| wrong("its name is not UTF-8 text"))?.to_owned();
        let is_others = |part: &str| FOREIGN.iter().any(|folder| part.eq_ignore_ascii_case(folder));
        if text.is_empty() || root.join(&plain).is_dir() {
            return Err(wrong("it is a folder"));
        }
        if text.split('/').any(is_others) {
            return Err(wrong("this folder belongs to git, Steadfast or a host"));
        }
        // The existing part of the path must not be a link to another place.
        let there = root.join(&plain).ancestors().find_map(|path| path.canonicalize().ok());
        if there.is_some_and(|there| !there.starts_with(&root)) {
            return Err(wrong("a link leads out of this checkout"));
        }
        Ok(text)
    }

    /// The draft with this hash, or the only one that waits.
    pub fn draft_of(&self, short: Option<&str>) -> Result<Draft, WorkError> {
        let mut waiting = self.waiting();
        let Some(short) = short else {
            return match waiting.len() {
                0 | 1 => Ok(waiting.pop().ok_or(PlanError::NoDraft)?),
                _ => Err(PlanError::SeveralDrafts(names(&waiting)).into()),
            };
        };
        let all = drafts(self.place());
        let mut meant = all.into_iter().filter(|draft| {
            short.len() >= DraftLine::SHORT && draft.hash.starts_with(short) && draft.worktree == self.worktree
        });
        let unknown = || PlanError::UnknownDraft { short: short.to_owned(), waiting: names(&waiting) };
        Ok(meant.next().ok_or_else(unknown)?)
    }

    /// The drafts that wait at a closed gate.
    pub fn waiting(&self) -> Vec<Draft> {
        let gates = self.gates();
        let mut hashes: Vec<&str> = gates.iter().filter_map(ClosedGate::draft).map(|line| line.hash.as_str()).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.into_iter().filter_map(|hash| draft(self.place(), hash)).collect()
    }

    /// The plan in a draft, checked against its hash. `None` if the draft is a text without tasks.
    pub fn read_draft(&self, draft: &Draft) -> Result<Option<Plan>, WorkError> {
        match self.plan_of_draft(draft) {
            Some(plan) if plan::hash(&plan) == draft.hash => Ok(Some(plan)),
            _ if text_hash(&draft.text) == draft.hash => Ok(None),
            _ => Err(PlanError::DraftChanged { short: short_of(draft).to_owned() }.into()),
        }
    }

    fn plan_of_draft(&self, draft: &Draft) -> Option<Plan> {
        let path = Path::new(&draft.path);
        let compiled = spec_file::compile_as(&self.repository.environment, &draft.text, path, path);
        compiled.ok().map(|compiled| compiled.plan)
    }
}

fn names(drafts: &[Draft]) -> Vec<DraftName> {
    drafts.iter().map(|draft| DraftName { short: short_of(draft).to_owned(), title: draft.title.clone() }).collect()
}

pub fn short_of(draft: &Draft) -> &str {
    draft.hash.get(..DraftLine::SHORT).unwrap_or(&draft.hash)
}

/// A title in one line, short enough for a question.
fn title(feature: &str) -> String {
    truncate_line(&feature.replace(char::is_control, " "), TITLE)
}

fn format_of(text: &str) -> DraftFormat {
    if text.trim_start().starts_with('{') { DraftFormat::Json } else { DraftFormat::Markdown }
}
