//! Other shells than bash, and programs with their own commands: debuggers, database clients, `make`.

use crate::code::Family;
use crate::effect::Op;
use crate::expand::Arg;
use crate::parse::{End, parse};
use crate::table::data::{has, words_of};
use crate::text::is_known;
use crate::walk::Walk;

const TEXT: &str = include_str!("words.txt");

/// Commands after which every word may be a written file.
static OUTPUTS: &[&str] = words_of!(TEXT, "outputs");
/// Prefixes of commands that only read.
const INPUTS: &[&str] = &["read", "source", "select", "import", "restore", "open", "load", "show", "info", "\\i"];
/// Words before a quoted file that is written.
const BEFORE: &[&str] = &["outfile", "dumpfile", "into", "to", "-o", ">", ">>"];
/// Words of SQL that change the database.
static CHANGES: &[&str] = words_of!(TEXT, "changes");

impl Walk {
    /// Reads the text of another shell, most of which is also bash. If bash refuses it, only its words are searched.
    pub(crate) fn foreign_shell(&mut self, text: &str, arg: &Arg, name: &str) {
        // In csh `echo x >! file` overwrites.
        let text = text.replace(">!", ">").replace(">&!", ">&");
        if parse(&text).end != End::Cut {
            self.script(&text, &arg.span);
            if !text.contains(['(', '[']) {
                return;
            }
        }
        self.code(&text, arg, &[], name, Family::Words);
    }

    /// Reads the commands of a client, in its arguments and on stdin. A changed database is a written file.
    pub(crate) fn lines(&mut self, name: &str, args: &[Arg], mut code: Vec<Arg>, stdin: Option<&str>) {
        if name.starts_with("sqlite") || name.starts_with("duckdb") {
            let mut operands = Vec::new();
            let mut rest = args.iter();
            while let Some(arg) = rest.next() {
                if matches!(
                    arg.text.as_str(),
                    "-cmd" | "-init" | "-separator" | "-newline" | "-nullvalue" | "-c" | "-s"
                ) {
                    rest.next();
                } else if !arg.text.starts_with('-') {
                    operands.push(arg);
                }
            }
            if let Some((database, statements)) = operands.split_first() {
                code.extend(statements.iter().map(|arg| (*arg).clone()));
                let changes = |text: &str| {
                    let mut words = text.split(|c: char| c.is_whitespace() || ";(".contains(c));
                    words.any(|word| has(CHANGES, word.to_ascii_lowercase().as_str()))
                };
                let read_only = args.iter().any(|arg| matches!(arg.text.as_str(), "-readonly" | "--readonly"));
                if !read_only && (code.iter().any(|arg| changes(&arg.text)) || stdin.is_some_and(changes)) {
                    self.effect(Op::Write, database, name);
                }
            }
        }
        for piece in &code {
            self.command_lines(&piece.text, piece, name);
        }
        if let (Some(text), Some(first)) = (stdin.filter(|text| is_known(text)), args.first()) {
            self.command_lines(text, first, name);
        }
    }

    /// Reads commands, one per line: the first word says what is done.
    pub(crate) fn command_lines(&mut self, text: &str, arg: &Arg, name: &str) {
        if name.contains("make") {
            return self.makefile(text, arg);
        }
        for line in text.split(['\n', ';']) {
            let line = line.trim();
            let command = line.trim_start_matches(['.', '\\', ':']);
            let shell = ["shell ", "system ", "platform shell ", "! ", "!"]
                .iter()
                .find_map(|start| command.strip_prefix(start));
            if let Some(shell) = shell {
                self.script(shell, &arg.span);
                continue;
            }
            let code = ["python ", "py ", "script "].iter().find_map(|start| command.strip_prefix(start));
            if let Some(code) = code {
                self.code(code, arg, &[], "python", Family::Script);
                continue;
            }
            self.client_command(line, command, arg, name);
        }
    }

