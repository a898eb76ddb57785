//! Reads `steadfast.toml` from three places. From the weakest to the strongest source: the user's file, `project.yaml` (only
//! the stop hook), the project's file, and the user's own file for this repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use steadfast_model::{Options, Settings, Source, fnv};

use crate::place::Place;
use crate::project_yaml::{self, PROJECT_YAML};

/// The name of a configuration file in every folder.
pub const CONFIG_FILE: &str = "steadfast.toml";

/// The configuration files of a checkout.
#[derive(Clone, Debug)]
pub struct ConfigFiles {
    /// The weakest source first.
    files: Vec<(PathBuf, Source)>,
    user_state: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}:{line}:{column}: {message}", path.display())]
    Invalid { path: PathBuf, line: usize, column: usize, message: String },
}

impl ConfigFiles {
    pub fn of(place: &Place, user: Option<&Path>) -> Self {
        let mut files = vec![(place.root.clone(), Source::Project), (place.state.clone(), Source::Local)];
        if let Some(user) = user {
            files.insert(0, (user.to_owned(), Source::User));
        }
        let mut files: Vec<(PathBuf, Source)> =
            files.into_iter().map(|(folder, source)| (folder.join(CONFIG_FILE), source)).collect();
        let before = usize::from(user.is_some());
        files.insert(before, (place.root.join(PROJECT_YAML), Source::ProjectYaml));
        Self { files, user_state: None }
    }

    /// Adds the folder of the user's own state, which holds the key for approvals.
    pub fn beside(self, user_state: Option<&Path>) -> Self {
        Self { user_state: user_state.map(Path::to_owned), ..self }
    }

    pub fn user_state(&self) -> Option<&Path> {
        self.user_state.as_deref()
    }

    /// Returns the path of this source.
    pub fn path(&self, of: Source) -> Option<&Path> {
        self.files.iter().find(|(_, source)| *source == of).map(|(path, _)| path.as_path())
    }

    pub fn load(&self) -> Result<Settings, ConfigError> {
        let mut settings = Settings::default();
        for (path, source) in &self.files {
            if let Some(options) = read(path, *source)? {
                settings = settings.combine(&options, *source);
            }
        }
        Ok(settings)
    }

    /// Returns a number that changes when a file changes: four `stat` calls instead of four reads for every tool call. It is
    /// never zero, which is the stamp of a session that has not read its configuration yet.
    pub fn stamp(&self) -> u64 {
        let mut seen = [[0; 16]; 4];
        for ((path, _), seen) in self.files.iter().zip(&mut seen) {
            let Ok(file) = fs::metadata(path) else { continue };
            let changed = file.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            seen[..8].copy_from_slice(&file.len().to_ne_bytes());
            seen[8..].copy_from_slice(&changed.map_or(0, |at| at.as_nanos() as u64).to_ne_bytes());
        }
        fnv(seen.iter().map(|seen| &seen[..])) | 1
    }
}

fn read(path: &Path, source: Source) -> Result<Option<Options>, ConfigError> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // Other tools own this file too: if we cannot read it, it contains no settings for us.
        Err(_) if source == Source::ProjectYaml => return Ok(None),
        Err(source) => return Err(ConfigError::Unreadable { path: path.to_owned(), source }),
        Ok(text) => text,
    };
    match source {
        Source::ProjectYaml => project_yaml::parse(path, &text),
        _ => parse_options(path, &text).map(Some),
    }
}

