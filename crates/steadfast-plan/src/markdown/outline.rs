//! Finds the tasks of a spec that have neither a box nor an id, and the headings that are tasks.
//!
//! Explicit tasks win: if a section has a box or an id, nothing else in it is a task. Below `Tasks` or `Phase 1` the
//! items of a list are tasks, or the headings if these are the requests. Elsewhere, and only if the text has no other
//! tasks, a list is one of tasks if each item begins with a verb. A text that only describes has no tasks.

use std::collections::HashSet;

use super::fields::{Field, field};
use super::names::{is_phase, named_section, numbered, tagged, task_led};
use super::table::Columns;
use super::words::{STEP, TASK, bare, holds_tasks, is_imperative, is_quiet, is_telling, led, words};
use crate::draft::Text;
use steadfast_words::blocks::{Block, BlockKind, boxed};

/// Returns the starts of lines that are tasks without a box or an id, and of headings that are tasks.
pub(super) fn tasks(text: &str, name: &str) -> HashSet<usize> {
    let path = name.to_ascii_lowercase();
    let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default();
    let mut reader = Reader { zones: vec![Zone::new(About::Head, Head::default())], ..Reader::default() };
    for line in super::blocks(text) {
        reader.line(&line);
    }
    let mut tasks = marked_headings(&mut reader.zones);
    if !reader.is_export && !words!("telling file").contains(stem) {
        add_unmarked(&reader.zones, &mut tasks);
    }
    tasks
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    /// Before the first section.
    Head,
    /// Its heading says that it contains tasks.
    Tasks,
    Phase,
    /// A heading such as `Step 1: …`.
    Step,
    Unknown,
    /// Its heading says that it contains no tasks.
    Quiet,
}

/// The mark that makes a heading a task, weakest first.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mark {
    #[default]
    None,
    /// `1. Title`, `Step 1: Title`: parts of a text are numbered in the same way.
    Counted,
    /// `1.1 Title`.
    Dotted,
    /// `Task 1: Title`, `[ ] Title`, `Title {#id}`.
    Sure,
}

#[derive(Clone, Copy, Default)]
struct Head {
    at: usize,
    level: usize,
    mark: Mark,
    is_imperative: bool,
    /// It has fields below it, such as a check or files.
    has_fields: bool,
}

impl Head {
    fn of(level: usize, text: &Text) -> Self {
        let words = text.as_str();
        let title = numbered(text).map_or_else(|| words.to_owned(), |(_, title)| title.value);
        let is_imperative = is_imperative(boxed(&title).map_or(title.as_str(), |(_, rest)| rest));
        Self { at: text.span.start, level, mark: mark_of(level, text), is_imperative, has_fields: false }
    }

    fn is_numbered(&self) -> bool {
        matches!(self.mark, Mark::Counted | Mark::Dotted)
    }
}

fn mark_of(level: usize, text: &Text) -> Mark {
    if is_phase(text) || level < 2 {
        return Mark::None;
    }
    if task_led(text).is_some() || level >= 3 && (tagged(text).is_some() || boxed(text.as_str()).is_some()) {
        return Mark::Sure;
    }
    let is_step = led(text.as_str(), STEP).is_some();
    match numbered(text) {
        Some((id, _)) if !is_step && !id.value.bytes().all(|byte| byte.is_ascii_digit()) => Mark::Dotted,
        Some(_) if level >= 3 => Mark::Counted,
        _ => Mark::None,
    }
}

/// A section and its content.
struct Zone {
    about: About,
    head: Head,
    /// It has its own number: `3. Protocol`.
    is_counted: bool,
    /// A section `Implementation` has tasks if its headings are numbered. Its lists may describe as well as request.
    is_implementation: bool,
    /// It contains tasks with a box or an id.
    is_explicit: bool,
    parts: Vec<Part>,
}

/// The part of a section below one heading.
#[derive(Default)]
struct Part {
    head: Option<Head>,
    about: Option<About>,
    ordered: Vec<Item>,
    bullets: Vec<Item>,
    rows: Vec<Item>,
}

#[derive(Clone, Copy)]
struct Item {
    at: usize,
    is_imperative: bool,
    /// It describes how something is.
    is_telling: bool,
}

impl Zone {
    fn new(about: About, head: Head) -> Self {
        Self {
            about,
            head,
            is_counted: false,
            is_implementation: false,
            is_explicit: false,
            parts: vec![Part::default()],
        }
    }

