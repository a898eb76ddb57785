//! A command and its arguments to effects: the table first, then the commands that need more than a line.

use crate::effect::{Certainty, Op};
use crate::expand::Arg;
use crate::table::{Which, row};
use crate::text::{ANY, base_name, is_known, resolve};
use crate::walk::Walk;

impl Walk {
    /// Says what the command prints, when that is known.
    pub(crate) fn run(&mut self, args: &[Arg], stdin: Option<String>) -> Option<String> {
        let (first, rest) = args.split_first()?;
        let name = base_name(&first.text).to_owned();
        let texts: Vec<&str> = rest.iter().map(|arg| arg.text.as_str()).collect();
        match name.as_str() {
            "echo" => return Some(echo(&texts)),
            "printf" => return printf(&texts),
            "cat" if texts.is_empty() || texts == ["-"] => return stdin,
            "pwd" => return Some(self.state.cwd.clone()),
            "git" if texts == ["rev-parse", "--show-toplevel"] => return Some(self.context.cwd.clone()),
            "mktemp" => return Some(format!("/tmp/{ANY}")),
            "basename" => return texts.first().map(|path| base_name(path).to_owned()),
            "dirname" => return texts.first().map(|p| p.rsplit_once('/').map_or(".", |(head, _)| head).to_owned()),
            "cd" | "pushd" => self.change_folder(&texts),
            "export" | "declare" | "local" | "readonly" | "typeset" => {
                for text in &texts {
                    if let Some((name, value)) = text.split_once('=') {
                        self.assign(name, value.to_owned(), false);
                    }
                }
            }
            "read" | "mapfile" | "readarray" => {
                for text in texts.iter().filter(|text| !text.starts_with('-')) {
                    self.assign(text, ANY.to_string(), false);
                }
            }
            "alias" => {
                for text in &texts {
                    if let Some((name, value)) = text.split_once('=') {
                        self.state.aliases.insert(name.to_owned(), value.to_owned());
                    }
                }
            }
            "eval" => {
                let text = texts.join(" ");
                return self.shell_text(&text, first, "eval");
            }
            "set" => {
                if let Some(at) = texts.iter().position(|text| *text == "--") {
                    self.state.positional = Some(texts[at + 1..].iter().map(|text| (*text).to_owned()).collect());
                }
            }
            // Their command is one word, which a shell reads.
            "trap" | "watch" | "su" | "script" => {
                let code = rest.iter().find(|arg| arg.text.contains(' ') && is_known(&arg.text));
                if let Some(code) = code {
                    return self.script(&code.text, &code.span);
                }
            }
            "curl"
                if texts.iter().any(|t| {
                    *t == "--remote-name" || (t.starts_with('-') && !t.starts_with("--") && t.ends_with('O'))
                }) =>
            {
                self.download(rest, &name);
            }
            "wget" if !texts.iter().any(|text| text.starts_with("-O") || text.starts_with("--output-document")) => {
                self.download(rest, &name);
            }
            "bash" | "sh" | "zsh" | "dash" | "ksh" => return self.shell(&name, first, rest, stdin),
            _ => {}
        }
        if self.special(&name, first, rest, stdin.as_deref()) {
            return None;
        }
        self.by_table(&name, first, rest, stdin.as_deref())
    }

    fn by_table(&mut self, name: &str, first: &Arg, args: &[Arg], stdin: Option<&str>) -> Option<String> {
        let row = row(name)?;
        let sorted = row.sort(args);
        if let Some(at) = sorted.command {
            let mut command = args[at..].to_vec();
            if matches!(name, "xargs" | "parallel") {
                let input = stdin.filter(|text| is_known(text));
                let more: Vec<String> = input
                    .map_or_else(|| vec![ANY.to_string()], |text| text.split_whitespace().map(str::to_owned).collect());
                let span = first.span.clone();
                if command.iter().any(|arg| arg.text.contains("{}")) {
                    let all = more.join(" ");
                    command.iter_mut().for_each(|arg| arg.text = arg.text.replace("{}", &all));
                    return self.run(&command, None);
                }
                command.extend(more.into_iter().map(|text| Arg { text, span: span.clone() }));
            }
            return self.run(&command, stdin.map(str::to_owned));
        }
        for out in &sorted.out {
            if out.text != "-" {
                self.effect(Op::Write, out, name);
            }
        }
        for arg in &sorted.operands {
            if let Some(path) = row.key.and_then(|key| arg.text.strip_prefix(key)).and_then(|t| t.strip_prefix('=')) {
                self.effect(Op::Write, &Arg { text: path.to_owned(), span: arg.span.clone() }, name);
            }
        }
        let operands = &sorted.operands;
        for (op, which) in &row.operands {
            let last = operands.len().saturating_sub(1);
            let chosen = match which {
                Which::All => &operands[..],
                Which::Tail => operands.get(1..).unwrap_or_default(),
                Which::Last if operands.len() > 1 && sorted.into.is_empty() => &operands[last..],
                Which::Last => &[],
                Which::Rest if sorted.into.is_empty() => &operands[..last],
                Which::Rest => &operands[..],
            };
            for arg in chosen {
                self.effect(*op, arg, name);
                if *which == Which::Last {
                    let folder =
                        operands.len() > 2 || arg.text.ends_with('/') || matches!(arg.text.as_str(), "." | "..");
                    let certainty = if folder { Certainty::Certain } else { Certainty::Possible };
                    for source in &operands[..last] {
                        self.in_folder(*op, source, arg, name, certainty);
                    }
                }
            }
        }
        for folder in &sorted.into {
            for source in operands {
                self.in_folder(Op::Write, source, folder, name, Certainty::Certain);
            }
        }
        if let ("ln", [target, link]) = (name, operands.as_slice()) {
            let (link, target) = (resolve(&link.text, &self.state.cwd), resolve(&target.text, &self.state.cwd));
            self.links.push((link, target));
        }
        None
    }

