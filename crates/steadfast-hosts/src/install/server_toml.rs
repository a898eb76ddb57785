//! Our MCP server in Codex's `config.toml`. `toml_edit` parses it and gives positions; the text is edited here, because
//! writing the document back would change line ends and add a final one.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike, Value};

use super::error::{SettingsError, line_and_column};
use super::wiring::{SERVER, is_our_program};

const SERVERS: &str = "mcp_servers";

pub(super) fn merge(text: &str, program: &str) -> Result<String, SettingsError> {
    let document = parse(text)?;
    let merged = match document.get(SERVERS) {
        None => append(text, program),
        Some(servers) => {
            let (table, found) = match servers {
                Item::Table(table) => (Some(table), "a table"),
                Item::ArrayOfTables(_) => (None, "an array of tables"),
                Item::Value(Value::InlineTable(_)) => (None, "an inline table"),
                Item::Value(_) | Item::None => (None, "a value"),
            };
            let table = table.filter(|table| !table.is_dotted()).ok_or_else(|| {
                let (line, column) = line_and_column(text, servers.span().map_or(0, |span| span.start));
                let (place, expected) = (SERVERS.to_owned(), "tables like `[mcp_servers.name]`");
                SettingsError::Shape { line, column, place, found, expected }
            })?;
            match table.get(SERVER) {
                None => append(text, program),
                Some(server) => update(text, server, program)?,
            }
        }
    };
    parse(&merged)?;
    Ok(merged)
}

/// Appends our server. A text without a final line end gets none, so that uninstalling can restore that.
fn append(text: &str, program: &str) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let block = [
        format!("[{SERVERS}.{SERVER}]"),
        format!("command = {}", Value::from(program)),
        r#"args = ["mcp"]"#.to_owned(),
    ]
    .join(newline);
    match text {
        "" => format!("{block}{newline}"),
        text if text.ends_with('\n') => format!("{text}{newline}{block}{newline}"),
        text => format!("{text}{newline}{newline}{block}"),
    }
}

fn update(text: &str, server: &Item, program: &str) -> Result<String, SettingsError> {
    let command = server.get("command");
    let span = command.and_then(Item::span).filter(|_| is_ours(server));
    let Some(span) = span else {
        let (line, column) = line_and_column(text, server.span().map_or(0, |span| span.start));
        return Err(SettingsError::Taken { line, column, place: format!("{SERVERS}.{SERVER}") });
    };
    if command.and_then(Item::as_str) == Some(program) {
        return Ok(text.to_owned());
    }
    let mut updated = text.to_owned();
    updated.replace_range(span, &Value::from(program).to_string());
    Ok(updated)
}

pub(super) fn strip(text: &str) -> Result<String, SettingsError> {
    let document = parse(text)?;
    let server = document.get(SERVERS).and_then(|servers| servers.get(SERVER)).filter(|server| is_ours(server));
    let Some(server) = server else { return Ok(text.to_owned()) };
    let mut blocks = Vec::new();
    match server {
        Item::Table(table) if !table.is_dotted() => collect_blocks(text, server, &mut blocks),
        // Handwritten on one line or as dotted keys: remove the whole line of each.
        _ => collect_lines(text, server, &mut blocks),
    }
    blocks.sort_by_key(|block| block.start);
    let mut stripped = text.to_owned();
    for block in blocks.into_iter().rev() {
        stripped.replace_range(with_blank_line_before(&stripped, block), "");
    }
    parse(&stripped)?;
    Ok(stripped)
}

/// Collects a table from its header to the end of its last line, and the tables below it (Codex keeps tool approvals
/// there).
fn collect_blocks(text: &str, item: &Item, blocks: &mut Vec<Range<usize>>) {
    let Some(table) = item.as_table() else { return };
    let mut end = 0;
    for (_, child) in table.iter() {
        match child {
            Item::Table(below) if !below.is_dotted() => collect_blocks(text, child, blocks),
            child => end = end.max(last_byte(child)),
        }
    }
    // An implicit table exists only in the headers of others, so it has no lines.
    if let Some(header) = table.span().filter(|_| !table.is_implicit()) {
        blocks.push(header.start..end_of_line(text, end.max(header.end)));
    }
}

fn collect_lines(text: &str, item: &Item, blocks: &mut Vec<Range<usize>>) {
    match item {
        Item::Table(table) => table.iter().for_each(|(_, child)| collect_lines(text, child, blocks)),
        item => {
            if let Some(span) = item.span() {
                let start = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
                blocks.push(start..end_of_line(text, span.end));
            }
        }
    }
}

fn last_byte(item: &Item) -> usize {
    let below = item.as_table().into_iter().flat_map(|table| table.iter()).map(|(_, child)| last_byte(child));
    below.max().unwrap_or(0).max(item.span().map_or(0, |span| span.end))
}

fn end_of_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

/// Extends the block by the blank line that `append` put before it. At the end of a text without a final line end,
/// extends it by that line end too.
fn with_blank_line_before(text: &str, block: Range<usize>) -> Range<usize> {
    let newlines = if block.end == text.len() && !text.ends_with('\n') { 2 } else { 1 };
    let mut start = block.start;
    for left in (1..=newlines).rev() {
        let before = &text[..start];
        let Some(rest) = before.strip_suffix('\n') else { break };
        let rest = rest.strip_suffix('\r').unwrap_or(rest);
        // The end of a non-empty line is not ours.
        if left == 1 && newlines == 1 && !rest.ends_with('\n') {
            break;
        }
        start = rest.len();
    }
    start..block.end
}

fn is_ours(server: &Item) -> bool {
    let Some(server) = server.as_table_like() else { return false };
    let program = server.get("command").and_then(Item::as_str);
    program.is_some_and(is_our_program) && first_argument(server) == Some("mcp")
}

fn first_argument(server: &dyn TableLike) -> Option<&str> {
    server.get("args")?.as_array()?.get(0)?.as_str()
}

fn parse(text: &str) -> Result<Document<&str>, SettingsError> {
    Document::parse(text).map_err(|error| {
        let (line, column) = line_and_column(text, error.span().map_or(0, |span| span.start));
        SettingsError::Syntax { line, column, problem: error.message().to_owned() }
    })
}
