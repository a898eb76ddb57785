//! What a change of configuration takes from the checks: thresholds, files, and whether anybody hears of a failure.

use std::collections::{BTreeMap, HashSet};

use super::command::{Checks, checks, demands, flaw};
use super::language::name;
use super::setting::{Format, Setting, settings};
use super::{FileChange, Kind, Weakening};

/// Of everything that is compared with everything.
const MOST: usize = 500;

struct Side<'a> {
    path: &'a str,
    format: Format,
    settings: Vec<Setting>,
}

/// What a setting demands at least. Where less is stricter, it is negative.
struct Demand<'a> {
    path: &'a str,
    what: String,
    value: f64,
    setting: &'a Setting,
    /// Yes or no, and not how much.
    is_switch: bool,
}

pub(super) fn compare(changes: &[FileChange<'_>]) -> Vec<Weakening> {
    let side = |path: &'_ str, text: Option<&str>| {
        let format = Format::of(path)?;
        Some(Side { path: "", format, settings: settings(text?, format) })
    };
    let old = |change: &FileChange<'_>| side(change.was.unwrap_or(change.path), change.before);
    let before: Vec<Option<Side<'_>>> =
        changes.iter().map(|change| old(change).map(|side| Side { path: change.path, ..side })).collect();
    let after: Vec<Option<Side<'_>>> = changes
        .iter()
        .map(|change| side(change.path, change.after).map(|side| Side { path: change.path, ..side }))
        .collect();
    let mut found = Vec::new();
    demanded(&before, &after, &mut found);
    excluded(&before, &after, &mut found);
    commands(&before, &after, &mut found);
    found
}

fn say(kind: Kind, path: &str, setting: &Setting) -> Weakening {
    let text = format!("{}: {}", setting.path, setting.value).chars().take(200).collect();
    Weakening { kind, file: path.to_owned(), line: setting.line, text }
}

fn demanded(before: &[Option<Side<'_>>], after: &[Option<Side<'_>>], found: &mut Vec<Weakening>) {
    let old: Vec<Demand<'_>> = before.iter().flatten().flat_map(of_side).take(MOST).collect();
    let new: Vec<Demand<'_>> = after.iter().flatten().flat_map(of_side).take(MOST).collect();
    let mut taken = vec![false; new.len()];
    for was in &old {
        let same = (0..new.len()).find(|&at| !taken[at] && new[at].path == was.path && new[at].what == was.what);
        if let Some(at) = same {
            taken[at] = true;
            if new[at].value < was.value {
                found.push(say(Kind::ThresholdLowered, new[at].path, new[at].setting));
            }
            continue;
        }
        // It moved, into another file or another tool's words.
        let moved = (0..new.len()).find(|&at| !taken[at] && new[at].value >= was.value);
        match moved {
            Some(at) => taken[at] = true,
            None if was.is_switch => {}
            None => found.push(say(Kind::ThresholdLowered, was.path, was.setting)),
        }
    }
}

fn of_side<'a>(side: &'a Side<'a>) -> Vec<Demand<'a>> {
    let mut found = Vec::new();
    let file = name(side.path).to_ascii_lowercase();
    let is_coverage = [".nycrc", ".c8rc", "codecov", "coverage", "tarpaulin"].iter().any(|part| file.contains(part));
    for setting in &side.settings {
        let path = setting.path.to_ascii_lowercase();
        let key = setting.key().to_ascii_lowercase();
        let number = setting.value.trim_end_matches('%').parse::<f64>().ok();
        let measured = is_coverage
            || path.contains("threshold")
            || path.contains("coverage")
            || path.contains("nyc")
            || path.contains("c8");
        let value = match key.as_str() {
            "fail_under" | "fail-under" | "minimum_coverage" | "line-coverage" => number,
            "lines" | "branches" | "functions" | "statements" if measured => number,
            "target" if file.contains("codecov") => number,
            "threshold" if file.contains("codecov") => number.map(|value| -value),
            "strict"
            | "check-coverage"
            | "strictnullchecks"
            | "noimplicitany"
            | "xfail_strict"
            | "disallow_untyped_defs" => match setting.value.to_ascii_lowercase().as_str() {
                "true" => Some(1.0),
                "false" => Some(0.0),
                _ => None,
            },
            _ => None,
        };
        if let Some(value) = value {
            let is_switch = number.is_none();
            found.push(Demand { path: side.path, what: setting.path.clone(), value, setting, is_switch });
        }
        for (flag, value) in demands(&setting.value) {
            let value = if flag == "--max-warnings" { -value } else { value };
            found.push(Demand { path: side.path, what: flag.to_owned(), value, setting, is_switch: false });
        }
    }
    found
}

