//! A cheap test that runs first: most commands need no full reading.
//!
//! An effect on a protected path has one of three causes. The path is in the text; or something hides text (an
//! expansion, a pattern, code); or a command touches files that it does not name (`rm` of a parent, `git checkout .`,
//! an archive). So a command line has no such effect if it contains no name of a protected path, every byte of it is
//! literal, and no such command is named anywhere. A command line that this test cannot decide at a glance is not
//! plain, and is read.

use crate::command::interpreter::is_interpreter;
use crate::effect::Context;
use crate::table::wraps;

/// The maximum length in bytes. It must stay below the limit of the walk for commands.
const MAX_BYTES: usize = 2000;

/// Reports whether a command line needs no reading. `true` only if a reading would find neither a write to a path with
/// one of `names` in it, nor a run of a program with such a name.
///
/// `names` are literal, so a path that is protected only by a pattern cannot be tested here.
pub fn is_plain(command: &str, context: &Context, names: &[&str]) -> bool {
    command.len() <= MAX_BYTES
        && is_simple(command)
        && !hides(command)
        && !names_any(command, names)
        && !is_inside(&context.cwd, names)
        && !is_inside(&context.home, names)
}

/// Reports whether one of the names is in the text, even inside a word.
fn names_any(text: &str, names: &[&str]) -> bool {
    let mut first = [false; 256];
    for byte in names.iter().filter_map(|name| name.bytes().next()) {
        first[usize::from(byte.to_ascii_lowercase())] = true;
        first[usize::from(byte.to_ascii_uppercase())] = true;
    }
    let starts = |rest: &[u8], name: &str| {
        rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes())) && !name.is_empty()
    };
    let bytes = text.as_bytes();
    (0..bytes.len()).any(|at| first[usize::from(bytes[at])] && names.iter().any(|name| starts(&bytes[at..], name)))
}

/// Reports whether a part of the folder has one of the names: a relative path would be inside it.
fn is_inside(folder: &str, names: &[&str]) -> bool {
    folder.split('/').any(|part| names.iter().any(|name| part.eq_ignore_ascii_case(name)))
}

/// Reports whether any word, quoted or not, names a command with wide effects, or an interpreter with code.
fn hides(command: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_-./+".contains(c);
    let mut words = command.split(|c| !is_part(c)).filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        let name = word.rsplit('/').next().unwrap_or(word);
        let next = words.peek().copied().unwrap_or_default();
        let reaches = reaches_far(name) || (name == "cd" && next == "-");
        let gives_code =
            next.is_empty() || (next.starts_with('-') && next != "-m") || matches!(next, "eval" | "/c" | "/C");
        let runs_code = gives_code && is_interpreter(name);
        if reaches || runs_code {
            return true;
        }
    }
    false
}

/// Recognises commands that touch or run more than they name, at any place in the line.
fn reaches_far(name: &str) -> bool {
    matches!(
        name,
        "rm" | "rmdir"
            | "unlink"
            | "shred"
            | "trash"
            | "mv"
            | "ren"
            | "rename"
            | "chmod"
            | "chown"
            | "chgrp"
            | "chattr"
            | "setfacl"
            | "xattr"
            | "gzip"
            | "gunzip"
            | "bzip2"
            | "bunzip2"
            | "xz"
            | "unxz"
            | "tar"
            | "bsdtar"
            | "gtar"
            | "unzip"
            | "cpio"
            | "rsync"
            | "patch"
            | "find"
            | "xargs"
            | "parallel"
            | "sed"
            | "gsed"
            | "awk"
            | "gawk"
            | "mawk"
            | "nawk"
            | "ed"
            | "red"
            | "ex"
            | "vi"
            | "vim"
            | "nvim"
            | "view"
            | "eval"
            | "source"
            | "."
            | "trap"
            | "alias"
            | "bash"
            | "sh"
            | "zsh"
            | "dash"
            | "ksh"
            | "ash"
            | "rbash"
            | "fish"
            | "at"
            | "batch"
            | "popd"
            | "ssh"
            | "checkout"
            | "restore"
            | "apply"
            | "am"
            | "clean"
            | "filter-branch"
            | "bisect"
            | "submodule"
            | "busybox"
            | "toybox"
    )
}

/// Keywords of the shell, which are not commands.
fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "if" | "then"
            | "else"
            | "elif"
            | "fi"
            | "for"
            | "while"
            | "until"
            | "do"
            | "done"
            | "case"
            | "esac"
            | "in"
            | "select"
            | "function"
            | "time"
            | "coproc"
    )
}

/// The tokens that may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A command, or the end.
    Command,
    /// A command, after `|` or `&&`.
    More,
    Word,
    /// The file of a redirection.
    Target,
}

