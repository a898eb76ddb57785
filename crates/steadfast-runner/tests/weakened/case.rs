//! One change of a list.

use steadfast_runner::weakened::FileChange;

const MARK: &str = " ◀";

#[derive(Debug, Default)]
pub(crate) struct Case {
    pub(crate) heading: String,
    pub(crate) name: String,
    pub(crate) files: Vec<Texts>,
    /// The line with the mark.
    pub(crate) marked: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) paths: Vec<String>,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

impl Case {
    pub(crate) fn changes(&self) -> Vec<FileChange<'_>> {
        self.files.iter().map(Texts::change).collect()
    }
}

impl Texts {
    pub(crate) fn path_after(&self) -> &str {
        self.paths.last().unwrap()
    }

    fn change(&self) -> FileChange<'_> {
        let was = self.paths.first().map(String::as_str).filter(|was| *was != self.path_after());
        FileChange { path: self.path_after(), was, before: self.before.as_deref(), after: self.after.as_deref() }
    }
}

pub(crate) fn cases(list: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut heading = String::new();
    let mut block: Option<(bool, String)> = None;
    for line in list.lines() {
        if let Some((is_before, text)) = &mut block {
            if line == "~~~" {
                let file = cases.last_mut().unwrap().files.last_mut().unwrap();
                let side = if *is_before { &mut file.before } else { &mut file.after };
                *side = block.take().map(|(_, text)| text);
                continue;
            }
            let plain = line.strip_suffix(MARK);
            text.push_str(plain.unwrap_or(line));
            text.push('\n');
            if plain.is_some() {
                let marked = text.lines().count();
                cases.last_mut().unwrap().marked = Some(marked);
            }
        } else if let Some(name) = line.strip_prefix("### ") {
            cases.push(Case { heading: heading.clone(), name: name.to_owned(), ..Case::default() });
        } else if let Some(name) = line.strip_prefix("## ") {
            name.clone_into(&mut heading);
        } else if let Some(side) = line.strip_prefix("~~~") {
            block = Some((side == "before", String::new()));
        } else if line.starts_with('`') {
            let paths = line.split(" → ").map(|path| path.trim_matches('`').to_owned()).collect();
            cases.last_mut().unwrap().files.push(Texts { paths, before: None, after: None });
        }
    }
    cases
}
