use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::Path;

use crate::plan::Plan;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::world::Footprint;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The sessions and files that the benchmark uses.
pub(crate) struct Corpus {
    pub(crate) sessions: Vec<Session>,
    pub(crate) refusals: Vec<Refusal>,
    pub(crate) plans: Vec<Plan>,
    /// The known files of each repository.
    trees: HashMap<String, BTreeSet<String>>,
}

impl Corpus {
    pub(crate) fn read(transcripts: &Path, labels: &Path, index: &Path) -> Result<Self> {
        let rejections = Table::read(&labels.join("tool_rejections.tsv"))?;
        let pushback = Table::read(&labels.join("pushback_candidates.tsv"))?;
        let complained: HashSet<String> = [&rejections, &pushback]
            .into_iter()
            .flat_map(|table| table.column("transcript"))
            .map(str::to_owned)
            .collect();
        let index = Table::read(index)?;
        let mut sessions: Vec<Session> = index
            .rows()
            // A copy of a session would be its own best neighbour.
            .filter(|row| row.get("near_duplicate").is_empty())
            .filter_map(|row| Session::read(transcripts, row.get("local_path"), row.get("repo"), &complained))
            .collect();
        sessions.sort_by(|one, other| one.name.cmp(&other.name));
        let mut trees: HashMap<String, BTreeSet<String>> = HashMap::new();
        for session in &sessions {
            trees.entry(session.repository.clone()).or_default().extend(session.footprint.seen.iter().cloned());
        }
        let refusals = Refusal::read(transcripts, &rejections, &sessions)?;
        let plans = Plan::read(&Table::read(&labels.join("cipherbox_plan_vs_actual.tsv"))?);
        Ok(Self { sessions, refusals, plans, trees })
    }

    /// The files of the repositories of these sessions.
    pub(crate) fn tree(&self, sessions: &[&Session]) -> BTreeSet<String> {
        let repositories: BTreeSet<&str> = sessions.iter().map(|session| session.repository.as_str()).collect();
        repositories.into_iter().filter_map(|name| self.trees.get(name)).flatten().cloned().collect()
    }

    /// Returns the footprints of other sessions in the same repositories.
    pub(crate) fn others(&self, sessions: &[&Session]) -> Vec<&Footprint> {
        let is_other = |other: &&Session| {
            sessions.iter().all(|session| session.name != other.name)
                && sessions.iter().any(|session| session.repository == other.repository)
        };
        self.sessions.iter().filter(is_other).map(|session| &session.footprint).collect()
    }
}

/// A file of rows with a head.
pub(crate) struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

pub(crate) struct Row<'a> {
    table: &'a Table,
    cells: &'a [String],
}

impl Table {
    fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
        Ok(Self::parse(&text))
    }

    pub(crate) fn parse(text: &str) -> Self {
        let cells = |line: &str| line.split('\t').map(str::to_owned).collect();
        let mut lines = text.lines().map(cells);
        Self { head: lines.next().unwrap_or_default(), rows: lines.collect() }
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { table: self, cells })
    }

    fn column<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.rows().map(move |row| row.get(name))
    }
}

impl<'a> Row<'a> {
    /// Returns an empty text if there is no such column.
    pub(crate) fn get(&self, name: &str) -> &'a str {
        let number = self.table.head.iter().position(|head| head == name);
        number.and_then(|number| self.cells.get(number)).map_or("", String::as_str)
    }
}
