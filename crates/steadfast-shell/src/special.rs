//! Commands that a line of the table cannot say.

use crate::effect::Op;
use crate::expand::Arg;
use crate::text::{ANY, STAR};
use crate::walk::Walk;

impl Walk {
    /// `false`: not one of these.
    pub(crate) fn special(&mut self, name: &str, first: &Arg, args: &[Arg], stdin: Option<&str>) -> bool {
        match name {
            "sed" | "perl" | "ruby" if in_place(args) => {
                let script =
                    !args.iter().any(|arg| arg.text.starts_with("-e") || arg.text.ends_with('e') && name != "sed");
                let skip = usize::from(script && name == "sed");
                let plain = args.iter().enumerate().filter(|(at, arg)| {
                    let after_e = *at > 0 && is_code_flag(&args[at - 1].text);
                    !arg.text.starts_with('-') && !arg.text.is_empty() && !after_e
                });
                for (_, arg) in plain.skip(skip) {
                    self.effect(Op::Write, arg, name);
                }
            }
            "awk" | "gawk" | "mawk" => {
                for arg in args {
                    for target in arg
                        .text
                        .split('>')
                        .skip(1)
                        .filter_map(|tail| tail.trim_start_matches([' ', '>']).strip_prefix('"'))
                    {
                        if let Some((path, _)) = target.split_once('"') {
                            self.effect(Op::Write, &Arg { text: path.to_owned(), span: arg.span.clone() }, name);
                        }
                    }
                }
            }
            "patch" => match args.iter().find(|arg| !arg.text.starts_with('-')) {
                Some(file) => self.effect(Op::Write, file, name),
                None if args.iter().any(|arg| arg.text == "--dry-run") => {}
                None => self.tree(first, name),
            },
            "find" => self.find(first, args),
            "git" => self.git(first, args),
            "tar" | "bsdtar" => {
                let extracts = args.iter().enumerate().any(|(at, arg)| {
                    arg.text == "--extract"
                        || ((at == 0 || arg.text.starts_with('-'))
                            && !arg.text.starts_with("--")
                            && arg.text.contains('x')
                            && !arg.text.contains('.'))
                });
                let stdout = args.iter().any(|arg| arg.text == "-O" || arg.text == "--to-stdout");
                if extracts && !stdout {
                    self.extract(first, args, &["-C", "--directory"], name);
                }
            }
            "unzip" if !args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains(['l', 'p', 't', 'Z'])) => {
                self.extract(first, args, &["-d"], name);
            }
            _ if is_interpreter(name) => {
                if let Some(at) = args.iter().position(|arg| is_code_flag(&arg.text)) {
                    if let Some(code) = args.get(at + 1) {
                        self.code(&code.text.clone(), code, name);
                    }
                } else if args.iter().all(|arg| arg.text.starts_with('-'))
                    && let Some(code) = stdin
                {
                    self.code(code, first, name);
                }
            }
            _ => return false,
        }
        true
    }

    /// Any file below the folder.
    fn tree(&mut self, arg: &Arg, via: &str) {
        self.effect(Op::Write, &Arg { text: format!("./{ANY}"), span: arg.span.clone() }, via);
    }

    fn extract(&mut self, first: &Arg, args: &[Arg], options: &[&str], via: &str) {
        let at = args.iter().position(|arg| options.contains(&arg.text.as_str()));
        match at.and_then(|at| args.get(at + 1)) {
            Some(folder) => {
                self.effect(Op::Write, &Arg { text: format!("{}/{ANY}", folder.text), span: folder.span.clone() }, via);
            }
            None => self.tree(first, via),
        }
    }

    fn find(&mut self, first: &Arg, args: &[Arg]) {
        let roots: Vec<&Arg> = args.iter().take_while(|arg| !arg.text.starts_with(['-', '(', '!'])).collect();
        let root = roots.first().map_or(".", |arg| arg.text.as_str());
        let name =
            args.windows(2).find(|pair| matches!(pair[0].text.as_str(), "-name" | "-iname")).map(|pair| &pair[1].text);
        let found = match name {
            Some(name) => format!("{root}/{ANY}/{}", name.replace('*', &STAR.to_string())),
            None => format!("{root}/{ANY}"),
        };
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            match arg.text.as_str() {
                "-delete" => {
                    self.effect(Op::Delete, &Arg { text: found.clone(), span: arg.span.clone() }, first.text.as_str());
                }
                "-fprintf" | "-fprint" | "-fls" | "-fprint0" => {
                    if let Some(file) = args.get(at) {
                        self.effect(Op::Write, file, "find");
                    }
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let command: Vec<Arg> = args[at..]
                        .iter()
                        .take_while(|arg| !matches!(arg.text.as_str(), ";" | "+"))
                        .map(|arg| Arg { text: arg.text.replace("{}", &found), span: arg.span.clone() })
                        .collect();
                    at += command.len();
                    self.run(&command, None);
                }
                _ => {}
            }
        }
    }

    fn git(&mut self, first: &Arg, args: &[Arg]) {
        let mut at = 0;
        let folder = self.state.cwd.clone();
        while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with('-')) {
            at += 1;
            if matches!(arg.text.as_str(), "-C" | "-c" | "--git-dir" | "--work-tree") {
                if let ("-C", Some(path)) = (arg.text.as_str(), args.get(at)) {
                    self.state.cwd = crate::text::resolve(&path.text, &self.state.cwd);
                }
                at += 1;
            }
        }
        let (Some(verb), rest) = (args.get(at), args.get(at + 1..).unwrap_or_default()) else { return };
        let has = |flags: &[&str]| rest.iter().any(|arg| flags.contains(&arg.text.as_str()));
        let plain: Vec<&Arg> = rest.iter().filter(|arg| !arg.text.starts_with('-')).collect();
        let after = rest.iter().position(|arg| arg.text == "--").map(|at| &rest[at + 1..]);
        match verb.text.as_str() {
            "mv" | "rm" if !has(&["--cached", "-n", "--dry-run"]) => {
                let op = if verb.text == "rm" { Op::Delete } else { Op::Move };
                for arg in plain {
                    self.effect(op, arg, "git");
                }
            }
            "checkout" | "restore" if !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]) => {
                let branch = has(&["-b", "-B", "--orphan"]);
                let paths: Vec<&Arg> = match after {
                    Some(paths) => paths.iter().collect(),
                    None if branch => Vec::new(),
                    // Without `--` what is not known is more likely a commit.
                    None => plain.into_iter().filter(|arg| arg.text != ANY.to_string()).collect(),
                };
                for arg in paths {
                    if matches!(arg.text.as_str(), "." | ":/" | "*") {
                        self.tree(arg, "git");
                    } else {
                        self.effect(Op::Write, arg, "git");
                    }
                }
            }
            "apply" | "am" if !has(&["--check", "--stat", "--numstat", "--summary", "--cached"]) => {
                self.tree(first, "git");
            }
            "clean" if !has(&["-n", "--dry-run"]) => match plain.as_slice() {
                [] => self.tree(first, "git"),
                paths => paths.iter().for_each(|arg| self.effect(Op::Delete, arg, "git")),
            },
            "reset" if has(&["--hard", "--merge", "--keep"]) => self.tree(first, "git"),
            _ => {}
        }
        self.state.cwd = folder;
    }
}

fn in_place(args: &[Arg]) -> bool {
    args.iter().any(|arg| {
        let text = arg.text.as_str();
        text.starts_with("--in-place")
            || text.strip_prefix('-').is_some_and(|letters| {
                !letters.starts_with(['-', 'e', 'I'])
                    && letters.split('.').next().is_some_and(|l| l.len() <= 5 && l.contains('i'))
            })
    })
}

fn is_code_flag(text: &str) -> bool {
    matches!(text, "-c" | "-e" | "-E" | "-r" | "-p" | "-pe" | "-ne" | "-pie" | "--eval" | "--print")
}

fn is_interpreter(name: &str) -> bool {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        base,
        "python" | "pypy" | "node" | "nodejs" | "bun" | "deno" | "ruby" | "perl" | "php" | "lua" | "osascript"
    )
}
