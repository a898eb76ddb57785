//! Reads scripts of a `package.json`, with their pre and post scripts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::file::{DefineError, text_of};
use super::manifest;
use super::part::PartState;
use super::reader::Reader;

impl Reader<'_> {
    pub(crate) fn package_script(
        &mut self,
        directory: &Path,
        name: &str,
        everywhere: bool,
        or_program: bool,
    ) -> Result<Vec<(PathBuf, String)>, DefineError> {
        let Some((path, text)) = self.above(directory, &["package.json"])? else {
            if !or_program {
                self.note(&directory.join("package.json"), script(name), PartState::Missing);
            }
            return Ok(Vec::new());
        };
        let Some(package) = manifest::read("package.json", &text) else {
            self.whole(&path)?;
            return Ok(Vec::new());
        };
        let mut packages = vec![(path.clone(), package)];
        if everywhere {
            packages.extend(self.members(&path, &packages[0].1)?);
        }
        let npmrc = path.with_file_name(".npmrc");
        if let Some(shell) = text_of(&npmrc)?.as_deref().and_then(script_shell) {
            self.note(&npmrc, "setting `script-shell`".to_owned(), PartState::Text(shell.to_owned()));
        }
        let mut commands = Vec::new();
        let mut found = false;
        for (path, package) in &packages {
            let folder = path.parent().unwrap_or(directory);
            let empty = serde_json::Map::new();
            let scripts = package.get("scripts").and_then(Value::as_object).unwrap_or(&empty);
            // `npm-run-all` accepts patterns.
            let named: Vec<&String> = scripts.keys().filter(|key| fits(name, key)).collect();
            found |= !named.is_empty();
            let around = named.iter().flat_map(|name| [format!("pre{name}"), (*name).clone(), format!("post{name}")]);
            for name in around {
                if let Some(entry) = scripts.get(&name) {
                    let text = manifest::text(entry);
                    commands.push((folder.to_owned(), text.clone()));
                    self.note(path, script(&name), PartState::Text(text));
                }
            }
        }
        if !found && !or_program {
            self.note(&path, script(name), PartState::Missing);
        }
        Ok(commands)
    }

    fn members(&self, path: &Path, package: &Value) -> Result<Vec<(PathBuf, Value)>, DefineError> {
        let folder = path.parent().unwrap_or(&self.root);
        let mut patterns = manifest::workspaces(package);
        if let Some(text) = text_of(&folder.join("pnpm-workspace.yaml"))? {
            let lines = text.lines().filter_map(|line| line.trim().strip_prefix("- "));
            patterns.extend(lines.map(|line| line.trim().trim_matches(['\'', '"']).to_owned()));
        }
        let mut folders = BTreeSet::new();
        for pattern in patterns {
            match pattern.trim_end_matches('/').split_once("/*") {
                Some((above, _)) => {
                    let entries = fs::read_dir(folder.join(above)).into_iter().flatten().flatten();
                    folders.extend(entries.map(|entry| entry.path()));
                }
                None => drop(folders.insert(folder.join(pattern))),
            }
        }
        let mut members = Vec::new();
        for folder in folders {
            let path = folder.join("package.json");
            if let Some(package) = text_of(&path)?.and_then(|text| manifest::read("package.json", &text)) {
                members.push((path, package));
            }
        }
        Ok(members)
    }
}

/// Returns the program that runs every script, if an `.npmrc` sets one.
fn script_shell(npmrc: &str) -> Option<&str> {
    npmrc
        .lines()
        .filter_map(|line| line.trim().strip_prefix("script-shell")?.trim_start().strip_prefix('='))
        .next_back()
        .map(str::trim)
}

fn script(name: &str) -> String {
    format!("script `{name}`")
}

/// Matches a name, or a pattern with `*` or `**`.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            let after = after.trim_start_matches('*');
            name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
        }
        None => pattern == name,
    }
}
