//! The human's constraints: "don't commit", "only `src/auth`", "no new dependencies".
//!
//! A constraint decides alone, and before the action. Steadfast refuses a call that plainly breaks it, with the human's
//! own sentence. A call that may break it is allowed, with a note.

mod history;
mod package;
mod place;
mod program;
mod release;
mod run;
mod setting;
mod watch;

use steadfast_model::{
    Action, Change, Constraint as Forbidden, ConstraintKind, Direction, EventKind, Facts, GitAlias, Mode, Needs,
    PolicyName, PromptOrigin, Rules, State, TakingBack, ToolCall, Verdict,
};
use steadfast_shell::{Certainty, Op, Reading};
use steadfast_text::truncate;

pub(crate) use self::history::{AliasLine, alias_lines, unknown_git_words};
use self::package::{Installs, installs};
pub(crate) use self::place::{covers, is_free, is_manifest};
use self::run::{Run, runs};
use super::{Judgement, Policy, target};
use crate::ParsedEvent;
use crate::goal::{foreign, is_ours};

/// Steadfast's own server checks the authority of its callers itself.
const SERVER: &str = "steadfast";

const LONG_COMMAND: &str = "The command is longer than 1 MB. Steadfast read the first 1 MB and does not know the rest.";
const LONG_PROMPT: &str = "This prompt is longer than 1 MB. Steadfast read the first 1 MB: what the rest forbids or \
                           allows is not enforced. `steadfast goal forbid commit` in a terminal forbids it directly.";

#[derive(Debug)]
pub(super) struct Constraint;

impl Policy for Constraint {
    fn name(&self) -> PolicyName {
        PolicyName::Constraint
    }

    fn direction(&self) -> Direction {
        Direction::Advice
    }

    fn mode(&self, rules: &Rules) -> Mode {
        rules.constraint
    }

    fn needs(&self, state: &State, event: &ParsedEvent<'_>) -> Needs {
        // Most sessions have no constraint and skip all this.
        let set = &state.rules.drift;
        let free = state.constraints().is_empty() && state.must_nots.is_empty() && set.constraints.is_empty();
        if free && state.watched.is_empty() {
            return Needs::default();
        }
        let all = || state.constraints().iter().chain(&state.must_nots);
        let creates = all().any(|constraint| constraint.kind == ConstraintKind::Create)
            || setting::forbidden(set).iter().any(|constraint| constraint.kind == ConstraintKind::Create);
        let before = matches!(event.kind, EventKind::PreTool(_));
        Needs {
            new_files: before && creates,
            marks: watch::is_needed(state, event),
            aliases: before && !event.unknown_git_words().is_empty(),
            ..Needs::default()
        }
    }

    fn judge(&self, state: &State, event: &ParsedEvent<'_>, facts: &Facts) -> Judgement {
        let call = match &event.kind {
            EventKind::PreTool(call) => call,
            EventKind::PostTool(result) => return watch::end(state, &result.call, facts),
            EventKind::Prompt { origin: PromptOrigin::Proxied, .. } => return Judgement::default(),
            EventKind::Prompt { .. } if event.cut && event.said().is_some() => {
                return Judgement::of(Verdict::Note(LONG_PROMPT.to_owned()));
            }
            EventKind::Prompt { text, .. } if !state.told_language => return not_understood(event, text),
            _ => return Judgement::default(),
        };
        let set = setting::forbidden(&state.rules.drift);
        if state.constraints().is_empty() && state.must_nots.is_empty() && set.is_empty() {
            return if event.cut {
                Judgement::of(Verdict::Note(LONG_COMMAND.to_owned()))
            } else {
                Judgement::default()
            };
        }
        let deed = Operation::of(event, call, state.rules.approval.scratch(), facts);
        let set = set.iter().map(|constraint| deed.against(constraint, Source::Settings)).max();
        // A file that broke a must-not may be written to undo that, and for nothing else.
        let deed = deed.without(&state.taking_back);
        let said = state.constraints().iter().map(|constraint| deed.against(constraint, Source::Human));
        let planned = state.must_nots.iter().map(|constraint| deed.against(constraint, Source::Plan));
        let verdict = said.chain(planned).chain(set).max().unwrap_or_default();
        let runs = !matches!(verdict, Verdict::Deny { .. });
        let changes = watch::begin(call, facts).filter(|_| runs).into_iter().collect();
        Judgement { verdict, changes, ..Judgement::default() }
    }
}

/// Returns the human's constraint that a call breaks, with the command or path that breaks it.
pub(crate) fn breach(state: &State, event: &ParsedEvent<'_>) -> Option<(Forbidden, String)> {
    let EventKind::PreTool(call) = &event.kind else { return None };
    let facts = Facts::default();
    let deed = Operation::of(event, call, state.rules.approval.scratch(), &facts);
    state.constraints().iter().find_map(|constraint| match deed.finding(constraint) {
        Finding::Run(what) | Finding::Write(what) => Some((constraint.clone(), what)),
        Finding::Nothing | Finding::Unsure(_) => None,
    })
}