    /// Returns the parts whose lists may be tasks: those with a heading for tasks, else those without any known
    /// heading.
    fn open_parts(&self) -> impl Iterator<Item = &Part> {
        let is_named = self.is_named();
        self.parts.iter().filter(move |part| match part.about {
            Some(About::Tasks) => true,
            Some(_) => false,
            None => !is_named,
        })
    }

    /// Reports whether a heading inside the section is one for tasks.
    fn is_named(&self) -> bool {
        self.parts.iter().any(|part| part.about == Some(About::Tasks))
    }

    fn heads(&self) -> impl Iterator<Item = &Head> {
        self.parts.iter().filter(|part| part.about.is_none()).filter_map(|part| part.head.as_ref())
    }

    fn items(&self) -> impl Iterator<Item = &Item> {
        self.open_parts().flat_map(Part::items)
    }
}

impl Part {
    /// Returns the list that contains the tasks, if any.
    fn items(&self) -> &[Item] {
        [&self.rows, &self.ordered, &self.bullets]
            .into_iter()
            .find(|items| !items.is_empty())
            .map_or(&[], |items| items)
    }
}

#[derive(Default)]
struct Reader {
    zones: Vec<Zone>,
    columns: Option<Columns>,
    /// The indent of the current list.
    base: Option<usize>,
    after_blank: bool,
    is_export: bool,
    has_title: bool,
}

impl Reader {
    fn line(&mut self, Block { kind, text, indent, .. }: &Block) {
        if !matches!(kind, BlockKind::Row(_)) {
            self.columns = None;
        }
        match kind {
            BlockKind::Heading(level) => self.heading(*level, text),
            BlockKind::Box(_) => {
                self.base.get_or_insert(*indent);
                self.explicit();
            }
            BlockKind::Bullet => self.item(text, *indent, false),
            BlockKind::Ordered(_) => self.item(text, *indent, true),
            BlockKind::Row(cells) => self.row(cells),
            BlockKind::Text => {
                if *indent == 0 && self.after_blank {
                    self.base = None;
                }
                self.see_field(text);
                if is_task_line(text) {
                    self.explicit();
                }
            }
            BlockKind::Blank | BlockKind::Fence | BlockKind::Code => {}
        }
        self.after_blank = matches!(kind, BlockKind::Blank);
    }

    fn zone(&mut self) -> Option<&mut Zone> {
        self.zones.last_mut()
    }

    fn part(&mut self) -> Option<&mut Part> {
        self.zone()?.parts.last_mut()
    }

    /// Marks the section as explicit. Boxes below `Acceptance criteria` inside a phase do not count.
    fn explicit(&mut self) {
        if let Some(zone) = self.zone()
            && zone.parts.last().is_none_or(|part| part.about != Some(About::Quiet))
        {
            zone.is_explicit = true;
        }
    }

    fn see_field(&mut self, text: &Text) {
        if !matches!(field(text), Some((Field::Verify | Field::Files | Field::After | Field::Status | Field::Type, _)))
        {
            return;
        }
        let Some(zone) = self.zone() else { return };
        match zone.parts.last_mut().and_then(|part| part.head.as_mut()) {
            Some(head) => head.has_fields = true,
            None => zone.head.has_fields = true,
        }
    }

    fn heading(&mut self, level: usize, text: &Text) {
        self.base = None;
        self.is_export |= tagged(text).is_some();
        let words = text.as_str();
        if level == 1 && !self.has_title && !is_phase(text) {
            self.has_title = true;
            if let Some(zone) = self.zone().filter(|_| holds_tasks(words)) {
                zone.about = About::Tasks;
            }
            return;
        }
        let head = Head::of(level, text);
        let above = self.zone().map_or(0, |zone| zone.head.level);
        let is_below = level > above && above > 0;
        let about = about(text);
        let begins = match about {
            About::Phase => true,
            About::Tasks => !is_below,
            _ => level <= 2 && !(is_below && head.mark != Mark::None),
        };
        if begins || !is_below && above > 0 {
            let is_counted = words.starts_with(|c: char| c.is_ascii_digit());
            let is_implementation = bare(words) == "implementation";
            self.zones.push(Zone { is_counted, is_implementation, ..Zone::new(about, head) });
        } else {
            let about = matches!(about, About::Tasks | About::Quiet).then_some(about);
            if let Some(zone) = self.zone() {
                zone.parts.push(Part { head: Some(head), about, ..Part::default() });
            }
        }
    }

