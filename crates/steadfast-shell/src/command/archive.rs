//! Archives: the file that is packed into, and the folder that is unpacked into.

use crate::effect::Op;
use crate::expand::Arg;
use crate::text::{ANY, STAR};
use crate::walk::Walk;

impl Walk {
    pub(crate) fn tar(&mut self, first: &Arg, args: &[Arg]) {
        let (mut folder, mut archive) = (None, None);
        let (mut extracts, mut creates, mut to_stdout) = (false, false, false);
        let mut members = Vec::new();
        let mut rest = args.iter().enumerate();
        while let Some((at, arg)) = rest.next() {
            let text = arg.text.as_str();
            match text {
                "--extract" | "--get" => extracts = true,
                "--create" | "--append" | "--update" => creates = true,
                "-O" | "--to-stdout" => to_stdout = true,
                "-C" | "--directory" => folder = rest.next().map(|(_, arg)| arg.clone()),
                "-f" | "--file" => archive = rest.next().map(|(_, arg)| arg.clone()),
                "-T" | "-X" | "-I" | "--exclude" | "--transform" => {
                    rest.next();
                }
                _ if text.starts_with("--") => {
                    let valued = |name: &str| {
                        let value = text.strip_prefix(name)?.strip_prefix('=')?;
                        Some(Arg { text: value.to_owned(), span: arg.span.clone() })
                    };
                    folder = folder.or_else(|| valued("--directory"));
                    archive = archive.or_else(|| valued("--file"));
                }
                _ if text.starts_with("-C") => {
                    folder = Some(Arg { text: text[2..].to_owned(), span: arg.span.clone() });
                }
                // The first word is letters, with or without a dash.
                _ if (text.starts_with('-') && text.len() > 1) || (at == 0 && is_letters(text)) => {
                    extracts |= text.contains('x');
                    creates |= text.contains(['c', 'r', 'u']);
                    if text.contains('f') {
                        archive = rest.next().map(|(_, arg)| arg.clone());
                    }
                    if text.ends_with('C') {
                        folder = rest.next().map(|(_, arg)| arg.clone());
                    }
                }
                _ => members.push(arg.clone()),
            }
        }
        if extracts && !to_stdout {
            self.unpack(first, folder.as_ref(), &members, "tar");
        } else if let (true, Some(archive)) = (creates, archive.filter(|archive| archive.text != "-")) {
            self.effect(Op::Write, &archive, "tar");
        }
    }

    pub(crate) fn unzip(&mut self, first: &Arg, args: &[Arg]) {
        let only_looks =
            |text: &str| text.starts_with('-') && !text.starts_with("-d") && text.contains(['l', 'p', 't', 'Z', 'v']);
        if args.iter().any(|arg| only_looks(&arg.text)) {
            return;
        }
        let at = args.iter().position(|arg| arg.text.starts_with("-d"));
        let attached = at.map(|at| &args[at]).filter(|arg| arg.text.len() > 2);
        let attached = attached.map(|arg| Arg { text: arg.text[2..].to_owned(), span: arg.span.clone() });
        let folder = attached.as_ref().or_else(|| at.and_then(|at| args.get(at + 1)));
        let members: Vec<Arg> =
            args[..at.unwrap_or(args.len())].iter().filter(|arg| !arg.text.starts_with('-')).skip(1).cloned().collect();
        self.unpack(first, folder, &members, "unzip");
    }

    /// `split` and `csplit`: write files with a common prefix.
    pub(crate) fn pieces(&mut self, name: &str, first: &Arg, args: &[Arg]) {
        let mut operands = Vec::new();
        let mut prefix = None;
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.text.as_str() {
                "-f" | "--prefix" => prefix = rest.next(),
                "-b" | "-l" | "-n" | "-a" | "-C" => {
                    rest.next();
                }
                text if text.starts_with('-') && text.len() > 1 => {}
                _ => operands.push(arg),
            }
        }
        let prefix = if name == "split" { operands.get(1).copied() } else { prefix };
        let text = format!("{}{STAR}", prefix.map_or("x", |prefix| prefix.text.as_str()));
        self.effect(Op::Write, &Arg { text, span: prefix.unwrap_or(first).span.clone() }, name);
    }

    pub(crate) fn cpio(&mut self, first: &Arg, args: &[Arg]) {
        let is_extract = |text: &str| {
            text == "--extract" || (text.starts_with('-') && !text.starts_with("--") && text.contains('i'))
        };
        if args.iter().any(|arg| is_extract(&arg.text)) {
            self.unpack(first, None, &[], "cpio");
        }
    }

    /// Writes the named members below the folder, or any file in it.
    fn unpack(&mut self, first: &Arg, folder: Option<&Arg>, members: &[Arg], via: &str) {
        let place = folder.map_or(".", |folder| folder.text.as_str());
        let span = folder.unwrap_or(first).span.clone();
        if members.is_empty() {
            self.effect(Op::Write, &Arg { text: format!("{place}/{ANY}"), span }, via);
        }
        for member in members {
            let text = format!("{place}/{}", member.text);
            self.effect(Op::Write, &Arg { text, span: member.span.clone() }, via);
        }
    }
}

fn is_letters(text: &str) -> bool {
    text.len() < 8 && text.bytes().all(|b| b.is_ascii_alphabetic()) && text.contains(['x', 'c', 't', 'r', 'u'])
}
