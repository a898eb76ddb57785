//! The writes of a call, as far as its input shows them.

use steadfast_model::{Action, Change, EventKind, Possible, ToolCall, Verdict};
use steadfast_shell::{Certainty, CommandEffect, Context, GuardDecision, Op, Reading, effects, judge};
use steadfast_text::{is_within, truncate};

use super::super::constraint::{AliasLine, alias_lines};
use super::super::{Judgement, target};
use super::program::{changes_project, copy_of, hands_over, only_looks, stashes_all};
use super::{Closed, text};
use crate::ParsedEvent;

/// Steadfast's own server checks the authority of its callers itself.
const SERVER: &str = "steadfast";

/// Devices that keep nothing.
const NOWHERE: [&str; 5] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/"];

impl Closed<'_> {
    /// Refuses a call that writes a protected path.
    pub(super) fn judge_write(&self, call: &ToolCall) -> Judgement {
        if self.event.cut {
            return Judgement::of(Verdict::Deny { reason: format!("{} {}", text::CLOSED, text::TOO_LONG) });
        }
        let stashes = || stashes(self.event) || self.alias_readings().iter().flat_map(Reading::runs).any(stashes_all);
        if let Some(path) = self.facts.uncommitted.first().filter(|_| stashes()) {
            return Judgement::of(Verdict::Deny { reason: text::stashed(path) });
        }
        let found = match self.planner() {
            Some(_) => self.planner_write(&call.action),
            None => self.protected(&call.action),
        };
        match found {
            ProtectedWrite::Nothing => Judgement::default(),
            ProtectedWrite::Write(path) => {
                let shown = format!("`{}`", cut(self.within(&path)));
                let again = self.known.is_some_and(|known| known.refused.contains(&path));
                let reason = match self.planner() {
                    Some(_) => text::planner_refused(&shown, self.state.rules.approval.scratch()),
                    None => text::refused(&shown, &self.gate, again),
                };
                Judgement {
                    verdict: Verdict::Deny { reason },
                    changes: vec![Change::PathRefused(path)],
                    ..Judgement::default()
                }
            }
            ProtectedWrite::Maybe(reason) => match self.state.rules.approval.possible {
                Possible::Watch => Judgement::default(),
                Possible::Ask => Judgement::of(Verdict::Ask { reason: format!("{} {reason}.", text::CLOSED) }),
                Possible::Deny => Judgement::of(Verdict::Deny { reason: format!("{} {reason}.", text::CLOSED) }),
            },
        }
    }

    /// Finds a protected path that a call would write.
    fn protected(&self, action: &Action) -> ProtectedWrite {
        let protected = self.protected_paths();
        match action {
            Action::Write { paths } => self.first_protected(paths, &protected),
            Action::Mcp { server, tool, paths } if server != SERVER && !target::only_reads(tool) => {
                self.first_protected(paths, &protected)
            }
            Action::Shell { .. } => {
                let Some(reading) = self.event.reading() else { return ProtectedWrite::Nothing };
                let through = reading.through(target::links(self.facts));
                let reading = through.as_ref().unwrap_or(reading);
                let mut found = ProtectedWrite::Nothing;
                for reading in std::iter::once(reading).chain(&self.alias_readings()) {
                    let verdict = judge(reading, &protected);
                    match verdict.decision {
                        GuardDecision::Allow => {}
                        GuardDecision::Ask => found = ProtectedWrite::Maybe(verdict.reason),
                        GuardDecision::Deny => {
                            let denied = |path: &&String| {
                                judge(reading, std::slice::from_ref(path)).decision == GuardDecision::Deny
                            };
                            return protected
                                .iter()
                                .find(denied)
                                .map_or(found, |path| ProtectedWrite::Write(path.clone()));
                        }
                    }
                }
                found
            }
            _ => ProtectedWrite::Nothing,
        }
    }

    /// Returns the effects of the git aliases in a command line.
    fn alias_readings(&self) -> Vec<Reading> {
        let Some(reading) = self.event.reading().filter(|_| !self.facts.aliases.is_empty()) else { return Vec::new() };
        let read = |alias: AliasLine| {
            let cwd = if alias.at_top { &self.gate.root } else { &self.event.cwd };
            effects(&alias.line, &Context { cwd: cwd.clone(), home: "~".to_owned() })
        };
        alias_lines(reading, &self.facts.aliases).into_iter().map(read).collect()
    }

    /// Finds a write of a planner outside its scratch folder.
    fn planner_write(&self, action: &Action) -> ProtectedWrite {
        let scratch = self.absolute(self.state.rules.approval.scratch());
        let free = |path: &str| NOWHERE.iter().any(|device| path.starts_with(device)) || is_within(path, &scratch);
        match action {
            Action::Write { paths } => {
                let written =
                    paths.iter().chain(&self.facts.behind_links).map(|path| target::absolute(path, &self.event.cwd));
                written.into_iter().find(|path| !free(path)).map_or(ProtectedWrite::Nothing, ProtectedWrite::Write)
            }
            Action::Mcp { server, tool, paths } if server != SERVER && !target::only_reads(tool) => {
                paths.first().map_or(ProtectedWrite::Nothing, |path| ProtectedWrite::Write(path.clone()))
            }
            Action::Shell { command, .. } => {
                let Some(reading) = self.event.reading() else { return ProtectedWrite::Nothing };
                if !reading.parsed {
                    return ProtectedWrite::Write(cut(command));
                }
                let writes = |effect: &&CommandEffect| effect.op != Op::Unknown;
                let not_free = |effect: &&CommandEffect| !effect.path.as_deref().is_some_and(free);
                let changes = |reading: &Reading| {
                    !reading.parsed
                        || reading.effects.iter().filter(writes).any(|effect| not_free(&effect))
                        || reading.runs().any(changes_project)
                };
                if self.alias_readings().iter().any(changes) {
                    return ProtectedWrite::Write(cut(command));
                }
                match reading.effects.iter().filter(writes).find(not_free) {
                    Some(CommandEffect { path: Some(path), .. }) => ProtectedWrite::Write(path.clone()),
                    Some(CommandEffect { span, .. }) => {
                        ProtectedWrite::Write(cut(command.get(span.clone()).unwrap_or(command)))
                    }
                    None => match reading.runs().find(|run| changes_project(run)) {
                        Some(run) => ProtectedWrite::Write(cut(command.get(run.span.clone()).unwrap_or(command))),
                        None => ProtectedWrite::Nothing,
                    },
                }
            }
            _ => ProtectedWrite::Nothing,
        }
    }

    fn first_protected(&self, paths: &[String], protected: &[String]) -> ProtectedWrite {
        let written = paths.iter().chain(&self.facts.behind_links);
        let readings: Vec<Reading> =
            written.map(|path| Reading::of_write(&target::absolute(path, &self.event.cwd), &self.event.cwd)).collect();
        // On many disks two spellings that differ in case are the same path.
        let reached = |path: &&String| {
            let protected = std::slice::from_ref(*path);
            readings.iter().any(|reading| judge(reading, protected).decision > GuardDecision::Allow)
        };
        protected.iter().find(reached).map_or(ProtectedWrite::Nothing, |path| ProtectedWrite::Write(path.clone()))
    }

    /// Returns the protected paths as absolute paths, in this checkout and in those that this session made of the
    /// repository. They include the draft's path.
    fn protected_paths(&self) -> Vec<String> {
        let draft = self.gate.draft.iter().map(|draft| draft.path.as_str());
        let said: Vec<&str> = self.gate.protected.iter().map(String::as_str).chain(draft).collect();
        // The real path, if the path is a link.
        let real = |path: String| {
            let place = path.trim_end_matches('/');
            let (_, target) = target::links(self.facts).find(|(said, _)| *said == place)?;
            Some(format!("{target}{}", &path[place.len()..]))
        };
        let mut roots = self.copies();
        roots.extend(self.known.iter().flat_map(|known| known.copies.iter().cloned()));
        let relative = |path: &&&str| !path.starts_with(['/', '~']);
        let here = said.iter().map(|path| self.absolute(path));
        let there = roots.iter().flat_map(|root| said.iter().filter(relative).map(|path| target::absolute(path, root)));
        let behind: Vec<String> = here.clone().filter_map(real).collect();
        here.chain(there).chain(behind).collect()
    }

    /// Returns the checkouts of this repository that a command line makes.
    pub(super) fn copies(&self) -> Vec<String> {
        let EventKind::PreTool(ToolCall { action: Action::Shell { command, .. }, .. }) = &self.event.kind else {
            return Vec::new();
        };
        let aliased = self.alias_readings();
        if aliased.is_empty() && !command.contains("worktree") && !command.contains("clone") {
            return Vec::new();
        }
        let copies = self.event.reading().into_iter().chain(&aliased).flat_map(Reading::runs);
        copies.filter_map(|run| copy_of(run, &self.gate.root, &self.event.cwd)).collect()
    }

    /// Returns a path relative to the gate's root.
    fn within<'p>(&self, path: &'p str) -> &'p str {
        let inside = path.strip_prefix(self.gate.root.as_str()).and_then(|rest| rest.strip_prefix('/'));
        inside.filter(|rest| !rest.is_empty()).unwrap_or(path)
    }

    fn absolute(&self, path: &str) -> String {
        target::absolute(path, &self.gate.root)
    }
}

