//! Drafts: proposed, shown, and approved or not.

use std::path::{Component, Path, PathBuf};

use steadfast_model::{DraftLine, Gate, Plan, TaskKind, Trigger};
use steadfast_store::{Draft, Format, draft, drafts, keep_draft, text_hash, without_marker};

use super::{Standing, TaskList, plan};
use crate::error::CommandError;
use crate::spec_file;
use crate::surroundings;

/// Where a draft goes that says nothing of it and is written in JSON.
const JSON_PATH: &str = "SPEC.json";
const MARKDOWN_PATH: &str = "SPEC.md";

/// Folders of git, of ours and of the hosts: what is written there is obeyed, and no plan.
const FOREIGN: [&str; 5] = [".git", ".steadfast", ".claude", ".codex", ".agents"];

/// How much of a title is shown, in a question among others.
const TITLE: usize = 100;

/// What is to be proposed.
#[derive(Debug)]
pub(crate) struct Proposal<'a> {
    pub(crate) text: String,
    /// The file it came from; `-` where it came from none.
    pub(crate) file: &'a Path,
    /// Where it shall be written.
    pub(crate) path: Option<&'a str>,
}

/// A draft that is kept.
#[derive(Debug)]
pub(crate) struct Proposed {
    pub(crate) draft: Draft,
    /// The one whose place it takes.
    pub(crate) before: Option<Draft>,
    /// The gate was open.
    pub(crate) closed: bool,
    pub(crate) warnings: Vec<String>,
}

impl TaskList {
    /// Keeps a draft, and closes the gate before it where that is open.
    pub(crate) fn propose(&mut self, proposal: Proposal<'_>) -> Result<Proposed, CommandError> {
        let Proposal { text, file, path } = proposal;
        let gates = self.gates();
        let last = gates.iter().find_map(Standing::draft).and_then(|line| draft(self.place(), &line.hash));
        let path = self.target(file, path, &text, last.as_ref())?;
        let compiled = spec_file::compile_as(&text, file, Path::new(&path))?;
        let hash = plan::hash(&compiled.plan);
        let line =
            |problem: &steadfast_plan::Problem| format!("{}:{}: {}", file.display(), problem.line, problem.message);
        // What is kept says nothing of a yes: that is written when there is one.
        let text = without_marker(&text);
        let before = last.filter(|last| last.text != text);
        let new = Draft {
            format: format_of(&text),
            title: title(&compiled.plan.feature),
            tasks: u32::try_from(compiled.plan.tasks.len()).unwrap_or(u32::MAX),
            path,
            worktree: self.worktree.clone(),
            session: self.caller.session.clone(),
            proposed_at: surroundings::now(),
            replaces: before.as_ref().map(|before| before.hash.clone()).filter(|before| *before != hash),
            hash,
            text,
        };
        keep_draft(self.place(), &new).map_err(|error| {
            CommandError::failure(format!("the draft cannot be kept: {error}")).hint(
                "where a sandbox keeps `.git` read-only, the tool `plan_propose` of the MCP server `steadfast` does the same",
            )
        })?;
        let closed = self.gate_with(gates, &new)?;
        let warnings = compiled.warnings.iter().map(line).collect();
        Ok(Proposed { draft: new, before, closed, warnings })
    }

