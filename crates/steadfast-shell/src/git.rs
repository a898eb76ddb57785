//! Git's writing commands.

use crate::effect::Op;
use crate::expand::Arg;
use crate::text::{ANY, resolve};
use crate::walk::{NO_STDIN, Walk};

impl Walk {
    pub(crate) fn git(&mut self, first: &Arg, args: &[Arg]) {
        let mut at = 0;
        let folder = self.state.cwd.clone();
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
            self.verb(first, verb, rest);
        }
        self.state.cwd = folder;
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
                    // Without `--` what is not known is more likely a commit.
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
                // What follows `-e` is a pattern of what stays.
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
                for pair in rest.windows(2) {
                    let code = pair[1].text.strip_prefix('!').filter(|_| pair[0].text.starts_with("alias."));
                    if let Some(code) = code {
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
            // A template brings hooks.
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

    /// `alias.x=!command`.
    fn setting(&mut self, setting: &Arg) {
        let code = setting.text.strip_prefix("alias.").and_then(|rest| rest.split_once('=')).map(|(_, value)| value);
        if let Some(code) = code.and_then(|value| value.strip_prefix('!')) {
            self.script(code, &setting.span);
        }
    }

    /// Files come and go with the commits that git moves between: which is not in the text, and what is put there was
    /// committed before. Like `make`, it may do anything, and is no sign of anything.
    fn moves(&mut self, first: &Arg) {
        self.anywhere(Op::Unknown, first);
    }

    /// Any file below the folder.
    pub(crate) fn anywhere(&mut self, op: Op, arg: &Arg) {
        self.effect(op, &Arg { text: format!("./{ANY}"), span: arg.span.clone() }, "git");
    }
}

/// `-nd`, `-dn`.
fn is_dry(text: &str) -> bool {
    text.starts_with('-') && !text.starts_with("--") && text.contains('n')
}

/// `-e`, `--exclude`, `-fdxe`.
fn is_exclude(text: &str) -> bool {
    text == "--exclude" || (text.starts_with('-') && !text.starts_with("--") && text.ends_with('e'))
}
