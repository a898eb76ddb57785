//! Sets one key in one `steadfast.toml`, and leaves the rest unchanged. `toml_edit` parses the file and gives positions;
//! the text is edited here, because writing the document back moves comments and changes line ends.

use std::fs;
use std::io;
use std::path::Path;

use steadfast_model::Settings;
use steadfast_store::parse_options;
use steadfast_work::file;
use toml_edit::{Document, DocumentMut, Item, Value};

use crate::error::CommandError;

/// Sets a key in the file, and creates the file if it is missing. Does not change an invalid file.
pub(in crate::commands) fn set(path: &Path, key: &str, said: &str) -> Result<(), CommandError> {
    let known = Settings::key(key).ok_or_else(|| unknown(key))?;
    let before = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read.map_err(|error| failed("read", path, &error))?,
    };
    parse_options(path, &before).map_err(|error| {
        CommandError::failure(error).hint(format!("nothing was written; fix `{}` and try again", path.display()))
    })?;
    let after = readings(said)
        .into_iter()
        .filter_map(|value| put(&before, key, &value))
        .find(|after| parse_options(path, after).is_ok())
        .ok_or_else(|| {
            CommandError::usage(format!("invalid value `{said}` for `{key}`"))
                .hint(format!("expected {}", known.expected()))
        })?;
    if after == before {
        Ok(())
    } else {
        file::replace(path, after.as_bytes()).map_err(|error| failed("write", path, &error))
    }
}

fn unknown(key: &str) -> CommandError {
    let said = CommandError::usage(format!("unknown key `{key}`"));
    let all: Vec<_> = Settings::KEYS.iter().map(|key| key.name).collect();
    let near = similar::get_close_matches(key, &all, 3, 0.5);
    if near.is_empty() {
        return said.hint("`steadfast config show` lists every key");
    }
    let near: Vec<_> = near.into_iter().map(|key| format!("`{key}`")).collect();
    said.hint(format!("similar keys: {}; `steadfast config show` lists every key", near.join(", ")))
}

/// The value as TOML, and as a text: `advise` needs no quotes, and `3` may be meant as a text.
fn readings(said: &str) -> Vec<Value> {
    let mut readings: Vec<Value> = said.trim().parse().into_iter().collect();
    readings.push(Value::from(said));
    readings
}

/// Returns the text with the key set, or `None` if the key does not fit into it.
fn put(text: &str, key: &str, value: &Value) -> Option<String> {
    let (section, name) = key.split_once('.')?;
    let document = Document::parse(text).ok()?;
    let value = value.to_string();
    let Some(table) = document.get(section) else { return Some(append(text, section, name, &value)) };
    let present = table.get(name).and_then(Item::span);
    let mut after = text.to_owned();
    match (present, table) {
        (Some(span), _) => after.replace_range(span, &value),
        (None, Item::Table(table)) if !table.is_dotted() && !table.is_implicit() => {
            let ends = table.iter().filter_map(|(_, item)| Some(item.as_value()?.span()?.end));
            let last = ends.max().unwrap_or(0).max(table.span()?.start);
            let at = text[last..].find('\n').map_or(text.len(), |newline| last + newline + 1);
            let newline = newline(text);
            let before = if text[..at].ends_with('\n') { "" } else { newline };
            after.insert_str(at, &format!("{before}{name} = {value}{newline}"));
        }
        // An inline table, or dotted keys.
        _ => {
            let mut document: DocumentMut = text.parse().ok()?;
            let value: Value = value.parse().ok()?;
            document.get_mut(section)?.as_table_like_mut()?.insert(name, Item::Value(value));
            after = document.to_string();
            if newline(text) == "\r\n" {
                after = after.replace("\r\n", "\n").replace('\n', "\r\n");
            }
        }
    }
    Some(after)
}

fn append(text: &str, section: &str, name: &str, value: &str) -> String {
    let newline = newline(text);
    let between = match text {
        "" => String::new(),
        text if text.ends_with('\n') => newline.to_owned(),
        _ => newline.repeat(2),
    };
    format!("{text}{between}[{section}]{newline}{name} = {value}{newline}")
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn failed(what: &str, path: &Path, error: &io::Error) -> CommandError {
    CommandError::failure(format!("cannot {what} `{}`: {error}", path.display()))
        .hint("nothing was changed; check that the file is writable and that the disk is not full, and try again")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, key: &str, value: i64) -> String {
        put(text, key, &Value::from(value)).unwrap()
    }

    #[test]
    fn a_value_is_replaced_where_it_stands() {
        let text = "# mine\r\n[stop]   # when\r\n  max_idle=3 # not more\r\n\r\n\r\n[mode]\r\n";
        assert_eq!(after(text, "stop.max_idle", 5), text.replace("=3 ", "=5 "));
    }

    #[test]
    fn a_key_joins_its_table_and_a_table_the_end() {
        let text = "[stop]\nmax_idle = 3 # why\n# between\n\n[mode]\ncompletion = \"observe\"\n# the end\n";
        assert_eq!(
            after(text, "stop.max_cycles", 9),
            "[stop]\nmax_idle = 3 # why\nmax_cycles = 9\n# between\n\n[mode]\ncompletion = \"observe\"\n# the end\n"
        );
        assert_eq!(
            after(text, "privacy.retain_days", 9),
            format!("{text}\n[privacy]\nretain_days = 9\n"),
            "what is at the end stays before it"
        );
    }

    #[test]
    fn a_text_without_a_last_line_end_is_no_trap() {
        assert_eq!(after("[stop]", "stop.max_idle", 1), "[stop]\nmax_idle = 1\n");
        assert_eq!(after("# mine", "stop.max_idle", 1), "# mine\n\n[stop]\nmax_idle = 1\n");
        assert_eq!(after("", "stop.max_idle", 1), "[stop]\nmax_idle = 1\n");
    }

    #[test]
    fn a_table_on_one_line_and_dotted_keys_are_kept_as_such() {
        assert_eq!(
            after("stop = { max_idle = 3 } # x\r\n", "stop.max_cycles", 9),
            "stop = { max_idle = 3 , max_cycles = 9 } # x\r\n"
        );
        assert_eq!(after("stop.max_idle = 3 # x\n", "stop.max_idle", 4), "stop.max_idle = 4 # x\n");
        assert_eq!(
            after("stop.max_idle = 3 # x\n", "stop.max_cycles", 4),
            "stop.max_idle = 3 # x\nstop.max_cycles = 4\n"
        );
    }
}
