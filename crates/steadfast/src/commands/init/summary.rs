//! What `init` and `uninstall` change, in about ten lines.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_hosts::install::{FileContent, FileEdit, InstallPaths, InstallPlan, InstallScope, lines};
use steadfast_model::{Authority, Host, commands};
use steadfast_text::{HANG, columns, count, pad};

use crate::diff::changed_lines;
use crate::terminal::{good, warning};

/// The usual length of a token of English text.
const CHARACTERS_PER_TOKEN: usize = 4;

/// The folders of skills and agents of each host.
const CLAUDE_FOLDER: &str = ".claude";
const CODEX_FOLDER: &str = ".agents";

/// One line of the summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) struct Row {
    place: String,
    /// `new`, `removed`, or the numbers of added and removed lines.
    change: String,
    about: String,
}

/// The names of hosts in a sentence.
pub(super) fn names(hosts: &[Host]) -> String {
    let names: Vec<_> = hosts.iter().map(|host| host.full_name()).collect();
    names.join(" and ")
}

/// For whom a scope sets Steadfast up.
pub(super) fn audience(scope: InstallScope) -> &'static str {
    match scope {
        InstallScope::Local => "for this repository (only for you, not committed)",
        InstallScope::Shared => "for everyone in this repository (commit these files)",
        InstallScope::User => "for you in all repositories (it acts only where you run `init`)",
    }
}

/// A row per settings file, and one for all skills or agents of a host. `rules` is the number of permission rules that
/// the settings of Claude Code get.
pub(in crate::commands) fn rows(plan: &InstallPlan, rules: Option<usize>, paths: &InstallPaths) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut groups: Vec<(PathBuf, Vec<&FileEdit>)> = Vec::new();
    for edit in &plan.changes {
        let Some(folder) = folder_of_group(edit) else {
            let about = about(edit, rules);
            rows.push(Row { place: shown(&edit.path, paths), change: change(&[edit]), about });
            continue;
        };
        match groups.iter_mut().find(|(known, _)| *known == folder) {
            Some((_, edits)) => edits.push(edit),
            None => groups.push((folder, vec![edit])),
        }
    }
    rows.extend(groups.iter().map(|(folder, edits)| Row {
        place: format!("{}/", shown(folder, paths)),
        change: change(edits),
        about: about_group(edits),
    }));
    rows
}

/// The row of the list of files that git ignores.
pub(super) fn exclusion(path: &Path, before: Option<&[u8]>, after: &[u8], paths: &InstallPaths) -> Row {
    let change = lines_changed(changed_lines(before, Some(after)));
    Row { place: shown(path, paths), change, about: "git ignores these files".to_owned() }
}

/// The rows in columns.
pub(in crate::commands) fn table(rows: &[Row]) -> Vec<String> {
    let width = |cell: fn(&Row) -> &str| rows.iter().map(|row| columns(cell(row))).max().unwrap_or(0);
    let (place, change) = (width(|row| &row.place), width(|row| &row.change));
    let line = |row: &Row| {
        let (place, change) = (pad(&row.place, place), pad(&row.change, change));
        let change = if row.change == "removed" { warning(&change) } else { good(&change) };
        format!("  {place}  {change}  {HANG}{}", row.about)
    };
    rows.iter().map(line).collect()
}

/// What the installed parts cost. `hook` was just measured.
pub(super) fn cost(plan: &InstallPlan, hook: Option<Duration>) -> Option<String> {
    let hook = hook.map(|time| format!("{:.1} ms per hook (just measured)", time.as_secs_f64() * 1e3));
    // A session is one host's.
    let listed = [CLAUDE_FOLDER, CODEX_FOLDER].map(|folder| {
        let new = plan.changes.iter().filter(|edit| edit.before.is_none());
        new.filter(|edit| edit.path.iter().any(|part| part == folder)).map(listed).sum::<usize>()
    });
    let listed = listed.into_iter().max().unwrap_or(0);
    let tokens = listed.div_ceil(CHARACTERS_PER_TOKEN).div_ceil(10) * 10;
    let tokens = (listed > 0).then(|| format!("about {tokens} tokens per session (estimated)"));
    let parts: Vec<String> = hook.into_iter().chain(tokens).collect();
    (!parts.is_empty()).then(|| format!("Cost: {}", parts.join(", ")))
}

/// The commands that the agent may run without a dialog, by name.
pub(super) fn allowed() -> String {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for (command, authority) in commands() {
        let (group, rest) = command.split_once(' ').unwrap_or((command, ""));
        let rest = match authority {
            Authority::Human | Authority::Either => continue,
            Authority::AllowedAsTool => format!("{rest} as tool"),
            Authority::Allowed => rest.to_owned(),
        };
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, rests)) => rests.push(rest),
            None => groups.push((group, vec![rest])),
        }
    }
    let named = groups.iter().map(|(group, rests)| match rests.as_slice() {
        [rest] => format!("{group} {rest}").trim_end().to_owned(),
        rests => format!("{group} ({})", rests.join(", ")),
    });
    named.collect::<Vec<_>>().join(", ")
}

