//! Interpreters: where their code comes from.

use crate::effect::Op;
use crate::expand::Arg;
use crate::walk::Walk;

impl Walk {
    pub(crate) fn interpreter(&mut self, name: &str, first: &Arg, args: &[Arg], stdin: Option<&str>) {
        if let Some(option) = args.iter().find(|arg| is_in_place(&arg.text)) {
            let suffix = option.text.split_once('.').map_or(String::new(), |(_, suffix)| format!(".{suffix}"));
            let code = args.iter().position(|arg| is_code_flag(&arg.text)).map_or(0, |at| at + 2);
            for arg in args.iter().skip(code).filter(|arg| !arg.text.starts_with('-') && !arg.text.is_empty()) {
                self.edited(arg, &suffix, name);
            }
        }
        let given = args.iter().position(|arg| is_code_flag(&arg.text));
        if let Some(at) = given {
            if let Some(code) = args.get(at + 1) {
                self.code_with(&code.text.clone(), code, &args[at + 2..], name);
            }
            return;
        }
        match args.iter().find(|arg| !arg.text.starts_with('-')) {
            None => {
                if let Some(code) = stdin {
                    self.code(code, first, name);
                }
            }
            Some(file) => {
                let stdin = matches!(file.text.as_str(), "/dev/stdin" | "/dev/fd/0").then_some(stdin).flatten();
                if let Some(code) = stdin.map(str::to_owned).or_else(|| self.content(&file.text)) {
                    self.code(&code, file, name);
                }
            }
        }
    }

    /// Code whose arguments may be the paths it writes.
    fn code_with(&mut self, code: &str, arg: &Arg, args: &[Arg], via: &str) {
        let before = self.effects.len();
        self.code(code, arg, via);
        if self.effects[before..].iter().any(|effect| effect.op == Op::Unknown) {
            for arg in args.iter().filter(|arg| !arg.text.starts_with('-')) {
                let path = crate::text::resolve(&arg.text, &self.state.cwd);
                self.possible(Op::Write, &path, via, &arg.span);
            }
        }
    }
}

/// `-i`, `-pi`, `-i.bak` of Perl and Ruby.
fn is_in_place(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|letters| {
        !letters.starts_with(['-', 'e', 'I', 'm', 'M', 'W'])
            && letters.split('.').next().is_some_and(|l| l.len() <= 5 && l.contains('i'))
    })
}

fn is_code_flag(text: &str) -> bool {
    matches!(
        text,
        "-c" | "-e" | "-E" | "-r" | "-p" | "-pe" | "-ne" | "-pie" | "-lne" | "-lpe" | "-nE" | "--eval" | "--print"
    )
}

pub(crate) fn is_interpreter(name: &str) -> bool {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        base,
        "python"
            | "pypy"
            | "node"
            | "nodejs"
            | "bun"
            | "deno"
            | "ruby"
            | "perl"
            | "php"
            | "lua"
            | "osascript"
            | "tclsh"
    )
}
