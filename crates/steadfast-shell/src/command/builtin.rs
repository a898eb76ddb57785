//! Commands that only print, and builtins that change the state of the shell.

use std::rc::Rc;

use super::output::{base64, echo, printf};
use crate::text::{ANY, STAR, base_name, is_anything, is_known, resolve};
use crate::tree::Mode;
use crate::walk::Walk;

impl Walk {
    /// Runs a command that only prints or changes the state of the shell. `None`: another command.
    pub(crate) fn printed(&mut self, name: &str, texts: &[&str], stdin: Option<&str>) -> Option<Option<String>> {
        let silent = || Some(String::new());
        Some(match name {
            "echo" => Some(echo(texts)),
            "printf" => match texts {
                ["-v", variable, rest @ ..] => {
                    let value = printf(rest).unwrap_or_else(|| ANY.to_string());
                    self.assign(variable, value, Mode::Set);
                    silent()
                }
                _ => printf(texts),
            },
            ":" | "true" | "false" | "test" | "[" | "shopt" | "ulimit" | "wait" | "sleep" | "hash" => silent(),
            "cat" => {
                let files: Option<String> = match texts {
                    [] | ["-"] => stdin.map(str::to_owned),
                    files => files.iter().map(|file| self.content(file)).collect(),
                };
                files
            }
            _ if prints_settings(name, texts) => silent(),
            "pwd" => Some(self.state.cwd.clone()),
            // The path of a program stands for the program itself, if it is run.
            "which" => texts.iter().rfind(|text| !text.starts_with('-')).map(|name| (*name).to_owned()),
            "command" | "type" if matches!(texts.first(), Some(&("-v" | "-V" | "-p" | "-P"))) => {
                texts.get(1).map(|name| (*name).to_owned())
            }
            "date" if texts.iter().any(|text| text.contains('/')) => None,
            "date" | "uuidgen" | "whoami" | "hostname" | "nproc" | "id" | "wc" | "uname" => Some(STAR.to_string()),
            "basename" => texts.first().map(|path| {
                let name = base_name(path);
                texts.get(1).and_then(|suffix| name.strip_suffix(suffix)).unwrap_or(name).to_owned()
            }),
            "dirname" => texts.first().map(|path| {
                let path = path.trim_end_matches('/');
                path.rsplit_once('/').map_or(".", |(head, _)| if head.is_empty() { "/" } else { head }).to_owned()
            }),
            "realpath" | "readlink" => {
                let path = texts.iter().rfind(|text| !text.starts_with('-'));
                path.map(|path| resolve(path, &self.state.cwd))
            }
            "base64" if texts.iter().any(|text| matches!(*text, "-d" | "-D" | "--decode")) => {
                stdin.filter(|text| is_known(text)).and_then(base64)
            }
            "git" if matches!(texts, ["rev-parse", "--show-toplevel"]) => Some(self.context.cwd.clone()),
            "git" if matches!(texts, ["rev-parse", "--git-dir" | "--git-common-dir"]) => {
                Some(format!("{}/.git", self.context.cwd))
            }
            "git" if matches!(texts, ["rev-parse", "--git-path", _]) => {
                Some(format!("{}/.git/{}", self.context.cwd, texts[2]))
            }
            "cd" | "pushd" => {
                self.change_folder(texts);
                silent()
            }
            "popd" => {
                self.state.cwd = ANY.to_string();
                silent()
            }
            "export" | "declare" | "local" | "readonly" | "typeset" => {
                for text in texts {
                    if let Some((name, value)) = text.split_once('=') {
                        self.assign(name, value.to_owned(), Mode::Set);
                    }
                }
                silent()
            }
            "unset" => {
                texts.iter().for_each(|name| {
                    Rc::make_mut(&mut self.state.vars).remove(*name);
                });
                silent()
            }
            "read" | "mapfile" | "readarray" => {
                self.read(name, texts, stdin);
                silent()
            }
            "alias" => {
                for text in texts {
                    if let Some((name, value)) = text.split_once('=') {
                        Rc::make_mut(&mut self.state.aliases).insert(name.to_owned(), value.to_owned());
                    }
                }
                silent()
            }
            "set" => {
                if let Some(at) = texts.iter().position(|text| *text == "--") {
                    self.state.positional = Some(texts[at + 1..].iter().map(|text| (*text).to_owned()).collect());
                }
                silent()
            }
            "shift" => {
                let by = texts.first().map_or(Some(1), |text| text.parse().ok());
                self.state.positional =
                    self.state.positional.take().zip(by).map(|(args, by)| args.get(by..).unwrap_or_default().to_vec());
                silent()
            }
            _ => return None,
        })
    }

    fn change_folder(&mut self, texts: &[&str]) {
        let target = texts.iter().find(|text| !text.starts_with('-') || **text == "-");
        let folder = match target {
            None => self.context.home.clone(),
            Some(&"-") => ANY.to_string(),
            Some(path) => {
                let path = resolve(path, &self.state.cwd);
                self.through(&path).unwrap_or(path)
            }
        };
        self.go_to(folder);
    }

    /// Runs `read` and similar: takes one line, if it is known.
    fn read(&mut self, name: &str, texts: &[&str], stdin: Option<&str>) {
        let lines = stdin.filter(|text| !is_anything(text)).map(|text| text.trim_end_matches('\n'));
        let line = lines.filter(|text| name == "read" && !text.contains('\n'));
        let names: Vec<&str> = texts.iter().copied().filter(|text| !text.starts_with('-')).collect();
        let mut words = line.unwrap_or_default().split_whitespace();
        for (at, variable) in names.iter().enumerate() {
            let value = match line {
                None => ANY.to_string(),
                Some(_) if at + 1 == names.len() => words.by_ref().collect::<Vec<_>>().join(" "),
                Some(_) => words.next().unwrap_or_default().to_owned(),
            };
            self.assign(variable, value, Mode::Set);
        }
        if names.is_empty() {
            self.assign(if name == "read" { "REPLY" } else { "MAPFILE" }, ANY.to_string(), Mode::Set);
        }
    }
}

/// Recognises `eval "$(mise activate bash)"`: shell settings printed by a program, no more opaque than the program
/// itself.
fn prints_settings(name: &str, texts: &[&str]) -> bool {
    let verb = texts.iter().copied().find(|text| !text.starts_with('-')).unwrap_or_default();
    match name {
        "ssh-agent" | "gpg-agent" | "dircolors" | "keychain" => true,
        "brew" => verb == "shellenv",
        "direnv" => matches!(verb, "hook" | "export"),
        "mise" | "rtx" | "conda" | "starship" | "zoxide" | "atuin" => {
            matches!(verb, "activate" | "env" | "hook-env" | "init" | "shell.bash")
        }
        "fnm" | "opam" | "devbox" | "minikube" => matches!(verb, "env" | "docker-env" | "shellenv"),
        "pyenv" | "rbenv" | "nodenv" | "goenv" | "jenv" => verb == "init",
        "kubectl" | "gh" | "helm" | "rustup" | "npm" | "docker" => matches!(verb, "completion" | "completions"),
        _ => false,
    }
}