const EXCLUDES: [&str; 16] = [
    "omit",
    "exclude",
    "excludes",
    "exclude-files",
    "exclude_files",
    "testpathignorepatterns",
    "coveragepathignorepatterns",
    "modulepathignorepatterns",
    "ignorepatterns",
    "ignores",
    "ignore",
    "collect_ignore",
    "collect_ignore_glob",
    "norecursedirs",
    "testignore",
    "excludespecpattern",
];
/// What a build or a package manager made is not what is checked.
const MADE: [&str; 19] = [
    "node_modules",
    "dist",
    "build",
    "target",
    "venv",
    "vendor",
    "third_party",
    "generated",
    "git",
    "coverage",
    "__pycache__",
    "next",
    "cache",
    "out",
    "migrations",
    "tox",
    "eggs",
    "pb2",
    "d",
];

fn excluded(before: &[Option<Side<'_>>], after: &[Option<Side<'_>>], found: &mut Vec<Weakening>) {
    let old: HashSet<&str> =
        before.iter().flatten().flat_map(of_exclusion).map(|setting| setting.value.as_str()).collect();
    for (was, side) in before.iter().zip(after) {
        let (Some(side), true) = (side, was.is_some()) else { continue };
        for setting in of_exclusion(side) {
            let is_made = setting
                .value
                .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .any(|part| MADE.contains(&part));
            if !old.contains(setting.value.as_str()) && !is_made {
                found.push(say(Kind::Excluded, side.path, setting));
            }
        }
        let flags = |side: &Side<'_>| -> Vec<(Kind, Setting)> {
            let options = side.settings.iter().filter(|setting| setting.key() == "addopts");
            options.filter_map(|setting| Some((flaw(&setting.value)?, setting.clone()))).collect()
        };
        let old: Vec<_> = was.iter().flat_map(flags).map(|(kind, setting)| (kind, setting.value)).collect();
        for (kind, setting) in flags(side) {
            if !old.contains(&(kind, setting.value.clone())) {
                found.push(say(kind, side.path, &setting));
            }
        }
        if side.format == Format::Toml && name(side.path).contains("nextest") || name(side.path).contains(".config.") {
            tried(was.as_ref(), side, found);
        }
    }
}

fn tried(was: Option<&Side<'_>>, side: &Side<'_>, found: &mut Vec<Weakening>) {
    let of = |side: &Side<'_>| -> Vec<(Setting, f64)> {
        let tries = side.settings.iter().filter(|setting| matches!(setting.key(), "retries" | "retry"));
        tries.filter_map(|setting| Some((setting.clone(), setting.value.parse().ok()?))).collect()
    };
    let old = was.map(of).unwrap_or_default();
    for (setting, value) in of(side) {
        let before = old.iter().find(|(old, _)| old.path == setting.path).map_or(0.0, |(_, value)| *value);
        if value > before {
            found.push(say(Kind::Retried, side.path, &setting));
        }
    }
}

/// The settings of a file that leave something out of a check.
fn of_exclusion<'a>(side: &'a Side<'a>) -> Vec<&'a Setting> {
    let file = name(side.path).to_ascii_lowercase();
    let known = |setting: &&Setting| {
        let key = setting.key().to_ascii_lowercase();
        let path = setting.path.to_ascii_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| path.contains(part));
        if key == "ignore_errors" {
            return has(&["mypy"]) && setting.value.eq_ignore_ascii_case("true");
        }
        let is_list = EXCLUDES.contains(&key.as_str());
        is_list
            && match side.format {
                Format::Conftest => true,
                Format::Toml if file == "pyproject.toml" => {
                    has(&["pytest", "coverage", "mypy", "pyright", "ruff.exclude", "ruff.lint.exclude"])
                }
                Format::Toml => file.contains("tarpaulin"),
                Format::Ini => has(&["pytest", "run", "report", "coverage", "mypy", "flake8"]),
                Format::Yaml => file.contains("codecov"),
                Format::Object if file == "package.json" => has(&["jest", "nyc", "eslintconfig", "c8"]),
                Format::Object if file.starts_with("tsconfig") => file == "tsconfig.json",
                Format::Object => {
                    ["jest", "vitest", "vite.", "eslint", "nycrc", "c8rc", "playwright", "cypress", "karma", "mocha"]
                        .iter()
                        .any(|part| file.contains(part))
                }
                Format::Make | Format::Shell => false,
            }
    };
    side.settings.iter().filter(known).collect()
}

struct Command<'a> {
    setting: &'a Setting,
    checks: Checks,
    flaw: Option<Kind>,
}