    fn item(&mut self, text: &Text, indent: usize, is_ordered: bool) {
        self.see_field(text);
        let base = *self.base.get_or_insert(indent);
        if indent > base + 1 {
            return;
        }
        let is_quiet = self.zone().is_none_or(|zone| zone.about == About::Quiet);
        let is_below_task = self.part().and_then(|part| part.head).is_some_and(|head| head.mark != Mark::None);
        if !is_quiet && !is_below_task && numbered(text).is_some() {
            return self.explicit();
        }
        if is_label(text) {
            return;
        }
        let item = Item::of(text.span.start, text.as_str());
        if let Some(part) = self.part() {
            (if is_ordered { &mut part.ordered } else { &mut part.bullets }).push(item);
        }
    }

    fn row(&mut self, cells: &[Text]) {
        let Some(columns) = self.columns.clone() else {
            self.columns = Some(Columns::of(cells));
            return;
        };
        let about = self.zone().map_or(About::Head, |zone| zone.about);
        if columns.is_rule(cells) || about == About::Quiet {
            return;
        }
        if columns.row(cells, false).is_some() {
            return self.explicit();
        }
        let in_tasks = matches!(about, About::Tasks | About::Phase | About::Step);
        if !columns.is_of_tasks(in_tasks) {
            return;
        }
        if let (Some(row), Some(first)) = (columns.row(cells, true), cells.first()) {
            let item = Item::of(first.span.start, row.title.as_str());
            if let Some(part) = self.part() {
                part.rows.push(item);
            }
        }
    }
}

impl Item {
    fn of(at: usize, words: &str) -> Self {
        let is_imperative = is_imperative(words);
        Self { at, is_imperative, is_telling: !is_imperative && is_telling(words) }
    }
}

fn about(text: &Text) -> About {
    let words = text.as_str();
    if is_phase(text) {
        return About::Phase;
    }
    if named_section(words).is_some() || is_quiet(words) {
        return About::Quiet;
    }
    if holds_tasks(words) {
        return About::Tasks;
    }
    if led(boxed(words).map_or(words, |(_, rest)| rest), STEP).is_some() { About::Step } else { About::Unknown }
}

/// Recognises `Task 1: Title` as a line, with or without bold.
pub(super) fn is_task_line(text: &Text) -> bool {
    let words = text.as_str();
    let is_led = led(words, TASK).is_some_and(|(_, rest)| rest.trim_start_matches(['*', '_']).starts_with([':', ')']));
    let is_bold = words.starts_with("**") && words.trim_end_matches(':').ends_with("**");
    !words.starts_with('>') && (is_led || is_bold && task_led(text).is_some())
}

fn is_label(text: &Text) -> bool {
    let name = text.as_str().split(':').next().unwrap_or_default().trim_matches(['*', '_', ' ']).to_lowercase();
    text.as_str().contains(':') && (field(text).is_some() || words!("label").contains(&name))
}

fn most(heads: &[Head]) -> bool {
    heads.iter().filter(|head| head.is_imperative).count() * 2 > heads.len()
}

/// Returns the headings marked as tasks. A number alone is not enough, because parts of a text have numbers, too: the
/// section or its fields must point to tasks.
fn marked_headings(zones: &mut [Zone]) -> HashSet<usize> {
    let mut tasks = HashSet::new();
    let all = || zones.iter().flat_map(|zone| zone.heads().chain([&zone.head]));
    let has_fields = all().any(|head| head.is_numbered() && head.has_fields);
    let has_sure = all().any(|head| head.mark == Mark::Sure);
    let sections: Vec<Head> = zones
        .iter()
        .filter(|zone| zone.about != About::Quiet)
        .map(|zone| zone.head)
        .filter(Head::is_numbered)
        .collect();
    let are_sections_tasks = has_fields || most(&sections);
    let is_elsewhere = has_sure
        || zones.iter().any(|zone| zone.about != About::Quiet && (zone.is_explicit || zone.about == About::Tasks));
    for zone in zones {
        let sure: Vec<Head> =
            zone.heads().chain([&zone.head]).filter(|head| head.mark == Mark::Sure).copied().collect();
        let own = zone.head;
        let mut found: Vec<usize> = sure.iter().map(|head| head.at).collect();
        if zone.about != About::Quiet {
            // `#### 1. …` below `### Task 1` is a step of that task.
            let is_step = |head: &Head| head.mark == Mark::Counted && sure.iter().any(|task| task.level < head.level);
            let heads: Vec<Head> = zone.heads().filter(|head| head.is_numbered() && !is_step(head)).copied().collect();
            let is_named = matches!(zone.about, About::Tasks | About::Phase | About::Step)
                || zone.is_named()
                || zone.is_implementation;
            let is_free = !zone.is_counted && heads.iter().all(|head| head.mark == Mark::Dotted);
            if has_fields || is_named || is_free || most(&heads) && !is_elsewhere {
                found.extend(heads.iter().map(|head| head.at));
            }
            if own.is_numbered() && are_sections_tasks {
                found.push(own.at);
            }
        }
        zone.is_explicit |= !found.is_empty();
        tasks.extend(found);
    }
    tasks
}

