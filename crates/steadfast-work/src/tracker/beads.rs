//! Beads: the issues that `bd` or `br` lists, either all of them or the descendants of an epic.

mod exported;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use steadfast_model::{Evidence, Status};
use steadfast_observe::{Program, ProgramFailed};
use steadfast_plan::{BEADS_NOTE as NOTE, CompileOptions, Compiled, render};
use steadfast_redact::redact;
use steadfast_store::ledger::Untold;
use steadfast_text::and_more;

use super::{TimeBudget, Tracker, TrackerError};

/// The programs, in the order in which they are tried.
const PROGRAMS: [&str; 2] = ["bd", "br"];

/// Limit of calls for the children of issues.
const CALLS: usize = 32;

/// Issues per call of `show`, because the length of a command line is limited.
const SHOWN: usize = 500;

/// Limit of issues outside the epic whose status is read.
const OUTSIDE: usize = 50;

/// Pause between two attempts while another process has locked the database, and the number of attempts.
const LOCKED: Duration = Duration::from_millis(60);
const TRIES: usize = 20;

#[derive(Debug)]
pub struct Beads {
    root: PathBuf,
    epic: Option<String>,
}

/// The fields that tell whether an issue has children. The importer reads the rest.
#[derive(Debug, Deserialize)]
struct Issue {
    id: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    issue_type: String,
    #[serde(default)]
    updated_at: String,
    #[serde(default)]
    dependencies: Vec<Dependency>,
    /// The number of its dependencies, in a list that does not name them.
    #[serde(default)]
    dependency_count: Option<usize>,
    /// The number of issues that depend on it, including its children. Some versions leave it out.
    #[serde(default)]
    dependent_count: Option<usize>,
}

/// One dependency: an edge in the output of `list`, the issue itself in that of `show`.
#[derive(Debug, Deserialize)]
struct Dependency {
    #[serde(default)]
    depends_on_id: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    dependency_type: Option<String>,
}

/// Issues by id, with their full JSON.
type Issues = BTreeMap<String, (Issue, Box<RawValue>)>;

impl Beads {
    /// `epic: None` means all issues.
    pub fn new(root: &Path, epic: Option<&str>) -> Self {
        Self { root: root.to_owned(), epic: epic.map(str::to_owned) }
    }

    /// The tracker of a plan's `source`, if it is one of beads.
    pub fn of_source(root: &Path, source: &str) -> Option<Self> {
        let epic = source.strip_prefix("beads")?;
        match epic.strip_prefix(':') {
            Some(epic) => Some(Self::new(root, Some(epic))),
            None => epic.is_empty().then(|| Self::new(root, None)),
        }
    }

    fn ask(&self, call: &[&str], args: &[String], patience: TimeBudget) -> Result<Vec<u8>, TrackerError> {
        for program in PROGRAMS {
            for attempt in 1.. {
                let asked = Program::at(&self.root, program).call(call.iter().copied()).args(args);
                match asked.answer(patience.left()?) {
                    Err(ProgramFailed::Missing(_)) => break,
                    Err(ProgramFailed::Failed { said, .. })
                        if is_about_a_lock(&said)
                            && attempt < TRIES
                            && patience.left().is_ok_and(|left| left > LOCKED * 2) =>
                    {
                        thread::sleep(LOCKED);
                    }
                    answer => return Ok(answer?),
                }
            }
        }
        Err(TrackerError::NoProgram)
    }

    /// Lists the children of `parent`, or all issues.
    fn list(&self, parent: Option<&str>, patience: TimeBudget) -> Result<Issues, TrackerError> {
        let all = ["--json", "--all", "--limit=0"].map(str::to_owned);
        let args: Vec<String> = all.into_iter().chain(parent.map(|id| format!("--parent={id}"))).collect();
        issues(&["list"], &self.ask(&["list"], &args, patience)?)
    }