/// The result of searching a call for protected writes.
enum ProtectedWrite {
    Nothing,
    /// The call certainly writes this path.
    Write(String),
    /// The call may write a protected path, for this reason.
    Maybe(String),
}

/// Returns true if a call stashes all uncommitted changes. If the seal then restored a file, its changes would be in
/// both places, and the stash could not be applied again.
pub(super) fn stashes(event: &ParsedEvent<'_>) -> bool {
    let EventKind::PreTool(ToolCall { action: Action::Shell { command, .. }, .. }) = &event.kind else { return false };
    command.contains("stash") && event.reading().is_some_and(|reading| reading.runs().any(stashes_all))
}

/// Returns `Some` if a call may write anything; the value tells whether it hands work to a service. `None`: it only
/// reads. Processes that it leaves running appear in the process table.
pub(super) fn may_write(event: &ParsedEvent<'_>, action: &Action) -> Option<bool> {
    match action {
        Action::Read { .. } | Action::Skill { .. } | Action::Ask | Action::LeavePlan | Action::List(_) => None,
        Action::Mcp { tool, .. } if target::only_reads(tool) => None,
        // A subagent's calls come as events of their own.
        Action::Delegate { .. } => None,
        Action::Shell { command, .. } => {
            let reading = event.reading();
            let is_quiet = |reading: &Reading| reading.effects.is_empty() && only_looks(command, reading);
            (!reading.is_some_and(is_quiet)).then(|| reading.is_none_or(|reading| hands_over(command, reading)))
        }
        Action::Write { .. } | Action::Mcp { .. } | Action::Other => Some(false),
    }
}

/// Returns true if a call may write files that its input does not show: a script, `make`, an unknown tool.
pub(in super::super) fn may_do_anything(event: &ParsedEvent<'_>, action: &Action) -> bool {
    match action {
        Action::Shell { command, .. } => {
            let is_known = |effect: &CommandEffect| {
                effect.certainty == Certainty::Certain && !matches!(effect.op, Op::Exec | Op::Unknown)
            };
            let shows_all = |reading: &Reading| only_looks(command, reading) && reading.effects.iter().all(is_known);
            !event.reading().is_some_and(shows_all)
        }
        Action::Mcp { server, tool, .. } => server != SERVER && !target::only_reads(tool),
        Action::Other => true,
        Action::Read { .. }
        | Action::Skill { .. }
        | Action::Ask
        | Action::LeavePlan
        | Action::List(_)
        | Action::Delegate { .. }
        | Action::Write { .. } => false,
    }
}

fn cut(text: &str) -> String {
    const SHOWN: usize = 161;
    truncate(text, SHOWN).into_owned()
}