/// Tells the human once that Steadfast did not understand a prompt that seems to forbid something in another language.
fn not_understood(event: &ParsedEvent<'_>, text: &str) -> Judgement {
    let heard = event.said().is_none_or(|said| !said.constraints.is_empty());
    let Some(language) = (!heard).then(|| foreign::forbids(text)).flatten() else { return Judgement::default() };
    let note = format!(
        "This seems to forbid something in {language}. Steadfast understands such orders in English only, so it \
         enforces none of this. Say it in English (\"don't commit\"), or in a terminal: `steadfast goal forbid commit`."
    );
    Judgement { verdict: Verdict::Note(note), changes: vec![Change::LanguageTold], ..Judgement::default() }
}

/// The source of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A human, in a prompt or with a command. A later prompt can lift it.
    Human,
    /// The session's plan, until its loop ends. No prompt lifts it.
    Plan,
    /// The settings. No prompt lifts it.
    Settings,
}

/// The visible effects of a call.
struct Operation<'a> {
    call: &'a ToolCall,
    cwd: &'a str,
    scratch: &'a str,
    runs: Vec<Run>,
    /// Files that it would create.
    new_files: &'a [String],
    /// Paths that it would certainly write, each with the operation.
    writes: Vec<(Op, String)>,
    /// Patterns of paths that it may write.
    possible: Vec<(Op, String)>,
    /// A part of it could not be read.
    unread: bool,
    /// It is longer than the part that Steadfast reads.
    cut: bool,
}

/// The result of comparing a call with one constraint.
enum Finding {
    Nothing,
    /// The call runs a forbidden command.
    Run(String),
    /// The call writes a forbidden path.
    Write(String),
    /// The call may break it, for this reason.
    Unsure(String),
}

impl<'a> Operation<'a> {
    fn of(event: &'a ParsedEvent<'a>, call: &'a ToolCall, scratch: &'a str, facts: &'a Facts) -> Self {
        let cwd = event.cwd.as_str();
        let behind_links = &facts.behind_links;
        let mut deed = Self {
            call,
            cwd,
            scratch,
            runs: Vec::new(),
            new_files: &facts.new_files,
            writes: Vec::new(),
            possible: Vec::new(),
            unread: false,
            cut: event.cut,
        };
        match &call.action {
            Action::Shell { .. } => event.reading().into_iter().for_each(|reading| deed.take(reading, &facts.aliases)),
            Action::Write { paths } => deed.plain(paths.iter().chain(behind_links), cwd),
            Action::Mcp { server, tool, paths } if server != SERVER && !target::only_reads(tool) => {
                deed.plain(paths.iter().chain(behind_links), cwd);
            }
            _ => {}
        }
        deed.writes.retain(|(_, path)| !is_free(path, cwd, scratch));
        deed.possible.retain(|(_, path)| !is_free(path, cwd, scratch));
        deed
    }

    /// Removes the paths that are written to undo a breach of a must-not.
    fn without(mut self, taking_back: &[TakingBack]) -> Self {
        self.writes.retain(|(_, path)| !taking_back.iter().any(|taking| taking.paths.contains(path)));
        self
    }