    /// Returns the descendants of an epic, and the other issues that were listed. `list` shows direct children only; an
    /// issue has more of them if its count of dependents is higher than the number of known ones.
    fn descendants(&self, epic: &str, patience: TimeBudget) -> Result<(Issues, Issues), TrackerError> {
        let mut found = match self.list(Some(epic), patience) {
            // A version without the flag for parents can still list everything.
            Err(TrackerError::Program(ProgramFailed::Failed { said, .. })) if is_about_a_flag(&said) => {
                let mut all = self.list(None, patience)?;
                self.name_dependencies(&mut all, patience)?;
                let (found, rest) = below(epic, all);
                if found.is_empty() && !rest.contains_key(epic) {
                    return Err(TrackerError::NoEpic(epic.to_owned()));
                }
                return Ok((found, rest));
            }
            found => found?,
        };
        let mut asked = BTreeSet::from([epic.to_owned()]);
        while let Some(parent) = has_more(&found, &asked) {
            if asked.len() > CALLS {
                break;
            }
            asked.insert(parent.clone());
            let more = self.list(Some(&parent), patience)?;
            for (id, issue) in more {
                found.entry(id).or_insert(issue);
            }
        }
        found.remove(epic);
        Ok((found, Issues::new()))
    }

    /// Sets a status with its reason: in the notes, or in a comment if the program cannot append to notes.
    fn note(&self, id: &str, status: &str, note: &str, patience: TimeBudget) -> Result<(), TrackerError> {
        let (status, appended) = (format!("--status={status}"), format!("--append-notes={note}"));
        let issue = || ["--json", "--", id].map(str::to_owned);
        let both: Vec<String> = [status.clone(), appended].into_iter().chain(issue()).collect();
        match self.ask(&["update"], &both, patience) {
            Err(TrackerError::Program(ProgramFailed::Failed { said, .. })) if is_about_a_flag(&said) => {
                let status: Vec<String> = [status].into_iter().chain(issue()).collect();
                self.ask(&["update"], &status, patience)?;
                let comment = ["--".to_owned(), id.to_owned(), note.to_owned()];
                self.ask(&["comments", "add"], &comment, patience)?;
            }
            told => drop(told?),
        }
        Ok(())
    }

    fn show(&self, ids: &[String], patience: TimeBudget) -> Result<Issues, TrackerError> {
        let mut shown = Issues::new();
        for ids in ids.chunks(SHOWN) {
            let args: Vec<String> =
                ["--json".to_owned(), "--".to_owned()].into_iter().chain(ids.iter().cloned()).collect();
            shown.extend(issues(&["show"], &self.ask(&["show"], &args, patience)?)?);
        }
        Ok(shown)
    }

    /// `br` may count the dependencies of an issue without naming them. The exported file names them, if it is as new
    /// as the list; `show` for a thousand issues takes half a minute. A closed issue needs none.
    fn name_dependencies(&self, found: &mut Issues, patience: TimeBudget) -> Result<(), TrackerError> {
        if !found.values().any(|(issue, _)| issue.is_unnamed()) {
            return Ok(());
        }
        exported::name_dependencies(&self.root, found)?;
        let unnamed =
            found.values().map(|(issue, _)| issue).filter(|issue| issue.is_unnamed() && !is_over(&issue.status));
        let unnamed: Vec<String> = unnamed.map(|issue| issue.id.clone()).collect();
        found.extend(self.show(&unnamed, patience)?);
        Ok(())
    }

    /// The lines of an exported list that belong to the epic.
    pub fn lines_of(&self, text: &str) -> Result<String, TrackerError> {
        let found = self.of_export(text)?;
        Ok(found.values().map(|(_, raw)| format!("{}\n", raw.get())).collect())
    }

    fn of_export(&self, text: &str) -> Result<Issues, TrackerError> {
        let all = exported::issues(text)?;
        let Some(epic) = &self.epic else { return Ok(all) };
        let (mut found, rest) = below(epic, all);
        if found.is_empty() && !rest.contains_key(epic) {
            return Err(TrackerError::NoEpic(epic.to_owned()));
        }
        self.wait_outside(&mut found, &rest, None)?;
        Ok(found)
    }