/// Returns true if this plan adds one of these rules to a settings file.
pub(super) fn adds_rules(plan: &InstallPlan, rules: &[String]) -> bool {
    let has = |text: Option<&Vec<u8>>, rule: &str| {
        text.is_some_and(|text| String::from_utf8_lossy(text).contains(&format!("\"{rule}\"")))
    };
    let adds = |edit: &FileEdit, rule: &str| has(edit.after.as_ref(), rule) && !has(edit.before.as_ref(), rule);
    plan.changes.iter().any(|edit| rules.iter().any(|rule| adds(edit, rule)))
}

/// The folder whose files are one row: `.claude/skills`, `.claude/agents`.
fn folder_of_group(edit: &FileEdit) -> Option<PathBuf> {
    let above = match edit.content {
        FileContent::Skill => 2,
        FileContent::Agent => 1,
        FileContent::Hooks(_) | FileContent::Server | FileContent::Link | FileContent::Record => return None,
    };
    edit.path.ancestors().nth(above).map(Path::to_owned)
}

fn about(edit: &FileEdit, rules: Option<usize>) -> String {
    match (edit.content, rules) {
        (FileContent::Hooks(host), Some(rules)) => {
            let hooks = count(lines(host).len(), "hook");
            if host == Host::Claude && rules > 0 { format!("{hooks}, {}", count(rules, "permission")) } else { hooks }
        }
        (FileContent::Hooks(Host::Claude), None) => "hooks, permissions".to_owned(),
        (content, _) => content.name().to_owned(),
    }
}

fn about_group(edits: &[&FileEdit]) -> String {
    let Some(first) = edits.first() else { return String::new() };
    let names: BTreeSet<&Path> = match first.content {
        FileContent::Skill => edits.iter().filter_map(|edit| edit.path.parent()).collect(),
        _ => edits.iter().map(|edit| edit.path.as_path()).collect(),
    };
    count(names.len(), first.content.name())
}

fn change(edits: &[&FileEdit]) -> String {
    if edits.iter().all(|edit| edit.before.is_none()) {
        return "new".to_owned();
    }
    if edits.iter().all(|edit| edit.after.is_none()) {
        return "removed".to_owned();
    }
    let changed = edits.iter().map(|edit| changed_lines(edit.before.as_deref(), edit.after.as_deref()));
    lines_changed(changed.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
}

fn lines_changed((added, removed): (usize, usize)) -> String {
    match (added, removed) {
        (added, 0) => format!("+{added}"),
        (0, removed) => format!("-{removed}"),
        (added, removed) => format!("+{added} -{removed}"),
    }
}

/// The characters that a host puts into each session for a skill or an agent: `- name: description`.
fn listed(edit: &FileEdit) -> usize {
    let text = String::from_utf8_lossy(edit.after.as_deref().unwrap_or_default()).into_owned();
    let front = text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n")).map_or("", |(front, _)| front);
    let keys = ["name: ", "description: "];
    let values: Vec<_> = front.lines().filter_map(|line| keys.iter().find_map(|key| line.strip_prefix(key))).collect();
    if values.is_empty() { 0 } else { "- : \n".len() + values.iter().map(|value| value.chars().count()).sum::<usize>() }
}

/// Returns a path as short as a reader of this checkout understands it.
fn shown(path: &Path, paths: &InstallPaths) -> String {
    if let Ok(inside) = path.strip_prefix(&paths.root) {
        return inside.display().to_string();
    }
    match path.strip_prefix(&paths.homes.home) {
        Ok(inside) => format!("~/{}", inside.display()),
        Err(_) => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_one_group_are_named_together() {
        let allowed = allowed();
        assert!(
            allowed.starts_with("status, progress, why, log, task (list, ready, next, show, start, done,"),
            "{allowed}"
        );
        assert!(
            allowed.contains("plan (lock, propose as tool, list, show, status), goal show, decide, learn ("),
            "{allowed}"
        );
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |place: &str, change: &str, about: &str| {
            let [place, change, about] = [place, change, about].map(str::to_owned);
            Row { place, change, about }
        };
        let rows = [row("a", "new", "19 hooks"), row("~/.claude.json", "+7 -2", "")];
        let lines = table(&rows).into_iter().map(|line| crate::terminal::bare(&line));
        assert_eq!(lines.collect::<Vec<_>>(), ["  a               new    19 hooks", "  ~/.claude.json  +7 -2  "]);
    }
}