    fn plain<'p>(&mut self, paths: impl Iterator<Item = &'p String>, cwd: &str) {
        self.writes.extend(paths.map(|path| (Op::Write, target::absolute(path, cwd))));
    }

    fn take(&mut self, reading: &Reading, aliases: &[GitAlias]) {
        self.runs = history::unaliased(runs(reading), aliases);
        self.runs.retain(|run| !program::only_tells(run));
        self.unread = !reading.parsed;
        for effect in reading.effects.iter().filter(|effect| !matches!(effect.op, Op::Exec | Op::Unknown)) {
            match (&effect.path, effect.certainty) {
                (Some(path), Certainty::Certain) => self.writes.push((effect.op, path.clone())),
                (Some(path), Certainty::Possible) => self.possible.push((effect.op, path.clone())),
                (None, _) => {}
            }
        }
    }

    fn against(&self, constraint: &Forbidden, source: Source) -> Verdict {
        let said = constraint.said.trim_end_matches(['.', '!', ' ', ';']);
        let (agent, human, lasts) = match source {
            Source::Human => ("The human said", "You said", ""),
            Source::Plan => ("The plan says", "The plan says", " It applies until the loop of the plan ends."),
            Source::Settings => ("`steadfast.toml` says", "`steadfast.toml` says", " A prompt cannot lift it."),
        };
        let not = |what: &str, done: &str| Verdict::Deny {
            reason: format!("{agent}: \"{said}\". `{what}` is not {done}.{lasts}"),
        };
        match self.finding(constraint) {
            Finding::Nothing if self.cut && constraint.kind != ConstraintKind::Separate => {
                Verdict::Ask { reason: format!("{agent}: \"{said}\". {LONG_COMMAND}") }
            }
            Finding::Nothing if self.unread && constraint.kind != ConstraintKind::Separate => {
                Verdict::Note(format!("{human}: \"{said}\". Steadfast allowed a command that it could not read."))
            }
            Finding::Nothing => Verdict::Pass,
            Finding::Run(what) => not(&what, "run"),
            Finding::Write(path) => not(&path, "written"),
            Finding::Unsure(why) => Verdict::Note(format!("{human}: \"{said}\". {why}")),
        }
    }

    fn finding(&self, constraint: &Forbidden) -> Finding {
        use ConstraintKind as K;
        let of = &constraint.of;
        match constraint.kind {
            // The branch of a commit is not known here.
            K::Commit if !of.is_empty() => match self.runs.iter().find(|run| history::commits(run)) {
                Some(_) => Finding::Unsure(format!(
                    "Steadfast allowed a commit and does not know whether it is on `{}`.",
                    of[0]
                )),
                None => Finding::Nothing,
            },
            K::Commit => self.run(history::commits).or(|| self.remote(&["git_commit"])),
            K::Push => self.push(of),
            K::Branch => self.run(history::branches).or(|| self.remote(&["git_create_branch", "create_branch"])),
            K::PullRequest => self.run(history::opens_request).or(|| self.remote(&["create_pull_request"])),
            K::Merge => self.run(history::merges).or(|| self.remote(&["merge_pull_request"])),
            K::Dependencies => self.run(|run| installs(run) == Some(Installs::New) && !is_excepted(run, of)).or(|| {
                let manifest = self.writes.iter().find(|(_, path)| is_manifest(path));
                manifest.map_or(Finding::Nothing, |(_, path)| {
                    Finding::Unsure(format!(
                        "`{}` is edited; Steadfast does not know whether that adds a dependency.",
                        self.shown(path)
                    ))
                })
            }),
            K::Install => self.run(|run| installs(run).is_some() && !is_excepted(run, of)),
            K::Network => {
                let web = matches!(self.call.tool.as_str(), "WebFetch" | "WebSearch" | "web_search");
                if web { Finding::Run(self.call.tool.clone()) } else { self.run(program::uses_network) }
            }
            K::Touch => self.write(|_, path| self.is_about(of, path)).or(|| self.may_write(of)),
            K::Only => {
                let leaves =
                    |op, path: &str| !self.is_about(of, path) && !self.is_ours(path) && !self.is_made_again(op, path);
                self.write(leaves).or(|| self.may_leave(of))
            }
            K::Run => self.run(|run| of.iter().any(|name| program::is_called(run, name))),
            K::Delete => {
                let deletes = |op, path: &str| {
                    let named = !of.is_empty() && self.is_about(of, path);
                    op == Op::Delete && (named || of.is_empty() && !self.is_made_again(op, path))
                };
                self.write(deletes).or(|| self.any(Op::Delete, of))
            }
            K::Rename => self.write(|op, path| op == Op::Move && self.is_about(of, path)).or(|| self.any(Op::Move, of)),
            K::Write => self.write(|op, path| !self.is_made_again(op, path)).or(|| self.any(Op::Delete, of)).or(|| {
                self.run(|run| {
                    history::changes_checkout(run) || installs(run).is_some_and(|what| what != Installs::Locked)
                })
            }),
            K::Create => {
                let allowed = |path: &str| {
                    let mut named = of.iter().filter_map(|except| except.strip_prefix("except "));
                    named.any(|name| covers(name, path, self.cwd))
                };
                let mut new = self.new_files.iter().filter(|path| !is_free(path, self.cwd, self.scratch));
                new.find(|path| !allowed(path)).map_or(Finding::Nothing, |path| Finding::Write(self.shown(path)))
            }
            K::Separate | K::Unknown => Finding::Nothing,
        }
    }

    fn run(&self, is_it: impl Fn(&Run) -> bool) -> Finding {
        match self.runs.iter().find(|run| is_it(run)) {
            Some(run) => Finding::Run(program::shown(run)),
            None => Finding::Nothing,
        }
    }

    fn write(&self, is_it: impl Fn(Op, &str) -> bool) -> Finding {
        match self.writes.iter().find(|(op, path)| is_it(*op, path)) {
            Some((_, path)) => Finding::Write(self.shown(path)),
            None => Finding::Nothing,
        }
    }

    /// If all of a kind is forbidden, a pattern of paths counts like a path.
    fn any(&self, op: Op, of: &[String]) -> Finding {
        let pattern = self.possible.iter().find(|(other, path)| {
            op == *other && of.is_empty() && path.starts_with('/') && !self.is_made_again(op, path)
        });
        pattern.map_or(Finding::Nothing, |(_, path)| Finding::Write(self.shown(path)))
    }

    fn may_write(&self, of: &[String]) -> Finding {
        match self.possible.iter().find(|(_, path)| self.is_about(of, path)) {
            Some((_, path)) => Finding::Unsure(self.may_be_written(path)),
            None => Finding::Nothing,
        }
    }

    /// A pattern with a folder beside the fence lies outside of it; one with a folder above the fence may contain it.
    fn may_leave(&self, of: &[String]) -> Finding {
        let mut unsure = Finding::Nothing;
        let patterns =
            self.possible.iter().filter(|(op, path)| path.starts_with('/') && !self.is_made_again(*op, path));
        for (_, pattern) in patterns {
            let known: Vec<&str> = pattern.split('/').take_while(|part| !part.contains(['*', '?', '['])).collect();
            let folder = known.join("/");
            let inside = self.is_about(of, pattern) || self.is_about(of, &folder);
            let above = of
                .iter()
                .any(|name| !name.contains('/') || target::absolute(name, self.cwd).starts_with(&format!("{folder}/")));
            match (inside, above) {
                (true, _) => {}
                (false, false) => return Finding::Write(self.shown(pattern)),
                (false, true) => {
                    unsure = Finding::Unsure(self.may_be_written(pattern));
                }
            }
        }
        unsure
    }

    fn may_be_written(&self, pattern: &str) -> String {
        match self.shown(pattern).as_str() {
            "*" | "**" | "**/*" => "Steadfast allowed a command that may write any file.".to_owned(),
            path => format!("Steadfast allowed a command that may write `{path}`."),
        }
    }

    fn push(&self, of: &[String]) -> Finding {
        let Some((run, rest)) = self.runs.iter().find_map(|run| Some((run, history::pushes(run)?))) else {
            let commits_there = ["push_files", "create_or_update_file", "git_push"];
            return if of.is_empty() { self.remote(&commits_there) } else { Finding::Nothing };
        };
        let is_it = of.is_empty()
            || of
                .iter()
                .any(|of| if of == "--force" { history::is_forced(&rest) } else { history::names_branch(&rest, of) });
        let bare = program::operands(&rest).nth(1).is_none() && of.iter().any(|of| of != "--force");
        match (is_it, bare) {
            (true, _) => Finding::Run(program::shown(run)),
            (false, true) => {
                Finding::Unsure(format!("Steadfast allowed a push and does not know whether it is to `{}`.", of[0]))
            }
            (false, false) => Finding::Nothing,
        }
    }

    fn is_about(&self, of: &[String], path: &str) -> bool {
        of.is_empty() || of.iter().any(|name| covers(name, path, self.cwd))
    }

    /// Returns true for deleting files that a build or an installation makes again: nothing is lost.
    fn is_made_again(&self, op: Op, path: &str) -> bool {
        op == Op::Delete && place::is_derived(path, self.cwd)
    }

    /// Returns true for Steadfast's own files and the spec. A fence around the work does not concern them.
    fn is_ours(&self, path: &str) -> bool {
        path.strip_prefix(self.cwd).and_then(|rest| rest.strip_prefix('/')).is_some_and(is_ours)
    }

    /// Returns a path relative to the checkout.
    fn shown(&self, path: &str) -> String {
        const SHOWN: usize = 121;
        let inside = path.strip_prefix(self.cwd).and_then(|rest| rest.strip_prefix('/'));
        let path = inside.filter(|rest| !rest.is_empty()).unwrap_or(path);
        truncate(path, SHOWN).into_owned()
    }

    /// Finds a tool of another server that does the same on the remote.
    fn remote(&self, names: &[&str]) -> Finding {
        match &self.call.action {
            Action::Mcp { tool, .. } if names.contains(&tool.as_str()) => Finding::Run(tool.clone()),
            _ => Finding::Nothing,
        }
    }
}

/// Returns true if every installed package is an exception of the constraint.
fn is_excepted(run: &Run, of: &[String]) -> bool {
    let allowed = |word: &String| {
        let name = word.rfind('@').filter(|at| *at > 0).map_or(word.as_str(), |at| &word[..at]);
        let name = name.split(['=', '<', '>', '~', '[']).next().unwrap_or(name);
        of.iter().any(|except| except.strip_prefix("except ").is_some_and(|except| except.eq_ignore_ascii_case(name)))
    };
    let mut named = program::operands(&run[1..])
        .skip(1)
        .filter(|word| !matches!(word.as_str(), "install" | "package" | "add"))
        .peekable();
    named.peek().is_some() && named.all(allowed)
}

impl Finding {
    fn or(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Nothing => other(),
            found => found,
        }
    }
}

#[cfg(test)]
mod tests;
