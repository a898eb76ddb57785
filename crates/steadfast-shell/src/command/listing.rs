//! Commands that print paths. The names are unknown, but their folder is known.

use crate::expand::Arg;
use crate::text::{ANY, STAR, is_known};
use crate::walk::Walk;

impl Walk {
    /// Returns the lines that a listing or filter would print, with unknown parts. `None`: another command.
    pub(crate) fn listed(&self, name: &str, args: &[Arg], stdin: Option<&str>) -> Option<String> {
        let plain: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).filter(|text| !text.starts_with('-')).collect();
        let lists = |letters: &[char], long: &str| {
            args.iter().any(|arg| {
                let text = arg.text.as_str();
                text == long || (text.starts_with('-') && !text.starts_with("--") && text.contains(letters))
            })
        };
        match name {
            "grep" | "egrep" | "fgrep" | "rg" | "ag" if lists(&['l'], "--files-with-matches") => below(plain.get(1..)?),
            "fd" | "fdfind" => {
                let valued = |at: usize| at > 0 && matches!(args[at - 1].text.as_str(), "-e" | "-E" | "-t" | "-d");
                let plain = args.iter().enumerate().filter(|(at, arg)| !arg.text.starts_with('-') && !valued(*at));
                let plain: Vec<&str> = plain.map(|(_, arg)| arg.text.as_str()).collect();
                below(plain.get(1..).unwrap_or_default())
            }
            "git" if plain.first() == Some(&"ls-files") => {
                let at = args.iter().position(|arg| arg.text == "ls-files")?;
                let paths: Vec<&str> =
                    args[at + 1..].iter().map(|arg| arg.text.as_str()).filter(|text| !text.starts_with('-')).collect();
                below(&paths)
            }
            "ls" if !lists(&['a', 'A', 'R', 'l'], "--all") => match plain.as_slice() {
                [] | ["."] => Some(format!("{STAR}\n")),
                // `*.log`: a name with an ending is a file, and is printed as it is.
                files if files.iter().all(|file| file.contains(STAR) && ending(file)) => {
                    Some(files.iter().map(|file| format!("{file}\n")).collect())
                }
                _ => None,
            },
            // The output is the input, or a part of it.
            "sort" | "uniq" | "head" | "tail" => stdin.filter(|text| !is_known(text)).map(str::to_owned),
            "grep" | "egrep" | "rg" if plain.len() == 1 && !lists(&['o', 'c', 'n'], "--only-matching") => {
                stdin.filter(|text| !is_known(text)).map(str::to_owned)
            }
            _ => None,
        }
    }
}

fn ending(path: &str) -> bool {
    path.rsplit(['/', STAR]).next().is_some_and(|tail| tail.starts_with('.') && tail.len() > 1)
}

/// Returns any path at or below these, or below the working folder.
fn below(paths: &[&str]) -> Option<String> {
    let paths = if paths.is_empty() { &["."] } else { paths };
    // The shell or git matches the pattern, so only its first fixed folders are certain.
    let line = |path: &&str| {
        let fixed = path.split(['*', '?', '[', STAR, ANY]).next().unwrap_or_default();
        let fixed = if fixed.len() < path.len() { fixed.rsplit_once('/').map_or(".", |(head, _)| head) } else { fixed };
        format!("{}/{ANY}\n", fixed.trim_end_matches('/'))
    };
    Some(paths.iter().map(line).collect())
}
