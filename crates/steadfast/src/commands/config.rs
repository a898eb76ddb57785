use clap::Subcommand;

use crate::error::CommandError;
use crate::repository::Repository;

/// Shows the configuration.
#[derive(Debug, Subcommand)]
pub(super) enum Config {
    /// Shows every key with its value and where it comes from.
    Show {
        /// Print JSON with stable keys: a list of `{key, value, source}`.
        #[arg(long)]
        json: bool,
    },
}

impl Config {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let Self::Show { json } = self;
        let lines = Repository::here()?.config.load()?.lines();
        if json {
            let lines: Vec<_> = lines
                .into_iter()
                .map(|(key, value, source)| {
                    let value: serde_json::Value = serde_json::from_str(&value).unwrap_or_default();
                    serde_json::json!({"key": key, "value": value, "source": source})
                })
                .collect();
            println!("{}", serde_json::Value::from(lines));
            return Ok(());
        }
        for (key, value, source) in lines {
            println!("{key:<18} {value:<10} {source}");
        }
        Ok(())
    }
}
