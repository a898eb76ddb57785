//! Configuration as a list of settings, each with its path and line: enough to compare, in any of the formats.

use super::language::{Language, name};
use super::lex::{Lexeme, inside, lex};

#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// Keys with dots between them; items of lists in YAML with their number.
    pub(super) path: String,
    pub(super) value: String,
    pub(super) line: usize,
}

impl Setting {
    pub(super) fn key(&self) -> &str {
        self.path.rsplit('.').find(|part| !part.starts_with('#')).unwrap_or_default()
    }

    /// The path without its last key, and without the number of an item before it.
    pub(super) fn parent(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(parent, _)| parent)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON with comments, and objects in JavaScript.
    Object,
    Toml,
    Ini,
    Yaml,
    Make,
    Shell,
    Conftest,
}

impl Format {
    /// By the names of files that say how something is checked. Others are data.
    pub(super) fn of(path: &str) -> Option<Self> {
        let name = name(path);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let has = |parts: &[&str]| parts.iter().any(|part| path.contains(part));
        Some(match (name, extension) {
            ("conftest.py", _) => Self::Conftest,
            ("Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile", _) | (_, "mk") => Self::Make,
            ("setup.cfg" | "tox.ini" | "pytest.ini" | ".coveragerc" | "mypy.ini" | ".mypy.ini" | ".flake8", _) => {
                Self::Ini
            }
            (".nycrc" | ".eslintrc" | ".c8rc" | ".mocharc" | "package.json" | "codecov.json", _) => Self::Object,
            (_, "json") if has(&["tsconfig", ".nycrc", ".c8rc", ".eslintrc", ".mocharc", ".config.json"]) => {
                Self::Object
            }
            (_, "js" | "ts" | "mjs" | "cjs" | "mts" | "cts") if name.contains(".config.") || name.starts_with('.') => {
                Self::Object
            }
            (_, "toml") if has(&["pyproject", "tarpaulin", "nextest", "coverage", "mypy"]) => Self::Toml,
            (_, "yml" | "yaml") if has(&CI) => Self::Yaml,
            (_, "sh" | "bash") => Self::Shell,
            _ => return None,
        })
    }
}

const CI: [&str; 11] = [
    ".github/",
    ".gitlab",
    ".circleci/",
    "codecov",
    "azure-pipelines",
    ".travis",
    "askfile.y",
    "bitbucket-pipelines",
    ".drone",
    "appveyor",
    ".cirrus",
];

pub(super) fn settings(text: &str, format: Format) -> Vec<Setting> {
    match format {
        Format::Object => object(text),
        Format::Toml | Format::Ini => sections(text, format),
        Format::Yaml => yaml(text),
        Format::Make => recipes(text),
        Format::Shell => lines(text),
        Format::Conftest => conftest(text),
    }
}

/// How deep a path may be: what is deeper is no configuration.
const DEEPEST: usize = 64;

fn object(text: &str) -> Vec<Setting> {
    let lexed = lex(text, Language::JavaScript);
    let (mut found, mut stack, mut key) = (Vec::new(), Vec::<Option<String>>::new(), None::<String>);
    for (at, token) in lexed.tokens.iter().enumerate() {
        let is_key = lexed.tokens.get(at + 1).is_some_and(|next| next.is(":"));
        match token.text {
            "{" | "[" if token.lexeme == Lexeme::Mark => stack.push(key.take()),
            "}" | "]" if token.lexeme == Lexeme::Mark => drop(stack.pop()),
            "," if token.lexeme == Lexeme::Mark => key = None,
            _ if token.lexeme == Lexeme::Mark => {}
            _ if is_key => key = Some(inside(token.text).to_owned()),
            _ if stack.len() < DEEPEST => {
                let keys = stack.iter().flatten().chain(&key).map(String::as_str);
                let path = keys.collect::<Vec<_>>().join(".");
                found.push(Setting { path, value: inside(token.text).to_owned(), line: token.line });
            }
            _ => {}
        }
    }
    found
}