/// The commands of a file that check something.
fn of_commands<'a>(side: &'a Side<'a>) -> Vec<Command<'a>> {
    let is_script = |setting: &&Setting| match side.format {
        Format::Object => name(side.path) == "package.json" && setting.parent() == "scripts",
        Format::Make | Format::Shell => true,
        Format::Yaml => matches!(
            setting.key(),
            "run" | "script" | "before_script" | "commands" | "command" | "cmds" | "cmd" | "uses" | "scripts"
        ),
        Format::Ini => setting.key() == "commands",
        Format::Toml | Format::Conftest => false,
    };
    let ignoring: Vec<_> = ignoring(side).take(50).collect();
    let command = |setting: &'a Setting| {
        let checks = if setting.key() == "uses" {
            setting.value.contains("test").then_some(Checks::Tests).filter(|_| !setting.value.contains("upload"))
        } else {
            checks(&setting.value)
        };
        let dashed = side.format == Format::Make && setting.value.trim_start_matches('@').starts_with('-');
        let is_ignored = dashed || ignoring.iter().any(|ignoring| covers(ignoring, setting));
        let flaw = flaw(&setting.value).or_else(|| is_ignored.then_some(Kind::StatusIgnored));
        Some(Command { setting, checks: checks?, flaw })
    };
    side.settings.iter().filter(is_script).filter_map(command).collect()
}

/// Where CI goes on when a step or its job failed.
fn ignoring<'a>(side: &'a Side<'a>) -> impl Iterator<Item = &'a Setting> {
    side.settings
        .iter()
        .filter(|setting| matches!(setting.key(), "continue-on-error" | "allow_failure") && setting.value == "true")
}

fn covers(setting: &Setting, step: &Setting) -> bool {
    let parent = setting.parent();
    !parent.is_empty() && step.path.strip_prefix(parent).is_some_and(|rest| rest.starts_with('.'))
}

fn commands(before: &[Option<Side<'_>>], after: &[Option<Side<'_>>], found: &mut Vec<Weakening>) {
    let count = |commands: &[Command<'_>]| {
        let mut count: BTreeMap<Checks, usize> = BTreeMap::new();
        for command in commands {
            *count.entry(command.checks).or_default() += 1;
        }
        count
    };
    // Checks of files that are new in the change: what is gone elsewhere may have moved there.
    let moved: BTreeMap<Checks, usize> = before
        .iter()
        .zip(after)
        .filter(|(was, _)| was.is_none())
        .filter_map(|(_, now)| now.as_ref())
        .map(|now| count(&of_commands(now)))
        .fold(BTreeMap::new(), |mut all, more| {
            for (checks, number) in more {
                *all.entry(checks).or_default() += number;
            }
            all
        });
    for (was, now) in before.iter().zip(after) {
        let Some(was) = was else { continue };
        let old = of_commands(was);
        let new = now.as_ref().map(of_commands).unwrap_or_default();
        for checks in [Checks::Tests, Checks::Source] {
            let of = |commands: &[Command<'_>], is_clean: bool| -> usize {
                commands.iter().filter(|command| command.checks == checks && command.flaw.is_none() == is_clean).count()
            };
            let clean = of(&old, true).saturating_sub(of(&new, true));
            let known: HashSet<&str> =
                old.iter().filter(|old| old.flaw.is_some()).map(|old| old.setting.value.as_str()).collect();
            let flawed = new.iter().filter(|new| new.checks == checks && !known.contains(new.setting.value.as_str()));
            for (command, kind) in flawed.filter_map(|new| Some((new, new.flaw?))).take(clean) {
                let setting = now
                    .as_ref()
                    .filter(|_| flaw(&command.setting.value).is_none())
                    .and_then(|now| ignoring(now).find(|setting| covers(setting, command.setting)))
                    .unwrap_or(command.setting);
                found.push(say(kind, was.path, setting));
            }
            let is_gone = old.iter().any(|old| old.checks == checks) && !new.iter().any(|new| new.checks == checks);
            // A name for no test at all, where others are left.
            let emptied = now.as_ref().filter(|_| was.format == Format::Object).and_then(|now| {
                let slots = old.iter().filter(|old| old.checks == checks).map(|old| &old.setting.path);
                let now: Vec<_> = slots.filter_map(|path| now.settings.iter().find(|new| new.path == *path)).collect();
                now.into_iter().find(|new| is_nothing(&new.value))
            });
            if let Some(setting) = emptied {
                found.push(say(Kind::CheckReplaced, was.path, setting));
            } else if is_gone && !moved.contains_key(&checks) {
                let first = old.iter().find(|old| old.checks == checks).map(|old| old.setting);
                let Some(first) = first else { continue };
                let named = |now: &&'_ Setting| was.format == Format::Make && now.path == first.path;
                let instead = now.as_ref().and_then(|now| now.settings.iter().find(named));
                found.push(say(Kind::CheckReplaced, was.path, instead.unwrap_or(first)));
            }
        }
    }
}

fn is_nothing(command: &str) -> bool {
    matches!(command.trim(), "true" | ":" | "exit 0")
        || command.trim_start().starts_with("echo ") && !command.contains("&&")
}
