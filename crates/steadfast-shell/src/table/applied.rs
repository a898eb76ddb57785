//! Applies a row of the table to the arguments of a command.

use super::{Sorted, Which, row_of};
use crate::command::interpreter::{Kind, interpreter};
use crate::effect::{Certainty, Op};
use crate::expand::Arg;
use crate::text::{ANY, base_name, is_anything, resolve};
use crate::unknown::Described;
use crate::walk::{MAX_LINKS, NO_STDIN, Walk};

impl Walk {
    pub(crate) fn by_table(&mut self, name: &str, first: &Arg, args: &[Arg], stdin: Option<String>) -> Option<String> {
        let Some((row, args)) = row_of(name, args) else {
            match interpreter(name).map(|interpreter| interpreter.kind) {
                None | Some(Kind::Lines) => self.named_output(args, name, Described::No),
                Some(Kind::Code(_) | Kind::Shell) => self.script_output(args, name),
            }
            return None;
        };
        let sorted = row.sort(args);
        // Options after the command of a wrapper belong to that command.
        self.named_output(&args[..sorted.command.unwrap_or(args.len())], name, Described::Yes);
        if !row.applies(args) {
            return None;
        }
        for code in &sorted.shell {
            self.shell_text(&code.text, code, name);
        }
        for out in &sorted.out {
            if out.text != "-" {
                self.effect(Op::Write, out, name);
            }
        }
        if let Some(at) = sorted.command {
            return self.wrapped(name, first, &args[at..], stdin);
        }
        for arg in &sorted.operands {
            if let Some(path) = row.key.and_then(|key| arg.text.strip_prefix(key)).and_then(|t| t.strip_prefix('=')) {
                self.effect(Op::Write, &Arg { text: path.to_owned(), span: arg.span.clone() }, name);
            }
        }
        for (arg, ending) in sorted.operands.iter().zip(row.beside.into_iter().cycle()) {
            let text = arg.text.strip_suffix(ending).map_or_else(|| format!("{}{ending}", arg.text), str::to_owned);
            self.effect(Op::Write, &Arg { text, span: arg.span.clone() }, name);
        }
        for (op, which) in row.meanings(args) {
            self.operands(*op, *which, &sorted, name);
        }
        for folder in &sorted.into {
            for source in &sorted.operands {
                self.in_folder(Op::Write, source, folder, name, Certainty::Certain);
            }
        }
        self.remember(name, &sorted, stdin)
    }

    /// Returns the operands that a word of the table selects.
    fn operands(&mut self, op: Op, which: Which, sorted: &Sorted<'_>, name: &str) {
        let operands = &sorted.operands;
        let last = operands.len().saturating_sub(1);
        let chosen = match which {
            Which::All => &operands[..],
            Which::Tail => operands.get(1..).unwrap_or_default(),
            Which::First => operands.get(..1).unwrap_or_default(),
            Which::Last if operands.len() > 1 && sorted.into.is_empty() => &operands[last..],
            Which::Last => &[],
            Which::Rest if sorted.into.is_empty() => &operands[..last],
            Which::Rest => &operands[..],
        };
        for arg in chosen {
            if which != Which::Last {
                self.effect(op, arg, name);
                if op == Op::Chmod && sorted.recursive {
                    self.effect(op, &Arg { text: format!("{}/{ANY}", arg.text), span: arg.span.clone() }, name);
                }
                continue;
            }
            // In `host:path` the file is on another host.
            if is_remote(&arg.text) {
                continue;
            }
            let source = (operands.len() == 2).then(|| operands[0]);
            self.copy(op, source, arg, name);
            // `cp -r a/. b`, `rsync a/ b`: copies the contents of a folder, whose names are unknown.
            let spreads = |source: &&&Arg| {
                (name == "rsync" && source.text.ends_with('/')) || (sorted.recursive && source.text.ends_with("/."))
            };
            if operands[..last].iter().any(|source| spreads(&source)) {
                self.effect(op, &Arg { text: format!("{}/{ANY}", arg.text), span: arg.span.clone() }, name);
            }
            let folder = operands.len() > 2 || arg.text.ends_with('/') || matches!(arg.text.as_str(), "." | "..");
            let certainty = if folder { Certainty::Certain } else { Certainty::Possible };
            for source in &operands[..last] {
                self.in_folder(op, source, arg, name, certainty);
            }
        }
    }