    fn of_program(&self, patience: TimeBudget) -> Result<Issues, TrackerError> {
        match &self.epic {
            None => {
                let mut found = self.list(None, patience)?;
                self.name_dependencies(&mut found, patience)?;
                Ok(found)
            }
            Some(epic) => {
                let (mut found, rest) = self.descendants(epic, patience)?;
                self.wait_outside(&mut found, &rest, Some(patience))?;
                Ok(found)
            }
        }
    }

    /// Marks issues as blocked that depend on an open issue outside the epic. `rest` has the known issues outside; with
    /// `patience`, the program is asked for the others.
    fn wait_outside(
        &self,
        found: &mut Issues,
        rest: &Issues,
        patience: Option<TimeBudget>,
    ) -> Result<(), TrackerError> {
        let mut outside = BTreeSet::new();
        let is_ready = |issue: &Issue| matches!(issue.status.as_str(), "open" | "");
        for (issue, _) in found.values().filter(|(issue, _)| is_ready(issue)) {
            let blocking = issue.dependencies.iter().filter(|on| on.blocks()).map(Dependency::id);
            let is_outside = |on: &&str| !found.contains_key(*on) && self.epic.as_deref() != Some(*on);
            outside.extend(blocking.filter(is_outside).map(str::to_owned));
        }
        if outside.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = outside.into_iter().filter(|id| !rest.contains_key(id)).take(OUTSIDE).collect();
        let shown = match patience.map_or_else(|| Ok(Issues::new()), |patience| self.show(&ids, patience)) {
            Ok(shown) => shown,
            // Nothing depends on a deleted issue.
            Err(TrackerError::Program(ProgramFailed::Failed { .. })) => Issues::new(),
            Err(error) => return Err(error),
        };
        let is_open =
            |id: &str| shown.get(id).or_else(|| rest.get(id)).is_some_and(|(issue, _)| !is_over(&issue.status));
        for (issue, raw) in found.values_mut().filter(|(issue, _)| is_ready(issue)) {
            let mut on = issue.dependencies.iter().filter(|on| on.blocks()).map(Dependency::id);
            if let Some(on) = on.find(|on| is_open(on)) {
                *raw = blocked(raw, on)?;
            }
        }
        Ok(())
    }
}

impl Tracker for Beads {
    fn source(&self) -> String {
        self.epic.as_ref().map_or_else(|| "beads".to_owned(), |epic| format!("beads:{epic}"))
    }

    fn name(&self) -> String {
        self.epic.as_ref().map_or_else(|| "beads".to_owned(), |epic| format!("epic {epic} of beads"))
    }

    fn read(&self, patience: TimeBudget) -> Result<String, TrackerError> {
        let found = match self.of_program(patience) {
            // Without the program, the last export is better than nothing.
            Err(TrackerError::NoProgram) => match exported::read(&self.root) {
                Some(text) => self.of_export(&text),
                None => Err(TrackerError::NoProgram),
            },
            found => found,
        }?;
        let lines: Vec<&str> = found.values().map(|(_, raw)| raw.get()).collect();
        Ok(format!("[{}]", lines.join(",\n")))
    }

    fn compile(&self, text: &str, options: &CompileOptions) -> Result<Option<Compiled>, TrackerError> {
        if text == "[]" {
            return Ok(None);
        }
        let mut compiled = steadfast_plan::compile(text, "issues.json", options).map_err(|report| {
            let said = render(&report.problems, text, "issues.json", redact);
            TrackerError::Lint(said.lines().next().unwrap_or_default().to_owned())
        })?;
        compiled.plan.feature = self.epic.clone().unwrap_or_else(|| "beads".to_owned());
        Ok(Some(compiled))
    }