/// Parses a configuration file. `path` is used for error messages only; the file need not exist.
pub fn parse_options(path: &Path, text: &str) -> Result<Options, ConfigError> {
    toml::from_str(text).map_err(|error| {
        let before = &text[..error.span().map_or(0, |span| text.floor_char_boundary(span.start))];
        ConfigError::Invalid {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
            message: error.message().to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use steadfast_model::Limits;

    use super::*;

    fn project(text: &str) -> (tempfile::TempDir, ConfigFiles) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(CONFIG_FILE), text).unwrap();
        let place = Place { root: dir.path().to_owned(), state: dir.path().join("state") };
        let files = ConfigFiles::of(&place, None);
        (dir, files)
    }

    #[test]
    fn what_a_file_says_holds() {
        let (_dir, files) = project("[mode]\ncompletion = \"observe\"\n\n[stop]\nmax_idle = 5\n");
        let settings = files.load().unwrap();
        assert_eq!(settings.stop.max_idle.value, 5);
        assert_eq!(settings.mode.completion.source, Source::Project);
        assert_eq!(settings.stop.max_cycles.source, Source::Default);
    }

    #[test]
    fn the_users_own_word_for_this_repository_is_the_last() {
        let (dir, files) = project("[stop]\nmax_idle = 5\n");
        let before = files.stamp();
        fs::create_dir(dir.path().join("state")).unwrap();
        fs::write(dir.path().join("state").join(CONFIG_FILE), "[stop]\nmax_idle = 6\n").unwrap();
        let settings = files.load().unwrap();
        assert_eq!((settings.stop.max_idle.value, settings.stop.max_idle.source), (6, Source::Local));
        assert_ne!(files.stamp(), before);
    }

    #[test]
    fn what_project_yaml_says_holds_where_the_project_says_nothing() {
        let (dir, files) = project("[stop]\nmax_idle = 5\n");
        let before = files.stamp();
        let yaml = "workflow:\n  stop_hook:\n    max_cycles: 7\n    max_idle: 9\n";
        fs::write(dir.path().join(PROJECT_YAML), yaml).unwrap();
        assert_ne!(files.stamp(), before);
        let settings = files.load().unwrap();
        assert_eq!((settings.stop.max_idle.value, settings.stop.max_idle.source), (5, Source::Project));
        assert_eq!((settings.stop.max_cycles.value, settings.stop.max_cycles.source), (7, Source::ProjectYaml));
    }

    #[test]
    fn a_wrong_file_is_named_with_its_place() {
        let (dir, files) = project("[stop]\nmax_cycles = 3\nmax_idel = 5\n");
        let said = files.load().unwrap_err().to_string().replace(&dir.path().display().to_string(), "");
        assert!(said.starts_with("/steadfast.toml:3:1: unknown field `max_idel`"), "{said}");
    }

    #[test]
    fn a_run_has_its_limits_in_dollars_and_hours() {
        let (_dir, files) = project(
            "[run]\nhost = \"codex\"\nparallel = 8\nbudget_usd = 2.5\ntokens = 1000\nwall_time = \"8h\"\nsilence = \"0s\"\n\n\
             [run.prices.\"gpt-5\"]\ninput = 1.25\noutput = 10\n",
        );
        let settings = files.load().unwrap();
        let limits = Limits {
            parallel: 8,
            iterations: 25,
            micro_usd: Some(2_500_000),
            tokens: Some(1_000),
            wall_ms: Some(8 * 3_600_000),
            unit_ms: Some(3_600_000),
            silence_ms: None,
            behind_proxy: false,
        };
        assert_eq!(settings.run.limits(), limits);
        let lines: Vec<_> = settings.lines().into_iter().filter(|(_, _, source)| *source == Source::Project).collect();
        let said: Vec<String> = lines.into_iter().map(|(key, value, _)| format!("{key} {value}")).collect();
        assert_eq!(
            said,
            [
                "run.host \"codex\"",
                "run.parallel 8",
                "run.budget_usd 2.5",
                "run.tokens 1000",
                "run.wall_time \"8h\"",
                "run.silence \"0s\"",
                "run.prices [\"gpt-5: 1.25 in, 0.125 cached, 10 out\"]",
            ]
        );
    }

    #[test]
    fn a_wrong_value_of_a_run_is_named_with_its_place() {
        let wrong = |line: &str| {
            let (dir, files) = project(&format!("[run]\n{line}\n"));
            files.load().unwrap_err().to_string().replace(&dir.path().display().to_string(), "")
        };
        let expected = "expected one like `90s`, `10m`, `8h` or `1h 30m`";
        assert_eq!(
            wrong("wall_time = \"soon\""),
            format!("/steadfast.toml:2:13: `soon` is not a length of time, {expected}")
        );
        assert_eq!(
            wrong("budget_usd = -1"),
            "/steadfast.toml:2:14: invalid value: integer `-1`, expected an amount of US dollars like `25` or `2.5`, or `none` for no \
             limit"
        );
        assert_eq!(
            wrong("iterations = \"many\""),
            "/steadfast.toml:2:14: invalid value: string \"many\", expected a number from 1 on, or `none` for no limit"
        );
        assert_eq!(wrong("parallel = 0"), "/steadfast.toml:2:12: invalid value: integer `0`, expected a nonzero u32");
        assert_eq!(
            wrong("host = \"vim\""),
            "/steadfast.toml:2:8: unknown variant `vim`, expected one of `claude`, `codex`, `sim`"
        );
    }

    #[test]
    fn none_lifts_every_limit_of_a_run_and_is_no_price() {
        let keys = ["iterations", "budget_usd", "tokens", "wall_time", "unit_time", "silence"];
        let lines: String = keys.iter().map(|key| format!("{key} = \"none\"\n")).collect();
        let (_dir, files) = project(&format!("[run]\n{lines}"));
        let settings = files.load().unwrap();
        let limits = Limits { parallel: 3, iterations: Limits::NO_LIMIT, ..Limits::default() };
        assert_eq!((settings.run.limits(), settings.run.limits().iterations()), (limits, None));
        assert!(settings.lines().iter().any(|(key, value, _)| *key == "run.iterations" && value == "\"none\""));
        for wrong in [
            "iterations = 0",
            "iterations = 4294967296",
            "budget_usd = \"all\"",
            "tokens = -1",
            "wall_time = \"0\"",
            "[run.prices.m]\ninput = \"none\"\noutput = 1",
        ] {
            let (_dir, files) = project(&format!("[run]\n{wrong}\n"));
            assert!(files.load().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_stamp_changes_with_the_file() {
        let (dir, files) = project("");
        let before = files.stamp();
        assert_eq!(files.stamp(), before);
        fs::write(dir.path().join(CONFIG_FILE), "[stop]\n").unwrap();
        assert_ne!(files.stamp(), before);
    }
}
