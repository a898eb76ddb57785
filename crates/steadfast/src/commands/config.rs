mod file;

use clap::{Args, Subcommand};
use steadfast_model::{SetBy, Settings, Source};
use steadfast_text::pad;
use steadfast_work::Repository;

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, put, put_laid_out};
use crate::terminal::{Column, Table, strong};

pub(super) use file::set;

/// Generated from the table of settings; CI fails when it is out of date.
const SCHEMA: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/steadfast.schema.json"));

/// Show and change the settings.
#[derive(Debug, Subcommand)]
pub(super) enum Config {
    /// Show every key with its value and its source.
    Show {
        /// Print JSON with stable keys: a list of `{key, value, source}`.
        #[arg(long)]
        json: bool,
    },
    /// Set a key, by default in your own settings for this repository.
    Set(Set),
    /// Print the JSON schema of `steadfast.toml` for an editor.
    Schema,
}

#[derive(Debug, Args)]
pub(super) struct Set {
    /// Key as `steadfast config show` prints it, such as `stop.max_idle`.
    key: String,
    /// Value in TOML; text needs no quotes.
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// Write to the `steadfast.toml` that is committed with the repository.
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// Write to your own settings for all repositories.
    #[arg(long)]
    user: bool,
}

impl Config {
    pub(super) fn run(self) -> Result<(), CommandError> {
        match self {
            Self::Show { json } => show(json),
            Self::Set(set) => set.run(),
            Self::Schema => {
                put(SCHEMA)?;
                Ok(())
            }
        }
    }
}

impl Set {
    fn run(self) -> Result<(), CommandError> {
        let place = here::setup()?.place;
        if self.project && Settings::key(&self.key).is_some_and(|key| key.set_by == SetBy::UserOnly) {
            return Err(CommandError::refused(format!(
                "`{}` names a command to run, so it is ignored in a committed `steadfast.toml`",
                self.key
            ))
            .hint(format!(
                "`steadfast config set {} VALUE` sets it in your own settings for this repository",
                self.key
            )));
        }
        let (layer, repository) = match (self.project, self.user) {
            (true, _) => (Source::Project, Repository::at(place, environment::current())),
            (_, true) => (Source::User, Repository::at(place, environment::current())),
            _ => (Source::Local, here::repository()?),
        };
        let config = &repository.config;
        let path = config.path(layer).ok_or_else(|| {
            CommandError::failure("`HOME` is not set, so there is no place for your settings")
                .hint("set `HOME`, or set `XDG_CONFIG_HOME` to a folder that you can write")
        })?;
        set(path, &self.key, &self.value)?;
        note!("written to `{}`", path.display());
        let effective = config.load()?.lines().into_iter().find(|(key, ..)| *key == self.key);
        let Some((key, value, source)) = effective else { return Ok(()) };
        put(&line(key, &value, source))?;
        if source != layer
            && let Some(other) = config.path(source)
        {
            note!(
                "note: `{}` sets this to {value} and overrides the {layer} settings; your value applies only where that file does not set it",
                other.display()
            );
        }
        Ok(())
    }
}

fn show(json: bool) -> Result<(), CommandError> {
    // The defaults and the user's own settings hold before `init`, too.
    let config = Repository::at(here::setup()?.place, environment::current()).config;
    let settings = config.load()?;
    for (key, source) in &settings.ignored {
        let path = config.path(*source).map(|path| path.display().to_string()).unwrap_or_default();
        note!("note: `{path}` says `{key}`, which is ignored there: only your own settings may name a command to run");
    }
    let lines = settings.lines();
    if json {
        let lines: Vec<_> = lines
            .into_iter()
            .map(|(key, value, source)| {
                let value: serde_json::Value = serde_json::from_str(&value).unwrap_or_default();
                serde_json::json!({"key": key, "value": value, "source": source})
            })
            .collect();
        put(&format!("{}\n", serde_json::Value::from(lines)))?;
        return Ok(());
    }
    let mut table = Table::new(&[Column::whole("KEY", 9), Column::text("VALUE", 7, 12), Column::whole("SOURCE", 5)]);
    for (key, value, source) in lines {
        // What somebody set stands out.
        let key = if source == Source::Default { key.to_owned() } else { strong(key) };
        table.row([pad(&key, KEY), pad(&value, VALUE), source.to_string()]);
    }
    put_laid_out(&table.text()).map(|_| ())
}

/// The columns of a key and of a usual value.
const KEY: usize = 20;
const VALUE: usize = 10;

fn line(key: &str, value: &str, source: Source) -> String {
    format!("{key:<KEY$}  {value:<VALUE$}  {source}\n")
}