fn add_unmarked(zones: &[Zone], tasks: &mut HashSet<usize>) {
    let has_explicit = zones.iter().any(|zone| zone.is_explicit && zone.about != About::Quiet);
    let steps = || zones.iter().filter(|zone| zone.about == About::Step);
    let are_steps_phases = steps().any(|zone| zone.is_explicit);
    // Lists that mostly describe a result are not lists of tasks.
    let items = || zones.iter().filter(|zone| zone.about == About::Phase).flat_map(Zone::items);
    let is_mostly_telling = items().filter(|item| item.is_telling).count() * 2 > items().count();
    if !has_explicit {
        tasks.extend(steps().map(|zone| zone.head.at));
    }
    for zone in zones.iter().filter(|zone| !zone.is_explicit && zone.head.level > 0) {
        let is_open = match zone.about {
            About::Tasks => true,
            About::Phase => !is_mostly_telling,
            About::Step => are_steps_phases,
            // A subsection for tasks below an unknown heading: `## Backend`, `### Tasks`.
            About::Unknown => zone.is_named(),
            About::Head | About::Quiet => false,
        };
        if is_open {
            below(zone, tasks);
        }
    }
    if has_explicit || !tasks.is_empty() {
        return;
    }
    let phases: Vec<&Zone> = zones.iter().filter(|zone| zone.about == About::Phase).collect();
    if phases.len() > 1 {
        tasks.extend(phases.iter().map(|zone| zone.head.at));
        return;
    }
    match zones.first() {
        Some(head) if head.about == About::Tasks => below(head, tasks),
        _ => loose(zones, tasks),
    }
}

/// Adds the tasks of a section for tasks: its headings if these are the requests, else its lists.
fn below(zone: &Zone, tasks: &mut HashSet<usize>) {
    let heads: Vec<Head> = zone.heads().copied().collect();
    let has_lists = zone.items().next().is_some();
    if !heads.is_empty() && !zone.is_named() && (most(&heads) || !has_lists) {
        // Deeper headings are parts of these.
        let top = heads.iter().map(|head| head.level).min().unwrap_or_default();
        tasks.extend(heads.iter().filter(|head| head.level == top).map(|head| head.at));
        return;
    }
    tasks.extend(zone.items().map(|item| item.at));
}

/// Adds the tasks of a text without a section for tasks: lists and headings that are all requests.
fn loose(zones: &[Zone], tasks: &mut HashSet<usize>) {
    let is_asked = |part: &&Part| !part.items().is_empty() && part.items().iter().all(|item| item.is_imperative);
    let open = || zones.iter().filter(|zone| matches!(zone.about, About::Head | About::Unknown));
    let sections: Vec<Head> = open().map(|zone| zone.head).filter(|head| head.level > 0).collect();
    let are_sections_asked = most(&sections);
    let (mut lists, mut heads) = (Vec::new(), Vec::new());
    for zone in open() {
        let own: Vec<usize> = zone.open_parts().filter(is_asked).flat_map(Part::items).map(|item| item.at).collect();
        let inside: Vec<Head> = zone.heads().copied().collect();
        if !own.is_empty() {
            lists.extend(own);
        } else if zone.head.is_imperative && are_sections_asked {
            heads.push(zone.head.at);
        } else if most(&inside) {
            heads.extend(inside.iter().filter(|head| head.is_imperative).map(|head| head.at));
        }
    }
    if heads.len() > 1 || !lists.is_empty() {
        tasks.extend(heads);
    }
    tasks.extend(lists);
}
