//! What is generated comes from one table, and CI says when it is out of date.

use std::fs;

use schemars::{JsonSchema, schema_for};
use steadfast_hosts::install;
use steadfast_model::Options;
use steadfast_plan::schema::Spec;

use crate::Result;
use crate::process::root;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Write,
    Check,
}

/// A file and what writes it.
type Generator = (&'static str, fn() -> Result<String>);

const GENERATORS: [Generator; 3] = [
    ("schemas/steadfast.schema.json", schema::<Options>),
    ("schemas/spec.schema.json", schema::<Spec>),
    ("plugin/hooks/hooks.json", plugin_hooks),
];

pub(crate) fn generate(doing: Doing) -> Result<()> {
    let mut stale = Vec::new();
    for (path, generator) in GENERATORS {
        let file = root().join(path);
        let text = generator()?;
        if fs::read_to_string(&file).is_ok_and(|present| present == text) {
            continue;
        }
        match doing {
            Doing::Check => stale.push(path),
            Doing::Write => {
                if let Some(folder) = file.parent() {
                    fs::create_dir_all(folder)?;
                }
                fs::write(&file, text)?;
                eprintln!("wrote {path}");
            }
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("out of date: {}; `cargo xtask generate` writes them", stale.join(", ")).into())
}

fn schema<T: JsonSchema>() -> Result<String> {
    Ok(serde_json::to_string_pretty(&schema_for!(T))? + "\n")
}

fn plugin_hooks() -> Result<String> {
    Ok(serde_json::to_string_pretty(&install::plugin_hooks())? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_files_are_fresh() {
        generate(Doing::Check).unwrap();
    }
}
