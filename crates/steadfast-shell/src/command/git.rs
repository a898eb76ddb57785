//! Git commands that write.

use std::rc::Rc;

use crate::effect::Op;
use crate::expand::Arg;
use crate::text::{ANY, resolve};
use crate::walk::{NO_STDIN, Walk};

impl Walk {
    pub(crate) fn git(&mut self, first: &Arg, args: &[Arg]) {
        let mut at = 0;
        let (folder, aliases) = (self.state.cwd.clone(), Rc::clone(&self.state.aliases));
        while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with('-')) {
            at += 1;
            let value = args.get(at);
            match (arg.text.as_str(), value) {
                ("-C" | "--work-tree", Some(path)) => self.state.cwd = resolve(&path.text, &self.state.cwd),
                ("-c", Some(setting)) => self.setting(setting),
                _ => {}
            }
            if matches!(arg.text.as_str(), "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace") {
                at += 1;
            }
        }
        if let (Some(verb), rest) = (args.get(at), args.get(at + 1..).unwrap_or_default()) {
            if let Some(body) = self.alias(&verb.text) {
                self.aliased(verb, &body, rest);
            }
            // Git does not let an alias replace one of its own commands.
            self.verb(first, verb, rest);
        }
        self.state.cwd = folder;
        // Aliases from `-c` hold for this command only.
        if args.get(at).is_none_or(|verb| verb.text != "config") {
            self.state.aliases = aliases;
        }
    }

    /// Returns the command behind an alias that this line defined.
    fn alias(&self, verb: &str) -> Option<String> {
        if self.state.aliases.is_empty() { None } else { self.state.aliases.get(&alias_key(verb)).cloned() }
    }

    /// Reads the command line of an alias, with its arguments.
    fn aliased(&mut self, verb: &Arg, body: &str, rest: &[Arg]) {
        let quoted: String = rest.iter().map(|arg| format!(" '{}'", arg.text.replace('\'', r"'\''"))).collect();
        let line = match body.strip_prefix('!') {
            Some(line) => format!("{line}{quoted}"),
            None => format!("git {body}{quoted}"),
        };
        // Git does not let an alias use itself.
        Rc::make_mut(&mut self.state.aliases).remove(&alias_key(&verb.text));
        self.script(&line, &verb.span);
        Rc::make_mut(&mut self.state.aliases).insert(alias_key(&verb.text), body.to_owned());
    }

    fn verb(&mut self, first: &Arg, verb: &Arg, rest: &[Arg]) {
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
                let branch = has(&["-b", "-B", "--orphan", "--detach", "-d"]);
                let paths: Vec<&Arg> = match after {
                    Some(paths) => paths.iter().collect(),
                    None if branch => Vec::new(),
                    // Without `--`, an unknown word is more likely a commit than a path.
                    None => plain.into_iter().filter(|arg| arg.text != ANY.to_string()).collect(),
                };
                if paths.is_empty() || (verb.text == "checkout" && after.is_none()) {
                    self.moves(first);
                }
                for arg in paths {
                    if matches!(arg.text.as_str(), "." | ":/" | "*") {
                        self.anywhere(Op::Write, arg);
                    } else {
                        self.effect(Op::Write, arg, "git");
                    }
                }
            }
            "apply" | "am"
                if !has(&["--check", "--stat", "--numstat", "--summary", "--cached", "--abort", "--skip"]) =>
            {
                self.anywhere(Op::Write, first);
            }
            "clean" if !has(&["-n", "--dry-run"]) && !rest.iter().any(|arg| is_dry(&arg.text)) => {
                // The word after `-e` is a pattern of files that stay.
                let after_exclude = |at: usize| at.checked_sub(1).is_some_and(|at| is_exclude(&rest[at].text));
                let paths =
                    rest.iter().enumerate().filter(|(at, arg)| !arg.text.starts_with('-') && !after_exclude(*at));
                let paths: Vec<&Arg> = paths.map(|(_, arg)| arg).collect();
                match paths.as_slice() {
                    [] => self.anywhere(Op::Delete, first),
                    paths => paths.iter().for_each(|arg| self.effect(Op::Delete, arg, "git")),
                }
            }
            "stash"
                if matches!(plain.first().map(|arg| arg.text.as_str()), Some("list" | "show" | "drop" | "clear")) => {}
            "stash" | "switch" | "merge" | "pull" | "rebase" | "cherry-pick" | "revert" | "sparse-checkout" => {
                if let Some(at) = rest.iter().position(|arg| matches!(arg.text.as_str(), "--exec" | "-x"))
                    && verb.text == "rebase"
                    && let Some(code) = rest.get(at + 1)
                {
                    self.script(&code.text.clone(), &code.span);
                }
                self.moves(first);
            }
            "checkout-index" => self.anywhere(Op::Write, first),
            "reset" if has(&["--hard", "--merge", "--keep"]) => self.moves(first),
            "bisect" if plain.first().is_some_and(|arg| arg.text == "run") => {
                let at = rest.iter().position(|arg| arg.text == "run").map_or(0, |at| at + 1);
                self.run(&rest[at..], NO_STDIN);
            }
            "submodule" if plain.first().is_some_and(|arg| arg.text == "foreach") => {
                for arg in plain.iter().skip(1) {
                    self.script(&arg.text.clone(), &arg.span);
                }
            }
            "filter-branch" => {
                for pair in rest.windows(2).filter(|pair| pair[0].text.ends_with("-filter")) {
                    self.script(&pair[1].text.clone(), &pair[1].span);
                }
            }
            "config" if !plain.is_empty() => {
                self.settings_file(rest);
                for pair in rest.windows(2) {
                    let Some(name) = pair[0].text.strip_prefix("alias.") else { continue };
                    Rc::make_mut(&mut self.state.aliases).insert(alias_key(name), pair[1].text.clone());
                    if let Some(code) = pair[1].text.strip_prefix('!') {
                        self.script(code, &pair[1].span);
                    }
                }
            }
            "worktree" if plain.first().is_some_and(|arg| matches!(arg.text.as_str(), "add" | "remove" | "move")) => {
                let op = if plain[0].text == "add" { Op::Write } else { Op::Delete };
                if let Some(place) = plain.get(1) {
                    self.effect(op, place, "git");
                }
            }
            // A template can install hooks.
            "init" | "clone" if rest.iter().any(|arg| arg.text.starts_with("--template=")) => {
                let place = plain.last().filter(|_| verb.text == "init" || plain.len() > 1);
                let place = place.map_or(".", |arg| arg.text.as_str());
                self.effect(Op::Write, &Arg { text: format!("{place}/.git/{ANY}"), span: first.span.clone() }, "git");
            }
            "clone" => {
                if let Some(place) = plain.get(1) {
                    self.effect(Op::Write, place, "git");
                }
            }
            "bundle" if plain.first().is_some_and(|arg| arg.text == "create") => {
                plain.get(1).into_iter().for_each(|file| self.effect(Op::Write, file, "git"));
            }
            "archive" | "diff" | "log" | "show" | "format-patch" | "bundle" => {
                for (at, arg) in rest.iter().enumerate() {
                    let text = match arg.text.as_str() {
                        "-o" | "--output" | "--output-directory" => rest.get(at + 1).map(|arg| arg.text.clone()),
                        text => text.strip_prefix("--output=").map(str::to_owned),
                    };
                    if let Some(text) = text {
                        self.effect(Op::Write, &Arg { text, span: arg.span.clone() }, "git");
                    }
                }
            }
            _ => {}
        }
    }

    /// Reads `git config -f file name value`: changes the file, unless it only queries.
    fn settings_file(&mut self, args: &[Arg]) {
        let mut file = None;
        let (mut words, mut changes, mut asks) = (0, false, false);
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.text.as_str() {
                "-f" | "--file" => file = rest.next().cloned(),
                "--type" | "--default" | "--comment" | "--value" => {
                    rest.next();
                }
                "--add" | "--unset" | "--unset-all" | "--replace-all" | "--rename-section" | "--remove-section"
                | "-e" | "--edit" => changes = true,
                "set" | "unset" | "rename-section" | "remove-section" | "edit" if words == 0 => changes = true,
                "get" | "list" if words == 0 => asks = true,
                text if text.starts_with("--get") || matches!(text, "-l" | "--list") => asks = true,
                text => match text.strip_prefix("--file=") {
                    Some(path) => file = Some(Arg { text: path.to_owned(), span: arg.span.clone() }),
                    None => words += usize::from(!text.starts_with('-')),
                },
            }
        }
        if let Some(file) = file.filter(|_| !asks && (changes || words > 1)) {
            self.effect(Op::Write, &file, "git");
        }
    }

    /// Reads `alias.x=body`, `alias.x=!command`.
    fn setting(&mut self, setting: &Arg) {
        let Some((name, body)) = setting.text.strip_prefix("alias.").and_then(|rest| rest.split_once('=')) else {
            return;
        };
        Rc::make_mut(&mut self.state.aliases).insert(alias_key(name), body.to_owned());
        if let Some(code) = body.strip_prefix('!') {
            self.script(code, &setting.span);
        }
    }

    /// Git moves between commits, so files come and go. Their names are not in the text, and their content was
    /// committed before.
    /// Like `make` the command may do anything, which is no sign of intent.
    fn moves(&mut self, first: &Arg) {
        self.anywhere(Op::Unknown, first);
    }

    /// Adds an effect on any file below the folder.
    pub(crate) fn anywhere(&mut self, op: Op, arg: &Arg) {
        self.effect(op, &Arg { text: format!("./{ANY}"), span: arg.span.clone() }, "git");
    }
}

/// Recognises `-nd`, `-dn`.
fn is_dry(text: &str) -> bool {
    text.starts_with('-') && !text.starts_with("--") && text.contains('n')
}

/// Recognises `-e`, `--exclude`, `-fdxe`.
fn is_exclude(text: &str) -> bool {
    text == "--exclude" || (text.starts_with('-') && !text.starts_with("--") && text.ends_with('e'))
}

/// Returns the key of a git alias among the shell's aliases. No shell word contains a NUL byte.
fn alias_key(name: &str) -> String {
    format!("git\0{}", name.to_ascii_lowercase())
}