    /// A target that is a folder, or may be one: the file in it is written. Elsewhere than in the working folder a
    /// copy that keeps its name is a copy, not the protected file.
    fn in_folder(&mut self, op: Op, source: &Arg, folder: &Arg, via: &str, certainty: Certainty) {
        let text = format!("{}/{}", folder.text, base_name(&source.text));
        let path = resolve(&text, &self.state.cwd);
        let here = path.strip_prefix(self.context.cwd.as_str()).is_some_and(|rest| rest.starts_with('/'));
        if certainty == Certainty::Certain && here {
            self.effect(op, &Arg { text, span: folder.span.clone() }, via);
        } else {
            self.possible(op, &path, via, &folder.span);
        }
    }

    /// A download named after its address.
    fn download(&mut self, args: &[Arg], via: &str) {
        for arg in args.iter().filter(|arg| arg.text.contains("://")) {
            let name = base_name(arg.text.split(['?', '#']).next().unwrap_or_default()).to_owned();
            self.effect(Op::Write, &Arg { text: name, span: arg.span.clone() }, via);
        }
    }

    fn change_folder(&mut self, texts: &[&str]) {
        let target = texts.iter().find(|text| !text.starts_with('-') || **text == "-");
        self.state.cwd = match target {
            None => self.context.home.clone(),
            Some(&"-") => ANY.to_string(),
            Some(path) => resolve(path, &self.state.cwd),
        };
    }

    fn shell(&mut self, name: &str, first: &Arg, args: &[Arg], stdin: Option<String>) -> Option<String> {
        let mut at = 0;
        while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with(['-', '+']) && arg.text.len() > 1) {
            at += 1;
            if !arg.text.starts_with("--") && arg.text.contains('c') {
                let code = args.get(at)?.clone();
                let positional = args.get(at + 2..).unwrap_or_default().iter().map(|arg| arg.text.clone()).collect();
                let state = self.state.clone();
                self.state.positional = Some(positional);
                let output = self.shell_text(&code.text, &code, name);
                self.state = state;
                return output;
            }
        }
        match (args.get(at), stdin) {
            (None, Some(text)) => {
                let state = self.state.clone();
                let output = self.shell_text(&text, first, name);
                self.state = state;
                output
            }
            _ => None,
        }
    }

    fn shell_text(&mut self, text: &str, arg: &Arg, via: &str) -> Option<String> {
        if !is_known(text) && text.chars().all(|c| c == ANY || c.is_whitespace()) {
            self.push(Op::Exec, &ANY.to_string(), via, &arg.span);
            return None;
        }
        self.script(text, &arg.span)
    }
}

fn echo(texts: &[&str]) -> String {
    let skip = texts.iter().take_while(|t| matches!(**t, "-n" | "-e" | "-ne" | "-en" | "-E")).count();
    texts[skip..].join(" ") + "\n"
}

fn printf(texts: &[&str]) -> Option<String> {
    let (format, args) = texts.split_first()?;
    let mut out = String::new();
    let mut args = args.iter();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' => match chars.next()? {
                's' | 'b' => out.push_str(args.next().copied().unwrap_or_default()),
                '%' => out.push('%'),
                _ => return None,
            },
            '\\' => match chars.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                '\\' => out.push('\\'),
                _ => return None,
            },
            c => out.push(c),
        }
    }
    Some(out)
}