/// Reports whether the line has only literal words, words fully in quotes, and the simplest operators.
fn is_simple(command: &str) -> bool {
    let bytes = command.as_bytes();
    let mut next = Next::Command;
    let mut at = 0;
    // A written file may be the program that runs after it.
    let (mut writes, mut runs_file) = (false, false);
    while let Some(byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let length = match byte {
            b' ' | b'\t' => {
                at += 1;
                continue;
            }
            b'\n' if next == Next::More || next == Next::Command => {
                at += 1;
                continue;
            }
            b'\n' | b';' if next == Next::Word => {
                next = Next::Command;
                1
            }
            b'&' if rest.starts_with(b"&&") && next == Next::Word => {
                next = Next::More;
                2
            }
            b'|' if next == Next::Word => {
                next = Next::More;
                if rest.starts_with(b"||") { 2 } else { 1 }
            }
            b'2' if rest.starts_with(b"2>&1") && matches!(rest.get(4), None | Some(b' ' | b'\n' | b';' | b'|')) => {
                if next != Next::Word {
                    return false;
                }
                4
            }
            b'2' if rest.starts_with(b"2>") && next == Next::Word => {
                next = Next::Target;
                2
            }
            b'>' if next == Next::Word && !matches!(rest.get(1), Some(b'&' | b'(' | b'|')) => {
                next = Next::Target;
                if rest.starts_with(b">>") { 2 } else { 1 }
            }
            _ => {
                let Some(length) = word(rest) else { return false };
                let text = &command[at..at + length];
                match next {
                    Next::Command | Next::More if is_keyword(text) => return false,
                    Next::Command | Next::More => runs_file |= text.contains(['/', '=']),
                    Next::Target => writes |= text != "/dev/null",
                    Next::Word => {}
                }
                writes |= text == "tee";
                runs_file |= wraps(text);
                next = Next::Word;
                length
            }
        };
        at += length;
    }
    matches!(next, Next::Command | Next::Word) && !(writes && runs_file)
}

/// Returns the length of a word. `None`: a part of it may have a special meaning.
fn word(rest: &[u8]) -> Option<usize> {
    let ends = |at: usize| matches!(rest.get(at), None | Some(b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'>'));
    if let [quote @ (b'\'' | b'"'), inner @ ..] = rest {
        let length = inner.iter().position(|byte| byte == quote)?;
        let means = |byte: &u8| *byte == b'\\' || *byte == b'$' || *byte == b'`' || is_mark(*byte);
        let safe = if *quote == b'"' {
            !inner[..length].iter().any(means)
        } else {
            !inner[..length].iter().any(|b| is_mark(*b))
        };
        return (safe && ends(length + 2)).then_some(length + 2);
    }
    let length = rest.iter().position(|byte| b" \t\n;|&>".contains(byte)).unwrap_or(rest.len());
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(byte);
    // Digits before `>` are a descriptor.
    let is_descriptor = rest.get(length) == Some(&b'>') && rest[..length].iter().all(u8::is_ascii_digit);
    (length > 0 && !is_descriptor && rest[..length].iter().all(is_plain)).then_some(length)
}

/// Recognises the first byte of the marks for unknown text.
fn is_mark(byte: u8) -> bool {
    byte == 0xEF
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(command: &str) -> bool {
        let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
        is_plain(command, &context, &[".claude", "SPEC.md", "steadfast"])
    }

    #[test]
    fn ordinary_commands_are_plain() {
        for command in [
            "ls -la src",
            "cargo test 2>&1 | tail -30",
            "git status --short && git log --oneline -3",
            "grep -n 'a->b$' src/x.rs > /tmp/out",
            "echo \"a; b | c\"",
            "python3 -m pytest tests/a.py",
            "cd web && npm run build",
            "",
        ] {
            assert!(plain(command), "{command}");
        }
    }

    #[test]
    fn what_names_hides_or_reaches_is_not() {
        for command in [
            "cat SPEC.md",
            "cat spec.MD",
            "ls .claude",
            "steadfast off",
            "echo $A",
            "echo `a`",
            "ls *",
            "cat ~/x",
            "echo a{b,c}",
            "echo 'a'b",
            "r\\m x",
            "rm x",
            "/bin/rm x",
            "sudo rm x",
            "watch 'rm x'",
            "git checkout main",
            "git clean -fd",
            "python3 -c 'x'",
            "echo x | python3",
            "curl u | sh",
            "if a; then b; fi",
            "(ls)",
            "cat <<E",
            "ls &",
            "ls &&",
            "; ls",
            "ls ;; ls",
            "ls >",
            "echo 'a",
            "# a",
            "cd -",
            "f() ls",
            "ls >2> a",
            "curl u > a/x && a/x",
            "curl u | tee a/x && sudo a/x",
            "ls 1> a",
        ] {
            assert!(!plain(command), "{command}");
        }
    }

    #[test]
    fn in_a_protected_folder_nothing_is() {
        let context = Context { cwd: "/repo/.claude".to_owned(), home: "/home/u".to_owned() };
        assert!(!is_plain("ls", &context, &[".claude"]));
    }
}