    fn client_command(&mut self, line: &str, command: &str, arg: &Arg, name: &str) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let Some((verb, rest)) = words.split_first() else { return };
        let lower = verb.to_ascii_lowercase();
        // A single word may belong to a language. A command of a client has a mark before it, or belongs to a debugger.
        let is_command = line.len() > command.len() || !line.contains(['\'', '(']) || lower == "set";
        let mut found: Vec<&str> = Vec::new();
        if is_command && has(OUTPUTS, lower.as_str()) {
            found.extend(rest);
        } else if lower == "set" && rest.first().is_some_and(|word| has(OUTPUTS, word)) {
            found.extend(&rest[1..]);
        } else if is_command && INPUTS.contains(&lower.as_str()) && line.len() > command.len() {
            return;
        }
        for (at, word) in words.iter().enumerate() {
            let is_before = BEFORE.contains(&word.to_ascii_lowercase().as_str());
            let target = words.get(at + 1).filter(|next| is_before && (next.starts_with(['\'', '"']) || *word == "-o"));
            found.extend(target);
        }
        for word in found {
            let path = word.trim_matches(|c| "'\"`,;()".contains(c)).trim_start_matches('>');
            if !path.is_empty() {
                let op = if path.contains(['/', '.']) { Op::Write } else { Op::Unknown };
                self.effect(op, &Arg { text: path.to_owned(), span: arg.span.clone() }, name);
            }
        }
        if line.contains('(') {
            self.code(line, arg, &[], name, Family::Words);
        }
    }

    /// Reads Tcl, where texts need no quotes: `file delete path`, `open path w`, `exec command`.
    pub(crate) fn tcl(&mut self, code: &str, arg: &Arg, name: &str) {
        self.code(code, arg, &[], name, Family::Words);
        for statement in code.split(['\n', ';', '[', ']', '{', '}']) {
            let words: Vec<&str> = statement.split_whitespace().map(|word| word.trim_matches('"')).collect();
            let written: &[&str] = match words.as_slice() {
                ["file", "delete" | "copy" | "rename" | "mkdir" | "link" | "attributes", paths @ ..] => paths,
                ["open", path, mode, ..] if mode.contains(['w', 'a', '+', 'W', 'A']) => std::slice::from_ref(path),
                ["exec", ..] => {
                    self.script(statement.trim_start().trim_start_matches("exec"), &arg.span);
                    continue;
                }
                _ => continue,
            };
            // A copy writes its last path; the first stays unchanged.
            let copies = words.get(1) == Some(&"copy") && written.len() > 1;
            for path in written.iter().skip(if copies { written.len() - 1 } else { 0 }) {
                if !path.starts_with(['-', '$']) {
                    self.effect(Op::Write, &Arg { text: (*path).to_owned(), span: arg.span.clone() }, name);
                }
            }
        }
    }

    /// Reads the recipes of a makefile, and functions that write or run.
    fn makefile(&mut self, text: &str, arg: &Arg) {
        for line in text.lines() {
            let recipe = line
                .strip_prefix('\t')
                .or_else(|| line.split_once(':').map(|(_, rest)| rest.trim_start_matches([':', ';', ' '])));
            if let Some(recipe) = recipe.filter(|recipe| !recipe.is_empty() && !line.starts_with('$')) {
                self.script(recipe.trim_start_matches(['@', '-', '+']), &arg.span);
            }
            for (start, _) in line.match_indices("$(file >") {
                let path = line[start + "$(file >".len()..].trim_start_matches(['>', ' ']);
                let path = path.split([',', ')']).next().unwrap_or_default();
                self.effect(Op::Write, &Arg { text: path.to_owned(), span: arg.span.clone() }, "make");
            }
            for (start, _) in line.match_indices("$(shell ") {
                let inner = &line[start + "$(shell ".len()..];
                self.script(inner.trim_end().trim_end_matches(')'), &arg.span);
            }
        }
    }

    /// Reads `socat`: each address is read and written, unless it says otherwise.
    pub(crate) fn socat(&mut self, args: &[Arg]) {
        let has = |flag: &str| args.iter().any(|arg| arg.text == flag);
        let addresses: Vec<&Arg> = args.iter().filter(|arg| !arg.text.starts_with('-') || arg.text == "-").collect();
        let count = addresses.len();
        for (at, arg) in addresses.into_iter().enumerate().skip(count.saturating_sub(2)) {
            let is_first = at + 2 == count;
            let Some((kind, rest)) = arg.text.split_once(':') else { continue };
            let (path, options) = rest.split_once(',').unwrap_or((rest, ""));
            match kind.to_ascii_lowercase().as_str() {
                "open" | "file" | "gopen" | "create" | "creat" => {
                    let reads = (has("-u") && is_first)
                        || (has("-U") && !is_first)
                        || options.split(',').any(|option| matches!(option, "rdonly" | "o-rdonly" | "rdonly=1"));
                    if !reads {
                        self.effect(Op::Write, &Arg { text: path.to_owned(), span: arg.span.clone() }, "socat");
                    }
                }
                "exec" | "system" | "shell" => {
                    self.script(path, &arg.span);
                }
                _ => {}
            }
        }
    }
}
