//! `sed`: files that it edits in place, and files that its script writes.

use crate::effect::Op;
use crate::expand::Arg;
use crate::walk::Walk;

impl Walk {
    pub(crate) fn sed(&mut self, args: &[Arg]) {
        let (mut scripts, mut files) = (Vec::new(), Vec::new());
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.text.as_str() {
                "-e" | "--expression" => scripts.extend(rest.next().cloned()),
                "-f" | "--file" => {
                    if let Some((file, text)) = rest.next().and_then(|f| Some((f, self.content(&f.text)?))) {
                        scripts.push(Arg { text, span: file.span.clone() });
                    }
                }
                "-l" | "--line-length" => {
                    rest.next();
                }
                text if text.starts_with("--expression=") => {
                    scripts.push(Arg { text: text["--expression=".len()..].to_owned(), span: arg.span.clone() });
                }
                // `-ne`, `-i -e`: the last letter of a bundle takes the script.
                text if is_bundle(text) && text.ends_with('e') => scripts.extend(rest.next().cloned()),
                text if text.starts_with("-e") => {
                    scripts.push(Arg { text: text[2..].to_owned(), span: arg.span.clone() });
                }
                text if text.starts_with('-') && text.len() > 1 => {}
                _ => files.push(arg.clone()),
            }
        }
        // BSD: `sed -i '' script file`.
        files.retain(|file| !file.text.is_empty());
        let has_script = args.iter().any(|arg| matches!(arg.text.as_str(), "-f" | "--file")) || !scripts.is_empty();
        if !has_script && !files.is_empty() {
            scripts.push(files.remove(0));
        }
        if let Some(option) = args.iter().find(|arg| is_in_place(&arg.text)) {
            let suffix = backup(&option.text).to_owned();
            for file in &files {
                self.edited(file, &suffix, "sed");
            }
        }
        for script in &scripts {
            for found in commands(&script.text) {
                match found {
                    SedEffect::Writes(path) => {
                        self.effect(Op::Write, &Arg { text: path, span: script.span.clone() }, "sed");
                    }
                    SedEffect::Runs(text) => {
                        self.script(&text, &script.span);
                    }
                }
            }
        }
    }

    /// Adds an edit in place, and the backup file if there is a suffix.
    pub(crate) fn edited(&mut self, file: &Arg, suffix: &str, via: &str) {
        self.effect(Op::Write, file, via);
        if !suffix.is_empty() {
            // A star in the suffix stands for the name.
            let (folder, name) =
                file.text.rsplit_once('/').map_or(("", file.text.as_str()), |(head, name)| (head, name));
            let copy = if suffix.contains('*') { suffix.replace('*', name) } else { format!("{name}{suffix}") };
            let text = if copy.contains('/') || folder.is_empty() { copy } else { format!("{folder}/{copy}") };
            self.effect(Op::Write, &Arg { text, span: file.span.clone() }, via);
        }
    }
}

fn is_bundle(text: &str) -> bool {
    text.len() > 2 && text.starts_with('-') && text[1..].bytes().all(|b| b"nrEsuzie".contains(&b))
}

/// Recognises `-i`, `-i.bak`, `-ni`, `--in-place=.bak`.
fn is_in_place(text: &str) -> bool {
    text.starts_with("--in-place")
        || text.strip_prefix('-').is_some_and(|letters| {
            let before = letters.split('i').next().unwrap_or_default();
            letters.contains('i') && !letters.starts_with('-') && before.bytes().all(|b| b"nrEsuz".contains(&b))
        })
}

/// Returns the suffix after `-i`.
pub(crate) fn backup(option: &str) -> &str {
    match option.strip_prefix("--in-place") {
        Some(rest) => rest.strip_prefix('=').unwrap_or_default(),
        None => option.split_once('i').map_or("", |(_, suffix)| suffix.trim_end_matches("e")),
    }
}

#[derive(Debug, PartialEq)]
enum SedEffect {
    Writes(String),
    /// The command `e command`.
    Runs(String),
}

/// Returns the files that a script writes and the commands it runs. Addresses are skipped without a grammar.
fn commands(script: &str) -> Vec<SedEffect> {
    let mut found = Vec::new();
    let bytes = script.as_bytes();
    let mut at = 0;
    let line = |from: usize| script[from..].split('\n').next().unwrap_or_default();
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            // Skip an address: `/…/`, `\%…%`.
            b'/' => at = behind(bytes, at, b'/'),
            b'\\' if at < bytes.len() => at = behind(bytes, at + 1, bytes[at]),
            b's' | b'y' => {
                let Some(delimiter) = bytes.get(at).copied() else { break };
                if delimiter.is_ascii_alphanumeric() || delimiter == b' ' {
                    continue;
                }
                at = behind(bytes, behind(bytes, at + 1, delimiter), delimiter);
                while let Some(flag) = bytes.get(at).filter(|b| b"gpiImMewW0123456789".contains(b)) {
                    at += 1;
                    if *flag == b'w' {
                        let path = line(at).trim();
                        found.push(SedEffect::Writes(path.to_owned()));
                        at += line(at).len();
                    }
                }
            }
            b'w' | b'W' => {
                let path = line(at).trim();
                if !path.is_empty() {
                    found.push(SedEffect::Writes(path.to_owned()));
                }
                at += line(at).len();
            }
            b'e' => {
                let text = line(at).trim();
                if !text.is_empty() {
                    found.push(SedEffect::Runs(text.to_owned()));
                }
                at += line(at).len();
            }
            // The text continues while lines end in a backslash.
            b'a' | b'i' | b'c' => {
                while line(at).ends_with('\\') && at + line(at).len() < script.len() {
                    at += line(at).len() + 1;
                }
                at += line(at).len();
            }
            // Labels, and files that are read, extend to the end of the line.
            b'r' | b'R' | b'b' | b't' | b'T' | b':' | b'#' => at += line(at).len(),
            _ => {}
        }
    }
    found.retain(|found| !matches!(found, SedEffect::Writes(path) if path.is_empty()));
    found
}

/// Returns the position after the next delimiter.
fn behind(bytes: &[u8], mut at: usize, delimiter: u8) -> usize {
    while let Some(byte) = bytes.get(at) {
        at += if *byte == b'\\' { 2 } else { 1 };
        if *byte == delimiter {
            break;
        }
    }
    at.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_commands_are_found_and_reading_ones_are_not() {
        let writes = |path: &str| vec![SedEffect::Writes(path.to_owned())];
        assert_eq!(commands("w out"), writes("out"));
        assert_eq!(commands("/a w b/w out"), writes("out"));
        assert_eq!(commands("s/a/w b/gw out\np"), writes("out"));
        assert_eq!(commands("1,3s|x|y|;5w out"), writes("out"));
        assert_eq!(commands("1e rm x"), vec![SedEffect::Runs("rm x".to_owned())]);
        for script in [
            "s/w out/e x/",
            "y/w /e /",
            "a w out",
            "/w out/p",
            "1,/USERNAME/d",
            "$!N;s/e//",
            "s,a,b,w",
            "/x/a\\\n\te x\n",
        ] {
            assert_eq!(commands(script), vec![], "{script}");
        }
    }

    #[test]
    fn in_place_is_told_from_other_letters() {
        for yes in ["-i", "-i.bak", "-ni", "-Ei", "--in-place", "--in-place=.b"] {
            assert!(is_in_place(yes), "{yes}");
        }
        for no in ["-n", "-e", "--quiet", "-f", "-E", "--line-length"] {
            assert!(!is_in_place(no), "{no}");
        }
    }
}