fn sections(text: &str, format: Format) -> Vec<Setting> {
    let (mut found, mut section, mut key, mut is_open) = (Vec::new(), String::new(), String::new(), false);
    for (at, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        let continues = is_open || format == Format::Ini && line.starts_with([' ', '\t']);
        let mut value = trimmed;
        if !continues {
            if trimmed.starts_with('[') {
                trimmed.trim_matches(['[', ']', ' ']).clone_into(&mut section);
                continue;
            }
            let mark = if format == Format::Ini { trimmed.find(['=', ':']) } else { trimmed.find('=') };
            let Some(mark) = mark else { continue };
            trimmed[..mark].trim().trim_matches('"').clone_into(&mut key);
            value = trimmed[mark + 1..].trim();
        }
        is_open = format == Format::Toml && (is_open || value.starts_with('[')) && !value.ends_with(']');
        let path = format!("{section}.{key}");
        let parts: Vec<&str> = if key.contains("addopts") || key.contains("command") {
            vec![value]
        } else {
            value.split([',', '[', ']']).collect()
        };
        for part in parts {
            let part = part.trim().trim_matches(['"', '\'', ' ']);
            if !part.is_empty() {
                found.push(Setting { path: path.clone(), value: part.to_owned(), line: at + 1 });
            }
        }
    }
    found
}

fn yaml(text: &str) -> Vec<Setting> {
    let mut found = Vec::new();
    // Each key with its column; an item of a list is a key of its own, named by its number.
    let mut stack: Vec<(usize, String)> = Vec::new();
    let mut items = 0usize;
    let mut block: Option<usize> = None;
    for (at, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        let mut column = line.len() - line.trim_start().len();
        if block.is_some_and(|block| column > block) {
            let path = joined(&stack);
            found.push(Setting { path, value: trimmed.to_owned(), line: at + 1 });
            continue;
        }
        block = None;
        if trimmed.starts_with('#') {
            continue;
        }
        let mut rest = trimmed;
        while stack.last().is_some_and(|(open, _)| *open >= column) {
            stack.pop();
        }
        while let Some(item) = rest.strip_prefix("- ").or((rest == "-").then_some("")) {
            items += 1;
            if stack.len() < DEEPEST {
                stack.push((column, format!("#{items}")));
            }
            column += rest.len() - item.trim_start().len();
            rest = item.trim_start();
        }
        let key = rest.split_once(": ").or_else(|| rest.strip_suffix(':').map(|key| (key, "")));
        let (key, value) = match key {
            Some((key, value)) if !key.contains([' ', '"', '\'', '{']) => (Some(key), value.trim()),
            _ => (None, rest),
        };
        if let Some(key) = key
            && stack.len() < DEEPEST
        {
            stack.push((column, key.trim().to_owned()));
        }
        if matches!(value, "|" | ">" | "|-" | ">-" | "|+") {
            block = Some(column);
        } else if !value.is_empty() {
            let value = value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\'']);
            found.push(Setting { path: joined(&stack), value: value.to_owned(), line: at + 1 });
        }
    }
    found
}

fn joined(stack: &[(usize, String)]) -> String {
    stack.iter().map(|(_, key)| key.as_str()).collect::<Vec<_>>().join(".")
}

fn recipes(text: &str) -> Vec<Setting> {
    let (mut found, mut target) = (Vec::new(), String::new());
    for (at, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if line.starts_with(['\t', ' ']) {
            found.push(Setting { path: target.clone(), value: trimmed.to_owned(), line: at + 1 });
        } else if let Some((head, _)) = trimmed.split_once(':') {
            head.trim().clone_into(&mut target);
            found.push(Setting { path: target.clone(), value: String::new(), line: at + 1 });
        }
    }
    found
}

fn lines(text: &str) -> Vec<Setting> {
    let each = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#'));
    each.map(|(at, line)| Setting { path: "script".to_owned(), value: line.trim().to_owned(), line: at + 1 }).collect()
}

fn conftest(text: &str) -> Vec<Setting> {
    let lexed = lex(text, Language::Python);
    let mut found = Vec::new();
    for (at, token) in lexed.tokens.iter().enumerate() {
        if !matches!(token.text, "collect_ignore" | "collect_ignore_glob") || !token.is_first {
            continue;
        }
        let Some(open) = (at + 1..lexed.tokens.len().min(at + 5)).find(|&at| lexed.tokens[at].is("[")) else {
            continue;
        };
        let list = &lexed.tokens[open..lexed.closes[open].max(open)];
        let texts = list.iter().filter(|token| token.lexeme == Lexeme::Text);
        found.extend(texts.map(|text| Setting {
            path: token.text.to_owned(),
            value: inside(text.text).to_owned(),
            line: text.line,
        }));
    }
    found
}