    fn wrapped(&mut self, name: &str, first: &Arg, command: &[Arg], stdin: Option<String>) -> Option<String> {
        if !matches!(name, "xargs" | "parallel") {
            return self.run(command, stdin);
        }
        let mut command = command.to_vec();
        let given = command.iter().position(|arg| arg.text == ":::").map(|at| command.split_off(at));
        let input = stdin.filter(|text| !is_anything(text));
        let more: Vec<String> = match (given, input) {
            (Some(given), _) => given[1..].iter().map(|arg| arg.text.clone()).collect(),
            (None, Some(text)) => text.split_whitespace().map(str::to_owned).collect(),
            (None, None) => vec![ANY.to_string()],
        };
        if command.iter().any(|arg| arg.text.contains("{}")) {
            for value in more {
                let args: Vec<Arg> = command
                    .iter()
                    .map(|arg| Arg { text: arg.text.replace("{}", &value), span: arg.span.clone() })
                    .collect();
                self.run_or_read(name, &args);
            }
            return None;
        }
        command.extend(more.into_iter().map(|text| Arg { text, span: first.span.clone() }));
        self.run_or_read(name, &command);
        None
    }

    /// `parallel` passes its words to a shell; `xargs` runs them directly.
    fn run_or_read(&mut self, name: &str, args: &[Arg]) {
        match args {
            [one] if name == "parallel" => {
                self.script(&one.text, &one.span);
            }
            args => {
                self.run(args, NO_STDIN);
            }
        }
    }

    /// Records the effects on later commands: a new link, a copied file, the output of `tee`.
    fn remember(&mut self, name: &str, sorted: &Sorted<'_>, stdin: Option<String>) -> Option<String> {
        match (name, sorted.operands.as_slice()) {
            ("ln", [target, link]) => {
                let link = resolve(&link.text, &self.state.cwd);
                let folder = link.rsplit_once('/').map_or("/", |(head, _)| head);
                // The target of a symbolic link is relative to the folder of the link.
                let target = if sorted.symbolic {
                    resolve(&target.text, folder)
                } else {
                    resolve(&target.text, &self.state.cwd)
                };
                if self.links.len() >= MAX_LINKS {
                    self.unread();
                    return None;
                }
                self.copies.push((link.clone(), target.clone()));
                self.links.push((link, target));
            }
            // With one operand the link is created in the current folder.
            ("ln", [target]) => {
                let here = Arg { text: ".".to_owned(), span: target.span.clone() };
                self.in_folder(Op::Write, target, &here, name, Certainty::Certain);
            }
            ("cp" | "mv" | "install", [from, to]) => {
                self.copies.push((resolve(&to.text, &self.state.cwd), from.text.clone()));
                if let Some(content) = self.content(&from.text) {
                    self.record_content(&to.text, Some(&content));
                }
            }
            ("tee", files) => {
                for file in files {
                    self.record_content(&file.text, stdin.as_deref());
                }
                return stdin;
            }
            _ => {}
        }
        None
    }

    /// The target is a folder, or may be one: the file inside it is written.
    fn in_folder(&mut self, op: Op, source: &Arg, folder: &Arg, via: &str, certainty: Certainty) {
        let text = format!("{}/{}", folder.text, base_name(&source.text));
        let target = Arg { text, span: folder.span.clone() };
        match certainty {
            Certainty::Certain => self.copy(op, Some(source), &target, via),
            Certainty::Possible => {
                let path = resolve(&target.text, &self.state.cwd);
                self.possible(op, &path, via, &folder.span);
            }
        }
    }
}

/// Recognises `host:path` and URLs.
fn is_remote(text: &str) -> bool {
    let host = text.split(['/', ANY]).next().unwrap_or_default();
    host.len() > 2 && host.contains(':') && !text.starts_with(':')
}