    /// Puts the draft into the gates before the caller, and closes one where there is none. Whether it did.
    fn gate_with(&self, gates: Vec<Standing>, draft: &Draft) -> Result<bool, CommandError> {
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
            self.close(&Gate { draft: Some(draft.line()), protected, ..gate })?;
        }
        Ok(closed)
    }

    fn protected(&self) -> Result<Vec<String>, CommandError> {
        Ok(self.repository.config.load()?.rules().approval.protected().map(str::to_owned).collect())
    }

    /// Where a draft is written once it is approved: where it was said, where it comes from, where the last one goes.
    fn target(
        &self,
        file: &Path,
        said: Option<&str>,
        text: &str,
        last: Option<&Draft>,
    ) -> Result<String, CommandError> {
        if let Some(said) = said {
            return self.inside(said);
        }
        if file.to_str().is_none() {
            // As text it would be another path.
            return Err(CommandError::usage(format!(
                "`{}` is no place for a plan: its name is no UTF-8 text",
                file.display()
            ))
            .hint("`--path PATH` says where it is written, such as `docs/plan.md`"));
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
            Format::Json => JSON_PATH.to_owned(),
            Format::Markdown | Format::Text => {
                protected.iter().find(plain).map_or_else(|| MARKDOWN_PATH.to_owned(), Clone::clone)
            }
        })
    }

    /// A path from the root of the checkout that stays in it, and out of what is not the project's.
    fn inside(&self, said: &str) -> Result<String, CommandError> {
        let wrong = |why: &str| {
            CommandError::usage(format!("`{said}` is no place for a plan: {why}"))
                .hint("`--path PATH` is a file in this checkout, such as `docs/plan.md`")
        };
        let root = self.place().root.canonicalize().unwrap_or_else(|_| self.place().root.clone());
        let given = Path::new(said);
        let relative = match given.strip_prefix(&root).or_else(|_| given.strip_prefix(&self.place().root)) {
            Ok(inside) => inside,
            Err(_) if given.is_absolute() => return Err(wrong("it is outside of this checkout")),
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
        let text = plain.to_str().ok_or_else(|| wrong("its name is no UTF-8 text"))?.to_owned();
        let is_others = |part: &str| FOREIGN.iter().any(|folder| part.eq_ignore_ascii_case(folder));
        if text.is_empty() || root.join(&plain).is_dir() {
            return Err(wrong("it is a folder"));
        }
        if text.split('/').any(is_others) {
            return Err(wrong("that folder is not the project's own"));
        }
        // The part of it that is there must not lead elsewhere.
        let there = root.join(&plain).ancestors().find_map(|path| path.canonicalize().ok());
        if there.is_some_and(|there| !there.starts_with(&root)) {
            return Err(wrong("a link leads out of this checkout"));
        }
        Ok(text)
    }

    /// The draft that a human means: of this hash, or the only one that waits.
    pub(crate) fn draft_of(&self, short: Option<&str>) -> Result<Draft, CommandError> {
        let mut waiting = self.waiting();
        let Some(short) = short else {
            let several = |waiting: &[Draft]| {
                let error = CommandError::usage("several drafts wait in this checkout: say which");
                waiting.iter().fold(error, |error, draft| error.hint(format!("`{}`: {}", short_of(draft), draft.title)))
            };
            let none = || {
                CommandError::failure("no draft waits for a yes in this checkout")
                    .hint("`steadfast plan propose FILE` keeps one; `steadfast plan status` shows how the plan stands")
            };
            return match waiting.len() {
                0 | 1 => waiting.pop().ok_or_else(none),
                _ => Err(several(&waiting)),
            };
        };
        let all = drafts(self.place());
        let mut meant = all.into_iter().filter(|draft| {
            short.len() >= DraftLine::SHORT && draft.hash.starts_with(short) && draft.worktree == self.worktree
        });
        meant.next().ok_or_else(|| {
            let error = CommandError::failure(format!("there is no draft `{short}` in this checkout"));
            match &waiting[..] {
                [] => error.hint("`steadfast plan propose FILE` keeps one"),
                waiting => waiting
                    .iter()
                    .fold(error, |error, draft| error.hint(format!("`{}` waits: {}", short_of(draft), draft.title))),
            }
        })
    }

    /// The drafts that wait at a closed gate.
    pub(crate) fn waiting(&self) -> Vec<Draft> {
        let gates = self.gates();
        let mut hashes: Vec<&str> = gates.iter().filter_map(Standing::draft).map(|line| line.hash.as_str()).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.into_iter().filter_map(|hash| draft(self.place(), hash)).collect()
    }

    /// What a draft's text says, by the hash it is kept under. Nothing: it is no plan, only a text.
    pub(crate) fn read_draft(&self, draft: &Draft) -> Result<Option<Plan>, CommandError> {
        let changed = || {
            CommandError::refused(format!(
                "draft `{}` is not what was proposed: its text has another hash",
                short_of(draft)
            ))
            .hint("`steadfast plan propose FILE` proposes it again")
        };
        match plan_of(draft) {
            Some(plan) if plan::hash(&plan) == draft.hash => Ok(Some(plan)),
            _ if text_hash(&draft.text) == draft.hash => Ok(None),
            _ => Err(changed()),
        }
    }
}

fn plan_of(draft: &Draft) -> Option<Plan> {
    let path = Path::new(&draft.path);
    spec_file::compile_as(&draft.text, path, path).ok().map(|compiled| compiled.plan)
}

pub(crate) fn short_of(draft: &Draft) -> &str {
    draft.hash.get(..DraftLine::SHORT).unwrap_or(&draft.hash)
}

/// A title in one line, of a length that leaves room for the question around it.
fn title(feature: &str) -> String {
    let line = super::one_line(&feature.replace(char::is_control, " "));
    match line.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn format_of(text: &str) -> Format {
    if text.trim_start().starts_with('{') { Format::Json } else { Format::Markdown }
}

/// A draft as a human reads it before they say yes.
pub(crate) fn rendered(plan: &Plan) -> String {
    use std::fmt::Write;
    let mut text = format!("{}\n", plan.feature);
    let mut line = |said: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{said}");
    };
    if let Some(description) = &plan.description {
        line(format_args!("{description}"));
    }
    for constraint in &plan.constraints {
        line(format_args!("must hold: {constraint}"));
    }
    for criterion in &plan.criteria {
        line(format_args!("done when: {criterion}"));
    }
    let phases = plan.phases.iter().map(|phase| (Some(&phase.id), phase.name.as_str(), &phase.items[..]));
    for (id, name, items) in phases.chain([(None, "", &[][..])]) {
        let tasks: Vec<_> = plan.tasks.iter().filter(|task| task.phase.as_ref() == id).collect();
        if tasks.is_empty() {
            continue;
        }
        let name = if name.is_empty() { id.map_or("", String::as_str) } else { name };
        line(format_args!("\n{name}"));
        if !items.is_empty() {
            line(format_args!("  once for each of: {}", items.join(", ")));
        }
        for task in tasks {
            let generated = if task.kind == TaskKind::Main { "" } else { "  (generated)" };
            line(format_args!("  {:<8} {}{generated}", task.id.as_str(), task.title));
            if !task.files.is_empty() && task.kind == TaskKind::Main {
                line(format_args!("           files: {}", task.files.join(", ")));
            }
            if let Some(notes) = task.notes.as_ref().filter(|_| task.kind == TaskKind::Main) {
                line(format_args!("           notes: {notes}"));
            }
            if let Some(command) = task.verify.as_ref().and_then(steadfast_model::Check::as_command) {
                line(format_args!("           check: {command}"));
            }
        }
    }
    text
}