    fn tell(&self, untold: &Untold, patience: TimeBudget) -> Result<Status, TrackerError> {
        let id = untold.task.id.as_str();
        let words = |words: &[&str]| -> Vec<String> {
            words.iter().map(|word| (*word).to_owned()).chain(["--json".into(), "--".into(), id.to_owned()]).collect()
        };
        match untold.task.status {
            Status::Done if untold.is_claim() => {
                self.note(id, "in_progress", &to_look_at(untold), patience)?;
                return Ok(Status::InProgress);
            }
            Status::Done => {
                let reason = format!("--reason={}", closed_by(untold.evidence.as_ref()));
                self.ask(&["close"], &words(&[&reason]), patience)?;
            }
            Status::InProgress => match self.ask(&["update"], &words(&["--claim"]), patience) {
                // If another agent has claimed the issue, the next read shows it.
                Err(TrackerError::Program(ProgramFailed::Failed { said, .. })) if !is_anothers(&said) => {
                    self.ask(&["update"], &words(&["--status=in_progress"]), patience)?;
                }
                claimed => drop(claimed?),
            },
            Status::Blocked => {
                let why = untold.reason.as_deref().unwrap_or("the work cannot continue");
                self.note(id, "blocked", &format!("blocked: {why}"), patience)?;
            }
            Status::Pending if untold.seen == Status::Done => drop(self.ask(&["reopen"], &words(&[]), patience)?),
            Status::Pending => drop(self.ask(&["update"], &words(&["--status=open"]), patience)?),
        }
        Ok(untold.task.status)
    }
}

impl Issue {
    /// It has more dependencies than the list names.
    fn is_unnamed(&self) -> bool {
        self.dependency_count.is_some_and(|count| count > self.dependencies.len())
    }
}

impl Dependency {
    /// The id of the other issue.
    fn id(&self) -> &str {
        self.depends_on_id.as_deref().or(self.id.as_deref()).unwrap_or_default()
    }

    fn kind(&self) -> String {
        self.kind.as_deref().or(self.dependency_type.as_deref()).unwrap_or_default().replace('_', "-")
    }

    fn blocks(&self) -> bool {
        matches!(self.kind().as_str(), "blocks" | "conditional-blocks" | "waits-for")
    }

    fn is_part(&self) -> bool {
        self.kind() == "parent-child"
    }
}

/// Recognizes the error of a version that does not know a flag.
fn is_about_a_flag(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    said.contains("unknown flag") || said.contains("unexpected argument") || said.contains("unknown shorthand")
}

fn is_about_a_lock(said: &str) -> bool {
    said.contains("locked") || said.contains("write lock")
}

/// Recognizes the error of a claim on an issue that another agent has.
fn is_anothers(said: &str) -> bool {
    said.contains("claimed") || said.contains("already assigned")
}

fn is_over(status: &str) -> bool {
    matches!(status, "closed" | "tombstone")
}

/// Parses the issues of an answer: a list, or an object with one.
fn issues(call: &[&str], answer: &[u8]) -> Result<Issues, TrackerError> {
    #[derive(Deserialize)]
    struct Wrapped<'a> {
        #[serde(borrow)]
        issues: Vec<&'a RawValue>,
    }
    let unreadable = |part: &[u8]| {
        const SHOWN: usize = 80;
        let part = String::from_utf8_lossy(&part[..part.len().min(SHOWN)]).trim().replace('\n', " ");
        let part = if part.is_empty() { "the output was empty".to_owned() } else { part };
        TrackerError::Unreadable { call: format!("bd {}", call.join(" ")), part }
    };
    let all = match answer.trim_ascii_start().first() {
        // Go writes an empty list as `null`.
        Some(b'n') if answer.trim_ascii() == b"null" => Vec::new(),
        Some(b'{') => serde_json::from_slice::<Wrapped<'_>>(answer).map_err(|_| unreadable(answer))?.issues,
        _ => serde_json::from_slice(answer).map_err(|_| unreadable(answer))?,
    };
    let mut found = Issues::new();
    for raw in all {
        let issue: Issue = serde_json::from_str(raw.get()).map_err(|_| unreadable(raw.get().as_bytes()))?;
        // A tombstone is a deleted issue.
        if issue.status != "tombstone" {
            found.insert(issue.id.clone(), (issue, raw.to_owned()));
        }
    }
    Ok(found)
}

/// An issue that has children which were not listed yet.
fn has_more(found: &Issues, asked: &BTreeSet<String>) -> Option<String> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for on in found.values().flat_map(|(issue, _)| &issue.dependencies) {
        *known.entry(on.id()).or_default() += 1;
    }
    let is_more = |issue: &Issue| {
        let known = known.get(issue.id.as_str()).copied().unwrap_or_default();
        issue.issue_type == "epic" || issue.dependent_count.is_some_and(|count| count > known)
    };
    found
        .values()
        .map(|(issue, _)| issue)
        .find(|issue| !asked.contains(&issue.id) && is_more(issue))
        .map(|i| i.id.clone())
}

