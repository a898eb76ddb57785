//! Runs a command with its arguments: builtins first, then commands that the table cannot describe, then the table.

use crate::command::interpreter::is_interpreter;
use crate::effect::Op;
use crate::expand::Arg;
use crate::invocation::Invocation;
use crate::text::{ANY, STAR, base_name, is_known, resolve};
use crate::walk::Walk;

impl Walk {
    /// Returns the output of the command, if it is known.
    pub(crate) fn run(&mut self, args: &[Arg], stdin: Option<String>) -> Option<String> {
        let (first, rest) = args.split_first()?;
        if !self.enter() {
            return None;
        }
        self.runs.push(Invocation::new(args, &self.state.cwd, self.input.as_deref()));
        let name = base_name(&first.text).to_owned();
        let texts: Vec<&str> = rest.iter().map(|arg| arg.text.as_str()).collect();
        let output = match self.printed(&name, &texts, stdin.as_deref()) {
            Some(output) => output,
            None => {
                let listed = self.listed(&name, rest, stdin.as_deref());
                self.done(&name, first, rest, stdin).or(listed)
            }
        };
        self.leave();
        output
    }

    /// Handles commands with effects.
    fn done(&mut self, name: &str, first: &Arg, rest: &[Arg], stdin: Option<String>) -> Option<String> {
        match name {
            "eval" => {
                let text: Vec<&str> = rest.iter().map(|arg| arg.text.as_str()).collect();
                return self.shell_text(&text.join(" "), first, "eval");
            }
            "source" | "." => return self.source(rest, stdin),
            "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" | "rbash" => {
                return self.shell(name, first, rest, stdin);
            }
            "at" | "batch" => {
                if let Some(text) = stdin {
                    self.in_subshell(|walk| walk.shell_text(&text, first, name));
                }
                return None;
            }
            // The command is one word, which a shell reads.
            "trap" => {
                let code = rest.first().filter(|arg| is_known(&arg.text))?;
                self.in_subshell(|walk| walk.script(&code.text, &code.span));
                return Some(String::new());
            }
            "sed" | "gsed" => self.sed(rest),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(rest),
            "find" => return Some(self.find(rest)),
            "git" => self.git(first, rest),
            "tar" | "bsdtar" | "gtar" => self.tar(first, rest),
            "unzip" => self.unzip(first, rest),
            "cpio" => self.cpio(first, rest),
            "split" | "csplit" => self.pieces(name, first, rest),
            "docker" | "podman" => self.container(rest),
            "patch" => self.patch(first, rest),
            "mktemp" => return Some(self.temporary(first, rest)),
            "ssh" => return self.ssh(rest),
            "curl" if rest.iter().any(|arg| is_remote_name(&arg.text)) => self.download(rest, name),
            "wget"
                if !rest.iter().any(|arg| arg.text.starts_with("-O") || arg.text.starts_with("--output-document")) =>
            {
                self.download(rest, name);
            }
            "vi" | "vim" | "nvim" | "ex" | "view" | "ed" | "red" => self.editor(name, rest, stdin.as_deref()),
            "socat" => self.socat(rest),
            _ if is_interpreter(name) => self.interpreter(name, first, rest, stdin.as_deref()),
            // An unknown program may write the paths it gets.
            _ if !is_known(&first.text) => {
                for arg in rest.iter().filter(|arg| !arg.text.starts_with('-') && is_known(&arg.text)) {
                    let path = resolve(&arg.text, &self.state.cwd);
                    self.possible(Op::Write, &path, "an unknown program", &arg.span);
                }
                return None;
            }
            _ if first.text.contains('/') => {
                if let Some(program) = self.copied(&first.text) {
                    let first = Arg { text: program, span: first.span.clone() };
                    return self.run(&[&[first], rest].concat(), stdin);
                }
                if let Some(text) = self.content(&first.text) {
                    return self.written_program(&text, first, rest);
                }
            }
            _ => {}
        }
        self.by_table(name, first, rest, stdin)
    }

    fn patch(&mut self, first: &Arg, args: &[Arg]) {
        if args.iter().any(|arg| arg.text == "--dry-run") {
            return;
        }
        let after_option = |at: usize| at > 0 && matches!(args[at - 1].text.as_str(), "-i" | "-d" | "-o" | "-p" | "-r");
        let file = args.iter().enumerate().find(|(at, arg)| !arg.text.starts_with('-') && !after_option(*at));
        match file {
            Some((_, file)) => self.effect(Op::Write, file, "patch"),
            None => self.effect(Op::Write, &Arg { text: format!("./{ANY}"), span: first.span.clone() }, "patch"),
        }
    }

    /// Returns the new file: an unknown name in a folder that may be given.
    fn temporary(&mut self, first: &Arg, args: &[Arg]) -> String {
        let mut folder = None;
        let mut template = None;
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.text.as_str() {
                "-p" => folder = rest.next().map(|arg| arg.text.clone()),
                "-t" | "--tmpdir" => folder = Some("/tmp".to_owned()),
                text if text.starts_with("--tmpdir=") => folder = Some(text["--tmpdir=".len()..].to_owned()),
                text if text.starts_with('-') => {}
                text => template = Some(text.replace('X', &STAR.to_string())),
            }
        }
        let place = folder.unwrap_or_else(|| if template.is_some() { "." } else { "/tmp" }.to_owned());
        let name = template.unwrap_or_else(|| format!("tmp.{STAR}"));
        let path = if name.starts_with('/') { name } else { format!("{place}/{name}") };
        self.effect(Op::Write, &Arg { text: path.clone(), span: first.span.clone() }, "mktemp");
        resolve(&path, &self.state.cwd)
    }

    /// Ignores files on the other host, but not those on this machine.
    fn ssh(&mut self, args: &[Arg]) -> Option<String> {
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            if arg.text == "-E" {
                rest.next().into_iter().for_each(|log| self.effect(Op::Write, log, "ssh"));
            } else if matches!(
                arg.text.as_str(),
                "-i" | "-p" | "-l" | "-o" | "-F" | "-J" | "-L" | "-R" | "-D" | "-b" | "-c"
            ) {
                rest.next();
            } else if !arg.text.starts_with('-') {
                let host = arg.text.rsplit('@').next().unwrap_or_default();
                if matches!(host, "localhost" | "127.0.0.1" | "::1" | "ip6-localhost") {
                    let text: Vec<&str> = rest.map(|arg| arg.text.as_str()).collect();
                    return self.in_subshell(|walk| {
                        walk.state.cwd = walk.context.home.clone();
                        walk.script(&text.join(" "), &arg.span)
                    });
                }
                return None;
            }
        }
        None
    }

    /// A download that is named after its URL.
    fn download(&mut self, args: &[Arg], via: &str) {
        for arg in args.iter().filter(|arg| arg.text.contains("://")) {
            let name = base_name(arg.text.split(['?', '#']).next().unwrap_or_default()).to_owned();
            self.effect(Op::Write, &Arg { text: name, span: arg.span.clone() }, via);
        }
    }
}

fn is_remote_name(text: &str) -> bool {
    text == "--remote-name"
        || text == "--remote-name-all"
        || (text.starts_with('-') && !text.starts_with("--") && text.ends_with('O'))
}
