//! Text that a shell runs: `bash -c`, a script, stdin, `eval`, `source`.

use crate::effect::Op;
use crate::expand::Arg;
use crate::text::{ANY, is_anything, is_known};
use crate::tree::Mode;
use crate::walk::Walk;

impl Walk {
    pub(crate) fn shell(&mut self, name: &str, first: &Arg, args: &[Arg], stdin: Option<String>) -> Option<String> {
        let mut at = 0;
        let mut from_stdin = false;
        while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with(['-', '+']) && arg.text.len() > 1) {
            at += 1;
            let is_letters = !arg.text.starts_with("--");
            if is_letters && arg.text.contains('c') {
                // More options may come between `-c` and the text.
                while args.get(at).is_some_and(|arg| arg.text.starts_with('-') && arg.text.len() > 1) {
                    at += 1;
                }
                let code = args.get(at)?.clone();
                let positional = texts(args.get(at + 2..).unwrap_or_default());
                let zero = args.get(at + 1).map_or(name, |arg| arg.text.as_str()).to_owned();
                return self.in_subshell(|walk| {
                    walk.state.positional = Some(positional);
                    walk.assign("0", zero, Mode::Set);
                    walk.shell_text(&code.text, &code, name)
                });
            }
            from_stdin |= is_letters && arg.text.contains('s');
            let takes_value = is_letters && arg.text.ends_with(['o', 'O']);
            if takes_value || matches!(arg.text.as_str(), "--rcfile" | "--init-file") {
                at += 1;
            }
        }
        let file = args.get(at).filter(|_| !from_stdin);
        let text = match file.map(|file| file.text.as_str()) {
            None | Some("-" | "/dev/stdin" | "/dev/fd/0") => stdin?,
            Some(file) => self.content(file)?,
        };
        let positional = texts(args.get(at + 1..).unwrap_or_default());
        self.in_subshell(|walk| {
            walk.state.positional = Some(positional);
            walk.shell_text(&text, file.unwrap_or(first), name)
        })
    }

    /// `source` and `.` run the text in this shell.
    pub(crate) fn source(&mut self, args: &[Arg], stdin: Option<String>) -> Option<String> {
        let file = args.first()?;
        let text = match file.text.as_str() {
            "/dev/stdin" | "/dev/fd/0" => stdin?,
            name => self.content(name)?,
        };
        if args.len() > 1 {
            self.state.positional = Some(texts(&args[1..]));
        }
        self.shell_text(&text, file, "source")
    }

    /// Runs the content of a program that the same command line wrote.
    pub(crate) fn written_program(&mut self, text: &str, first: &Arg, args: &[Arg]) -> Option<String> {
        let interpreter = text.lines().next().and_then(|line| line.strip_prefix("#!")).unwrap_or_default();
        let name = interpreter.rsplit(['/', ' ']).next().unwrap_or_default();
        if !matches!(name, "" | "sh" | "bash" | "dash" | "zsh" | "ksh") {
            self.code_of(name, text, first, &[]);
            return None;
        }
        let positional = texts(args);
        self.in_subshell(|walk| {
            walk.state.positional = Some(positional);
            walk.shell_text(text, first, "script")
        })
    }

    pub(crate) fn shell_text(&mut self, text: &str, arg: &Arg, via: &str) -> Option<String> {
        if !is_known(text) && is_anything(text) {
            self.push(Op::Exec, &ANY.to_string(), via, &arg.span);
            return None;
        }
        self.script(text, &arg.span)
    }
}

fn texts(args: &[Arg]) -> Vec<String> {
    args.iter().map(|arg| arg.text.clone()).collect()
}