/// Splits issues into the descendants of the epic and the rest, by their parent links or by their dotted ids.
fn below(epic: &str, mut all: Issues) -> (Issues, Issues) {
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (issue, _) in all.values() {
        let mut wholes: Vec<String> =
            issue.dependencies.iter().filter(|on| on.is_part()).map(|on| on.id().to_owned()).collect();
        if wholes.is_empty() {
            wholes.extend(issue.id.rsplit_once('.').map(|(whole, _)| whole.to_owned()));
        }
        for whole in wholes {
            parts.entry(whole).or_default().push(issue.id.clone());
        }
    }
    let (mut found, mut next) = (Issues::new(), vec![epic.to_owned()]);
    while let Some(whole) = next.pop() {
        for part in parts.remove(&whole).unwrap_or_default() {
            if let Some(issue) = all.remove(&part) {
                found.insert(part.clone(), issue);
                next.push(part);
            }
        }
    }
    found.remove(epic);
    (found, all)
}

/// Returns the issue as blocked by an issue outside the epic.
fn blocked(raw: &RawValue, on: &str) -> Result<Box<RawValue>, TrackerError> {
    let why = format!("\"blocked: depends on `{on}`, which is outside the epic\"");
    with(raw, "status", &why)
}

/// Returns the issue with one member replaced.
fn with(raw: &RawValue, key: &str, value: &str) -> Result<Box<RawValue>, TrackerError> {
    let changed = || -> serde_json::Result<Box<RawValue>> {
        let mut issue: BTreeMap<&str, &RawValue> = serde_json::from_str(raw.get())?;
        issue.insert(key, serde_json::from_str(value)?);
        RawValue::from_string(serde_json::to_string(&issue)?)
    };
    changed().map_err(|error| TrackerError::Unreadable { call: "bd list".to_owned(), part: error.to_string() })
}

/// Limit of files that a note names.
const FILES: usize = 10;

/// A note for the human who has to close an issue that is done on a claim.
fn to_look_at(untold: &Untold) -> String {
    let Untold { task, evidence, branch, .. } = untold;
    let mut line = format!("{NOTE}an agent says that it is done, but no check confirms it");
    if let Some(why) = evidence.as_ref().and_then(|evidence| evidence.note.as_deref()) {
        line.push_str(&format!(" ({why})"));
    }
    line.push_str(". Review ");
    match (branch, task.files.as_slice()) {
        (Some(branch), []) => line.push_str(&format!("branch {branch}")),
        (Some(branch), files) => line.push_str(&format!("{} on branch {branch}", listed(files))),
        (None, []) => line.push_str("the changes for it"),
        (None, files) => line.push_str(&listed(files)),
    }
    line.push_str(&format!("; if it is right, close the issue or run `steadfast task done {} --force`", task.id));
    one_line(&line)
}

fn listed(files: &[String]) -> String {
    and_more(files, FILES)
}

fn one_line(line: &str) -> String {
    const LONGEST: usize = 400;
    redact(line).chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect()
}

/// The evidence that closed a task, in one line.
fn closed_by(evidence: Option<&Evidence>) -> String {
    let Some(evidence) = evidence.filter(|evidence| evidence.passed) else { return "done".to_owned() };
    let mut line = format!("{} by steadfast", evidence.class.as_str());
    if let Some(command) = &evidence.command {
        line.push_str(&format!(": `{command}` passed"));
    }
    if let Some(seconds) = evidence.seconds {
        line.push_str(&format!(" in {seconds:.1} s"));
    }
    if let Some(tree) = &evidence.tree {
        line.push_str(&format!(" on tree {}", &tree[..tree.len().min(12)]));
    }
    if let (None, Some(note)) = (&evidence.command, &evidence.note) {
        line.push_str(&format!(": {note}"));
    }
    one_line(&line)
}
